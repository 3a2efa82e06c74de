"""Where guarded tools may go: the session's folders, by what a path really leads to.

A path is resolved once. What it came to is ruled on, and opened folder by folder without following
a link: who swaps one in meanwhile gets an error, not another file.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from barry_cli.guard.problems import NotDone
from barry_cli.policy.ruling.paths import expand

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not wait


@dataclass(frozen=True, slots=True)
class Place:
    """A path inside one of the folders, with every link of it followed."""

    asked: str
    """As it was given."""
    root: str
    parts: tuple[str, ...]
    """The names from the root on; none for the root itself."""

    @property
    def path(self) -> str:
        """Where it really is."""
        return "/".join((self.root.rstrip("/"), *self.parts)) or "/"

    def problem(self, error: OSError) -> NotDone:
        """What the system said, as a sentence about the path that was asked for."""
        return NotDone(f"{self.asked}: {error.strerror or error}")


def find(path: str, folders: Sequence[str], home: str) -> Place:
    """The place that a path names; a relative one begins at the first folder.

    Raises NotDone for one that leads outside all of them.
    """
    if not path or "\0" in path:
        raise NotDone("a path must not be empty or hold a NUL")
    try:
        # Python writes half characters as bytes: a second spelling of names, that no rule knows.
        path.encode()
    except UnicodeEncodeError:
        raise NotDone("a path must be text that UTF-8 can write") from None
    try:
        real = os.path.realpath(expand(path, folders[0], home))
        roots = [os.path.realpath(folder) for folder in folders]
    except OSError as error:
        raise NotDone(f"{path}: {error.strerror or error}") from None
    for root in roots:
        if real == root or real.startswith(root.rstrip("/") + "/"):
            names = real[len(root.rstrip("/")) :].split("/")
            return Place(path, root, tuple(name for name in names if name))
    inside = " or ".join(folders)
    raise NotDone(f"{path} leads outside this session's folders: stay inside {inside}")


@contextlib.contextmanager
def parent(place: Place, *, make: bool = False) -> Iterator[int]:
    """The folder that holds the place, opened. ``make``: those that are missing are made.

    Raises NotDone.
    """
    if not place.parts:
        raise NotDone(f"{place.asked} is a folder")
    at = -1
    try:
        at = os.open(place.root, _FOLDER)
        for name in place.parts[:-1]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, dir_fd=at)
            below = os.open(name, _FOLDER, dir_fd=at)
            os.close(at)
            at = below
        yield at
    except OSError as error:
        raise place.problem(error) from None
    finally:
        if at >= 0:
            os.close(at)


def content(place: Place, most: int) -> bytes:
    """What a regular file holds. Raises NotDone, also for more than ``most`` bytes."""
    with parent(place) as folder:
        descriptor = os.open(place.parts[-1], _FILE, dir_fd=folder)
        try:
            _regular(os.fstat(descriptor), place)
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(most + 1)
        finally:
            os.close(descriptor)
    if len(data) > most:
        raise NotDone(f"{place.asked} has more than {most >> 20} MiB")
    return data


def put(place: Place, data: bytes) -> bool:
    """Replace a file in one step, with its mode kept, or make it; True when it was there.

    Raises NotDone; then the file is as it was.
    """
    with parent(place, make=True) as folder:
        name = place.parts[-1]
        before = _facts(name, folder)
        if before is not None:
            _regular(before, place)
        mode = 0o666 if before is None else stat.S_IMODE(before.st_mode)
        temporary = f".barry-{os.urandom(8).hex()}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            descriptor = os.open(temporary, flags, mode, dir_fd=folder)
            with os.fdopen(descriptor, "wb") as file:
                if before is not None:
                    os.fchmod(descriptor, mode)  # the mask has nothing to say of a file's own mode
                file.write(data)
                file.flush()
                os.fsync(descriptor)
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        return before is not None


def _regular(facts: os.stat_result, place: Place) -> None:
    if not stat.S_ISREG(facts.st_mode):
        kind = "a folder" if stat.S_ISDIR(facts.st_mode) else "no regular file"
        raise NotDone(f"{place.asked} is {kind}")


def _facts(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
