"""Why a call of a guarded tool did nothing."""

from __future__ import annotations


class NotDone(Exception):
    """A call that is refused, or that can't be carried out. Its text is all the agent is told."""
