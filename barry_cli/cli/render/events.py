"""Events on record, as lines."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from barry_cli.cli.render.measures import tokens
from barry_cli.cli.render.talk import one_line

if TYPE_CHECKING:
    from barry_cli.turns.store.events import StoredEvent

_SHOWN = 300


def line(stored: StoredEvent) -> str:
    """One line of JSON: its number, its turn, when it was recorded, and the event."""
    return (
        json.dumps(
            {
                "sequence": stored.sequence,
                "turnId": stored.turn_id,
                "recordedAt": _iso(stored.recorded_at),
                "event": stored.event,
            }
        )
        + "\n"
    )


def text(stored: StoredEvent) -> str:
    """One line for a person."""
    event: dict[str, Any] = dict(stored.event)
    kind = one_line(str(event.pop("type", "?")))
    event.pop("parentToolUseId", None)
    if kind in ("text", "partial"):
        said = str(event.get("text", ""))
        if event.get("role") == "user":  # a prompt, or a message that the agent got
            kind = f"{kind} (user)"
    elif kind == "error":
        said = str(event.get("error", ""))
    else:
        said = " ".join(f"{name}={_value(value)}" for name, value in event.items())
    said = one_line(said)
    if len(said) > _SHOWN:
        said = f"{said[: _SHOWN - 3]}..."
    return f"{stored.sequence:>6}  {kind:<18} {said}\n"


def recorded(captured: Mapping[str, Any]) -> str:
    """What is on record of a session without turns, in one line."""
    if captured["missing"] is not None:
        return str(captured["missing"])
    parts = [_count(captured["events"], "event"), _count(captured["turns"], "ended turn")]
    if captured["usage"] is not None and (counted := tokens(captured["usage"])):
        parts.append(counted)
    return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
