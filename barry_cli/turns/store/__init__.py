"""The embedded store: one SQLite file per Barry home."""
