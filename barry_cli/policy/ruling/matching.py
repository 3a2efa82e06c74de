"""Which of many patterns matches a path: looked up where that is possible, tried otherwise."""

from barry_cli.policy.ruling.patterns import (
    HOLE,
    WILD,
    Pattern,
    could_match,
    literal_start,
    matches,
    needle,
    overlaps,
    says,
    segment_matches,
)

Places = tuple[tuple[str, ...], ...]


class Matcher:
    """Patterns by what they need: a name anywhere, an end of a name, a beginning, or a try.

    Each is kept with its place in the row, since the first one that matches is the answer.
    """

    __slots__ = ("_ends", "_lengths", "_names", "_others", "_starts", "_tails", "patterns")

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        self.patterns = patterns
        self._names: dict[str, int] = {}
        self._ends: list[tuple[str, int]] = []
        self._starts: dict[tuple[str, ...], list[int]] = {}
        self._others: list[int] = []
        for index, (_, segments) in enumerate(patterns):
            name = name_anywhere(segments)
            start = literal_start(segments)
            if name and WILD.isdisjoint(name):
                self._names.setdefault(name, index)
            elif name[:1] == "*" and len(name) > 1 and WILD.isdisjoint(name[1:]):
                self._ends.append((name[1:], index))
            elif start:
                self._starts.setdefault(start, []).append(index)
            else:
                self._others.append(index)
        self._tails = tuple([end for end, _ in self._ends])
        self._lengths = sorted({len(start) for start in self._starts})

    def first(self, place: tuple[str, ...]) -> int:
        """The place in the row of the first pattern that matches, -1 when none does."""
        best = len(self.patterns)
        names, tails = self._names, self._tails
        for segment in place:
            index = names.get(segment)
            if index is not None and index < best:
                best = index
            if tails and segment.endswith(tails):
                for end, index in self._ends:
                    if index < best and segment.endswith(end):
                        best = index
        tried = self._others
        for length in self._lengths:
            if length > len(place):
                break
            begun = self._starts.get(place[:length])
            if begun is not None:
                tried = tried + begun
        for index in tried:
            if index < best and matches(self.patterns[index][1], place):
                best = index
        return best if best < len(self.patterns) else -1


class Inner:
    """Patterns by the folders that they begin with."""

    __slots__ = ("patterns", "starts")

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        self.patterns = patterns
        self.starts: dict[tuple[str, ...], int] = {}
        for index, (_, segments) in enumerate(patterns):
            start = literal_start(segments)
            for length in range(len(start) + 1 if start else 0):
                self.starts.setdefault(start[:length], index)


class Likely:
    """Patterns by what is known of a word or a line that may come to match them."""

    __slots__ = ("_needles", "_plain", "_wild", "patterns")

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        self.patterns = patterns
        self._plain: dict[str, list[int]] = {}
        self._wild: dict[str, list[int]] = {}
        self._needles = tuple(dict.fromkeys([needle(segments) for _, segments in patterns]))
        for index, (_, segments) in enumerate(patterns):
            for segment in dict.fromkeys(segments):
                if says(segment):
                    kept = self._plain if WILD.isdisjoint(segment) else self._wild
                    kept.setdefault(segment, []).append(index)

    def sharing(self, word: tuple[str, ...]) -> list[int]:
        """Those that have anything in common with what is known of the word."""
        found: set[int] = set()
        for part in word:
            if HOLE not in part:
                found.update(self._plain.get(part, ()))
                for segment, indexes in self._wild.items():
                    if segment_matches(segment, part):
                        found.update(indexes)
            elif part != HOLE:
                for kept in (self._plain, self._wild):
                    for segment, indexes in kept.items():
                        if overlaps(segment, part):
                            found.update(indexes)
        return sorted(found)

    def needles_in(self, text: str) -> list[str]:
        """The needles that the text holds."""
        return [each for each in self._needles if each in text]


def name_anywhere(segments: tuple[str, ...]) -> str:
    """The one name that a pattern asks for, at any depth; "" when it asks for more."""
    return segments[1] if len(segments) == 3 and segments[2] == "**" == segments[0] else ""


class _Made:
    """What is made of one row of patterns, when it is first asked for."""

    __slots__ = ("inner", "likely", "matcher", "patterns")

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        self.patterns = patterns
        self.matcher: Matcher | None = None
        self.inner: Inner | None = None
        self.likely: Likely | None = None


# One policy is asked many times. Kept with its patterns, so that no other may have taken their id.
_kept: dict[int, _Made] = {}
_MOST = 16


def _made(patterns: tuple[Pattern, ...]) -> _Made:
    found = _kept.get(id(patterns))
    if found is None or found.patterns is not patterns:
        if len(_kept) >= _MOST:
            _kept.clear()
        found = _kept[id(patterns)] = _Made(patterns)
    return found


def matcher(patterns: tuple[Pattern, ...]) -> Matcher:
    """The matcher of these patterns, made once."""
    made = _made(patterns)
    if made.matcher is None:
        made.matcher = Matcher(patterns)
    return made.matcher


def inner(patterns: tuple[Pattern, ...]) -> Inner:
    """The same for what lies below a folder."""
    made = _made(patterns)
    if made.inner is None:
        made.inner = Inner(patterns)
    return made.inner


def likely(patterns: tuple[Pattern, ...]) -> Likely:
    """The same for what is known in part."""
    made = _made(patterns)
    if made.likely is None:
        made.likely = Likely(patterns)
    return made.likely


def first_match(patterns: tuple[Pattern, ...], places: Places) -> str | None:
    """The first pattern, as it was written, that matches any of a path's places."""
    if not patterns:
        return None
    made = matcher(patterns)
    found = [index for index in map(made.first, places) if index >= 0]
    return patterns[min(found)][0] if found else None


def every_match(patterns: tuple[Pattern, ...], places: Places) -> str | None:
    """The pattern that matches the first place, when each place is matched by some pattern."""
    if not patterns:
        return None
    made = matcher(patterns)
    found = list(map(made.first, places))
    return patterns[found[0]][0] if found and min(found) >= 0 else None


def may_become(patterns: tuple[Pattern, ...], word: tuple[str, ...]) -> str | None:
    """The first pattern that a path of which something is unknown may come to match."""
    floating = any(HOLE in segment for segment in word[:1])
    for index in likely(patterns).sharing(word) if patterns else ():
        written, segments = patterns[index]
        if could_match(segments, word, not floating):
            return written
        if not floating and could_match(segments, (HOLE, *word[1:]), False):
            return written
    return None
