"""Lists, pipelines and simple commands."""

from barry_cli.policy.ruling.shell.conditions import Conditions
from barry_cli.policy.ruling.shell.nodes import Assignment, Command, Part, Word
from barry_cli.policy.ruling.shell.source import (
    BREAKS,
    MOST_COMMANDS,
    Unreadable,
)
from barry_cli.policy.ruling.shell.words import ARGUMENT, COLONS

# A run of these is a word as it stands.
_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,=@%+^!]}#"
_WINDOW = 48
_ENDS = frozenset(" \t\n;&|)")
OPENERS = frozenset("if while until for select case { [[ function coproc".split())
CLOSERS = frozenset("then elif else fi do done esac } ]] in".split())
_RESERVED = OPENERS | CLOSERS | {"!", "time"}
_KEY_START = frozenset(word[0] for word in _RESERVED) | {"\\"}
_SEPARATORS = frozenset(("\n", ";", "&", "&&", "||"))
# Behind these a word may hold a compound assignment.
_DECLARERS = frozenset("declare typeset local export readonly alias eval let".split())
_SUBSTITUTIONS = frozenset(("$(", "`", "<(", ">("))
UNEXPECTED = "a syntax error: bash rejects it"


class Lists(Conditions):
    """Reads lists, pipelines and simple commands."""

    __slots__ = ()

    # lists

    def key(self) -> str:
        """The reserved word at `self.i`, or ""."""
        s = self.s
        i = self.i
        word = s[i : i + 9]
        length = 0
        for c in word:
            if c in BREAKS:
                break
            length += 1
        word = word[:length]
        end = i + length
        if "\\" in word and "\\\n" in s[i : end + 1]:
            word, end = self.joined_key()
        self.key_end = end
        return word if word in _RESERVED else ""

    def joined_key(self) -> tuple[str, int]:
        s = self.s
        i = self.skip(self.i)
        out: list[str] = []
        while i < self.n and s[i] not in BREAKS and len(out) < 9:
            out.append(s[i])
            i = self.skip(i + 1)
        return "".join(out), i

    def commands_until(self, needed: bool = True) -> str:
        """Commands up to what ends them, which is not taken: a closing word, ) or ; or ""."""
        s = self.s
        first = True
        lost = False  # behind a semicolon that bash may lose
        while True:
            self.gap()
            end = s[self.i : self.i + 1]
            key = ""
            if end in _KEY_START:
                key = self.key()
            if end in ("", ")", ";") or key in CLOSERS:
                if needed:
                    raise Unreadable(UNEXPECTED)
                return key or end
            if lost:
                # bash 5.2 prints a substitution and reads it anew: there it drops this semicolon
                raise Unreadable("a list behind a here-document, which some bash versions misread")
            alone = first and not self.documented
            count = len(self.commands)
            self.pipeline(key)
            alone = alone and not self.loose and len(self.commands) == count + 1
            first = False
            between = self.between()
            if between not in _SEPARATORS:
                return between
            needed = between in ("&&", "||")  # a command must follow
            lost = between == ";" and self.documented and not alone

    def between(self) -> str:
        """What stands behind a pipeline: a separator, which is taken, or what ends the list."""
        s = self.s
        self.blank()
        i = self.i
        c = s[i : i + 1]
        if c == "\n":
            self.newline()
        elif c == ";":
            if s.startswith((";", "&"), self.skip(i + 1)):
                return ";;"
            self.i = i + 1
        elif c == "&":
            j = self.skip(i + 1)
            if s.startswith("&", j):
                self.i = j + 1
                return "&&"
            self.i = i + 1
        elif c == "|":
            self.i = self.skip(i + 1) + 1
            return "||"
        elif c not in ("", ")"):
            key = self.key() if self.loose else ""
            if key not in CLOSERS:
                raise Unreadable(UNEXPECTED)
            return key
        return c

    def expect(self, word: str, needed: bool = True) -> None:
        """A list and the word that must end it, which is taken."""
        if self.commands_until(needed) != word:
            raise Unreadable(UNEXPECTED)
        self.i = self.key_end

    def pipeline(self, key: str) -> None:
        s = self.s
        while key in ("!", "time"):
            self.i = self.key_end
            self.blank()
            if key == "time":
                self.time_options()
            i = self.i
            if i >= self.n or s[i] in "\n;":
                self.loose = False
                return
            key = self.key()
        sources: tuple[Command, ...] = ()
        while True:
            first = len(self.commands)
            self.command(key, sources)
            self.blank()
            i = self.i
            if i >= self.n or s[i] != "|":
                return
            j = self.skip(i + 1)
            if s.startswith("|", j):
                return
            errors = s.startswith("&", j)
            j = j + 1 if errors else i + 1
            self.i = j
            self.gap()
            if self.i >= self.n:
                raise Unreadable(UNEXPECTED)
            sources = self.writers(first)
            key = self.key()
            if key == "time":
                if errors and "\n" in s[j : self.i].replace("\\\n", ""):
                    raise Unreadable(UNEXPECTED)  # a reserved word again, and not allowed here
                key = ""  # behind a bar it is a program

    def time_options(self) -> None:
        for option in ("-p", "--"):
            i = self.i
            if self.s.startswith(option, i) and (i + 2 >= self.n or self.s[i + 2] in BREAKS):
                self.i = i + 2
                self.blank()

    def writers(self, first: int) -> tuple[Command, ...]:
        """The commands read since the `first` whose output is that of the whole."""
        commands = self.commands
        if len(commands) == first + 1:
            return (commands[first],)
        out: list[Command] = []
        for command in commands[first:]:
            group = command.group
            while group is not self.group and group is not None:
                if group.kind in _SUBSTITUTIONS and group.kind != ">(":
                    break
                group = group.outer
            else:
                out.append(command)
        return tuple(out)

    # simple commands

    def command(self, key: str, sources: tuple[Command, ...]) -> None:
        if key:
            if key not in OPENERS:
                raise Unreadable(UNEXPECTED)
            self.compound(key, sources)
        elif self.s[self.i] == "(":
            self.compound("(", sources)
        else:
            self.simple(sources)

    def compound(self, key: str, sources: tuple[Command, ...]) -> None:
        """The compound command that begins with `key`, whose place is `self.i`."""
        raise NotImplementedError

    def definition(self, name: str) -> None:
        """The body of a function, up to which `self.i` is."""
        raise NotImplementedError

    def simple(self, sources: tuple[Command, ...]) -> None:
        """A simple command, or a function's definition that begins like one."""
        s = self.s
        n = self.n
        i = self.i
        command = Command(i, self.group)
        command.piped_from = sources
        self.commands.append(command)
        if len(self.commands) > MOST_COMMANDS:
            raise Unreadable("more commands than are read")
        self.loose = False
        words = command.words
        while i < n:
            c = s[i]
            if c in " \t":
                i += 1
                continue
            run = s[i : i + _WINDOW]
            k = len(run) - len(run.lstrip(_PLAIN))
            if 0 < k < _WINDOW and c != "#":
                j = i + k
                if j >= n or s[j] in _ENDS:
                    text = run[:k]
                    if words or "=" not in text:
                        words.append(Word(text, i, j, False))
                        i = command.end = j
                        continue
            if not self.element(command, i, c):
                break
            i = self.i
        else:
            self.i = i
        self.count(len(words))
        if command.end == command.start and self.commands[-1] is command:
            raise Unreadable(UNEXPECTED)

    def element(self, command: Command, i: int, c: str) -> bool:
        """What is no plain word at `i`; False at the command's end, where `self.i` then is."""
        s = self.s
        self.i = i
        if c == "(":
            self.parentheses(command)
            return False
        if self.redirects_at(i):
            self.redirect(command.redirects, None, i)
            if c == "&" and self.portable:
                self.final()
        elif c in BREAKS and c not in "<>":
            return False
        elif c == "#" or (c == "\\" and s.startswith("\n", i + 1)):
            self.blank()
            return True
        elif command.words or not self.assignment(command):
            pieces = self.pieces(ARGUMENT)
            if self.number(pieces):
                self.redirect(command.redirects, s[i : self.i].replace("\\\n", ""), i)
            else:
                if s.startswith("(", self.i) and command.words:
                    self.declared(command, pieces, i)
                self.finish(pieces, i, command.words, ARGUMENT)
        command.end = self.i
        return True

    def redirects_at(self, i: int) -> bool:
        """A redirection's operator stands at `i`."""
        j = self.skip(i + 1)
        c = self.s[i]
        if c == "&":
            return self.s.startswith(">", j)
        return c in "<>" and not self.s.startswith("(", j)

    def final(self) -> None:
        """Refuse words behind &>, which a shell that doesn't know it would run."""
        self.blank()
        if self.i < self.n and self.s[self.i] not in "\n;&|)":
            raise Unreadable("&> that another shell reads differently")

    def declared(self, command: Command, pieces: list[Part], at: int) -> None:
        """Add the `(..)` at `self.i` to the argument `name=` of a declaring builtin."""
        s = self.s
        first = command.words[0]
        if s[first.start : first.end] not in _DECLARERS or any(
            redirect.start > first.start for redirect in command.redirects
        ):
            raise Unreadable(UNEXPECTED)
        i = self.name(at)
        if i > at and s.startswith("[", i):
            i = self.subscript(i)
        if i == at or s[i : self.i] not in ("=", "+="):
            raise Unreadable(UNEXPECTED)
        pieces.append(self.array(self.i))
        if self.i < self.n and s[self.i] not in BREAKS:
            raise Unreadable("a compound assignment that can't be read with certainty")

    def assignment(self, command: Command) -> bool:
        """The assignment at `self.i`, when one stands there."""
        s = self.s
        at = self.i
        i = self.name(at)
        if i == at:
            return False
        name = s[at:i]
        subscript = ""
        if s.startswith("[", i):
            mark = self.mark()
            end = self.subscript(i)
            if not s.startswith(("=", "+"), self.skip(end)):
                if not BREAKS.isdisjoint(s[i:end]):
                    raise Unreadable("brackets that can't be read with certainty")
                self.forget(mark)
                return False
            subscript = s[i + 1 : end - 1]
            i = self.skip(end)
        append = s.startswith("+", i)
        if append:
            i = self.skip(i + 1)
        if not s.startswith("=", i):
            return False
        i += 1
        assignment = Assignment(name.replace("\\\n", ""), None, at, i)
        assignment.append = append
        assignment.subscript = subscript
        j = self.skip(i)
        if s.startswith("(", j):
            self.i = j + 1
            assignment.items = self.items()
            if self.i < self.n and s[self.i] not in BREAKS:
                raise Unreadable("a compound assignment that can't be read with certainty")
        else:
            self.i = i
            assignment.value = self.build(self.pieces(COLONS), i, self.i, COLONS)
        assignment.end = self.i
        command.assignments.append(assignment)
        self.count(1)
        return True

    def parentheses(self, command: Command) -> None:
        """`name ()` and the body behind it: `command` was no command but the name."""
        words = command.words
        if (
            not words
            or words[0].start != words[-1].start
            or command.assignments
            or command.redirects
            or self.commands[-1] is not command
        ):
            raise Unreadable(UNEXPECTED)
        self.i += 1
        self.blank()
        if not self.s.startswith(")", self.i):
            raise Unreadable(UNEXPECTED)
        self.i += 1
        self.commands.pop()
        self.gap()
        self.definition(self.s[words[0].start : words[0].end])
