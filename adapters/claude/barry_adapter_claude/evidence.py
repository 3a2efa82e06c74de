"""What shows that a message reached the conversation: Claude Code's own transcript of it.

Its prompt hook shows less: it is called as well for a prompt that another hook then drops.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

MARK = "barry:"
"""Begins the sender of each message that Barry writes to the socket; its id follows."""

# How a line that can show a message looks, before it is read as JSON.
_SIGNS = (b'"barry:', b"hook_additional_context")


@dataclass(frozen=True, slots=True)
class Shown:
    """What one line of a transcript brings into the conversation: a message, or hooks' texts."""

    message_id: str | None = None
    texts: tuple[str, ...] = ()


def shown_by(line: bytes) -> Shown:
    """What a line shows; nothing in most of them."""
    if not any(sign in line for sign in _SIGNS):
        return Shown()
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return Shown()
    if not isinstance(row, dict):
        return Shown()
    return Shown(_sent_by(row), _said_by_hooks(row))


def _sent_by(row: dict[str, Any]) -> str | None:
    """The id of Barry's message: a user's row where it began a turn, attached where it joined."""
    attached = row.get("attachment")
    if row.get("type") == "user":
        origin = row.get("origin")
    elif isinstance(attached, dict) and attached.get("type") == "queued_command":
        origin = attached.get("origin")
    else:
        return None
    sender = origin.get("from") if isinstance(origin, dict) else None
    if isinstance(sender, str) and sender.startswith(MARK):
        return sender.removeprefix(MARK)
    return None


def _said_by_hooks(row: dict[str, Any]) -> tuple[str, ...]:
    attached = row.get("attachment")
    if not isinstance(attached, dict) or attached.get("type") != "hook_additional_context":
        return ()
    content = attached.get("content")
    texts = content if isinstance(content, list) else [content]
    return tuple(text for text in texts if isinstance(text, str))
