"""Barry: run any coding agent under a policy that holds."""

__version__ = "0.1.0"
