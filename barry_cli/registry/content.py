"""Whether a package's files are still those that were checked.

Two answers: a stamp of names, sizes and times, which costs a few calls, and a hash of the bytes,
asked for only when the stamps differ. Links are never followed.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIMIT_FILES = 5_000
LIMIT_BYTES = 64 << 20

_SKIPPED = frozenset({"__pycache__", ".git", ".mypy_cache", ".pytest_cache", ".ruff_cache"})
_COMPILED = (".pyc", ".pyo")
_PROJECT = "pyproject.toml"
_FRESH_NANOSECONDS = 2_000_000_000


class PackageProblem(Exception):
    """A package that can't be found, read or loaded; ``problems`` are whole sentences."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class Located:
    """Where the code of a package is."""

    file: str
    """The file that its top module is made from."""
    folder: str | None
    """The package's folder; None for a single file."""


@dataclass(frozen=True, slots=True)
class Content:
    """What a package's files were at one moment."""

    hash: str
    stamp: str


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    path: str
    facts: os.stat_result


def top_of(entry: str) -> str:
    """The top package of ``module:attribute``, or of a module."""
    return entry.partition(":")[0].partition(".")[0]


def locate(path: str, entry: str) -> Located:
    """Where the top package of an entry is, in a folder or its ``src``.

    Raises PackageProblem when it isn't there.
    """
    top = top_of(entry)
    for base in (path, os.path.join(path, "src")):
        folder = os.path.join(base, top)
        if os.path.isfile(os.path.join(folder, "__init__.py")):
            return Located(os.path.join(folder, "__init__.py"), folder)
        if os.path.isfile(f"{folder}.py"):
            return Located(f"{folder}.py", None)
    raise PackageProblem(
        f"{path} holds no package {top} (looked for {top}/__init__.py and src/{top})"
    )


def content_hash(path: str, entry: str) -> Content:
    """Read all of a package's files. Raises PackageProblem for what can't be vouched for."""
    import hashlib

    whole = hashlib.sha256()
    files = _files(path, entry)
    for file in files:
        data = _read(file)
        head = f"{file.name}\0{stat.S_IFMT(file.facts.st_mode)}\0{len(data)}\0"
        whole.update(head.encode("utf-8", "surrogateescape"))
        whole.update(data)
    return Content(whole.hexdigest(), _stamp(files))


def content_stamp(path: str, entry: str) -> str:
    """The stamp of a package's files; empty while they are too young to tell edits apart by time.

    Raises PackageProblem as ``content_hash`` does.
    """
    return _stamp(_files(path, entry))


def unchanged(path: str, entry: str, hash: str, stamp: str) -> bool:
    """Whether a package's files are those of a hash. Raises PackageProblem."""
    if stamp and content_stamp(path, entry) == stamp:
        return True
    return content_hash(path, entry).hash == hash


def _stamp(files: list[_File]) -> str:
    import importlib.util

    # The change time is in it because nobody can set that one back.
    lines = [
        f"{file.name}\0{facts.st_mode}\0{facts.st_size}\0{facts.st_mtime_ns}\0{facts.st_ctime_ns}"
        f"\0{facts.st_ino}"
        for file in files
        for facts in (file.facts,)
    ]
    # Two edits within one tick of the file system's clock leave the same times.
    newest = max((max(f.facts.st_mtime_ns, f.facts.st_ctime_ns) for f in files), default=0)
    if newest > time.time_ns() - _FRESH_NANOSECONDS:
        return ""
    return importlib.util.source_hash("\n".join(lines).encode("utf-8", "surrogateescape")).hex()


def _files(path: str, entry: str) -> list[_File]:
    """The project's declaration and the package's files, sorted by name."""
    located = locate(path, entry)
    found: list[_File] = []
    try:
        project = os.path.join(path, _PROJECT)
        if os.path.lexists(project):
            found.append(_File(_PROJECT, project, os.stat(project)))
        if located.folder is None:
            found.append(_File(os.path.basename(located.file), located.file, os.stat(located.file)))
        else:
            root = os.path.realpath(located.folder)
            for file in _walk(root, os.path.basename(located.folder), root):
                found.append(file)
                if len(found) > LIMIT_FILES:
                    raise PackageProblem(f"{path} holds more than {LIMIT_FILES} files")
    except OSError as error:
        raise _unreadable(error) from error
    except RecursionError as error:
        raise PackageProblem(f"{path} is nested too deeply") from error
    if sum(file.facts.st_size for file in found) > LIMIT_BYTES:
        raise PackageProblem(f"{path} holds more than {LIMIT_BYTES >> 20} MiB")
    return sorted(found, key=lambda file: file.name)


def _walk(folder: str, name: str, root: str) -> Iterator[_File]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name in _SKIPPED or entry.name.endswith(_COMPILED):
                continue
            inner = f"{name}/{entry.name}"
            if entry.is_symlink():
                if _endless(entry.path):
                    raise PackageProblem(f"{entry.path} is a link that leads back to itself")
                target = os.path.realpath(entry.path)
                if os.path.commonpath([root, target]) != root:
                    raise PackageProblem(
                        f"{entry.path} is a link that leaves the package: nobody could tell when "
                        "what it leads to changes"
                    )
                yield _File(inner, entry.path, entry.stat(follow_symlinks=False))
            elif entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, inner, root)
            else:
                facts = entry.stat(follow_symlinks=False)
                if not stat.S_ISREG(facts.st_mode):  # reading it might never end
                    raise PackageProblem(
                        f"{entry.path} is a {_kind(facts.st_mode)}: a package holds files and "
                        "folders alone"
                    )
                yield _File(inner, entry.path, facts)


def _endless(link: str) -> bool:
    try:
        os.stat(link)
    except OSError as error:
        return error.errno == errno.ELOOP
    return False


def _kind(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "pipe"
    return "socket" if stat.S_ISSOCK(mode) else "device"


def _read(file: _File) -> bytes:
    mode = file.facts.st_mode
    try:
        if stat.S_ISLNK(mode):
            return os.fsencode(os.readlink(file.path))
        if not stat.S_ISREG(mode):  # reading a pipe or a device might never end
            return b""
        return Path(file.path).read_bytes()
    except OSError as error:
        raise _unreadable(error) from error


def _unreadable(error: OSError) -> PackageProblem:
    return PackageProblem(f"{error.filename} can't be read: {error.strerror or error}")
