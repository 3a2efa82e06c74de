"""Compound commands, and the reader of a whole text."""

from barry_cli.policy.ruling.shell.lists import OPENERS, UNEXPECTED, Lists
from barry_cli.policy.ruling.shell.nodes import Command, Group, Part, Word
from barry_cli.policy.ruling.shell.source import BREAKS, Unreadable, place
from barry_cli.policy.ruling.shell.words import ARGUMENT

# What a reader of its own costs, in characters read.
_APART = 96
_QUOTING = frozenset("'\"\\`")
_BODIES = OPENERS - {"function", "coproc"}


class Reader(Lists):
    """Reads a whole text. What it finds is in its reading, also when it raises Unreadable."""

    __slots__ = ()

    def all(self) -> None:
        """Read the text to its end."""
        if self.commands_until(False) != "":
            raise Unreadable(UNEXPECTED)
        self.documents()
        self.settled()

    def settled(self) -> None:
        """Refuse what is in doubt."""
        if self.doubt:
            raise Unreadable(self.doubt)

    # substitutions

    def inner(self, kind: str) -> None:
        self.enter()
        keep = self.pending, self.group, self.documented
        self.pending, self.group, self.documented = [], Group(kind, self.group), False
        self.substitutions += 1
        self.gap()
        self.timed()
        if self.commands_until(False) != ")" or self.pending:
            raise Unreadable("a substitution that is not closed")
        self.substitutions -= 1
        self.pending, self.group, self.documented = keep
        self.i += 1
        self.loose = False
        self.depth -= 1

    def timed(self) -> None:
        """Refuse a compound command behind a `time` that opens a substitution, as bash does.

        There bash looks for the end with `time` as a program, and then runs it as its own word.
        """
        at = self.i
        timed = False
        key = self.key()
        while key in ("!", "time"):
            timed = timed or key == "time"
            self.i = self.key_end
            self.blank()
            self.time_options()
            key = self.key()
        if timed and (key or self.s.startswith("(", self.i)):
            raise Unreadable(UNEXPECTED)
        self.i = at

    def apart(self, text: str) -> "Reader":
        """A reader of another text, which adds to the same reading."""
        self.fuel -= len(text) + _APART
        if self.fuel < 0:
            raise Unreadable("nested too deep")
        reader = Reader(text, self.reading, self.portable)
        reader.fuel = self.fuel
        reader.words = self.words
        reader.depth = self.depth
        reader.group = self.group
        reader.enter()
        return reader

    def nested(self, text: str, kind: str) -> None:
        reader = self.apart(text)
        reader.group = Group(kind, self.group)
        reader.all()
        self.fuel = reader.fuel
        self.words = reader.words

    def settle(self, commands: int, redirects: int, start: int, end: int, exact: bool) -> None:
        place(self.commands[commands:], self.redirects[redirects:], start, end, exact)

    def expand_apart(self, text: str, at: int, end: int, out: list[Part]) -> None:
        commands, redirects = len(self.commands), len(self.redirects)
        reader = self.apart(text)
        if reader.expanding(0, reader.n, "", out) != reader.n:
            raise Unreadable("an expansion that a here-document doesn't close")
        reader.settled()
        self.fuel = reader.fuel
        self.words = reader.words
        self.settle(commands, redirects, at, end, False)
        for part in out:
            part.start, part.end = at, end

    # compound commands

    def compound(self, key: str, sources: tuple[Command, ...]) -> None:
        self.enter()
        outer = self.group
        self.group = group = Group(key, outer)
        group.piped_from = sources
        if key == "(":
            self.parenthesized(group)
        else:
            self.i = self.key_end
        if key == "{":
            self.expect("}")
        elif key == "if":
            self.branches()
        elif key in ("while", "until"):
            self.expect("do")
            self.expect("done")
        elif key in ("for", "select"):
            self.loop(key)
        elif key == "case":
            self.case()
        elif key == "[[":
            self.condition()
        elif key == "function":
            self.function()
        elif key == "coproc":
            self.coprocess(group)
        self.group = outer
        self.depth -= 1
        if key not in ("function", "coproc"):
            self.tail(group)

    def tail(self, group: Group) -> None:
        """The redirections behind a compound command."""
        s = self.s
        self.loose = True
        while True:
            self.blank()
            i = j = self.i
            if i >= self.n:
                return
            if s[i] in "<>&":
                if not self.redirects_at(i):
                    return
                self.redirect(group.redirects, None, i)
                if s[i] == "&" and self.portable:
                    self.final()
            elif s[i] in "0123456789{":
                pieces = self.pieces(0)
                j, self.i = self.i, i
                if j >= self.n or s[j] not in "<>":
                    return
                self.i = j
                if not self.number(pieces):
                    raise Unreadable(UNEXPECTED)
                self.redirect(group.redirects, s[i:j].replace("\\\n", ""), i)
            else:
                return
            self.loose = False

    def parenthesized(self, group: Group) -> None:
        """( list ) or (( expression ))."""
        i = self.i
        j = self.skip(i + 1)
        if self.s.startswith("(", j):
            mark = self.mark()
            if self.portable:
                raise Unreadable("(( that another shell reads differently")
            group.kind = "(("
            inner, outer = self.arithmetic(j + 1, False)
            if outer >= 0:
                self.i = outer + 1
                return
            if self.s.startswith("\n", self.skip(inner + 1)):  # bash drops this line end
                raise Unreadable("(( that bash misreads")
            self.forget(mark)
            group.kind = "("
        self.i = i + 1
        if self.commands_until() != ")":
            raise Unreadable(UNEXPECTED)
        self.i += 1
        if j + 1 < self.i and self.s[j] == "(" and "$'" in self.s[j : self.i]:
            raise Unreadable("(( that some bash versions misread")

    def branches(self) -> None:
        """if, from behind the word."""
        self.expect("then")
        while True:
            word = self.commands_until()
            self.i = self.key_end
            if word == "fi":
                return
            if word == "else":
                self.expect("fi")
                return
            if word != "elif":
                raise Unreadable(UNEXPECTED)
            self.expect("then")

    def loop(self, key: str) -> None:
        """For and select, from behind the word."""
        s = self.s
        self.blank()
        j = self.skip(self.i + 1)
        if key == "for" and s.startswith("(", self.i) and s.startswith("(", j):
            inner, outer = self.arithmetic(j + 1, False)
            if outer < 0 or not _three(s[j + 1 : inner]):
                raise Unreadable(UNEXPECTED)
            self.i = outer + 1
            self.blank()
            if s.startswith(";", self.i):
                self.i += 1
            self.gap()
            self.turns(True)
            return
        begin = self.i
        self.operand_word()
        name = s[begin : self.i]
        self.blank()
        at = self.i
        if s.startswith(";", at):
            self.i += 1
            self.gap()
            self.turns(True)
            return
        self.gap()
        if self.key() == "in":
            self.i = self.key_end
            self.reading.loops.append((name, self.choices()))
            self.turns(True)
        else:
            self.turns(self.i > at)

    def operand_word(self) -> None:
        """A word that matters only for the commands in it."""
        pieces = self.pieces(0)
        if not pieces or self.number(pieces):
            raise Unreadable(UNEXPECTED)

    def choices(self) -> list[Word]:
        """The words behind `in`, and what ends them."""
        s = self.s
        words: list[Word] = []
        while True:
            self.blank()
            i = self.i
            c = s[i : i + 1]
            if c == ";":
                self.i += 1
                break
            if c == "\n":
                break
            pieces = self.pieces(ARGUMENT)
            if not pieces or self.number(pieces):
                raise Unreadable(UNEXPECTED)
            self.finish(pieces, i, words, ARGUMENT)
        self.gap()
        return words

    def turns(self, braces: bool) -> None:
        """The body of a loop: do .. done, or { .. } where `braces`."""
        key = self.key()
        self.i = self.key_end
        if key == "do":
            self.expect("done")
        elif key == "{" and braces:
            self.expect("}")
        else:
            raise Unreadable(UNEXPECTED)

    def case(self) -> None:
        """case, from behind the word."""
        s = self.s
        self.blank()
        self.operand_word()
        self.gap()
        if self.key() != "in":
            raise Unreadable(UNEXPECTED)
        self.i = self.key_end
        while True:
            self.gap()
            if s.startswith("(", self.i):
                self.i += 1
            elif self.key() == "esac":
                break
            self.labels()
            end = self.commands_until(False)
            if end == "esac":
                break
            i = self.i
            j = self.skip(i + 1)
            if end not in (";", ";;") or s[j : j + 1] not in (";", "&"):
                raise Unreadable(UNEXPECTED)
            after = self.skip(j + 1)
            self.i = after + 1 if s[j] == ";" and s.startswith("&", after) else j + 1
        self.i = self.key_end

    def labels(self) -> None:
        """The patterns of a case up to past their parenthesis."""
        s = self.s
        while True:
            self.blank()
            at = self.i
            self.operand_word()
            self.count(1)
            if self.substitutions and s[at : self.i].replace("\\\n", "") == "esac":
                # bash 5.2 prints a substitution without the parenthesis before it, and reads that
                raise Unreadable("a pattern that some bash versions misread")
            self.blank()
            c = s[self.i : self.i + 1]
            self.i += 1
            if c == ")":
                return
            if c != "|":
                raise Unreadable(UNEXPECTED)

    # functions and coprocesses

    def function(self) -> None:
        """function, from behind the word."""
        s = self.s
        self.blank()
        at = self.i
        self.operand_word()
        name = s[at : self.i]
        self.blank()
        i = self.i
        if s.startswith("(", i):
            self.i += 1
            self.blank()
            self.i = self.i + 1 if s.startswith(")", self.i) else i
        if not s.startswith("(", self.i):
            self.gap()
        self.definition(name)

    def definition(self, name: str) -> None:
        key = self.key()
        if key not in _BODIES and not (key == "" and self.s.startswith("(", self.i)):
            raise Unreadable(UNEXPECTED)
        self.enter()
        outer = self.group
        self.group = Group("function", outer)
        self.group.name = name
        self.compound(key or "(", ())
        self.group = outer
        self.depth -= 1

    def coprocess(self, group: Group) -> None:
        """coproc, from behind the word."""
        s = self.s
        self.blank()
        key = self.key()
        if key == "" and self.i < self.n and s[self.i] not in BREAKS:
            self.named(group)
            key = self.key()
        if self.i >= self.n:
            raise Unreadable(UNEXPECTED)
        if key == "time":
            key = ""
        if key and key not in _BODIES:
            raise Unreadable(UNEXPECTED)
        self.command(key, ())

    def named(self, group: Group) -> None:
        """Take the word at `self.i` when it names the coprocess: a compound command follows."""
        s = self.s
        at = self.i
        name = self.name(at)
        if name > at and s.startswith(("=", "+=", "["), name):
            return  # an assignment
        mark = self.mark()
        self.pieces(0)
        end = self.i
        self.fuel -= end - at
        if self.fuel < 0:
            raise Unreadable("nested too deep")
        self.blank()
        key = self.key()
        if key in _BODIES or s.startswith("(", self.i):
            group.name = s[at:end]
            return
        name = self.name(self.i)
        if (key and key != "time") or (name > self.i and s.startswith("[", name)):
            raise Unreadable(UNEXPECTED)
        self.forget(mark)
        self.i = at


def _three(text: str) -> bool:
    """It is certain that these are three expressions."""
    if not _QUOTING.isdisjoint(text):
        return False
    depth = semicolons = 0
    for c in text:
        depth += (c == "(") - (c == ")")
        semicolons += c == ";" and depth == 0
    return semicolons == 2
