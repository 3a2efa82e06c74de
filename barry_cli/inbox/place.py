"""Where a session listens: one socket, claimed under a lock that lives as long as the session."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import stat
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from barry_cli.base.ids import is_id
from barry_cli.base.paths import SOCKET_PATH_LIMIT, ensure_own, socket_folder
from barry_cli.base.problems import StoreProblem

_PATIENCE = 0.5
"""Seconds for which a lock that somebody else holds may yet turn out to be let go."""
_SWEPT = 100
"""How many leftovers of sessions that died are removed at most while one is claimed."""


class Place:
    """A session's own socket: bound, and not yet listening.

    Its lock says that the session lives, because the kernel drops it with the process.
    """

    def __init__(self, path: Path, lock: int, listener: socket.socket) -> None:
        self.path = str(path)
        self.listener = listener
        self._lock: int | None = lock

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def release(self) -> None:
        """Stop being there: the socket goes, then its lock. Idempotent; raises nothing."""
        if self._lock is None:
            return
        descriptor, self._lock = self._lock, None
        self.listener.close()
        _remove(Path(self.path), descriptor)


def path_of(session_id: str) -> str:
    """Where ``claim`` will put a session's socket, for who has to name it before."""
    return str(socket_folder() / f"{session_id}.sock")


def claim(session_id: str) -> Place:
    """The session's own socket, for this process alone.

    Raises StoreProblem where the folder is not private, where another process has the place,
    where something else lies there, and where the path would be too long for a socket.
    """
    path = Path(path_of(session_id))
    folder = ensure_own(path.parent)
    if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
        raise StoreProblem(
            f"{path} is too long a path for a socket: {SOCKET_PATH_LIMIT} bytes are the most",
            hint="set BARRY_HOME to a folder with a shorter path",
            details={"path": str(path)},
        )
    try:
        lock = _locked(path, patient=True)
    except OSError as error:
        raise _unusable(path, error) from error
    if lock is None:
        raise StoreProblem(
            f"{path} belongs to a session that runs",
            hint="`barry session list` shows it; nothing was changed",
            details={"path": str(path)},
        )
    try:
        listener = _bound(path)
    except BaseException as error:
        os.close(lock)
        if isinstance(error, OSError):
            raise _unusable(path, error) from error
        raise
    _sweep(folder)
    return Place(path, lock, listener)


def _unusable(path: Path, error: OSError) -> StoreProblem:
    return StoreProblem(
        f"{path} can't be made: {error.strerror or error}",
        hint="mend the permissions of its folder, or set BARRY_HOME to one of your own",
        details={"path": str(path)},
    )


def _lock_of(path: Path) -> Path:
    return path.with_suffix(".lock")


def _locked(path: Path, *, patient: bool) -> int | None:
    """The place's lock; None while another process has it.

    Who lets go of a lock removes its file, so that a file that was opened before may be no longer
    the one that the next process finds: it is compared once it is locked. Who is ``patient`` waits
    a moment: another session that looks for leftovers has it for no longer.
    """
    beside = _lock_of(path)
    give_up = time.monotonic() + (_PATIENCE if patient else 0)
    while True:
        descriptor = os.open(
            beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, mode=0o600
        )
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_at(descriptor, beside):
                return descriptor
        except BlockingIOError:
            if time.monotonic() >= give_up:
                os.close(descriptor)
                return None
            time.sleep(0.01)
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)


def _bound(path: Path) -> socket.socket:
    """A socket at this path, whose lock is held: so what lies there is nobody's any more."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise StoreProblem(
                f"{path} is there, and is no socket",
                hint="move it aside: nothing of Barry's made it",
                details={"path": str(path)},
            )
        path.unlink()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        listener.bind(os.fspath(path))
        path.chmod(0o600)  # its folder lets nobody else in, until then too
    except BaseException:
        listener.close()
        raise
    return listener


def _remove(path: Path, lock: int) -> None:
    """Remove a place whose lock is held, the lock last, and let go."""
    with contextlib.suppress(OSError):
        if stat.S_ISSOCK(os.lstat(path).st_mode):
            path.unlink()
    with contextlib.suppress(OSError):
        if _is_at(lock, _lock_of(path)):
            _lock_of(path).unlink()
    os.close(lock)


def _sweep(folder: Path) -> None:
    """Remove what sessions left that were killed: each under its own lock, or not at all."""
    with contextlib.suppress(OSError):
        left = [each for each in folder.glob("*.lock") if is_id(each.stem)]
        for lock in left[:_SWEPT]:
            path = lock.with_suffix(".sock")
            with contextlib.suppress(OSError):
                descriptor = _locked(path, patient=False)
                if descriptor is not None:
                    _remove(path, descriptor)
