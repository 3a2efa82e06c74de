"""What a harness calls before a tool runs: an event comes in, a ruling goes out."""
