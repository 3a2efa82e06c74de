"""The declarations and protocols that all floors speak (seeds 000 and 001)."""
