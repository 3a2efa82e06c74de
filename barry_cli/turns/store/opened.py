"""An open database, as a store uses it: whole transactions, and problems instead of errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from barry_cli.base.problems import StoreProblem
from barry_cli.turns.store.database import connect, transaction, unreadable

OnCommit = Callable[[str, str], None]
"""(``before`` or ``after``, what is committed) -> None."""


class OpenDatabase:
    """One connection, for the thread that opened it.

    Raises StoreProblem where the file can't be used; what was committed before stays.
    """

    def __init__(self, path: Path, on_commit: OnCommit | None = None) -> None:
        self._path = path
        self._on_commit = on_commit
        self._connection = connect(path)
        self._durable = False

    def close(self) -> None:
        """Let go of the file. Idempotent."""
        self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A view of one moment."""
        try:
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.execute("ROLLBACK")
        except (sqlite3.Error, UnicodeEncodeError) as error:
            self._refuse(error)

    @contextmanager
    def writing(self, what: str, *, durable: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction. A durable one outlasts a power cut once this returns."""
        try:
            if durable is not self._durable:
                mode = "FULL" if durable else "NORMAL"
                self._connection.execute(f"PRAGMA synchronous={mode}")
                self._durable = durable
            with transaction(self._connection):
                yield self._connection
                if self._on_commit is not None:
                    self._on_commit("before", what)
            if self._on_commit is not None:
                self._on_commit("after", what)
        except (sqlite3.Error, UnicodeEncodeError) as error:
            self._refuse(error)

    def shrink(self, pages: int) -> None:
        """Give free pages back to the disk when there are so many.

        Raises sqlite3.Error where somebody else uses the file, or the disk has no room for it.
        """
        free = self._connection.execute("PRAGMA freelist_count").fetchone()[0]
        if free >= pages:
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _refuse(self, error: sqlite3.Error | UnicodeEncodeError) -> NoReturn:
        if isinstance(error, sqlite3.ProgrammingError):
            raise error  # a mistake in the program: another thread's connection, or a closed one
        if isinstance(error, sqlite3.Error):
            raise unreadable(self._path, error) from error
        raise StoreProblem(
            f"{self._path} keeps only UTF-8, and a part of what was to be recorded is not",
            hint="leave out what is no text",
            details={"path": str(self._path)},
        ) from error
