"""What a word may hold that only bash learns: as far as the line itself says it somewhere."""

from barry_cli.policy.ruling.file_use import LIST, READ
from barry_cli.policy.ruling.matching import first_match, likely, may_become
from barry_cli.policy.ruling.paths import Disk, exists, expand, fold, spots
from barry_cli.policy.ruling.patterns import HOLE, WILD, Pattern, literal_start
from barry_cli.policy.ruling.programs.call import PLACEHOLDER, Found
from barry_cli.policy.ruling.seen import Seen, bases
from barry_cli.policy.ruling.shell.reading import TEXT, VARIABLE, Part, Word
from barry_cli.policy.ruling.situation import expanded, plain_paths
from barry_cli.policy.ruling.trees import meets, told, within

BREAKS = dict.fromkeys(map(ord, "\t\n;&|()<>='\"`{},:@$*\\"), " ")
GLOB_BREAKS = dict.fromkeys(map(ord, "\t\n;&|()<>='\"`$"), " ")
GLOBS = frozenset("*?[")
SIGNS = "-+?"  # what may stand in front of a default: `${x:-.env}`
DECLARE = frozenset(("declare", "typeset", "local", "export", "readonly"))
DEFAULTS = (":-", ":=", ":+", ":?", "-", "=", "+")
PRINTS = frozenset(("echo", "jq", "printf", "seq", "yes"))
MOST = 32  # values that one word is tried with


class Line:
    """The line, where it begins, and every use of a file in it."""

    __slots__ = ("cwd", "disk", "found", "home", "seen")

    def __init__(self, found: Found, cwd: str, home: str, disk: Disk, seen: list[Seen]) -> None:
        self.found = found
        self.cwd = cwd
        self.home = home
        self.disk = disk
        self.seen = seen

    def match(self, patterns: tuple[Pattern, ...], path: str) -> str | None:
        return first_match(patterns, spots(path, self.cwd, self.home, self.disk))


def may_hold(
    line: Line, word: Word | None, patterns: tuple[Pattern, ...], reads: bool
) -> str | None:
    """A pattern for what the word may stand for; None when the line names nothing of the kind.

    `reads`: what isn't there now can't be meant.
    """
    if _is_listed(line, word):
        return _listed(line, patterns, reads)
    written = _literally(line, word, patterns) or _by_globs(line, patterns, reads)
    if written is None:
        written = _listed(line, patterns, reads)
    return written if written is not None or word is None else _put_together(line, word, patterns)


def _is_listed(line: Line, word: Word | None) -> bool:
    """A program fills the word in, and what it takes comes from one that lists files."""
    if word is None or any(part.kind not in {TEXT, PLACEHOLDER} for part in word.parts):
        return False
    lists = any(seen.use.kind == LIST for seen in line.seen)
    return lists and not any(call.name in PRINTS for call in line.found.calls)


def somewhere(path: str, patterns: tuple[Pattern, ...], cwd: str) -> str | None:
    """A pattern for a relative path, when it is there below a folder that the pattern names.

    For a command that may run in any folder.
    """
    parents = cwd.split("/")
    around = ["/".join(parents[:count]) for count in range(len(parents), 0, -1)]
    for written, segments in patterns:
        start = literal_start(segments)
        if start:
            places = ["/" + "/".join(start)]
        elif len(segments) == 3 and WILD.isdisjoint(segments[1]):
            places = [f"{each}/{segments[1]}" for each in around]
        else:
            continue
        if any(exists(f"{place}/{path}") for place in places):
            return written
    return None


def _literally(line: Line, word: Word | None, patterns: tuple[Pattern, ...]) -> str | None:
    text = line.found.text
    needles = likely(patterns).needles_in(fold(text))
    if not needles:
        return None
    folder = word.prefix.rpartition("/")[0] if word is not None else ""
    for token in dict.fromkeys(text.translate(BREAKS).split()):
        name = token.lstrip(SIGNS)
        named = fold(name)
        if not any(each in named for each in needles):
            continue
        tried = [f"{folder}/{name}"] if folder else []
        if "/" in name or "." in name or exists(expand(name, line.cwd, line.home)):
            tried.append(name)
        for path in tried:
            written = line.match(patterns, path)
            if written is not None:
                return written
    return None


