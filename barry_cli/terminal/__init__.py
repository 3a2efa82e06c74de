"""The terminal belongs to the harness: start it there, wait, and leave it as it was found."""
