r"""File patterns: `*` and `?` within a segment, `**` across, `[..]`, `{a,b}`, `\` escapes.

Without a slash a pattern holds at any depth. With one it is absolute, below the home (`~/..`), or
below its anchor: the folder that it was written for, which `/folder//pattern` carries along. What
an allowed pattern names may be a link; its anchor is looked at behind its links.
What a denied pattern matches is denied with all its content.
"""

from barry_cli.policy.ruling.paths import fold, lexical, real

Pattern = tuple[str, tuple[str, ...]]
"""As it was written, and the segments that a path must have: compiled, and plain data."""

WILD = frozenset("*?[\\")
ALTERNATIVES = 64
"""How many patterns `{a,b}` may stand for; beyond it the braces are plain characters."""

HOLE = "\0"
"""In a word's segment: something that only bash learns. No real path holds a NUL."""


def anchored(pattern: str, folder: str, deny: bool) -> str:
    """The pattern with its anchor in front: `/folder//pattern`.

    One that has none stays as it is: absolute, in the home, or denying at any depth.
    """
    if not pattern or pattern[:1] == "/" or _at_home(pattern):
        return pattern
    if not _relative(pattern):
        return pattern if deny else f"{folder.rstrip('/')}//**/{pattern}"
    return f"{folder.rstrip('/')}//{pattern}"


def compile_deny(pattern: str, root: str, home: str) -> list[Pattern]:
    """What the pattern denies. An empty one denies nothing."""
    return _compile(pattern, root, home, deny=True)


def compile_allow(pattern: str, root: str, home: str) -> list[Pattern]:
    """What the pattern allows: never more than lies below its anchor when it has no slash.

    A folder that is named without wildcards is allowed with its content.
    """
    return _compile(pattern, root, home, deny=False)


def matches(segments: tuple[str, ...], path: tuple[str, ...]) -> bool:
    """Do a pattern's segments match a path's, all of them?"""
    at = here = 0
    star = mark = -1
    while here < len(path):
        if at < len(segments) and segments[at] == "**":
            star, mark = at, here
            at += 1
        elif at < len(segments) and segment_matches(segments[at], path[here]):
            at += 1
            here += 1
        elif star >= 0:
            mark += 1
            at, here = star + 1, mark
        else:
            return False
    while at < len(segments) and segments[at] == "**":
        at += 1
    return at == len(segments)


def segment_matches(pattern: str, text: str) -> bool:
    """Does one segment match? A bracket counts both as a class and as plain characters."""
    if pattern in {text, "*"}:
        return True
    if WILD.isdisjoint(pattern):
        return False
    if pattern[0] == "*" and WILD.isdisjoint(pattern[1:]):
        return text.endswith(pattern[1:])
    if "**" in pattern and "\\" not in pattern:
        while "**" in pattern:  # no more than one star is, and takes longer
            pattern = pattern.replace("**", "*")
        return segment_matches(pattern, text)
    return _glob(pattern, text, True) or ("[" in pattern and _glob(pattern, text, False))


def literal_start(segments: tuple[str, ...]) -> tuple[str, ...]:
    """A pattern's segments up to its first wildcard."""
    for index, segment in enumerate(segments):
        if not WILD.isdisjoint(segment):
            return segments[:index]
    return segments


def needle(segments: tuple[str, ...]) -> str:
    """A text that every path holds, however it is written, that the pattern matches by its last
    name: "" when that leaves nothing certain.
    """
    for segment in reversed(segments):
        if segment == "**":
            continue
        pieces = [""]
        for char in segment:
            if char in WILD or char == "]":
                pieces.append("")
            else:
                pieces[-1] += char
        return "" if "[" in segment or "\\" in segment else max(pieces, key=len)
    return ""


def could_match(segments: tuple[str, ...], word: tuple[str, ...], rooted: bool) -> bool:
    """Could a word with holes become a path that the pattern matches?

    Yes where what is known of the word confirms part of the pattern: a whole segment, or the
    beginning or end of one. A word of which nothing is known confirms nothing. `rooted`: the word's
    beginning is known to be the path's.
    """
    if not _in_common(segments, word):
        return False
    if not rooted:
        start = 0
        while start < len(segments) and not _confirms(segments[start:], word):
            start += 1
        return start < len(segments)
    return _confirms(segments, word)


