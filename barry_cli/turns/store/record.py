"""The record for who only looks: turns and events of a session, as plain documents."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from barry_cli.base.paths import Folders
from barry_cli.base.problems import SessionNotFound
from barry_cli.turns.store.database import connect_to_read, unreadable
from barry_cli.turns.store.events import StoredEvent, read_events
from barry_cli.turns.store.turn_rows import turn_documents, turn_times, uncertain_calls


class Record:
    """What a Barry home has recorded of its sessions. Nothing is written.

    Raises SessionNotFound, and StoreProblem where the file can't be read.
    """

    def __init__(self, folders: Folders) -> None:
        self._path = folders.database

    def turns(self, session_id: str) -> list[dict[str, Any]]:
        """The session's turns, first to last: snapshots with ``actor``, ``createdAt`` and, when
        over, ``endedAt``.
        """
        with self._reading(session_id) as connection:
            times = turn_times(connection, session_id)
            found = turn_documents(connection, session_id)
        return [{**each, **times[each["id"]]} for each in found]

    def events(self, session_id: str, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        """The session's events behind a number, in order, at most ``limit``."""
        with self._reading(session_id) as connection:
            return read_events(connection, session_id, after, limit)

    def uncertain_calls(self, session_id: str) -> dict[str, list[str]]:
        """For each turn that has some: the ids of its calls whose end nobody saw."""
        with self._reading(session_id) as connection:
            return uncertain_calls(connection, session_id)

    @contextmanager
    def _reading(self, session_id: str) -> Iterator[sqlite3.Connection]:
        connection = connect_to_read(self._path)
        if connection is None:
            raise SessionNotFound(
                f"there is no session {session_id}",
                hint="nothing was recorded yet",
                details={"sessionId": session_id},
            )
        try:
            connection.execute("BEGIN")  # all of it as of one moment
            yield connection
        except sqlite3.Error as error:
            raise unreadable(self._path, error) from error
        finally:
            connection.close()
