"""Bounds and traits. Imported by the fast door: nothing is imported here."""
