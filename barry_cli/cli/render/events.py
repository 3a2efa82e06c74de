"""Events on record, as lines."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

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
    elif kind == "error":
        said = str(event.get("error", ""))
    else:
        said = " ".join(f"{name}={_value(value)}" for name, value in event.items())
    said = one_line(said)
    if len(said) > _SHOWN:
        said = f"{said[: _SHOWN - 3]}..."
    return f"{stored.sequence:>6}  {kind:<18} {said}\n"


def _iso(milliseconds: int) -> str:
    moment = datetime.fromtimestamp(milliseconds / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
