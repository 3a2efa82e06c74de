"""The log of a session: numbered without a gap as it is written, read again by number.

A number is given under the write lock, so that it is the next one for every process.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from barry_cli.base.canonical import NotCanonical, canonical_json
from barry_cli.turns.store.stored import value_of
from barry_cli.turns.store.turn_rows import require_session

PASSING = frozenset({"partial", "tool_progress"})
"""Events that are of use only while their turn goes on; they are dropped when it is over."""

_MOST = 2**63 - 1  # what SQLite can count to


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """An event with its number in the session; ``recorded_at`` in milliseconds since 1970."""

    sequence: int
    turn_id: str | None
    event: Mapping[str, Any]
    recorded_at: int


def event_row(event: Mapping[str, Any]) -> tuple[str, bool]:
    """An event's text, and whether it is passing. Raises NotCanonical."""
    kind = event.get("type")
    if type(kind) is not str:
        raise NotCanonical("$.type", "is no text, so this is no event")
    return canonical_json(event), kind in PASSING


def add_events(
    connection: sqlite3.Connection,
    session_id: str,
    turn_id: str | None,
    rows: Sequence[tuple[str, bool]],
    now: int,
    last: int | None = None,
) -> int:
    """Write events behind those that are there; the last one's number.

    ``last`` is the session's last number, for who read it in this transaction.
    """
    first = (_last(connection, session_id) if last is None else last) + 1
    connection.executemany(
        "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)",
        (
            (session_id, first + at, turn_id, passing, now // 1000, body)
            for at, (body, passing) in enumerate(rows)
        ),
    )
    return first + len(rows) - 1


def drop_passing(connection: sqlite3.Connection, turn: sqlite3.Row) -> None:
    """Delete a turn's passing events; the numbers of the others stay.

    The session's last event stays in any case, because the next one is counted from it.
    """
    session_id = turn["session_id"]
    connection.execute(
        "DELETE FROM event WHERE session_id = ? AND sequence > ? AND sequence < ? AND turn_id = ? "
        "AND passing = 1",
        (session_id, turn["after_event"], _last(connection, session_id), turn["id"]),
    )


def read_events(
    connection: sqlite3.Connection, session_id: str, after: int, limit: int
) -> list[StoredEvent]:
    """At most ``limit`` events with a higher number than ``after``. Raises SessionNotFound."""
    rows = connection.execute(
        "SELECT sequence, turn_id, body, recorded_at FROM event "
        "WHERE session_id = ? AND sequence > ? ORDER BY sequence LIMIT ?",
        (session_id, min(after, _MOST), min(limit, _MOST)),
    ).fetchall()
    if not rows:
        require_session(connection, session_id)
    return [
        StoredEvent(row["sequence"], row["turn_id"], value_of(row["body"]), row["recorded_at"])
        for row in rows
    ]


def last_sequence(connection: sqlite3.Connection, session_id: str) -> int:
    """The number of the session's last event; 0 before the first. Raises SessionNotFound."""
    last = _last(connection, session_id)
    if last == 0:
        require_session(connection, session_id)
    return last


def _last(connection: sqlite3.Connection, session_id: str) -> int:
    # One step down the index. A counter in a row of its own would write a second page each time.
    row = connection.execute(
        "SELECT max(sequence) FROM event WHERE session_id = ?", (session_id,)
    ).fetchone()
    return int(row[0] or 0)