def _in_common(segments: tuple[str, ...], word: tuple[str, ...]) -> bool:
    """Is anything that is known of the word in the pattern at all?"""
    for segment in segments:
        if not says(segment):
            continue
        for part in word:
            if HOLE not in part:
                if segment_matches(segment, part):
                    return True
            elif part != HOLE and overlaps(segment, part):
                return True
    return False


def _confirms(segments: tuple[str, ...], word: tuple[str, ...]) -> bool:
    # A hole that fills a segment may hold slashes: it stands for any number of segments.
    known = False
    at = 0
    for index, part in enumerate(word):
        if part == HOLE:
            tail = word[index + 1 :]
            if not tail:
                # All that is left may be anything.
                return known and at < len(segments) and not any(map(says, segments[at:]))
            return any(_confirms(segments[more:], tail) for more in range(at, len(segments)))
        if at >= len(segments):
            return known
        if segments[at] == "**":
            rest, tail = segments[at + 1 :], word[index:]
            if not rest:
                return known
            return any(
                _confirms(rest, tail[skip:]) for skip in range(len(tail)) if tail[skip] != HOLE
            )
        if HOLE in part:
            return overlaps(segments[at], part)
        if not segment_matches(segments[at], part):
            return False
        known = known or segments[at] != "*"
        at += 1
    return known and (at == len(segments) or segments[at] == "**")


def says(segment: str) -> bool:
    """Does the pattern's segment leave anything out?"""
    return bool(segment.strip("*"))


def overlaps(pattern: str, part: str) -> bool:
    """Does the known beginning or end of a segment confirm that of the pattern's segment?"""
    head, tail = part.split(HOLE, maxsplit=1)[0], part.rsplit(HOLE, 1)[1]
    first = _literal_head(pattern)
    last = _literal_head(pattern[::-1])[::-1]
    if first == pattern:
        fits = pattern.startswith(head) and pattern.endswith(tail)
        return fits and len(head) + len(tail) > 0
    starts = first.startswith(head) or head.startswith(first)
    ends = last.endswith(tail) or tail.endswith(last)
    return starts and ends and bool((head and first) or (tail and last))


def _literal_head(pattern: str) -> str:
    for index, char in enumerate(pattern):
        if char in WILD or char == "]":
            return pattern[:index]
    return pattern


def _relative(pattern: str) -> bool:
    """Is it written with a slash, so that it lies somewhere below its anchor?"""
    tail = pattern.rstrip("/")
    return "/" in tail or tail in {".", ".."}


def _at_home(text: str) -> bool:
    return text == "~" or text[:2] == "~/"


def _compile(written: str, root: str, home: str, deny: bool) -> list[Pattern]:
    found: list[Pattern] = []
    for text in alternatives(written) if written else ():
        base, rest, follow = _placed(text, root, home, deny)
        for start in _bases(base, root):
            segments = _segments(start, rest, deny)
            for each in _with_links(segments, follow or deny, root):
                pattern = (written, tuple(map(fold, each)))
                if pattern not in found:
                    found.append(pattern)
    return found


def _placed(text: str, root: str, home: str, deny: bool) -> tuple[tuple[str, ...], str, bool]:
    """The folder a pattern starts from, the rest, and whether its own links are followed."""
    anchor, mark, tail = text.partition("//")
    if mark and anchor[:1] in {"", "/"}:
        return lexical(anchor), tail, False
    if text[:1] == "/":
        # What lies in the project may be made a link by the one who is held to the pattern.
        within = lexical(root)
        return (), text, not within or lexical(text)[: len(within)] != within
    if _at_home(text):
        return lexical(home), text[1:], True
    if _relative(text):
        return lexical(root), text, False
    return () if deny else lexical(root), f"**/{text}", False


def _bases(base: tuple[str, ...], root: str) -> list[tuple[str, ...]]:
    there = real("/" + "/".join(base), root)
    return [base] if there == base else [base, there]


def _segments(base: tuple[str, ...], rest: str, deny: bool) -> tuple[str, ...]:
    # The base is a place, not a pattern: its own special characters stand for themselves.
    segments = [_escaped(segment) for segment in base]
    for segment in rest.split("/"):
        if segment == "..":
            if segments:
                segments.pop()
        elif len(segment) > 1 and not segment.strip("*"):
            segments.append("**")
        elif segment and segment != ".":
            segments.append(segment)
    content = deny or not segments or segments[-1] == "**" or WILD.isdisjoint(segments[-1])
    if content and (not segments or segments[-1] != "**"):
        segments.append("**")
    return tuple(segments)


