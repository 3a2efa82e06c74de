"""Events of a session that has no turns: a person drives it, and Barry only listens."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from barry_cli.base.canonical import NotCanonical
from barry_cli.base.paths import Folders
from barry_cli.turns.store.events import add_events, event_row
from barry_cli.turns.store.opened import OpenDatabase
from barry_cli.turns.store.turn_rows import require_session
from barry_cli.turns.writable import writable


class SessionLog:
    """One connection, for the thread that made it. Raises StoreProblem."""

    def __init__(self, folders: Folders) -> None:
        self._database = OpenDatabase(folders.database)

    def append(self, session_id: str, events: Sequence[Mapping[str, Any]]) -> int:
        """Put events behind those that are there, all or none; the number of the last one.

        What JSON can't carry is made text. Raises SessionNotFound, StoreProblem, and NotCanonical
        for what is no event; then nothing was written.
        """
        rows = [_row(event) for event in events]
        with self._database.writing("log", durable=False) as connection:
            require_session(connection, session_id)
            return add_events(connection, session_id, None, rows, time.time_ns() // 1000)

    def close(self) -> None:
        """Let go of the file. Idempotent."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _row(event: Mapping[str, Any]) -> tuple[str, bool]:
    try:
        return event_row(event)
    except NotCanonical:
        return event_row(writable(dict(event)))
