"""Barry drives: a turn of a harness without its terminal UI, from what was asked to its end."""
