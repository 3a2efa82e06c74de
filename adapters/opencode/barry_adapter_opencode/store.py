"""opencode's database, read and never written.

A conversation has no file of its own. Where a path is called for, one stands for it:
``<database>/<conversation's id>``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    import sqlite3

_WAIT = 2.0  # seconds for a writer to finish


@contextmanager
def opened(database: Path) -> Iterator[sqlite3.Connection | None]:
    """The database for reading, or None where there is none to read."""
    import sqlite3

    if not database.is_file():
        yield None
        return
    # Without a log beside it nobody has it open, and even reading would leave files there.
    idle = not Path(f"{database}-wal").exists()
    address = f"file:{quote(str(database))}?mode=ro" + ("&immutable=1" if idle else "")
    try:
        connection = sqlite3.connect(address, uri=True, timeout=_WAIT)
    except sqlite3.Error:
        yield None
        return
    try:
        yield connection
    finally:
        connection.close()


def conversations(database: Path, cwd: str, *, created: int = 0, updated: int = 0) -> list[str]:
    """The ids of a folder's conversations, newest first; those of subagents aside.

    ``created`` and ``updated`` (milliseconds) leave out what was before.
    """
    import sqlite3

    query = (
        "SELECT id FROM session WHERE parent_id IS NULL AND directory IN (?, ?) "
        "AND time_created >= ? AND time_updated >= ? ORDER BY time_updated DESC"
    )
    with opened(database) as connection:
        if connection is None:
            return []
        try:
            rows = connection.execute(query, (cwd, os.path.realpath(cwd), created, updated))
            return [str(row[0]) for row in rows]
        except sqlite3.Error:  # another build's tables, or a writer that keeps it locked
            return []


def known(database: Path, session: str) -> bool | None:
    """Whether there is such a conversation, in whatever folder; None where that can't be told."""
    import sqlite3

    if not database.exists():
        return False
    with opened(database) as connection:
        if connection is None:
            return None
        try:
            rows = connection.execute("SELECT 1 FROM session WHERE id = ?", (session,))
            return rows.fetchone() is not None
        except sqlite3.Error:  # another build's tables, or a writer that keeps it locked
            return None


def entries(database: Path, session: str) -> Iterator[tuple[str, str, str, str]]:
    """Every message with each of its parts, in order: message id, message, part id, part.

    A message without parts comes once, with an empty part.
    """
    import sqlite3

    query = (
        "SELECT message.id, message.data, COALESCE(part.id, ''), COALESCE(part.data, '') "
        "FROM message LEFT JOIN part ON part.message_id = message.id "
        "WHERE message.session_id = ? ORDER BY message.time_created, message.id, part.id"
    )
    with opened(database) as connection:
        if connection is None:
            return
        try:
            for row in connection.execute(query, (session,)):
                yield str(row[0]), str(row[1]), str(row[2]), str(row[3])
        except sqlite3.Error:  # another build's tables, or a writer that keeps it locked
            return
