"""The rows of sessions: one for each launch, whoever drives it."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from barry_cli.base.ids import matching, nearest
from barry_cli.base.paths import Folders
from barry_cli.base.problems import SessionNotFound, StoreProblem
from barry_cli.turns.store.database import aside, connect, connect_to_read, transaction, unreadable


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRow:
    """A session as it is recorded. Times are ISO 8601 in UTC; JSON columns are decoded."""

    id: str
    adapter: str
    mode: str
    cwd: str
    guarantees: Mapping[str, Any]
    asked: Mapping[str, Any]
    """What the user asked for, so that a resume asks for the same."""
    state: str
    created_at: str
    lowered: Mapping[str, str] = field(default_factory=dict)
    unverified: bool = False
    warnings: tuple[str, ...] = ()
    harness_session_id: str | None = None
    harness_version: str | None = None
    resumed_from: str | None = None
    owner_uid: int = 0
    pid: int | None = None
    pid_started: str | None = None
    supervisor_pid: int | None = None
    supervisor_started: str | None = None
    exit_status: int | None = None
    exit_signal: int | None = None
    ended_at: str | None = None
    socket: str | None = None
    """Where the session listens while it lives; recorded, never worked out again."""
    token_digest: str | None = None
    """What tells the session's own children; None once it was revoked, or where there is none."""
    activity: str | None = None
    """``starting``, ``idle``, ``active`` or ``waiting``, by the harness's own signals; None where
    they say nothing."""


_JSON = ("guarantees", "lowered", "warnings", "asked")
_COLUMNS = tuple(SessionRow.__dataclass_fields__)


def now() -> str:
    """This moment, as it is recorded."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Sessions:
    """The session table of one Barry home. Each call is one transaction."""

    def __init__(self, folders: Folders) -> None:
        self._path = folders.database

    @contextmanager
    def _using(self, connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
        try:
            yield connection
        except sqlite3.Error as error:
            raise unreadable(self._path, error) from error
        except UnicodeEncodeError as error:
            raise StoreProblem(
                f"{self._path} keeps only UTF-8, and a part of this session's record is not",
                hint="this is a fault of the session's adapter; an update may mend it",
                details={"path": str(self._path)},
            ) from error
        finally:
            connection.close()

    def add(self, row: SessionRow) -> None:
        """Record a new session."""
        values = {name: getattr(row, name) for name in _COLUMNS}
        values["owner_uid"] = os.getuid()
        self._write(
            f"INSERT INTO session ({', '.join(_COLUMNS)}) "  # noqa: S608 - names of our own
            f"VALUES ({', '.join(':' + name for name in _COLUMNS)})",
            values,
        )

    def change(self, session_id: str, **values: object) -> None:
        """Set columns of one session."""
        unknown = set(values) - set(_COLUMNS)
        if unknown:
            raise ValueError(f"no such column: {', '.join(sorted(unknown))}")
        assignments = ", ".join(f"{name} = :{name}" for name in values)
        self._write(
            f"UPDATE session SET {assignments} WHERE id = :_id",  # noqa: S608 - names of our own
            {**values, "_id": session_id},
        )

    def forget(self, session_id: str) -> None:
        """Take back the row of a session that never started."""
        self._write("DELETE FROM session WHERE id = :_id", {"_id": session_id})

    def _write(self, statement: str, values: Mapping[str, object]) -> None:
        encoded = {
            name: json.dumps(value) if name in _JSON else value for name, value in values.items()
        }
        with self._using(connect(self._path)) as connection, transaction(connection):
            connection.execute(statement, encoded)

    def all(self) -> list[SessionRow]:
        """Every session, newest first; none when nothing was ever recorded."""
        opened = connect_to_read(self._path)
        if opened is None:
            return []
        with self._using(opened) as connection:
            rows = connection.execute(
                "SELECT * FROM session ORDER BY created_at DESC, id"
            ).fetchall()
        return self._read(rows)

    def find(self, session_id: str) -> SessionRow | None:
        """The session with this very id: one row is read, for who looks often."""
        opened = connect_to_read(self._path)
        if opened is None:
            return None
        with self._using(opened) as connection:
            rows = connection.execute(
                "SELECT * FROM session WHERE id = ?", (session_id,)
            ).fetchall()
        return next(iter(self._read(rows)), None)

    def _read(self, rows: list[sqlite3.Row]) -> list[SessionRow]:
        try:
            return [_decoded(row) for row in rows]
        except (IndexError, TypeError, ValueError) as error:
            raise StoreProblem(
                f"{self._path} is damaged: a session's record can't be understood ({error})",
                hint=f"move it aside: {aside(self._path)}",
                details={"path": str(self._path)},
            ) from error

    def get(self, prefix: str) -> SessionRow:
        """The session with this id or unique prefix.

        Raises SessionNotFound, naming what was probably meant.
        """
        rows = {row.id: row for row in self.all()}
        found = matching(prefix, rows)
        if len(found) == 1 and prefix:
            return rows[found[0]]
        if found and prefix:
            raise SessionNotFound(
                f"{len(found)} sessions begin with {prefix}: {', '.join(found[:5])}",
                hint="give more of the id",
                details={"prefix": prefix, "sessions": found},
            )
        close = nearest(prefix, rows)
        if not prefix:
            raise SessionNotFound(
                "there is no session with an empty id",
                hint="`barry session list` shows what there is",
            )
        raise SessionNotFound(
            f"there is no session {prefix}",
            hint=f"did you mean {close}?" if close else "`barry session list` shows what there is",
            details={"prefix": prefix},
        )


def _decoded(row: sqlite3.Row) -> SessionRow:
    values = {name: row[name] for name in _COLUMNS}
    for name in _JSON:
        values[name] = json.loads(values[name])
    values["warnings"] = tuple(values["warnings"])
    values["unverified"] = bool(values["unverified"])
    return SessionRow(**values)
