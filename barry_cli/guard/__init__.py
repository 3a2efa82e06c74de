"""Barry's own tools, each call ruled on, where a harness's own are switched off."""
