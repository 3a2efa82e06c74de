"""What became of a session's messages, for who only looks: nothing is written here.

What nobody lives to record is told all the same: a message that a dead Barry was writing is
uncertain, whether or not somebody has said so since.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from barry_cli.base.paths import Folders
from barry_cli.base.processes import ProcessIdentity, is_alive
from barry_cli.inbox.messages import Message, as_it_stands
from barry_cli.inbox.spool import message_of
from barry_cli.turns.store.database import connect_to_read, unreadable
from barry_cli.turns.store.owners import is_gone
from barry_cli.turns.store.sessions import SessionRow

Lives = Callable[[SessionRow], bool]

SHOWN = 1000
"""Letters of a message's content that are read for a list."""

_COLUMNS = ", ".join(name for name in Message.__dataclass_fields__ if name != "content")


@dataclass(frozen=True, kw_only=True, slots=True)
class Listed:
    """A message whose content may be cut, and how long it is as a whole."""

    message: Message
    bytes: int


def is_over(row: SessionRow | None, lives: Lives) -> bool:
    """Whether nobody will record anything more of a session's messages.

    Its harness may be gone while Barry still reads the last of its evidence.
    """
    if row is None or row.state == "ended":
        return True
    if lives(row):
        return False
    if row.supervisor_pid is None or row.supervisor_started is None:
        return True
    return not is_alive(ProcessIdentity(row.supervisor_pid, row.supervisor_started))


def told(message: Message, *, over: bool) -> Message:
    """A message as it stands by now."""
    gone = message.owner is not None and is_gone(message.owner)
    return as_it_stands(message, owner_gone=gone, over=over)


def messages_of(folders: Folders, row: SessionRow, lives: Lives) -> list[Listed]:
    """The session's messages, first to last, as they stand by now. Raises StoreProblem."""
    connection = connect_to_read(folders.database)
    if connection is None:
        return []
    over = is_over(row, lives)
    try:
        rows = connection.execute(
            f"SELECT {_COLUMNS}, substr(content, 1, ?) AS content, "  # noqa: S608 - our own
            "length(CAST(content AS BLOB)) AS bytes FROM message WHERE session_id = ? "
            "ORDER BY seq",
            (SHOWN, row.id),
        ).fetchall()
        return [
            Listed(message=told(message_of(each), over=over), bytes=each["bytes"]) for each in rows
        ]
    except sqlite3.Error as error:
        raise unreadable(folders.database, error) from error
    finally:
        connection.close()
