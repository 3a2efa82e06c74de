"""The demo harness: a small coding agent with a scripted model, no account and no network.

It stands alone: standard library only, started by file path (``main.py``), and it imports nothing
of Barry. Three ends share one turn loop: a terminal (``tui``), one prompt (``headless``) and the
Agent Client Protocol (``acp``).
"""

VERSION = "1.0.0"