def _with_links(segments: tuple[str, ...], follow: bool, root: str) -> list[tuple[str, ...]]:
    """The pattern, and the same below the real place of its literal beginning."""
    start = literal_start(segments)
    if not follow or not start:
        return [segments]
    there = real("/" + "/".join(start), root)
    if there == start:
        return [segments]
    return [segments, tuple(map(_escaped, there)) + segments[len(start) :]]


def _escaped(segment: str) -> str:
    if WILD.isdisjoint(segment):
        return segment
    return "".join("\\" + char if char in WILD else char for char in segment)


def alternatives(text: str) -> list[str]:
    """What `{a,b}` stands for, nested and repeated; braces without a comma are plain."""
    done: list[str] = []
    waiting = [text]
    while waiting:
        if len(waiting) + len(done) > ALTERNATIVES:
            return [text]
        each = waiting.pop(0)
        split = _braces(each)
        if split is None:
            done.append(each)
            continue
        before, choices, after = split
        waiting[:0] = [before + choice + after for choice in choices]
    return done


def _braces(text: str) -> tuple[str, list[str], str] | None:
    start = text.find("{")
    while start >= 0:
        depth, begin = 0, start + 1
        choices: list[str] = []
        for index in range(start, len(text)):
            char = text[index]
            if char == "{":
                depth += 1
            elif char == "}":
                depth -= 1
                if depth == 0:
                    choices.append(text[begin:index])
                    if len(choices) > 1:
                        return text[:start], choices, text[index + 1 :]
                    break
            elif char == "," and depth == 1:
                choices.append(text[begin:index])
                begin = index + 1
        start = text.find("{", start + 1)
    return None


def _glob(pattern: str, text: str, classes: bool) -> bool:
    at = here = 0
    star = mark = -1
    while here < len(text):
        step = _step(pattern, at, text[here], classes) if at < len(pattern) else 0
        if step < 0:
            star, mark = at, here
            at += 1
        elif step:
            at += step
            here += 1
        elif star >= 0:
            mark += 1
            at, here = star + 1, mark
        else:
            return False
    while at < len(pattern) and pattern[at] == "*":
        at += 1
    return at == len(pattern)


def _step(pattern: str, at: int, char: str, classes: bool) -> int:
    """How many characters of the pattern the character uses up: 0 none fits, -1 a star."""
    sign = pattern[at]
    if sign == "*":
        return -1
    if sign == "?":
        return 1
    if sign == "\\" and at + 1 < len(pattern):
        return 2 if pattern[at + 1] == char else 0
    if sign == "[" and classes:
        return _class(pattern, at, char)
    return 1 if sign == char else 0


def _in_named(name: str, char: str) -> bool:
    """Is the character of a class like `[:alpha:]`? One that isn't known holds any."""
    if name == "alpha":
        return char.isalpha()
    if name == "digit":
        return char.isdecimal()
    if name in {"lower", "upper"}:
        return char.islower() if name == "lower" else char.isupper()
    if name == "space":
        return char.isspace()
    return char.isalnum() if name == "alnum" else True


def _class(pattern: str, at: int, char: str) -> int:
    """`[abc]`, `[a-z]`, `[!..]`, `[^..]`; a bracket that never closes is a plain character."""
    index = at + 1
    inverted = pattern[index : index + 1] in {"!", "^"}
    index += inverted
    first = index
    found = False
    while index < len(pattern):
        low = pattern[index]
        if low == "]" and index > first:
            return index + 1 - at if found != inverted else 0
        if pattern[index : index + 2] == "[:":
            end = pattern.find(":]", index + 2)
            if end > 0:
                found = found or _in_named(pattern[index + 2 : end], char)
                index = end + 2
                continue
        if low == "\\" and index + 1 < len(pattern):
            index += 1
            low = pattern[index]
        index += 1
        high = low
        if pattern[index : index + 1] == "-" and pattern[index + 1 : index + 2] not in {"", "]"}:
            high = pattern[index + 1]
            index += 2
        found = found or low <= char <= high
    return 1 if char == "[" else 0
