"""What a command line really runs, and whether a rule denies it. See `rules.program_denied`."""
