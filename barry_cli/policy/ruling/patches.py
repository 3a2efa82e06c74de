"""Which files a patch changes: unified and context diffs, git's, and `*** Begin Patch` bodies."""

from barry_cli.policy.ruling.operands import known
from barry_cli.policy.ruling.shell.reading import Word

BEGIN = "*** Begin Patch"
_MARKS = ("*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:", "*** Rename to:")
_GIT = ("rename from ", "rename to ", "copy from ", "copy to ", "Index: ")
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "a": "\a", "b": "\b", "r": "\r"}


def patch_paths(text: str) -> list[tuple[str, int, int]]:
    """Each path that a patch names, and where it stands in the text.

    A path in a diff is given both with its first folder and without, since only who applies it
    knows whether `a/` and `b/` are part of it.
    """
    found: list[tuple[str, int, int]] = []
    at = 0
    for line in text.split("\n"):
        _of_line(line.rstrip("\r"), at, found)
        at += len(line) + 1
    return list(dict.fromkeys(found))


def patched(word: Word) -> list[Word]:
    """The paths in a word that holds a patch, as words of their own."""
    return [Word(path, word.start, word.end, True) for path, _, _ in patch_paths(known(word))]


def _of_line(line: str, at: int, found: list[tuple[str, int, int]]) -> None:
    plain = line.lstrip()
    indent = len(line) - len(plain)
    for mark in _MARKS:
        if plain.startswith(mark):
            _add(plain[len(mark) :], at + indent + len(mark), False, found)
            return
    if plain.startswith(("--- ", "+++ ")) or (plain.startswith("*** ") and "\t" in plain):
        _add(plain[4:].partition("\t")[0], at + indent + 4, True, found)
    elif plain.startswith("diff --git "):
        _git_pair(plain[11:], at + indent + 11, found)
    else:
        for mark in _GIT:
            if plain.startswith(mark):
                _add(plain[len(mark) :], at + indent + len(mark), mark == "Index: ", found)


def _git_pair(rest: str, at: int, found: list[tuple[str, int, int]]) -> None:
    if rest[:1] == '"' or rest[-1:] == '"':
        for piece in _quoted_pair(rest):
            # Stripped first: its place is the whole line's, which a blank must not move.
            _add(piece.strip(), at, True, found, len(rest))
        return
    # Names may hold blanks: try every cut at which both halves name the same file.
    cuts = [index for index in range(len(rest)) if rest[index : index + 3] == " b/"]
    for cut in cuts or [rest.find(" ")]:
        if cut > 0:
            _add(rest[:cut], at, True, found)
            _add(rest[cut + 1 :], at + cut + 1, True, found)


def _quoted_pair(rest: str) -> list[str]:
    pieces: list[str] = []
    piece, inside, skip = "", False, False
    for char in rest:
        if skip or (char == "\\" and inside):
            piece += char
            skip = not skip
        elif char == '"':
            inside = not inside
            piece += char
        elif char == " " and not inside:
            pieces.append(piece)
            piece = ""
        else:
            piece += char
    return [*pieces, piece]


def _add(
    text: str, at: int, strips: bool, found: list[tuple[str, int, int]], size: int = 0
) -> None:
    path = text.strip()
    at += len(text) - len(text.lstrip())
    if not path or path == "/dev/null":
        return
    end = at + (size or len(path))
    if path[:1] == '"' and path[-1:] == '"' and len(path) > 1:
        path = _unquoted(path[1:-1])
    found.append((path, at, end))
    inner = path.partition("/")[2]
    if strips and inner:
        found.append((inner, at, end))


def _unquoted(text: str) -> str:
    """A name as git quotes it, with C's escapes."""
    data = bytearray()
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\\" or at >= len(text):
            data += char.encode("utf-8", "surrogatepass")
            continue
        digits = text[at : at + 3]
        if len(digits) == 3 and digits.isdecimal() and max(digits) < "8" and int(digits, 8) < 256:
            data.append(int(digits, 8))
            at += 3
        else:
            data += _ESCAPES.get(text[at], text[at]).encode("utf-8", "surrogatepass")
            at += 1
    return data.decode("utf-8", "replace")
