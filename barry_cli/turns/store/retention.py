"""Forgetting sessions that ended long ago, with all that belongs to them."""

from __future__ import annotations

import os
import sqlite3
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


@dataclass(frozen=True, slots=True)
class Pruned:
    """A session that is forgotten, or would be."""

    row: SessionRow
    turns: int
    events: int


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
    Where it is not known when a session ended, it counts from its start. One transaction each.
    Raises StoreProblem; what was forgotten until then stays so.
    """
    chosen = [
        row
        for row in Sessions(folders).all()[keep:]
        if row.owner_uid == os.getuid() and _ended_before(row, before) and not lives(row)
    ]
    if not chosen:
        return []
    database = OpenDatabase(folders.database)
    try:
        found = [each for row in chosen if (each := _forget(database, row, dry_run)) is not None]
        if found and not dry_run:
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
        found = _found(connection, row)
    if found is None or dry_run:
        return found
    with database.writing("prune", durable=False) as connection:
        found = _found(connection, row)  # a turn may have come meanwhile
        if found is not None:
            for table in ("event", "receipt", "turn", "session"):
                column = "id" if table == "session" else "session_id"
                connection.execute(
                    f"DELETE FROM {table} WHERE {column} = ?",  # noqa: S608 - names of our own
                    (row.id,),
                )
    return found


def _found(connection: sqlite3.Connection, row: SessionRow) -> Pruned | None:
    """What belongs to a session; None where it may not be forgotten, or is not there any more."""
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
    events = connection.execute(
        "SELECT count(*) FROM event WHERE session_id = ?", (row.id,)
    ).fetchone()[0]
    return Pruned(row, len(turns), events)


def _make_smaller(database: OpenDatabase) -> None:
    """Give the room back to the disk, where it is much and nobody else is in the way."""
    with suppress(sqlite3.Error):
        database.shrink(_WORTH_IT)
