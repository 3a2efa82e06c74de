"""What lies below a folder that a program goes through as a whole."""

from barry_cli.policy.ruling.file_use import Only
from barry_cli.policy.ruling.matching import inner, may_become, name_anywhere
from barry_cli.policy.ruling.paths import FOLDS, Disk, exists, fold
from barry_cli.policy.ruling.patterns import WILD, Pattern, literal_start, matches, segment_matches
from barry_cli.policy.ruling.situation import partly_known

Place = tuple[str, ...]


def within(
    patterns: tuple[Pattern, ...],
    places: tuple[Place, ...],
    only: Only | None,
    destroys: bool,
    base: str,
    disk: Disk,
) -> str | None:
    """A pattern for something below one of the places; none also when there is too much.

    `destroys`: what a pattern names by its place counts whether it is there or not. `base`: the
    folder that the program runs in, near which what has a name is looked for first.
    """
    if only is None:
        starts = inner(patterns).starts
        best = min([starts.get(place, len(patterns)) for place in places])
        if best < len(patterns) and (destroys or _is_there(patterns[best])):
            return patterns[best][0]
    for place in places:
        written = _walked(_Wanted(patterns, place), place, only, base, disk)
        if written:
            return written
    return None


def may_hold_more(patterns: tuple[Pattern, ...], only: Only | None) -> bool:
    """There may be something denied among what wasn't looked at."""
    if only is None:
        return True
    names = [name for name in (name_anywhere(segments) for _, segments in patterns) if name]
    return any(map(only.can_be_named, names))


def told(patterns: tuple[Pattern, ...], only: Only, base: str, home: str) -> str | None:
    """A pattern that the tests on a tree's entries name, be it there or not."""
    for word in only.names():
        text = word.text
        if text is None:
            written = may_become(patterns, partly_known(word, base, home))
        else:
            written = meets(patterns, text)
        if written is not None:
            return written
    return None


def meets(patterns: tuple[Pattern, ...], glob: str) -> str | None:
    """A pattern for a name that a path with globs in it may stand for, whatever is there now.

    Only where one of the two is plain, or both are the same, and the glob says something of it.
    """
    names = tuple([each for each in fold(glob).split("/") if each not in {"", "."}])
    for written, segments in patterns:
        if glob[:1] == "/" or segments[:1] == ("**",):
            if _meet(segments, names):
                return written
        elif any(_meet(segments[at:], names) for at in range(len(segments))):
            return written
    return None


def _meet(segments: tuple[str, ...], names: tuple[str, ...]) -> bool:
    if not names or not segments:
        return False
    segment, name = segments[0], names[0]
    if segment == "**":
        rest = segments[1:]
        return bool(rest) and any(_meet(rest, names[skip:]) for skip in range(len(names)))
    if WILD.isdisjoint(segment):
        fits = segment_matches(name, segment) and (name[:1] == "." or segment[:1] != ".")
    else:
        fits = name == segment or (WILD.isdisjoint(name) and segment_matches(segment, name))
    if fits and segments[1:] in {(), ("**",)}:
        return _said(name) > 1
    return fits and _meet(segments[1:], names[1:])


def _said(name: str) -> int:
    """How many characters of a name a glob spells out."""
    count, inside = 0, False
    for char in name:
        inside = char == "[" or (inside and char != "]")
        count += not inside and char not in "*?]\\"
    return count


class _Wanted:
    """Patterns by how an entry below `top` is held against them."""

    __slots__ = ("ends", "globs", "names", "others", "tails")

    def __init__(self, patterns: tuple[Pattern, ...], top: Place) -> None:
        self.names: dict[str, str] = {}
        self.tails: list[tuple[str, str]] = []
        self.globs: list[tuple[str, str]] = []
        self.others: list[Pattern] = []
        for written, segments in patterns:
            name = name_anywhere(segments)
            start = literal_start(segments)
            if name and WILD.isdisjoint(name):
                self.names.setdefault(name, written)
            elif name[:1] == "*" and len(name) > 1 and WILD.isdisjoint(name[1:]):
                self.tails.append((name[1:], written))
            elif name:
                self.globs.append((name, written))
            elif start[: len(top)] == top[: len(start)]:
                self.others.append((written, segments))
        self.ends = tuple([tail for tail, _ in self.tails])

    def likely(self, base: Place) -> list[tuple[Place, str]]:
        """Places that patterns spell out, and their names in the folders around `base`."""
        found = [(literal_start(segments), written) for written, segments in self.others]
        around = [base[:count] for count in range(len(base), -1, -1)]
        for name, written in self.names.items():
            found += [((*folder, name), written) for folder in around]
        return [each for each in found if each[0]]

    def by_name(self, name: str) -> str:
        """The pattern that an entry matches by its name, "" for none."""
        folded = fold(name) if FOLDS else name
        written = self.names.get(folded, "")
        if not written and self.ends and folded.endswith(self.ends):
            return next(each for tail, each in self.tails if folded.endswith(tail))
        for glob, each in () if written else self.globs:
            if segment_matches(glob, folded):
                return each
        return written

    def by_place(self, place: Place) -> str:
        """The same by where it lies."""
        place = tuple(map(fold, place)) if FOLDS else place
        for written, segments in self.others:
            if matches(segments, place):
                return written
        return ""


def _walked(wanted: _Wanted, top: Place, only: Only | None, base: str, disk: Disk) -> str:
    """What is likely first, then the nearest, so that a limit cuts off what is far down."""
    waiting: list[tuple[Place, str, str]] = []
    for place, written in wanted.likely(tuple(base.strip("/").split("/"))):
        path, at = place[len(top) :], "/" + "/".join(place)
        if place[: len(top)] == top and path and exists(at) and _leads_to(path, only):
            folder = exists(f"{at}/.")
            if only is None or only.reaches(path, False) or (folder and only.reaches(path, True)):
                return written
            if only.enters(path):
                waiting.append((path, at, written))
    waiting.append(((), "/" + "/".join(top), ""))
    for path, at, above in waiting:
        for name, folder in disk.inside(at):
            written = above or wanted.by_name(name)
            if not written and wanted.others:
                written = wanted.by_place((*top, *path, name))
            if not written and not folder:
                continue
            here = (*path, name)
            if written and (only is None or only.reaches(here, folder)):
                return written
            if folder and (only is None or only.enters(here)):
                waiting.append((here, f"{at}/{name}", written))
    return ""


def _leads_to(path: Place, only: Only | None) -> bool:
    """The folders above the entry are gone into."""
    return only is None or all(only.enters(path[:count]) for count in range(1, len(path)))


def _is_there(pattern: Pattern) -> bool:
    start = literal_start(pattern[1])
    return bool(start) and exists("/" + "/".join(start))
