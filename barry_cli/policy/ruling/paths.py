"""Where a path leads: lexically, and after symbolic links."""

import posix
import sys

FOLDS = sys.platform in {"darwin", "win32", "cygwin"}
"""This platform's usual file systems take "A" and "a" for the same name. A file system that differs
from its platform's habit is not noticed."""

HEX = frozenset("0123456789abcdefABCDEF")

LONGEST = 8192
"""Characters of a path; the kernels that Barry knows take half of it."""

MOST_NAMES = 50_000
"""Names that the globs of one command line may be held against."""

MOST_INSIDE = 20_000
"""Names below the folders that one command line goes through; what is nearest is looked at."""

LINKS = 40
"""How many symbolic links a path may lead through, as in the kernel."""


def fold(text: str) -> str:
    """The form in which two names of the same file are equal."""
    if not FOLDS:
        return text
    import unicodedata

    # Twice: folding may take a character apart, and composing may bring a capital back.
    text = unicodedata.normalize("NFC", text).casefold()
    return unicodedata.normalize("NFC", text).casefold()


def expand(path: str, cwd: str, home: str) -> str:
    """The path made absolute; `~`, `~user` and `file://` in front are resolved."""
    if path[:5].lower() == "file:":
        path = _of_url(path)
    if path[:1] == "~":
        name, slash, rest = path[1:].partition("/")
        place = home if not name else _home_of(name)
        if place:
            return f"{place}{slash}{rest}"
    return path if path[:1] == "/" else f"{cwd}/{path}"


def lexical(path: str) -> tuple[str, ...]:
    """The segments of an absolute path without `.`, `..` and empty ones. Touches no file."""
    if "/." not in path and "//" not in path:
        return tuple(path.strip("/").split("/")) if path.strip("/") else ()
    segments: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            if segments:
                segments.pop()
        elif segment and segment != ".":
            segments.append(segment)
    return tuple(segments)


class Disk:
    """What was looked up on the disk, so that one ruling looks it up once.

    `names_seen`: how many names its globs were held against; `names_inside`: how many were found
    below folders that were gone through. `dotted`: its globs stand for hidden names too.
    """

    __slots__ = ("_inside", "_links", "_names", "dotted", "names_inside", "names_seen")

    def __init__(self) -> None:
        self._inside: dict[str, list[tuple[str, bool]]] = {}
        self._links: dict[str, str | None] = {}
        self._names: dict[str, list[str]] = {}
        self.dotted = False
        self.names_inside = 0
        self.names_seen = 0

    @property
    def exhausted(self) -> bool:
        """It was asked for more than anybody writes by hand."""
        return self.names_seen > MOST_NAMES

    @property
    def cut_short(self) -> bool:
        """There was more below a folder than was looked at."""
        return self.names_inside > MOST_INSIDE

    def target(self, at: str, cwd: str) -> str | None:
        """Where a symbolic link leads, None when it is none."""
        if at not in self._links:
            self._links[at] = _target(at, cwd)
        return self._links[at]

    def names(self, folder: str) -> list[str]:
        """The names in a folder, sorted; none when it can't be listed."""
        found = self._names.get(folder)
        if found is None:
            found = self._names[folder] = entries(folder)
        self.names_seen += len(found) + 1
        return found

    def inside(self, folder: str) -> list[tuple[str, bool]]:
        """The entries of a folder, and which of them are folders themselves; links are none."""
        found = self._inside.get(folder)
        if found is None:
            found = self._inside[folder] = []
            if not self.cut_short:
                found += _listed(folder)
                self.names_inside += len(found) + 1
        return found


