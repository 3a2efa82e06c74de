"""The turns of a session as a person asks for them: how each ended, what it took, what is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from barry_cli.groundwork.following import settle
from barry_cli.turns.store.record import Record

if TYPE_CHECKING:
    from barry_cli.base.paths import Folders

_PAGE = 500


def turns_of(folders: Folders, session_id: str) -> list[dict[str, Any]]:
    """The session's turns, first to last, camelCase: ``id``, ``state``, ``createdAt``, ``endedAt``,
    ``error``, ``usage`` (null where the harness counted none), ``uncertainCalls``.

    What a crash left open is settled first. Raises SessionNotFound and StoreProblem.
    """
    settle(folders, session_id)
    record = Record(folders)
    turns = record.turns(session_id)
    if not turns:
        return []
    usage: dict[str, Any] = {}
    calls: dict[tuple[str, str], Mapping[str, Any]] = {}
    for turn_id, event in _events(record, session_id):
        if event["type"] == "done" and event.get("usage") is not None:
            usage[turn_id] = event["usage"]
        elif event["type"] in ("tool_use", "permission_request"):
            calls[turn_id, str(event.get("id"))] = event
        elif event["type"] == "tool_result":
            calls.pop((turn_id, str(event.get("id"))), None)
    uncertain = record.uncertain_calls(session_id)
    return [
        {
            "id": turn["id"],
            "state": turn["state"],
            "createdAt": turn["createdAt"],
            "endedAt": turn.get("endedAt"),
            "error": turn.get("error"),
            "usage": usage.get(turn["id"]),
            "uncertainCalls": [
                _call(call_id, turn["id"], calls) for call_id in uncertain.get(turn["id"], ())
            ],
        }
        for turn in turns
    ]


def _events(record: Record, session_id: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    after = 0
    while page := record.events(session_id, after, _PAGE):
        for stored in page:
            if stored.turn_id is not None:
                yield stored.turn_id, stored.event
        after = page[-1].sequence


def _call(
    call_id: str, turn_id: str, calls: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[str, Any]:
    """A call that was let through and whose end nobody saw; what it was, where an event says it.

    Some harnesses ask about a call under another id than they tell of it: the only one then.
    """
    known = calls.get((turn_id, call_id))
    if known is None:
        others = [event for (turn, _), event in calls.items() if turn == turn_id]
        known = others[0] if len(others) == 1 else {}
    return {"id": call_id, "tool": known.get("tool"), "input": known.get("input")}
