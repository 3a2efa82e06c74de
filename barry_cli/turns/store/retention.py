"""Forgetting sessions that ended long ago, with all that belongs to them."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from barry_cli.base.paths import Folders
from barry_cli.turns.store.opened import OpenDatabase
from barry_cli.turns.store.owners import is_gone
from barry_cli.turns.store.sessions import SessionRow, Sessions

_WORTH_IT = 2000
"""Free pages (of 4 KiB) from which on the file is made smaller."""

_AT_ONCE = 2000  # events that are removed in one transaction,
_BREATH = 0.005  # and the seconds after it in which others get to write

_WITHOUT_SESSION = """
    WITH RECURSIVE found (id) AS (
        SELECT min(session_id) FROM event
        UNION ALL
        SELECT (SELECT min(session_id) FROM event WHERE session_id > found.id) FROM found
        WHERE found.id IS NOT NULL
    )
    SELECT id FROM found
    WHERE id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM session WHERE session.id = found.id)
"""  # one step down the index for each session that has events


@dataclass(frozen=True, slots=True)
class Pruned:
    """A session that is forgotten, or would be."""

    row: SessionRow
    turns: int
    events: int
    messages: int


def prune(
    folders: Folders,
    *,
    before: datetime | None,
    keep: int,
    lives: Callable[[SessionRow], bool],
    dry_run: bool = False,
) -> list[Pruned]:
    """Forget this user's sessions that ended before a time, but for the ``keep`` newest.

    One that lives is kept, and one with a turn that is not over, or that somebody living holds.
    Where it is not known when a session ended, it counts from its start. One transaction each;
    its events go after it, in small ones, so that nobody who writes has to wait for long. What a
    crash leaves of them, the next time removes. Raises StoreProblem; what was forgotten until then
    stays so.
    """
    rows = Sessions(folders).all()
    chosen = [
        row
        for row in rows[keep:]
        if row.owner_uid == os.getuid() and _ended_before(row, before) and not lives(row)
    ]
    if not rows or (dry_run and not chosen):
        return []
    database = OpenDatabase(folders.database)
    try:
        found = [each for row in chosen if (each := _forget(database, row, dry_run)) is not None]
        if not dry_run:
            _drop_events(database)
            if not any(row.mode != "guest" and lives(row) for row in rows):  # one that writes
                _make_smaller(database)
    finally:
        database.close()
    return found


def _ended_before(row: SessionRow, before: datetime | None) -> bool:
    if before is None:
        return True
    try:
        moment = datetime.fromisoformat(row.ended_at or row.created_at)
    except ValueError:
        return False
    return moment.tzinfo is not None and moment < before


def _forget(database: OpenDatabase, row: SessionRow, dry_run: bool) -> Pruned | None:
    with database.reading() as connection:
        turns = _turns(connection, row)
        if turns is None:
            return None
        events, messages = connection.execute(
            "SELECT (SELECT count(*) FROM event WHERE session_id = ?1), "
            "(SELECT count(*) FROM message WHERE session_id = ?1)",
            (row.id,),
        ).fetchone()
    if not dry_run:
        with database.writing("prune", durable=False) as connection:
            turns = _turns(connection, row)  # one may have come meanwhile
            if turns is None:
                return None
            for table in ("receipt", "message", "turn", "session"):
                column = "id" if table == "session" else "session_id"
                connection.execute(
                    f"DELETE FROM {table} WHERE {column} = ?",  # noqa: S608 - names of our own
                    (row.id,),
                )
    return Pruned(row, turns, events, messages)


def _turns(connection: sqlite3.Connection, row: SessionRow) -> int | None:
    """How many turns a session has; None where it may not be forgotten, or is not there any
    more.
    """
    state = connection.execute("SELECT state FROM session WHERE id = ?", (row.id,)).fetchone()
    if state is None or state["state"] != row.state:
        return None
    turns: Sequence[sqlite3.Row] = connection.execute(
        "SELECT state, owner, ended_at FROM turn WHERE session_id = ?", (row.id,)
    ).fetchall()
    for turn in turns:
        held = turn["owner"] is not None and not is_gone(turn["owner"])
        if turn["ended_at"] is None or held:
            return None
    return len(turns)


def _drop_events(database: OpenDatabase) -> None:
    """Remove the events of sessions that are not there any more, a few at a time."""
    with database.reading() as connection:
        gone = [row["id"] for row in connection.execute(_WITHOUT_SESSION)]
    for session_id in gone:
        removed = _AT_ONCE
        while removed == _AT_ONCE:
            with database.writing("prune", durable=False) as connection:
                removed = connection.execute(
                    "DELETE FROM event WHERE session_id = ?1 AND sequence IN (SELECT sequence "
                    "FROM event WHERE session_id = ?1 ORDER BY sequence LIMIT ?2)",
                    (session_id, _AT_ONCE),
                ).rowcount
            time.sleep(_BREATH)


def _make_smaller(database: OpenDatabase) -> None:
    """Give the room back to the disk, where it is much and nobody else is in the way."""
    with suppress(sqlite3.Error):
        database.shrink(_WORTH_IT)
