"""Connections to a database, counted: who holds one may not open its file in another way.

POSIX drops every lock that a process has on a file as soon as it closes that file once, through
whichever descriptor. SQLite in another process would then take itself for the only one, remove the
write-ahead log, and the database would be damaged.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

_Place = tuple[int, int]

_held: Counter[_Place] = Counter()


class Connection(sqlite3.Connection):
    """One that says which file it holds. Never closed, it counts as holding it for good."""

    _place: _Place | None = None

    def holds(self, path: Path) -> None:
        """Say that it is a connection to this file."""
        self._place = _place_of(path)
        if self._place is not None:
            _held[self._place] += 1

    def close(self) -> None:
        super().close()
        if self._place is not None:
            _held[self._place] -= 1
            self._place = None


def is_held(path: Path) -> bool:
    """Whether this process has a connection to this very file."""
    place = _place_of(path)
    return place is not None and _held[place] > 0


def open_connection(path: Path | str, *, file: Path, **options: Any) -> Connection:
    """A connection to ``path``, a path or a URI of ``file``. Raises sqlite3.Error."""
    connection = sqlite3.connect(
        path, isolation_level=None, timeout=10, factory=Connection, **options
    )
    connection.holds(file)
    return connection


def _place_of(path: Path) -> _Place | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
