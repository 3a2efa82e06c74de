"""What the walk over a reading produces: calls, what they run in turn, and what was found."""

from barry_cli.policy.ruling.shell.nodes import TEXT, Command, Part, Reading, Word

DEEPEST = 8  # strings read inside strings
LONGEST = 32  # wrappers around wrappers
MOST = 1024  # calls that others run, and of those what one runs at once
HEAVIEST = 1 << 15  # characters of all nested strings together
WIDEST = 1 << 16  # words of all calls together

HOLE = "\ue000"  # stands for an unknown piece inside a text that is read all the same
PLACEHOLDER = "placeholder"  # the kind of a part that a program fills in: find's {}, a HOLE


class Place:
    """Where a text stands in the original line.

    `offset`: the text stands there letter for letter; else (-1) all of it counts as
    `start`..`end`.
    """

    __slots__ = ("end", "line", "offset", "start")

    def __init__(self, line: str, offset: int, start: int, end: int) -> None:
        self.line = line
        self.offset = offset
        self.start = start
        self.end = end

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span, in the original line, of a span of this text."""
        if self.offset < 0:
            return self.start, self.end
        # A function's argument comes from where it was called, which may lie further on.
        most = len(self.line)
        return min(self.offset + start, most), min(self.offset + end, most)

    def inner(self, text: str, start: int, end: int) -> "Place":
        """The place of a text that was taken from between `start` and `end` of this one."""
        start, end = self.span(start, end)
        offset = self.line.find(text, start, end) if text else -1
        if offset < 0 and len(text) > 1 and text[-1] == "\n":  # a line feed that bash adds
            offset = self.line.find(text[:-1], start, end)
        return Place(self.line, offset, start, end)


class Scope:
    """Where a command stands: what is known about the script around it.

    `arguments`: its positional parameters, None when unknown; `zero`: its $0. `holes`: its text
    may hold HOLE. `portable`: it goes to a shell that may not be bash. `host`: the call that runs
    it, whose input it shares. `bodies`: the functions whose bodies use their arguments;
    `called`: those of them that were called.
    """

    __slots__ = (
        "arguments",
        "bodies",
        "called",
        "depth",
        "holes",
        "host",
        "place",
        "portable",
        "zero",
    )

    def __init__(self, place: Place) -> None:
        self.place = place
        self.depth = 0
        self.arguments: list[Word] | None = None
        self.zero: Word | None = None
        self.holes = False
        self.portable = False
        self.host: Call | None = None
        self.bodies: dict[str, list[Command]] = {}
        self.called: set[str] = set()


class Call:
    """One program with its arguments, as it would be executed.

    `name`: its basename. `command`: the command of the reading that it stands in, for its input.
    `outer`: the call that runs it. `start`, `end`: its span in the original line.
    """

    __slots__ = ("command", "depth", "end", "name", "outer", "scope", "start", "words")

    def __init__(
        self, words: list[Word], command: Command, scope: Scope, outer: "Call | None"
    ) -> None:
        self.words = words
        self.command = command
        self.scope = scope
        self.outer = outer
        self.depth: int = outer.depth + 1 if outer is not None else 0
        self.name = words[0].basename or ""
        start = words[0].start
        end = words[-1].end
        if outer is not None:  # words put together may come from several places
            start = min([word.start for word in words])
            end = max([word.end for word in words])
        self.start, self.end = scope.place.span(start, end)
        if outer is not None and self.start >= self.end:
            self.start, self.end = outer.start, outer.end

    @property
    def argv(self) -> list[str]:
        """Its words, those that are not wholly known as they were written."""
        return [shown(word) for word in self.words]


class Run:
    """What a call runs in turn: a program with its arguments."""

    __slots__ = ("words",)

    def __init__(self, words: list[Word]) -> None:
        self.words = words


class Script:
    """What a call runs in turn: a text, read as a shell reads it.

    `text`: None when it isn't known. `words`: those it comes from, which stand in `place` (None:
    where the call stands). `portable`: the shell may not be bash. `arguments`: its positional
    parameters, None when unknown. `inherits`: it runs in the shell of the call, with the
    positional parameters there. `lenient`: when it can't be read, nothing is known to run (for
    texts that hardly ever run anything else than their own kind).
    """

    __slots__ = (
        "arguments",
        "inherits",
        "lenient",
        "place",
        "portable",
        "text",
        "words",
        "zero",
    )

    def __init__(self, text: str | None, words: list[Word], portable: bool = True) -> None:
        self.text = text
        self.words = words
        self.place: Place | None = None
        self.portable = portable
        self.arguments: list[Word] | None = None
        self.zero: Word | None = None
        self.inherits = False
        self.lenient = False


class Unknown:
    """What a call runs in turn can't be known."""

    __slots__ = ("why", "words")

    def __init__(self, why: str, words: list[Word]) -> None:
        self.why = why
        self.words = words


