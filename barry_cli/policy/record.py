"""A compiled policy that is kept between two checks, and whether it is still the right one.

Kept with it is the state of every place that decided it, those where nothing was too. Any other
state of any of them, and the policy is made anew.
"""

import marshal
import posix
import sys

KIND = "barry-check-1"

_KINDS, _FOLDER, _LINK = 0o170000, 0o040000, 0o120000  # of a mode, as in <sys/stat.h>

# What leads to Barry's folders and the user's.
_NAMES = (
    "HOME",
    "BARRY_HOME",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
)


State = tuple[tuple[int, ...], ...]
"""What is known of a path: of itself, and of what it leads to when it is a link."""


class Question:
    """What a policy is asked for: bounds by name or path, a harness, a folder (as they were typed).

    `where`: the folder that the asker stands in.
    """

    __slots__ = ("bounds", "cwd", "harness", "where")

    def __init__(
        self, bounds: "tuple[str, ...]", harness: "str | None", cwd: "str | None", where: str
    ) -> None:
        self.bounds = bounds
        self.harness = harness
        self.cwd = cwd
        self.where = where

    def key(self) -> bytes:
        """All that a policy depends on beside files: the question, the surroundings, this Barry."""
        from barry_cli import __version__

        surroundings = tuple(_variable(name) for name in _NAMES)
        asked = (self.bounds, self.harness, self.cwd, self.where)
        whole = (KIND, __version__, sys.version, posix.getuid(), surroundings, asked)
        return repr(whole).encode()  # not marshalled: equal values have many marshalled forms


class Kept:
    """A policy that was kept. `places`: path -> its state. `links`: path -> where it really leads.

    `code`: the file with the code that rules. `cwd`: the folder that calls are ruled for.
    """

    __slots__ = ("code", "cwd", "links", "places", "policy")

    def __init__(
        self,
        places: tuple[tuple[str, State | None], ...],
        links: "tuple[tuple[str, tuple[str, ...]], ...]",
        code: str,
        cwd: str,
        policy: bytes,
    ) -> None:
        self.places = places
        self.links = links
        self.code = code
        self.cwd = cwd
        self.policy = policy


def folder() -> str:
    """Where policies are kept; "" where that can't be told without more than this module knows."""
    own = _variable("BARRY_HOME")
    home = _variable("HOME")
    if own:
        cache = f"{own}/cache" if own[0] == "/" else ""
    elif sys.platform == "darwin":
        cache = f"{home}/Library/Caches/barry" if home else ""
    else:
        above = _variable("XDG_CACHE_HOME") or (f"{home}/.cache" if home else "")
        cache = f"{above}/barry" if above[:1] == "/" else ""
    return f"{cache}/policies" if cache else ""


def name_of(key: bytes) -> str:
    """The file of a question. Two questions may share it: the file says whose it is."""
    import _imp

    return f"check-{_imp.source_hash(1, key).hex()}.marshal"


def state(path: str) -> State | None:
    """What tells a file from any other and from itself after a change; None where nothing is.

    Of a link both the link's and that of what it leads to. Of a folder only that it is the same
    one. Raises OSError where it can't be told.
    """
    try:
        own = posix.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if own.st_mode & _KINDS != _LINK:
        return (_facts(own),)
    try:
        return (_facts(own), _facts(posix.stat(path)))
    except FileNotFoundError:
        return (_facts(own),)


def _facts(found: posix.stat_result) -> "tuple[int, ...]":
    if found.st_mode & _KINDS == _FOLDER:
        return (found.st_dev, found.st_ino, found.st_mode)
    return (
        found.st_dev,
        found.st_ino,
        found.st_mode,
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,  # the only one that nobody can set
    )


def read(question: Question) -> "Kept | None":
    """The policy that was kept for a question, if it is still the right one.

    Where `links` lead is left to somebody who can follow them.
    """
    place = folder()
    if not place:
        return None
    key = question.key()
    try:
        found = marshal.loads(content(f"{place}/{name_of(key)}"))  # noqa: S302 - Barry's own
        if type(found) is not tuple or len(found) != 6 or found[0] != key:
            return None
        kept = Kept(*found[1:])
        for path, before in kept.places:
            if state(path) != before:
                return None
    except (OSError, ValueError, TypeError, EOFError):
        return None
    return kept


def content(path: str) -> bytes:
    """What is in a file. Raises OSError."""
    descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    try:
        pieces = []
        while piece := posix.read(descriptor, 1 << 20):
            pieces.append(piece)
    finally:
        posix.close(descriptor)
    return b"".join(pieces)


def _variable(name: str) -> str:
    value = posix.environ.get(name.encode(), b"")
    return value.decode(sys.getfilesystemencoding(), "surrogateescape")
