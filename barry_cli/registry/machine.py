"""What Barry itself needs of this machine. Looked at without making or changing anything."""

from __future__ import annotations

import os
import platform
import sqlite3
import stat
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import closing
from pathlib import Path

from barry_cli.base.paths import SOCKET_PATH_LIMIT, Folders
from barry_cli.base.problems import StoreProblem
from barry_cli.registry.findings import Finding, Group
from barry_cli.registry.store import read_rows
from barry_cli.turns.store.database import VERSION, aside

MACHINE = Group("machine")
OLDEST_PYTHON = (3, 11)
LITTLE_BYTES = 200 << 20
"""Less free space than this deserves a word: a session's record grows."""
NO_BYTES = 4 << 20
"""Less than this, and nothing can be relied on to be recorded."""
SHORT = f"/tmp/barry-{os.getuid()}"  # noqa: S108 - only looked at, and only if it is private
"""Where sockets go when Barry's own folder is too long a path for one."""
_SOCKET_NAME = "x" * 12 + ".sock"


def look_at_machine(folders: Folders, env: Mapping[str, str]) -> Iterator[Finding]:
    """One finding after the other; a broken registry is named by `look_at_registry` alone."""
    yield _python()
    yield from _folders(folders)
    yield _disk(folders)
    yield _database(folders.database)
    yield _sockets(folders)
    yield _terminal(env)


async def no_folders(problem: StoreProblem) -> AsyncGenerator[Finding, None]:
    """All that can be said where Barry has no folders."""
    yield MACHINE.broken("folders", problem.message, problem.hint)


def look_at_registry(folders: Folders) -> Finding:
    """Whether the records can be read, and how many there are."""
    try:
        count = len(read_rows(folders))
    except StoreProblem as problem:
        return MACHINE.broken("registry", problem.message, problem.hint)
    if count == 0:
        return MACHINE.warn(
            "registry", "no adapter is installed", "`barry adapter add demo` adds the first one"
        )
    return MACHINE.ok(
        "registry", f"{count} adapter{'s' if count > 1 else ''} in {folders.registry}"
    )


def _python() -> Finding:
    text = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info[:2] < OLDEST_PYTHON:
        wanted = ".".join(map(str, OLDEST_PYTHON))
        return MACHINE.broken("python", text, f"install Barry with Python {wanted} or newer")
    return MACHINE.ok("python", text)


def _folders(folders: Folders) -> Iterator[Finding]:
    wrong = []
    for name in ("config", "data", "state", "cache", "run"):
        path: Path = getattr(folders, name)
        if (problem := _not_writable(path)) is not None:
            fix = "mend its permissions, or set BARRY_HOME to a folder that is yours"
            wrong.append(MACHINE.broken(f"{name} folder", problem, fix))
    if wrong:
        yield from wrong
    else:
        where = os.path.commonpath([folders.config, folders.data, folders.state, folders.cache])
        yield MACHINE.ok("folders", f"all writable, below {where}")


def _not_writable(path: Path) -> str | None:
    """Why nothing could be written into a folder, which need not be there yet; None if it could."""
    above = _nearest(path)
    if not above.is_dir():
        return f"{above} is not a folder"
    if not os.access(above, os.W_OK | os.X_OK):
        return f"{path} can't be written" if above == path else f"{path} can't be made in {above}"
    return None


def _nearest(path: Path) -> Path:
    """The path itself, or of what is above it the first that is there."""
    for place in (path, *path.parents):
        if os.path.lexists(place):
            return place
    return Path("/")


def _disk(folders: Folders) -> Finding:
    place = _nearest(folders.state)
    try:
        status = os.statvfs(place)
    except OSError as error:
        text = f"the disk of {place} can't be asked for its free space: {error.strerror}"
        return MACHINE.warn("disk", text, "see whether that disk is well")
    free = status.f_bavail * status.f_frsize
    text = f"{free >> 20} MiB free for {folders.state}"
    if free < NO_BYTES:
        return MACHINE.broken("disk", text, "free space there: nothing can be recorded")
    if free < LITTLE_BYTES:
        return MACHINE.warn("disk", text, "free space there before it runs out")
    return MACHINE.ok("disk", text)


def _database(path: Path) -> Finding:
    if not os.path.lexists(path):
        return MACHINE.ok("database", "none yet: the first session makes it")
    fix = f"move it aside ({aside(path)}): the next session starts a new one"
    if path.exists() and not path.is_file():
        return MACHINE.broken("database", f"{path} is no file", fix)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as opened:
            version = int(opened.execute("PRAGMA user_version").fetchone()[0])
            opened.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        return MACHINE.broken("database", f"{path} can't be read: {error}", fix)
    if version > VERSION:
        text = f"{path} was written by a newer Barry (schema {version}, this one reads {VERSION})"
        return MACHINE.broken("database", text, f"update Barry, or {fix}")
    if not os.access(path, os.W_OK):
        return MACHINE.broken("database", f"{path} can't be written", "mend its permissions")
    return MACHINE.ok("database", f"{path}, schema {version}")


def _sockets(folders: Folders) -> Finding:
    if len(os.fsencode(folders.run / _SOCKET_NAME)) <= SOCKET_PATH_LIMIT:
        return MACHINE.ok("sockets", f"in {folders.run}")
    why = f"{folders.run} is too long a path for a socket, so they go to {SHORT}"
    try:
        status = os.lstat(SHORT)
    except OSError:
        return MACHINE.ok("sockets", why)
    private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
    if status.st_uid == os.getuid() and private:
        return MACHINE.ok("sockets", why)
    fix = "remove it, or set BARRY_HOME to a folder with a shorter path"
    return MACHINE.broken("sockets", f"{why}, and that is not a private folder of yours", fix)


def _terminal(env: Mapping[str, str]) -> Finding:
    missing = [name for number, name in ((0, "input"), (1, "output")) if not os.isatty(number)]
    if missing:
        return MACHINE.warn(
            "terminal",
            f"there is none on the {' and the '.join(missing)} of this command",
            "a launch needs one: run it in a terminal, without a pipe",
        )
    term = env.get("TERM", "")
    if term in ("", "dumb"):
        what = f"TERM is {term}" if term else "TERM is not set"
        fix = "set TERM to what your terminal is, for example xterm-256color"
        return MACHINE.warn("terminal", f"{what}, and a harness draws its screen by it", fix)
    return MACHINE.ok("terminal", term)