class Found:
    """All calls of a line, each outer one before what it runs.

    `readings`: every text that was read, the line itself first, and the scope of its commands.
    `unparseable`: "" or why something that runs can't be known; `start`, `end`: where.
    """

    __slots__ = (
        "calls",
        "end",
        "full",
        "read",
        "readings",
        "start",
        "text",
        "unparseable",
        "words",
    )

    def __init__(self, text: str) -> None:
        self.text = text
        self.calls: list[Call] = []
        self.readings: list[tuple[Reading, Scope]] = []
        self.unparseable = ""
        self.start = 0
        self.end = len(text)
        self.full = False  # nothing more is taken in
        self.read = 0  # characters of nested strings
        self.words = 0  # of all calls

    def fail(self, why: str, span: tuple[int, int]) -> None:
        """Note why something can't be known; the first reason stays."""
        if not self.unparseable:
            self.unparseable = why
            self.start, self.end = span


def shown(word: Word) -> str:
    """The value of a word, its unknown pieces as they were written."""
    if word.text is not None:
        return word.text
    return "".join([part.text for part in word.parts])


def known(text: str, near: Word) -> Word:
    """A word of our making, with the span of the one it comes from."""
    return Word(text, near.start, near.end, True)


def unknown(near: Word, many: bool = False) -> Word:
    """A word that nothing is known about, one or `many`."""
    hole = Part(PLACEHOLDER, "?", near.start, near.end, not many)
    hole.many = many
    return Word(None, near.start, near.end, not many, (hole,))


def joined(words: list[Word], lenient: bool = False) -> str | None:
    """The words with blanks between, a HOLE where a program fills something in.

    None when a word isn't known otherwise; `lenient`: a HOLE there too.
    """
    texts = []
    for word in words:
        text = word.text
        if text is None:
            text = ""
            for part in word.parts:
                if part.kind == TEXT:
                    text += part.text
                elif lenient or part.kind == PLACEHOLDER:
                    text += HOLE
                else:
                    return None
        texts.append(text)
    return " ".join(texts)


def opened(word: Word, mark: str = HOLE) -> Word:
    """The word with every `mark` in its known text made a placeholder."""
    if word.text is None:
        return (
            word
            if not any(mark in p.text for p in word.parts if p.kind == TEXT)
            else _open(word, mark, word.parts)
        )
    if mark not in word.text:
        return word
    return _open(word, mark, (Part(TEXT, word.text, word.start, word.end, True),))


def _open(word: Word, mark: str, parts: tuple[Part, ...]) -> Word:
    found: list[Part] = []
    for part in parts:
        if part.kind != TEXT:
            found.append(part)
            continue
        for index, piece in enumerate(part.text.split(mark)):
            if index:
                found.append(Part(PLACEHOLDER, mark, word.start, word.end, True))
            if piece:
                found.append(Part(TEXT, piece, word.start, word.end, True))
    return Word(None, word.start, word.end, True, tuple(found))
