"""Patterns of allowed files, compared as sets of paths: which covers which, and what two share.

They mean what ``ruling.patterns`` makes of them: ``*`` and ``?`` within a name, ``**`` for any
number of names, ``{a,b}`` for either; a name alone holds at any depth of the project, and what is
named without a wildcard is allowed with its content.

What two patterns share is a finite set of patterns, so that joining lists is associative. A name
with ``[`` or an escape is not looked into: it equals itself and lies under ``*``.
"""

from __future__ import annotations

from collections.abc import Iterable

from barry_cli.policy.ruling.patterns import alternatives

ANY = "**"
"""The token of any number of names."""

_FOREIGN = frozenset("[]{}\\")
_WILD = frozenset("*?[\\")
_MOST_LETTERS = 200
_MOST_TOKENS = 24
_MOST_OVERLAPS = 32

Tokens = tuple[str, ...]
Key = tuple[str, Tokens]


class TooMany(Exception):
    """Two patterns overlap in more ways than a list should say."""


class Glob:
    """A pattern without alternatives, read.

    ``start``: "" the project's root, "/" or "~"; one that is not looked into ("../x", "x/") has
    a start of its own and equals itself alone. ``tokens``: its names, with ANY at the end where it
    covers content. ``anchor``: how many of them are the folder that it was written for.
    ``below``: it was written with a last ``/**``, and is written so again.
    """

    __slots__ = ("anchor", "below", "start", "tokens")

    def __init__(self, start: str, tokens: Tokens, anchor: int = 0, *, below: bool = False) -> None:
        self.start = start
        self.tokens = tokens
        self.anchor = anchor
        self.below = below

    @property
    def key(self) -> Key:
        return self.start, self.tokens


def read_globs(pattern: str) -> list[Glob]:
    """What a pattern stands for; every text is a pattern, the empty one of nothing."""
    return [_read(each) for each in alternatives(pattern)] if pattern else []


def covers(wide: Glob, narrow: Glob) -> bool:
    """Whether every path of ``narrow`` is one of ``wide``."""
    return wide.start == narrow.start and _tokens_cover(wide.tokens, narrow.tokens)


