"""The text being read, and what all levels of the reader share."""

from barry_cli.policy.ruling.shell.nodes import (
    Command,
    Group,
    Reading,
    Redirect,
    Spanned,
    Word,
)

MOST_CHARACTERS = 65_536
TOO_MUCH = " than are read"
"""How the reason ends where a line goes beyond a limit."""
MOST_COMMANDS = 768
MOST_REDIRECTS = 768
MOST_WORDS = 3_072  # those that are not plain count twice
MOST_PIECES = 4_096
DEEPEST = 48

BREAKS = frozenset(" \t\n;&|()<>")
NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
NAME = NAME_START | frozenset("0123456789")


class Unreadable(Exception):
    """Bash rejects the text, or what it does with it isn't certain. Holds the reason."""


class Source:
    """A text and a place in it. `i` is the next character that nobody has read.

    `fuel` bounds what is read twice (the look-ahead for arithmetic, the text in backticks), so
    that the whole stays linear in the length of the text. `key_end` is past the reserved word that
    was found last. `loose`: a compound command just ended, so a closing word may follow at once.
    `substitutions`: how many are open here; `documented`: a here-document stood in the innermost.
    `extended`: extended patterns are on. `doubt`: why what was read is not certain, "" when it is;
    a text in doubt is refused once it was read.
    """

    __slots__ = (
        "commands",
        "depth",
        "documented",
        "doubt",
        "extended",
        "fuel",
        "group",
        "i",
        "key_end",
        "loose",
        "n",
        "pending",
        "portable",
        "reading",
        "redirects",
        "s",
        "substitutions",
        "words",
    )

    def __init__(self, text: str, reading: Reading, portable: bool) -> None:
        self.s = text
        self.n = len(text)
        self.i = 0
        self.reading = reading
        self.commands: list[Command] = reading.commands
        self.redirects: list[Redirect] = reading.redirects
        self.group: Group | None = None
        self.pending: list[tuple[Redirect, Group | None]] = []
        self.portable = portable
        self.depth = 0
        self.doubt = ""
        self.documented = False
        self.extended = False
        self.substitutions = 0
        self.fuel = 4 * self.n + 4_096
        self.words = 0
        self.key_end = 0
        self.loose = False

    def fail(self, reason: str) -> Unreadable:
        return Unreadable(reason)

    def enter(self) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise Unreadable("nested too deep")

    def skip(self, i: int) -> int:
        """The next character's place from `i` on: bash drops a backslash before a line feed."""
        s = self.s
        while s.startswith("\\\n", i):
            i += 2
        return i

    def count(self, words: int) -> None:
        """Refuse a text of too many words."""
        self.words += words
        if self.words > MOST_WORDS:
            raise Unreadable("more words than are read")

    def mark(self) -> tuple[int, int, str]:
        """What was found up to here."""
        return len(self.commands), len(self.redirects), self.doubt

    def forget(self, mark: tuple[int, int, str]) -> None:
        """Take back what was found since."""
        commands, redirects, self.doubt = mark
        del self.commands[commands:]
        del self.redirects[redirects:]

    def inner(self, kind: str) -> None:
        """Read the commands of a substitution, from `i` to past its closing parenthesis."""
        raise NotImplementedError

    def nested(self, text: str, kind: str) -> None:
        """Read all of another text as the commands of a substitution."""
        raise NotImplementedError


def place(
    commands: list[Command], redirects: list[Redirect], start: int, end: int, exact: bool
) -> None:
    """Give what was read in a text of its own its place in the whole.

    `exact`: that text stands at `start` unchanged. Otherwise everything has the span given.
    """
    nodes: list[Spanned] = []
    values: list[Word | None] = []
    for command in commands:
        nodes.append(command)
        values += command.words
        for assignment in command.assignments:
            nodes.append(assignment)
            values.append(assignment.value)
            values += assignment.items
    for redirect in redirects:
        nodes.append(redirect)
        values.append(redirect.target)
        values.append(redirect.body)
    for value in values:
        if value is not None:
            nodes.append(value)
            nodes += value.parts
    for node in {id(node): node for node in nodes}.values():  # a brace expansion shares its parts
        if exact:
            node.start += start
            node.end += start
        else:
            node.start = start
            node.end = end
