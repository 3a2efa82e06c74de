"""Protocols that several harnesses speak, without any input or output of their own."""
