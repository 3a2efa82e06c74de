"""What is on record of a session that a person drives: it has no turns of Barry's to show."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from barry_cli.turns.store.record import Record

if TYPE_CHECKING:
    from barry_cli.base.paths import Folders
    from barry_cli.turns.store.sessions import SessionRow

_PAGE = 500
_COUNTERS = ("input", "output", "cached", "cacheWrite")


def captured_of(folders: Folders, row: SessionRow) -> dict[str, Any] | None:
    """``events`` and ended ``turns`` on record, their ``usage`` (null where none was counted), and
    ``missing``: a sentence where nothing is. None for a session that Barry drives.

    Raises SessionNotFound and StoreProblem.
    """
    if row.mode == "hosted":
        return None
    events = turns = 0
    parts: list[Mapping[str, Any]] = []
    counted: dict[str, Mapping[str, Any]] = {}
    for event in _events(folders, row.id):
        events += 1
        if event["type"] == "usage":
            counted[str(event.get("id"))] = event["usage"]
        elif event["type"] == "done":
            turns += 1
            whole = event.get("usage")
            parts += [whole] if whole is not None else counted.values()
            counted = {}
    parts += counted.values()
    return {
        "events": events,
        "turns": turns,
        "usage": _sum(parts),
        "missing": None if events else nothing_of(row),
    }


def nothing_of(row: SessionRow) -> str:
    """Why there is nothing on record, and where the conversation is instead."""
    if row.mode == "guest":
        return (
            "in guest mode Barry records nothing of what happens in the terminal UI; "
            f"`barry session export {row.id}` reads it from the harness's own transcript, where it "
            "keeps one"
        )
    return (
        "nothing was told of this session yet"
        if row.ended_at is None
        else ("neither hooks nor a transcript told anything of this session")
    )


def _events(folders: Folders, session_id: str) -> Iterator[Mapping[str, Any]]:
    record, after = Record(folders), 0
    while page := record.events(session_id, after, _PAGE):
        yield from (stored.event for stored in page)
        after = page[-1].sequence


def _sum(parts: list[Mapping[str, Any]]) -> dict[str, Any] | None:
    """The sum of usages as events hold them: what was left out there is nothing, or complete."""
    if not parts:
        return None
    found: dict[str, Any] = {
        name: sum(int(each.get(name, 0)) for each in parts) for name in _COUNTERS
    }
    found["complete"] = all(each.get("complete", True) for each in parts)
    return found
