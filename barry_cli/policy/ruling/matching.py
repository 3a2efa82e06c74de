"""Which of many patterns matches a path: looked up where that is possible, tried otherwise."""

from barry_cli.policy.ruling.patterns import WILD, Pattern, matches

Places = tuple[tuple[str, ...], ...]


class Matcher:
    """Patterns by what they need: a name anywhere, an end of a name, a first segment, or a try.

    Each is kept with its place in the row, since the first one that matches is the answer.
    """

    __slots__ = ("_ends", "_names", "_others", "_starts", "_tails", "patterns")

    def __init__(self, patterns: tuple[Pattern, ...]) -> None:
        self.patterns = patterns
        self._names: dict[str, int] = {}
        self._ends: list[tuple[str, int]] = []
        self._starts: dict[str, list[int]] = {}
        self._others: list[int] = []
        for index, (_, segments) in enumerate(patterns):
            first = segments[0]
            name = segments[1] if len(segments) == 3 and segments[2] == "**" == first else ""
            if name and WILD.isdisjoint(name):
                self._names.setdefault(name, index)
            elif name[:1] == "*" and len(name) > 1 and WILD.isdisjoint(name[1:]):
                self._ends.append((name[1:], index))
            elif WILD.isdisjoint(first):
                self._starts.setdefault(first, []).append(index)
            else:
                self._others.append(index)
        self._tails = tuple([end for end, _ in self._ends])

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
        for index in (*(self._starts.get(place[0], ()) if place else ()), *self._others):
            if index < best and matches(self.patterns[index][1], place):
                best = index
        return best if best < len(self.patterns) else -1


# One policy is asked many times. Kept with its patterns, so that no other may have taken their id.
_kept: dict[int, Matcher] = {}
_MOST = 16


def matcher(patterns: tuple[Pattern, ...]) -> Matcher:
    """The matcher of these patterns, made once."""
    found = _kept.get(id(patterns))
    if found is None or found.patterns is not patterns:
        if len(_kept) >= _MOST:
            _kept.clear()
        found = _kept[id(patterns)] = Matcher(patterns)
    return found


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
