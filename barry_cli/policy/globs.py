"""Patterns of files, compared as sets of paths: which one covers which, and what two share.

A pattern without a slash is a name at any depth. One with a slash starts at the project's root,
at ``/`` or at ``~``. ``*`` stays within a name, ``**`` stands for any number of them, and what
matches a folder matches all below it.

The overlap of two patterns is a finite set of patterns, so that joining lists is associative.
Characters that other dialects give a meaning (``?``, ``[``, ...) are not looked into: such a name
equals itself and lies under ``*``.
"""

from __future__ import annotations

from collections.abc import Iterable

ANY = "**"
"""The token of any number of names."""

_FOREIGN = frozenset("?[]{}!\\")
_MOST_LETTERS = 400
_MOST_TOKENS = 24
_MOST_OVERLAPS = 32

Tokens = tuple[str, ...]


class TooMany(Exception):
    """Two patterns overlap in more ways than a list should say."""


class Glob:
    """A pattern, read: where it starts and its names, with ANY at the end (what lies below).

    ``anchor``: "" the project's root, "/", "~" (or "~name"), None any folder; a pattern that leads
    upwards has an anchor of its own and equals itself alone. ``below``: it was written with a last
    ``/**``, and is written so again.
    """

    __slots__ = ("anchor", "below", "tokens")

    def __init__(self, anchor: str | None, tokens: Tokens, *, below: bool = False) -> None:
        self.anchor = anchor
        self.tokens = tokens
        self.below = below

    @property
    def key(self) -> tuple[str | None, Tokens]:
        return self.anchor, self.tokens


def read_glob(pattern: str) -> Glob:
    """Read a pattern; every text is one."""
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    slash = "/" in pattern.rstrip("/") or pattern.startswith("/") or pattern == "."
    if ".." in names or (pattern.endswith("/") and not slash):
        return Glob("=" + pattern, (ANY,))
    anchor: str | None = "" if slash else None
    if pattern.startswith("/"):
        anchor = "/"
    elif pattern.startswith("~"):
        anchor, names = names[0], names[1:]
    if anchor is None:
        names.insert(0, ANY)
    below = len(names) > 1 and names[-1] == ANY
    return Glob(anchor, _tidy([*map(_name, names), ANY]), below=below)


def covers(wide: Glob, narrow: Glob) -> bool:
    """Whether every path of ``narrow`` is one of ``wide``."""
    if wide.anchor != narrow.anchor and (wide.anchor is not None or _upwards(narrow)):
        return False
    return _tokens_cover(wide.tokens, narrow.tokens)


def meet(left: Iterable[str], right: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """What two lists both allow, sorted, and the pairs whose overlap is left out because it can't
    be said: it is too manifold, or depends on where the project lies.
    """
    ours, theirs = ({each: read_glob(each) for each in side} for side in (left, right))
    found: dict[tuple[str | None, Tokens], Glob] = {}
    lost = []
    for ours_text, one in ours.items():
        for theirs_text, other in theirs.items():
            if _elsewhere(one, other):
                lost.append((ours_text, theirs_text))
                continue
            try:
                shared = _overlap(one, other)
            except TooMany:
                lost.append((ours_text, theirs_text))
                continue
            for each in shared:
                found.setdefault(each.key, each)
    for glob in (*ours.values(), *theirs.values()):
        if glob.below and glob.key in found:
            found[glob.key] = glob
    return sorted(map(write_glob, _widest(list(found.values())))), lost


def smallest(patterns: Iterable[str]) -> list[str]:
    """A list without the patterns that another one covers, each in its plainest spelling."""
    kept, _ = meet(patterns, ["**", "/**", "~/**", "./**", *patterns])
    return kept


def write_glob(glob: Glob) -> str:
    """The plainest spelling of a pattern."""
    if glob.anchor is not None and glob.anchor.startswith("="):
        return glob.anchor[1:]
    names = list(glob.tokens[:-1])
    if glob.anchor is None:
        return names[1] if names else ANY
    if glob.below or not names:
        names.append(ANY)
    if glob.anchor == "":
        return "/".join(names) if len(names) > 1 else f"./{names[0]}"
    return f"{glob.anchor.rstrip('/')}/{'/'.join(names)}"


def _name(name: str) -> str:
    while ANY in name and name != ANY:
        name = name.replace(ANY, "*", 1)
        if name == "*":
            break
    return name


def _tidy(names: Iterable[str]) -> Tokens:
    kept: list[str] = []
    for name in names:
        if not (name == ANY and kept and kept[-1] == ANY):
            kept.append(name)
    return tuple(kept)


def _upwards(glob: Glob) -> bool:
    return glob.anchor is not None and glob.anchor.startswith("=")


def _elsewhere(one: Glob, other: Glob) -> bool:
    """Whether two patterns start at places whose relation isn't known here."""
    return None not in (one.anchor, other.anchor) and one.anchor != other.anchor


def _widest(globs: list[Glob]) -> list[Glob]:
    return [
        glob
        for glob in globs
        if not any(other is not glob and covers(other, glob) for other in globs)
    ]


def _tokens_cover(wide: Tokens, narrow: Tokens) -> bool:
    # As a text against a pattern: ANY in the narrow one is a name that only ANY takes.
    places = {0}
    for name in narrow:
        places = _after_any(wide, places)
        places = {at for at in places if at < len(wide) and wide[at] == ANY} | {
            at + 1
            for at in places
            if at < len(wide) and wide[at] != ANY and name != ANY and name_covers(wide[at], name)
        }
    return len(wide) in _after_any(wide, places)


def _after_any(wide: Tokens, places: set[int]) -> set[int]:
    reached = set(places)
    for at in sorted(places):
        while at < len(wide) and wide[at] == ANY:
            at += 1
            reached.add(at)
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
        for at in places:
            while at < len(wide) and wide[at] == "*":
                reached.add(at)
                at += 1
            if at < len(wide) and wide[at] == letter:
                reached.add(at + 1)
        places = reached
    return any(not wide[at:].strip("*") for at in places)


def _overlap(one: Glob, other: Glob) -> list[Glob]:
    if covers(one, other):
        return [other]
    if covers(other, one):
        return [one]
    if _upwards(one) or _upwards(other):
        return []
    anchor = one.anchor if other.anchor is None else other.anchor
    shared = _Overlaps().of_tokens(one.tokens, other.tokens)
    if anchor is not None:
        return [Glob(anchor, tokens) for tokens in shared]
    # In any folder, only a single name can be said; a longer way is said from each start.
    return [
        Glob(start, tokens)
        for tokens in shared
        for start in ((None,) if len(tokens) <= 3 and ANY not in tokens[1:2] else ("", "/", "~"))
    ]


class _Overlaps:
    """The overlaps of one pair, each part of them worked out once."""

    def __init__(self) -> None:
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
            return set()
        if len(one) + len(other) > _MOST_LETTERS:
            raise TooMany
        return self._of_letters(one, other)

    def _of_letters(self, one: str, other: str) -> set[str]:
        key = (one, other)
        if key not in self._names:
            found = {each.replace("**", "*") for each in self._join_letters(one, other)}
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
        if one[0] != other[0]:
            return []
        return [one[0] + each for each in self._of_letters(one[1:], other[1:])]
