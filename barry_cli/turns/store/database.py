"""Opening ``barry.db``: settings, version, migration."""

from __future__ import annotations

import contextlib
import shlex
import sqlite3
import stat
from pathlib import Path
from types import TracebackType

from barry_cli.base.files import lock
from barry_cli.base.paths import ensure
from barry_cli.base.problems import StoreProblem
from barry_cli.turns.store.connection import is_held, open_connection
from barry_cli.turns.store.file_system import refuse_network
from barry_cli.turns.store.schema import MIGRATIONS

VERSION = len(MIGRATIONS)

_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_NO_RIGHT = (
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_AUTH,
)


def aside(path: Path) -> str:
    """The shell's words that move the database aside, and its log with it.

    The log holds what was committed last; SQLite removes one that lies beside a new file.
    """
    moves = [f"mv {shlex.quote(str(path))} {shlex.quote(f'{path}.aside')}"]
    if not _is_empty(log := path.with_name(f"{path.name}-wal")):
        moves.append(f"mv {shlex.quote(str(log))} {shlex.quote(f'{path}.aside-wal')}")
    return f"`{' && '.join(moves)}`"


def _aside(path: Path) -> str:
    return f"move it aside ({aside(path)}) and run the command again to start a new one"


def connect(path: Path) -> sqlite3.Connection:
    """An open database of the present version, made or migrated where needed.

    A migration first copies the file to ``<name>.v<old version>.backup``.
    Raises StoreProblem when the file can't be read, is newer than this Barry, is no database, or
    lies on a network file system; then the file is as it was.
    """
    ensure(path.parent)
    refuse_network(path)
    wal = _look_at(path)
    try:
        connection = _open(path, wal=wal)
        try:
            version = _version(connection)
            if version > VERSION:
                raise _newer(path, version)
            if version < VERSION:
                with lock(path):
                    _migrate(connection, path)
        except BaseException:
            connection.close()
            raise
    except sqlite3.DatabaseError as error:
        raise unreadable(path, error) from error
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection | None:
    """``connect`` for who only looks; None where there is no file.

    Where nothing can be written (another's folder, a read-only or a full disk), what is there is
    read as it is. Raises StoreProblem when even that can't be.
    """
    if not _is_there(path):
        return None
    try:
        return connect(path)
    except StoreProblem as problem:
        connection = _as_it_is(path) if _only_writing_failed(problem) else None
        if connection is None:
            raise
        return connection


def _only_writing_failed(problem: StoreProblem) -> bool:
    cause = problem.__cause__
    if isinstance(cause, sqlite3.Error):
        return _kind(cause) in (*_NO_ROOM, *_NO_RIGHT)
    return isinstance(cause, OSError)


def _as_it_is(path: Path) -> sqlite3.Connection | None:
    """The database without a change to any file; None where that can't be done."""
    for how in ("mode=ro", "mode=ro&immutable=1"):
        # Immutable, the log is passed over: only where it holds nothing is nothing missed.
        if "immutable" in how and not _is_empty(path.with_name(f"{path.name}-wal")):
            break
        try:
            uri = f"{path.absolute().as_uri()}?{how}"
            connection = open_connection(uri, file=path, uri=True)
        except sqlite3.Error:
            continue
        try:
            if _version(connection) == VERSION:
                connection.row_factory = sqlite3.Row
                return connection
        except sqlite3.Error:
            pass
        connection.close()
    return None


def _is_empty(path: Path) -> bool:
    try:
        return path.stat().st_size == 0
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _is_there(path: Path) -> bool:
    """Whether there is such a file. Raises StoreProblem where one may not even look."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _closed(path, error) from error
    return True


def _closed(path: Path, error: OSError) -> StoreProblem:
    mendable = isinstance(error, PermissionError) or path.is_file()
    return StoreProblem(
        f"{path} can't be read: {error.strerror or error}",
        hint="mend the permissions of it and its folder, or set BARRY_HOME to a folder of your own"
        if mendable
        else _aside(path),
        details={"path": str(path)},
    )


def unreadable(path: Path, error: sqlite3.Error) -> StoreProblem:
    """What the user is told when SQLite can't work with the file."""
    kind = _kind(error)
    if kind in _NO_ROOM:
        hint = "free some disk space, then try again; what was recorded is still there"
    elif kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        hint = "another Barry is writing to it: try again"
    elif kind in _NO_RIGHT:
        hint = "mend the permissions of the file and its folder"
    else:
        hint = _aside(path)
    told = f"{path} can't be used: {error}"
    if kind == sqlite3.SQLITE_ERROR:  # a table or a column that is not there
        told = f"{path} is damaged: it is not as Barry made it ({error})"
    return StoreProblem(told, hint=hint, details={"path": str(path)})


def _kind(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _newer(path: Path, version: int) -> StoreProblem:
    return StoreProblem(
        f"{path} was written by a newer Barry (schema {version}, this one reads {VERSION})",
        hint=f"update Barry, or {_aside(path)}",
        details={"path": str(path), "schema": version},
    )


def _look_at(path: Path) -> bool:
    """Whether the file keeps a write-ahead log already.

    Read without SQLite, which would change a file by opening it; one that this process has a
    connection to was looked at then. Raises StoreProblem for one that can't be read, is no
    database, or is a newer Barry's.
    """
    if is_held(path):
        return True
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # to open a pipe would wait for its other end
            raise StoreProblem(
                f"{path} can't be used: it is no file",
                hint=_aside(path),
                details={"path": str(path)},
            )
        with path.open("rb") as file:
            head = file.read(100)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise _closed(path, error) from error
    if not head:
        return False
    if len(head) < 100 or not head.startswith(b"SQLite format 3\0"):
        raise StoreProblem(f"{path} is no database", hint=_aside(path), details={"path": str(path)})
    version = int.from_bytes(head[60:64], "big")
    if version > VERSION:
        raise _newer(path, version)
    return head[18:20] == b"\2\2"


def _open(path: Path, *, wal: bool) -> sqlite3.Connection:
    existed = path.exists()
    connection = open_connection(path, file=path)
    try:
        if not existed:
            path.chmod(0o600)
        connection.row_factory = sqlite3.Row
        if not wal:
            with lock(path):  # two that switch it on at once would get in each other's way
                connection.execute("PRAGMA journal_mode=WAL")
        for pragma in (
            "synchronous=NORMAL",
            "foreign_keys=ON",
            "temp_store=MEMORY",
            "journal_size_limit=67108864",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    version = _version(connection)  # another process may have been quicker
    if version == VERSION:
        return
    if version > 0:
        _back_up(connection, path.with_name(f"{path.name}.v{version}.backup"))
    for number in range(version, VERSION):
        with transaction(connection):
            for statement in MIGRATIONS[number].split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")


def _back_up(connection: sqlite3.Connection, to: Path) -> None:
    copy = sqlite3.connect(to)
    try:
        connection.backup(copy)
    finally:
        copy.close()
    to.chmod(0o600)


def transaction(connection: sqlite3.Connection) -> _Transaction:
    """One write, whole or not at all. IMMEDIATE: a deferred one fails at once when contended."""
    return _Transaction(connection)


class _Transaction:
    """Two methods and no generator: an event costs one of these."""

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None:
            try:
                self._connection.execute("COMMIT")
                return
            except BaseException:  # a disk is full only when it is written to
                self._roll_back()
                raise
        self._roll_back()

    def _roll_back(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")
