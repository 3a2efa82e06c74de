"""A human drives: from what was asked for to a harness that runs in its own terminal UI."""
