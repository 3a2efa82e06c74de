"""Claude Code's own notes about its running sessions: their conversation, state and socket."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from barry_adapter_claude.places import Env, config_folder


@dataclass(frozen=True, slots=True)
class Running:
    """One session that is open now, as its program notes it down."""

    note: str
    """Where it stands."""
    pid: int
    started: float
    conversation: str
    socket: str | None
    """Where it takes other sessions' messages; builds and organisations do without."""
    status: str | None
    """``idle``, ``busy``, ``waiting`` (for its user); None before it takes prompts."""


def running(env: Env) -> list[Running]:
    """Every session that is noted down, oldest first; some may have died."""
    notes = (config_folder(env) / "sessions").glob("*.json")
    found = [session for note in notes if (session := read_note(str(note))) is not None]
    return sorted(found, key=lambda session: session.started)


def read_note(note: str) -> Running | None:
    """One session's note, or None where there is none that can be read."""
    try:
        row = json.loads(Path(note).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(row, dict):
        return None
    started, conversation = row.get("startedAt"), row.get("sessionId")
    if not Path(note).stem.isdecimal() or not isinstance(conversation, str):
        return None
    socket, status = row.get("messagingSocketPath"), row.get("status")
    return Running(
        note=note,
        pid=int(Path(note).stem),
        started=started if isinstance(started, int | float) else 0,
        conversation=conversation,
        socket=socket if isinstance(socket, str) and socket else None,
        status=status if isinstance(status, str) else None,
    )
