"""What happened in a terminal UI, from hooks, transcripts and telemetry, as session events."""
