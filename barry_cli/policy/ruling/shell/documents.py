"""Redirections and here-documents."""

from barry_cli.policy.ruling.shell.nodes import TEXT, Group, Part, Redirect, Word
from barry_cli.policy.ruling.shell.quotes import closing, decode
from barry_cli.policy.ruling.shell.source import BREAKS, MOST_REDIRECTS, Unreadable
from barry_cli.policy.ruling.shell.words import GLOBS, Words

_DELIMITER = "a here-document whose delimiter can't be read"
_IN_DOUBLE = frozenset("\\$`")
_BEHIND_LESS = {"&": "<&", ">": "<>"}
_BEHIND_GREATER = {">": ">>", "&": ">&", "|": ">|"}


class Documents(Words):
    """Reads redirections, and here-documents where their lines begin."""

    __slots__ = ()

    # blanks

    def blank(self) -> None:
        """Past blanks, joined lines and a comment."""
        s = self.s
        n = self.n
        i = self.i
        while i < n:
            c = s[i]
            if c in " \t":
                i += 1
            elif c == "\\" and s.startswith("\n", i + 1):
                i += 2
            elif c == "#":
                i = s.find("\n", i)
                if i < 0:
                    i = n
            else:
                break
        self.i = i

    def gap(self) -> None:
        while True:
            self.blank()
            if not self.s.startswith("\n", self.i):
                return
            self.newline()

    def newline(self) -> None:
        """Past the line feed at `self.i` and the here-documents that begin behind it."""
        self.i += 1
        if self.pending:
            self.documents()

    def documents(self) -> None:
        """Past the here-documents that begin at `self.i`."""
        pending, self.pending = self.pending, []
        for redirect, group in pending:
            self.document(redirect, group)

    # redirections

    def redirect(self, out: list[Redirect], fd: str | None, at: int) -> None:
        """The redirection whose operator is at `self.i`; `fd` is the word before it, from `at`."""
        s = self.s
        i = self.i
        c = s[i]
        j = self.skip(i + 1)
        following = s[j : j + 1]
        if c == "&":
            op = "&>"
            i = j + 1
            j = self.skip(i)
            if s.startswith(">", j):
                op = "&>>"
                i = j + 1
        elif c == "<" and following == "<":
            op = "<<"
            i = j + 1
            j = self.skip(i)
            if s[j : j + 1] in ("-", "<"):
                op += s[j]
                i = j + 1
        else:
            op = (_BEHIND_LESS if c == "<" else _BEHIND_GREATER).get(following, c)
            i = i + 1 if op == c else j + 1
        self.i = i
        self.blank()
        word_at = self.i
        if op in ("<<", "<<-"):
            target, quoted = self.delimiter()
        elif op in ("<&", ">&") and s.startswith("-", word_at):
            self.i = word_at + 1  # bash takes the dash alone, whatever follows it
            target, quoted = Word("-", word_at, self.i, False), False
        else:
            target, quoted = self.one(0 if op == "<<<" else GLOBS), False
        number = 1 if op[0] in "&>" else 0
        name = ""
        if fd is not None:
            number = int(fd) if fd.isdecimal() else -1
            name = "" if number >= 0 else fd[1:-1]
        redirect = Redirect(op, number, name, target, at, self.i)
        redirect.quoted = quoted
        if op == "<<<":
            redirect.body = _with_line_feed(target)
        elif op[:2] == "<<":
            self.pending.append((redirect, self.group))
            self.documented = self.substitutions > 0
            if self.documented and self.group is not None and self.group.kind[-1] not in "(`":
                # bash 5.2 prints a substitution and reads that: such a body then lands elsewhere
                raise Unreadable("a here-document that some bash versions misread")
        out.append(redirect)
        self.redirects.append(redirect)
        if len(self.redirects) > MOST_REDIRECTS:
            raise Unreadable("more redirections than are read")

    # here-documents

    def delimiter(self) -> tuple[Word, bool]:
        """The delimiter at `self.i`, on which quotes work and nothing else does."""
        s = self.s
        i = at = self.i
        known: list[str] = []
        quoted = False
        while i < self.n and s[i] not in BREAKS:
            c = s[i]
            if c in "\\'\"" or (c == "$" and s.startswith(("'", '"'), i + 1)):
                quoted = not s.startswith("\\\n", i) or quoted
                i = self.quoted_delimiter(i, known)
            elif c == "`" or (c == "$" and s[i + 1 : i + 2] in ("(", "{", "[", "\\")):
                raise Unreadable(_DELIMITER)
            else:
                known.append(c)
                i += 1
        if i == at or (s[i : i + 1] in ("<", ">") and s.startswith("(", self.skip(i + 1))):
            raise Unreadable(_DELIMITER)
        self.i = i
        word = Word("".join(known), at, i, quoted)
        if self.number([Part(TEXT, s[at:i], at, i, quoted)]):
            raise Unreadable(_DELIMITER)
        return word, quoted

    def quoted_delimiter(self, i: int, known: list[str]) -> int:
        """Past what is quoted at `i` of a delimiter."""
        s = self.s
        if s[i] == "\\":
            if not s.startswith("\n", i + 1):
                known.append(s[i + 1 : i + 2] or "\\")
            return min(i + 2, self.n)
        if s[i] == "'":
            end = self.single(i + 1)
            known.append(s[i + 1 : end])
            return end + 1
        if s.startswith("$'", i):
            end = closing(s, i + 2)
            known.append(decode(s[i + 2 : end]))
        else:
            i += s[i] == "$"
            end = s.find('"', i + 1)
            inside = s[i + 1 : end]
            if not _IN_DOUBLE.isdisjoint(inside):
                raise Unreadable(_DELIMITER)
            known.append(inside)
        if end < 0:
            raise Unreadable(_DELIMITER)
        return end + 1

    def document(self, redirect: Redirect, group: Group | None) -> None:
        """The body of a here-document, whose first line is at `self.i`."""
        s = self.s
        at = self.i
        delimiter = redirect.target.text or ""
        strip = redirect.op == "<<-"
        end = -1 if strip else s.find("\n" + delimiter, at - 1)
        after = end + 1 + len(delimiter)
        joined = not redirect.quoted and "\\\n" in s[at : end + 1]
        if joined or s[after : after + 1] not in ("", "\n"):
            end = -1
        if end >= 0:
            self.i = min(after + 1, self.n)
            end += 1
            text = s[at:end]
            exact = True
        else:
            text, end = self.lines(delimiter, strip, redirect.quoted)
            exact = text == s[at:end]
        redirect.body = self.body(text, at, end, exact, redirect.quoted, group)

    def lines(self, delimiter: str, strip: bool, literal: bool) -> tuple[str, int]:
        """Line by line up to the delimiter's, or to the end of the text, as bash does."""
        s = self.s
        n = self.n
        i = self.i
        out: list[str] = []
        while i < n:
            start = i
            line, i = self.line(i, literal)
            stripped = line.lstrip("\t") if strip else line
            self.fuel -= i - start
            if self.fuel < 0:
                raise Unreadable("nested too deep")
            if delimiter in (line, stripped):
                self.i = i
                return "".join(out), start
            if self.substitutions and stripped.startswith(delimiter) and ")" in stripped:
                rest = s.find(delimiter, start) + len(delimiter)
                if ")" in s[rest:i]:
                    if not s[rest:i].lstrip(" \t").startswith(")"):
                        raise Unreadable("a here-document that only some bash versions end here")
                    self.i = rest
                    return "".join(out), start
            out.append(stripped)
            out.append("\n")
        self.i = n
        return "".join(out), n

    def line(self, i: int, literal: bool) -> tuple[str, int]:
        """A line at `i`, with those that it is joined to, and the place of the next one."""
        s = self.s
        joined: list[str] = []
        while True:
            end = s.find("\n", i)
            if end < 0:
                joined.append(s[i:])
                return "".join(joined), self.n
            line = s[i:end]
            i = end + 1
            if literal or (len(line) - len(line.rstrip("\\"))) % 2 == 0:
                joined.append(line)
                return "".join(joined), i
            joined.append(line[:-1])

    def body(
        self, text: str, at: int, end: int, exact: bool, literal: bool, group: Group | None
    ) -> Word:
        """What a here-document feeds; commands inside it are read when it expands."""
        if literal or ("$" not in text and "`" not in text and "\\" not in text):
            return Word(text, at, end, literal)
        keep = self.i, self.group, self.pending, self.substitutions
        self.group, self.pending, self.substitutions = group, [], 0
        out: list[Part] = []
        if exact:
            if self.expanding(at, end, "", out) != end:
                raise Unreadable("an expansion that a here-document doesn't close")
        else:
            self.expand_apart(text, at, end, out)
        self.i, self.group, self.pending, self.substitutions = keep
        return self.build(out, at, end, 0)

    def expand_apart(self, text: str, at: int, end: int, out: list[Part]) -> None:
        """The parts of a body whose lines were rewritten."""
        raise NotImplementedError


def _with_line_feed(word: Word) -> Word:
    if word.text is not None:
        return Word(word.text + "\n", word.start, word.end, word.quoted)
    feed = Part(TEXT, "\n", word.end, word.end, True)
    return Word(None, word.start, word.end, word.quoted, (*word.parts, feed))