def _by_globs(line: Line, patterns: tuple[Pattern, ...], reads: bool) -> str | None:
    text = line.found.text
    if GLOBS.isdisjoint(text):
        return None
    for token in dict.fromkeys(text.translate(GLOB_BREAKS).split()):
        if GLOBS.isdisjoint(token) or token in {"[", "[["} or "\\" in token:
            continue  # no glob
        if "^" in token.replace("[^", ""):
            continue  # rather an expression
        for path in expanded(token, line.cwd, line.home, line.disk):
            written = line.match(patterns, path)
            if written is not None:
                return written
        written = meets(patterns, token) if not reads else None
        if written is not None:
            return written
    return None


def _listed(line: Line, patterns: tuple[Pattern, ...], reads: bool) -> str | None:
    """What `find`, `ls` or a search finds here."""
    for seen in line.seen:
        use = seen.use
        if not use.tree or use.kind not in {LIST, READ} or use.word is None:
            continue
        for base in bases(use, seen.situation.folders, line.home, line.disk):
            for path in plain_paths(use.word, base, line.home, line.disk):
                places = spots(path, base, line.home, line.disk)
                written = first_match(patterns, places)
                if written is None:
                    written = within(patterns, places, use.only, False, base, line.disk)
                if written is None and use.only is not None and not reads:
                    written = told(patterns, use.only, base, line.home)
                if written is not None:
                    return written
    return None


def _put_together(line: Line, word: Word, patterns: tuple[Pattern, ...]) -> str | None:
    """The word with every value that its variables are given in the line."""
    text = line.found.text
    variables = {part.name for part in word.parts if part.kind == VARIABLE}
    plain = all(part.text[:2] != "${" for part in word.parts)
    looped = any(reading.loops for reading, _ in line.found.readings)
    if not variables or (plain and not looped and not any(f"{v}=" in text for v in variables)):
        return None
    given = _values(line.found)
    texts = [""]
    for part in word.parts:
        values = [part.text] if part.kind == TEXT else _of(part, given)
        texts = [text + value for text in texts for value in values][:MOST]
    for text in texts:
        if text and HOLE not in text:
            written = line.match(patterns, text)
            if written is not None:
                return written
        elif text.strip(HOLE):
            names = tuple([each for each in fold(text).split("/") if each not in {"", "."}])
            written = may_become(patterns, names)
            if written is not None:
                return written
    return None


def _of(part: Part, given: dict[str, list[str]]) -> list[str]:
    if part.kind != VARIABLE:
        return [HOLE]
    values = given.get(part.name, [])
    if part.text[:2] != "${":
        return values or [HOLE]
    rest = part.text[2:-1].removeprefix(part.name)
    if rest[:1] == "[":
        rest = rest.partition("]")[2]
    for sign in DEFAULTS:
        if rest.startswith(sign):
            return [*values, rest[len(sign) :].strip("'\"")]
    if not rest:
        return values or [HOLE]
    return [_cut(value, rest) for value in values] or [HOLE]


def _cut(value: str, how: str) -> str:
    """A value of which something is cut off or replaced, as far as that is plain."""
    sign, rest = how[0], how[1:] if how[0] == ":" else how[1:].lstrip(how[0])
    if not GLOBS.isdisjoint(rest) or "$" in rest:
        return HOLE
    if sign == "%":
        return value.removesuffix(rest)
    if sign == "#":
        return value.removeprefix(rest)
    if sign == "/":
        old, _, new = rest.partition("/")
        return value.replace(old, new) if old else value
    if sign == ":":
        start, _, count = rest.partition(":")
        start = start or "0"
        if start.isdecimal() and len(start) < 5 and (not count or count.isdecimal()):
            tail = value[int(start) :]
            return tail[: int(count)] if count and len(count) < 5 else tail
        return HOLE
    return {"^": value.upper(), ",": value.lower()}.get(sign, HOLE)


def _values(found: Found) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    for reading, _ in found.readings:
        for name, choices in reading.loops:
            given.setdefault(name, []).extend([word.text for word in choices if word.text])
        for command in reading.commands:
            for assignment in command.assignments:
                words = [assignment.value, *assignment.items]
                texts = [each.text for each in words if each is not None and each.text]
                given.setdefault(assignment.name, []).extend(filter(None, texts))
            if command.words and command.words[0].text in DECLARE:
                for word in command.words[1:]:
                    name, equal, value = (word.text or "").partition("=")
                    if equal and value:
                        given.setdefault(name, []).append(value)
    return given
