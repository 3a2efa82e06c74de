"""Files that are never half written: temporary file, fsync, rename, under a lock."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

from barry_cli.base.paths import ensure
from barry_cli.base.problems import StoreProblem

LOCK_WAIT_SECONDS = 30.0


def _problem(path: Path, error: OSError, doing: str) -> StoreProblem:
    return StoreProblem(
        f"{path} can't be {doing}: {error.strerror or error}",
        hint="free space or mend the permissions of its folder, then try again; "
        "nothing that was recorded has changed",
        details={"path": str(path)},
    )


def write_atomic(path: Path, data: bytes, *, mode: int = 0o600) -> None:
    """Replace a file in one step, durably; readers see the old bytes or the new ones.

    Raises StoreProblem; then the file is as it was and no temporary file is left.
    """
    ensure(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise _problem(path, error, "written") from error
    except BaseException:  # an interrupt leaves no litter either
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # some file systems refuse to sync a folder
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_json(path: Path, value: object) -> None:
    """Write one JSON document atomically, two spaces deep, keys in the order given."""
    write_atomic(path, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())


def read_json(path: Path) -> object | None:
    """The document in a file, or None when there is no file.

    Raises StoreProblem when it can't be read, and ValueError when it is not one JSON document.
    """
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _problem(path, error, "read") from error
    document: object = json.loads(text)
    return document


@contextlib.contextmanager
def lock(path: Path, *, wait_seconds: float = LOCK_WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock that belongs to a file, for one writer at a time across processes.

    The lock is a file beside it; the kernel drops it when its holder dies.
    Raises StoreProblem when it isn't free within the wait.
    """
    import fcntl

    ensure(path.parent)
    beside = path.with_name(path.name + ".lock")
    try:
        descriptor = os.open(beside, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise _problem(path, error, "locked") from error
    try:
        give_up = time.monotonic() + wait_seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= give_up:
                    raise StoreProblem(
                        f"{path} is in use by another Barry for {wait_seconds:g} seconds",
                        hint="wait for the other command to end, then try again",
                        details={"path": str(path)},
                    ) from None
                time.sleep(0.02)
            except OSError as error:
                raise _problem(path, error, "locked") from error
        yield
    finally:
        os.close(descriptor)
