"""Sessions and what happens in them, kept durably."""
