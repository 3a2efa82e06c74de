"""The turn driver: a harness without its terminal UI, one process per turn (seeds 002, 004)."""