def meet(left: Iterable[str], right: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """What two lists both allow, sorted, and the pairs of which not all is allowed that both do:
    their overlap is too manifold, or depends on where the project lies.
    """
    ours, theirs = _widest(left), _widest(right)
    found: dict[Key, Glob] = {}
    lost: dict[tuple[str, str], None] = {}
    for ours_text, one in ours.items():
        for theirs_text, other in theirs.items():
            shared, whole = _overlap(one, other)
            if not whole:
                lost[ours_text, theirs_text] = None
            for tokens in shared:
                anchor = min(one.anchor, other.anchor)
                _keep(found, Glob(one.start, tokens, anchor))
    for glob in (*ours.values(), *theirs.values()):
        if glob.below and glob.key in found:
            found[glob.key].below = True
    return sorted(map(_write, _uncovered(found))), list(lost)


def smallest(patterns: Iterable[str]) -> list[str]:
    """A list without the patterns that another one covers, each in its plainest spelling."""
    return sorted(_widest(patterns))


def _widest(patterns: Iterable[str]) -> dict[str, Glob]:
    found: dict[Key, Glob] = {}
    for pattern in patterns:
        for glob in read_globs(pattern):
            _keep(found, glob)
    return {_write(glob): glob for glob in _uncovered(found)}


def _keep(found: dict[Key, Glob], glob: Glob) -> None:
    """Of two spellings keep the anchor that is sure, and the last ``/**``."""
    there = found.setdefault(glob.key, glob)
    there.anchor = min(there.anchor, glob.anchor)
    there.below = there.below or glob.below


def _uncovered(found: dict[Key, Glob]) -> list[Glob]:
    globs = list(found.values())
    return [
        glob
        for glob in globs
        if not any(other is not glob and covers(other, glob) for other in globs)
    ]


def _read(text: str) -> Glob:
    front, mark, _ = text.partition("//")
    anchored = bool(mark) and front.startswith("/")
    names = [name for name in text.split("/") if name not in ("", ".")]
    anchor = sum(name not in ("", ".") for name in front.split("/")) if anchored else 0
    bare = text.rstrip("/")
    slash = "/" in bare or text.startswith("/") or bare == "."
    home = text.startswith("~")
    if (
        ".." in names
        or (mark and not text.startswith("/"))
        or (text.endswith("/") and not slash)
        or (home and names[0] != "~")
        or not _WILD.isdisjoint(front if anchored else "")
    ):
        return Glob("=" + text, (ANY,))
    start = ""
    if text.startswith("/"):
        start = "/"
    elif home:
        start, names = "~", names[1:]
    elif not slash:
        names.insert(0, ANY)
    below = len(names) > 1 and names[-1] == ANY
    content = not names or _WILD.isdisjoint(names[-1])
    names = [*map(_name, names), *([ANY] if content else [])]
    return Glob(start, _tidy(names), anchor, below=below)


def _write(glob: Glob) -> str:
    """The plainest spelling."""
    if glob.start.startswith("="):
        return glob.start[1:]
    *names, last = glob.tokens
    if last != ANY:
        # A backslash keeps a plain name from covering content.
        names.append(last if _FOREIGN & {*last} or _WILD & {*last} else "\\" + last)
    elif glob.below or not names or _WILD & {*names[-1]}:
        names.append(ANY)
    if glob.start == "/" and glob.anchor:
        return f"/{'/'.join(names[: glob.anchor])}//{'/'.join(names[glob.anchor :])}"
    if glob.start:
        return f"{glob.start.rstrip('/')}/{'/'.join(names)}"
    if names[0] == ANY and len(names) <= 2 and not names[-1].startswith("~"):
        return names[-1]
    plain = len(names) > 1 and not names[0].startswith("~")
    return "/".join(names if plain else [".", *names])


def _name(name: str) -> str:
    if len(name) > 1 and not name.strip("*"):
        return ANY
    if "\\" in name:
        bare = name.replace("\\", "")
        if (_FOREIGN | _WILD).isdisjoint(bare) and "\\\\" not in name and name[-1] != "\\":
            return bare  # what is escaped had no meaning
    return _stars(name)


def _stars(name: str) -> str:
    while "**" in name:
        name = name.replace("**", "*")
    return name


def _tidy(names: Iterable[str]) -> Tokens:
    kept: list[str] = []
    for name in names:
        if not (name == ANY and kept and kept[-1] == ANY):
            kept.append(name)
    return tuple(kept)


def _tokens_cover(wide: Tokens, narrow: Tokens) -> bool:
    # As a text against a pattern: ANY in the narrow one is a name that only ANY takes.
    places = {0}
    for name in narrow:
        if not places:
            return False
        places = _after_any(wide, places)
        places = {at for at in places if at < len(wide) and wide[at] == ANY} | {
            at + 1
            for at in places
            if at < len(wide) and wide[at] != ANY and name != ANY and name_covers(wide[at], name)
        }
    return len(wide) in _after_any(wide, places)


def _after_any(wide: Tokens, places: set[int]) -> set[int]:
    """The places, and those that ANY reaches from them by standing for no name."""
    reached = set()
    for place in places:
        end = place
        while end < len(wide) and wide[end] == ANY:
            end += 1
        reached |= {*range(place, end + 1)}
    return reached


def name_covers(wide: str, narrow: str) -> bool:
    """Whether every name that ``narrow`` matches is matched by ``wide``."""
    if wide in ("*", narrow):
        return True
    if _FOREIGN & {*wide, *narrow}:
        return False
    places = {0}
    for letter in narrow:
        reached = set()
        for place in places:
            end = place
            while end < len(wide) and wide[end] == "*":
                end += 1
            reached |= {*range(place, end)}
            if end < len(wide) and (wide[end] == letter or (wide[end] == "?" and letter != "*")):
                reached.add(end + 1)
        places = reached
    return any(not wide[place:].strip("*") for place in places)


def name_overlaps(one: str, other: str) -> tuple[set[str], bool]:
    """What two names share, and whether that is all."""
    overlaps = _Overlaps()
    try:
        return overlaps.of_names(one, other), overlaps.whole
    except TooMany:
        return set(), False


def _overlap(one: Glob, other: Glob) -> tuple[set[Tokens], bool]:
    """What two patterns share, and whether that is all."""
    if one.start != other.start:
        return set(), False
    for ours, theirs in zip(one.tokens, other.tokens, strict=False):
        if ANY in (ours, theirs) or (_FOREIGN | _WILD) & {*ours, *theirs}:
            break
        if ours != theirs:
            return set(), True
    if covers(one, other):
        return {other.tokens}, True
    if covers(other, one):
        return {one.tokens}, True
    overlaps = _Overlaps()
    try:
        return overlaps.of_tokens(one.tokens, other.tokens), overlaps.whole
    except TooMany:
        return set(), False


class _Overlaps:
    """The overlaps of one pair, each part of them worked out once."""

    def __init__(self) -> None:
        self.whole = True
        """False once two names were met whose overlap isn't looked into."""
        self._tokens: dict[tuple[Tokens, Tokens], set[Tokens]] = {}
        self._names: dict[tuple[str, str], set[str]] = {}

    def of_tokens(self, one: Tokens, other: Tokens) -> set[Tokens]:
        if len(one) > _MOST_TOKENS or len(other) > _MOST_TOKENS:
            raise TooMany
        key = (one, other)
        if key not in self._tokens:
            self._tokens[key] = found = {_tidy(each) for each in self._join_tokens(one, other)}
            if len(found) > _MOST_OVERLAPS:
                raise TooMany
        return self._tokens[key]

    def _join_tokens(self, one: Tokens, other: Tokens) -> Iterable[Tokens]:
        if not one or not other:
            return [()] if all(name == ANY for name in one + other) else []
        if one[0] == ANY == other[0]:
            rest = self.of_tokens(one, other[1:]) | self.of_tokens(one[1:], other)
            return [(ANY, *each) for each in rest]
        if other[0] == ANY:
            one, other = other, one
        if one[0] == ANY:
            passed = [(other[0], *each) for each in self.of_tokens(one, other[1:])]
            return [*self.of_tokens(one[1:], other), *passed]
        return [
            (name, *each)
            for name in self.of_names(one[0], other[0])
            for each in self.of_tokens(one[1:], other[1:])
        ]

    def of_names(self, one: str, other: str) -> set[str]:
        if name_covers(one, other):
            return {other}
        if name_covers(other, one):
            return {one}
        if _FOREIGN & {*one, *other}:
            self.whole = False
            return set()
        if len(one) + len(other) > _MOST_LETTERS:
            raise TooMany
        return self._of_letters(one, other)

    def _of_letters(self, one: str, other: str) -> set[str]:
        key = (one, other)
        if key not in self._names:
            found = {_stars(each) for each in self._join_letters(one, other)}
            if len(found) > _MOST_OVERLAPS:
                raise TooMany
            self._names[key] = found
        return self._names[key]

    def _join_letters(self, one: str, other: str) -> Iterable[str]:
        if not one or not other:
            return [] if (one + other).strip("*") else [""]
        if one[0] == "*" == other[0]:
            rest = self._of_letters(one, other[1:]) | self._of_letters(one[1:], other)
            return ["*" + each for each in rest]
        if other[0] == "*":
            one, other = other, one
        if one[0] == "*":
            passed = [other[0] + each for each in self._of_letters(one, other[1:])]
            return [*self._of_letters(one[1:], other), *passed]
        if one[0] != other[0] and "?" not in (one[0], other[0]):
            return []
        letter = other[0] if one[0] == "?" else one[0]
        return [letter + each for each in self._of_letters(one[1:], other[1:])]