def real(path: str, cwd: str, disk: Disk | None = None) -> tuple[str, ...]:
    """The segments of an absolute path with every symbolic link of its existing part followed.

    `..` is taken as the kernel does, after links. `/proc/self/cwd` and `/proc/self/root` are those
    of a process in `cwd`. A loop of links ends where it was found out.
    """
    if len(path) > LONGEST:
        return lexical(path)  # no system opens it
    disk = disk if disk is not None else Disk()
    waiting = path.split("/")
    waiting.reverse()
    at = ""
    followed = 0
    while waiting:
        segment = waiting.pop()
        if not segment or segment == ".":
            continue
        if segment == "..":
            at = at.rpartition("/")[0]
            continue
        at = f"{at}/{segment}"
        target = disk.target(at, cwd)
        if target is None:
            continue
        followed += 1
        if followed > LINKS:
            break
        at = "" if target[:1] == "/" else at.rpartition("/")[0]
        waiting.extend(reversed(target.split("/")))
    return tuple(at.strip("/").split("/")) if at.strip("/") else ()


def spots(path: str, cwd: str, home: str, disk: Disk | None = None) -> tuple[tuple[str, ...], ...]:
    """Where a path leads: its lexical segments, and the real ones when they differ."""
    # A C program stops at a NUL; many a tool trims spaces.
    found: list[tuple[str, ...]] = []
    for text in dict.fromkeys((path, path.strip(), path.partition("\0")[0])):
        absolute = expand(text, cwd, home)
        for segments in (lexical(absolute), real(absolute, cwd, disk)):
            folded = tuple(map(fold, segments)) if FOLDS else segments
            if folded not in found:
                found.append(folded)
    return tuple(found)


def exists(path: str) -> bool:
    """Something has this name; a dangling link counts."""
    try:
        posix.lstat(path)
    except (OSError, ValueError):
        return False
    return True


def entries(folder: str) -> list[str]:
    """The names in a folder, sorted; none when it can't be listed."""
    try:
        return sorted(posix.listdir(folder))
    except (OSError, ValueError):
        return []


def holds_file(folder: str, most: int = 64) -> bool:
    """There is something in the folder, or in one below it, that is no folder."""
    todo = [folder]
    while todo and most > 0:
        most -= 1
        at = todo.pop()
        for name, is_folder in _listed(at):
            if not is_folder:
                return True
            todo.append(f"{at}/{name}")
    return False


def text_of(path: str) -> str:
    """The beginning of a small file; "" when it can't be read."""
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except (OSError, ValueError):
        return ""
    try:
        return posix.read(descriptor, 1 << 16).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        posix.close(descriptor)


def _listed(folder: str) -> list[tuple[str, bool]]:
    try:
        with posix.scandir(folder) as entries_there:
            return [(each.name, each.is_dir(follow_symlinks=False)) for each in entries_there]
    except (OSError, ValueError):
        return []


def _target(at: str, cwd: str) -> str | None:
    # The ruling process is not the one that will open the file: its own links would mislead.
    if at[:6] == "/proc/":
        if at in {"/proc/self/cwd", "/proc/thread-self/cwd"}:
            return cwd
        if at in {"/proc/self", "/proc/thread-self"}:
            return None
        if at[-5:] == "/root" and at.count("/") == 3:
            return "/"
    try:
        return posix.readlink(at)
    except (OSError, ValueError):
        return None


def _home_of(name: str) -> str:
    try:
        import pwd

        return pwd.getpwnam(name).pw_dir
    except (ImportError, KeyError, ValueError, OSError):
        return ""


def _of_url(url: str) -> str:
    rest = url[5:]
    if rest[:2] == "//":
        host, slash, path = rest[2:].partition("/")
        rest = slash + path if host.lower() in {"", "localhost"} else rest
    return unescape(rest)


def unescape(text: str) -> str:
    """The text with its %XX escapes resolved once, read as UTF-8."""
    if "%" not in text:
        return text
    head, *rest = text.split("%")
    data = [head.encode("utf-8", "surrogatepass")]
    for piece in rest:
        code = piece[:2]
        if len(code) == 2 and HEX.issuperset(code):
            data.append(bytes((int(code, 16),)))
            data.append(piece[2:].encode("utf-8", "surrogatepass"))
        else:
            data.append(b"%" + piece.encode("utf-8", "surrogatepass"))
    return b"".join(data).decode("utf-8", "replace")
