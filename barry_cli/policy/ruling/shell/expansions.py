"""Quotes and expansions: everything that starts with a dollar, a backtick or a double quote."""

from barry_cli.policy.ruling.shell.nodes import (
    ARITHMETIC,
    COMMAND,
    POSITIONAL,
    TEXT,
    VARIABLE,
    Part,
)
from barry_cli.policy.ruling.shell.quotes import closing, counted, decode
from barry_cli.policy.ruling.shell.source import MOST_PIECES, NAME, NAME_START, Source, Unreadable

_IN_DOUBLE = frozenset('"\\$`')
_IN_ARITHMETIC = frozenset("()'\"\\$`")
_IN_BRACES = frozenset("}'\"\\$`<>")
_SPECIAL = frozenset("0123456789@*#?-$!")
_DIGITS_AND_LISTS = frozenset("0123456789@*")
_QUOTING = frozenset("'\"\\`(")
_UNCLOSED = "a quote, expansion or group is not closed"


class Expansions(Source):
    """Reads quotes and expansions into parts; commands inside are read by `inner`."""

    __slots__ = ()

    # quotes

    def single(self, i: int) -> int:
        """The place of the single quote that closes the one whose content starts at `i`."""
        end = self.s.find("'", i)
        if end < 0:
            raise Unreadable(_UNCLOSED)
        return end

    def inert(self, i: int) -> int:
        """Past single quotes that don't quote everywhere: bash may yet expand what is in them."""
        end = self.single(i)
        self.suspect(self.s[i:end])
        return end + 1

    def suspect(self, text: str) -> None:
        if "$" in text or "`" in text or "\\" in text:
            self.doubt = "single quotes that may not quote"

    def inert_ansi(self, i: int) -> int:
        """The same for $'..' whose content starts at `i`: bash may expand what it stands for."""
        scratch: list[Part] = []
        self.ansi(i, scratch, i)
        self.suspect(scratch[0].text)
        return self.i

    def ansi(self, i: int, out: list[Part], at: int) -> None:
        """$'..' whose content starts at `i`."""
        end = closing(self.s, i)
        if end < 0:
            raise Unreadable(_UNCLOSED)
        inside = self.s[i:end]
        self.i = end + 1
        out.append(Part(TEXT, decode(inside), at, end + 1, True))

    def dollar_quoted(self, i: int, j: int, quote: str, out: list[Part]) -> None:
        """$'..' or $".." that begins at `i`, its quote at `j`."""
        if self.portable:  # a plain "$" there, which matters where the value is read again
            raise Unreadable(f"${quote}..{quote} that another shell reads differently")
        if quote == "'":
            self.ansi(j + 1, out, i)
        else:
            self.double(j + 1, out)

    def double(self, i: int, out: list[Part]) -> None:
        """A double-quoted text whose content starts at `i`."""
        s = self.s
        end = s.find('"', i)
        if end < 0:
            raise Unreadable(_UNCLOSED)
        inside = s[i:end]
        if "\\" not in inside and "$" not in inside and "`" not in inside:
            out.append(Part(TEXT, inside, i - 1, end + 1, True))
            self.i = end + 1
            return
        i = self.expanding(i, self.n, '"', out)
        if i >= self.n:
            raise Unreadable(_UNCLOSED)
        self.i = i + 1

    def expanding(self, i: int, end: int, quote: str, out: list[Part]) -> int:
        """Text that expands as in double quotes, from `i` to `end` or to the character `quote`.

        Without `quote` it is a here-document's, where double quotes are plain. Returns the place
        where it stopped.
        """
        s = self.s
        at = i
        before = len(out)
        known: list[str] = []
        while i < end:
            j = i
            while j < end and s[j] not in _IN_DOUBLE:
                j += 1
            if j > i:
                known.append(s[i:j])
                i = j
                if i >= end:
                    break
            c = s[i]
            if c == "\\":
                i = self.escape(i, quote, known)
            elif c == '"':
                if quote:
                    break
                known.append(c)
                i += 1
            else:
                if known:
                    out.append(Part(TEXT, "".join(known), at, i, True))
                    known = []
                if c == "$":
                    self.dollar(i, out, True)
                else:
                    self.backtick(i, out, True, quote)
                i = at = self.i
                if len(out) > MOST_PIECES:
                    raise Unreadable("more pieces of a text than are read")
        if known or len(out) == before:
            out.append(Part(TEXT, "".join(known), at, i, True))
        return i

    def escape(self, i: int, quote: str, known: list[str]) -> int:
        """Past the backslash at `i` and what it quotes."""
        following = self.s[i + 1 : i + 2]
        if following == "\n":
            return i + 2
        if following in ("$", "`", "\\") or (following == quote and quote):
            known.append(following)
            return i + 2
        known.append("\\")
        return i + 1

    # expansions

    def dollar(self, i: int, out: list[Part], quoted: bool) -> None:
        """What starts with the dollar at `i`; leaves `self.i` behind it."""
        s = self.s
        j = i + 1
        c = s[j : j + 1]
        if c == "\\":
            j = self.skip(j)
            c = s[j : j + 1]
        if c in NAME_START:
            k = j + 1
            while k < self.n and (s[k] in NAME or (s[k] == "\\" and self.skip(k) > k)):
                k = k + 1 if s[k] != "\\" else self.skip(k)
            part = Part(VARIABLE, s[i:k], i, k, quoted)
            part.name = s[j:k].replace("\\\n", "")
            part.many = not quoted
            out.append(part)
            self.i = k
        elif c == "(":
            self.parenthesis(i, j, out, quoted)
        elif c == "{":
            self.braces(i, j + 1, out, quoted)
        elif c in _SPECIAL:
            kind = POSITIONAL if c in _DIGITS_AND_LISTS else VARIABLE
            part = Part(kind, s[i : j + 1], i, j + 1, quoted)
            part.name = c
            part.many = not quoted or c == "@"
            out.append(part)
            self.i = j + 1
        elif c == "[":
            if self.portable:
                raise Unreadable("$[..] that another shell reads differently")
            self.i = self.subscript(j)
            inside = s[j + 1 : self.i - 1]
            if ("[" in inside or "]" in inside) and not _QUOTING.isdisjoint(inside):
                raise Unreadable("brackets that can't be read with certainty")
            out.append(Part(ARITHMETIC, s[i : self.i], i, self.i, quoted))
        elif c in ("'", '"') and not quoted:
            self.dollar_quoted(i, j, c, out)
        else:
            out.append(Part(TEXT, "$", i, j, quoted))
            self.i = j

    def parenthesis(self, i: int, j: int, out: list[Part], quoted: bool) -> None:
        """$(..) or $((..)): the dollar is at `i`, the parenthesis at `j`."""
        s = self.s
        mark = self.mark()
        k = self.skip(j + 1)
        outer = -1
        if s.startswith("(", k):
            self.enter()
            inner, outer = self.arithmetic(k + 1, True)
            self.depth -= 1
            if outer == inner + 1:
                self.i = outer + 1
                part = Part(ARITHMETIC, s[i : self.i], i, self.i, quoted)
                part.commands = tuple(self.commands[mark[0] :])
                out.append(part)
                return
            self.forget(mark)
        self.i = j + 1
        self.inner("$(")
        if outer >= 0 and (
            not self.i == outer + 1 == counted(s, j + 1, False) or "$'" in s[j:outer]
        ):
            raise Unreadable("$(( that bash may end elsewhere")
        part = Part(COMMAND, s[i : self.i], i, self.i, quoted)
        part.many = not quoted
        part.commands = tuple(self.commands[mark[0] :])
        out.append(part)

    def backtick(self, i: int, out: list[Part], quoted: bool, quote: str = "") -> None:
        """`..` from the backtick at `i`."""
        s = self.s
        end = s.find("`", i + 1)
        if end < 0:
            raise Unreadable(_UNCLOSED)
        text = s[i + 1 : end]
        exact = "\\" not in text
        if not exact:
            text, end = self.unescaped(i + 1, '`$\\"' if quote else "`$\\")
        commands, redirects = len(self.commands), len(self.redirects)
        self.nested(text, "`")
        self.settle(commands, redirects, i + 1, end, exact)
        self.i = end + 1
        part = Part(COMMAND, s[i : end + 1], i, end + 1, quoted)
        part.many = not quoted
        part.commands = tuple(self.commands[commands:])
        out.append(part)

    def unescaped(self, i: int, special: str) -> tuple[str, int]:
        """The text from `i` to the next bare backtick, without its backslashes; and that place."""
        s = self.s
        out: list[str] = []
        while i < self.n:
            c = s[i]
            if c == "`":
                return "".join(out), i
            if c == "\\":
                following = s[i + 1 : i + 2]
                if following != "\n":
                    out.append(following if following in special else c + following)
                i += 2
            else:
                out.append(c)
                i += 1
        raise Unreadable(_UNCLOSED)

    def settle(self, commands: int, redirects: int, start: int, end: int, exact: bool) -> None:
        """Give what was read in another text its place in this one."""
        raise NotImplementedError

    def braces(self, at: int, i: int, out: list[Part], quoted: bool) -> None:
        """${..} whose dollar is at `at` and whose content starts at `i`."""
        s = self.s
        self.enter()
        i = self.skip(i)
        if s[i : i + 1] in (" ", "\t", "\n", "|"):
            raise Unreadable("${ command; } that only some bash versions run")
        commands = len(self.commands)
        scratch: list[Part] = []
        begin = i
        while True:
            while i < self.n and s[i] not in _IN_BRACES:
                i += 1
            if i >= self.n:
                raise Unreadable(_UNCLOSED)
            c = s[i]
            if c == "}":
                break
            if c == "\\":
                i += 2
            elif c in "<>":
                j = self.skip(i + 1)
                if s.startswith("(", j):
                    self.i = j + 1
                    self.inner(c + "(")
                    i = self.i
                else:
                    i += 1
            elif c == "$" and i == begin and s[i + 1 : i + 2] in ("$", "}"):
                i += 1  # ${$}: the dollar is the name
            else:
                i = self.raw(i, scratch, quoted)
        self.depth -= 1
        self.i = i + 1
        if s.startswith("P", i - 1) and "@" in s[begin:i]:
            raise Unreadable("${..@P}, which runs the commands in a variable")
        part = self.parameter(s[begin:i].replace("\\\n", ""), quoted)
        part.text = s[at : i + 1]
        part.start = at
        part.end = i + 1
        part.commands = tuple(self.commands[commands:])
        out.append(part)

    def parameter(self, inside: str, quoted: bool) -> Part:
        """The part for ${inside}: its kind, its name and whether it may be many words."""
        k = 0
        while k < len(inside) and inside[k] in NAME:
            k += 1
        name = inside[:k] or inside[:1]
        if name == "!" and len(inside) > 1:
            name = ""
        kind = POSITIONAL if name[:1] in _DIGITS_AND_LISTS and name else VARIABLE
        part = Part(kind, "", 0, 0, quoted)
        part.name = name
        part.many = not quoted or name in ("", "@") or inside.startswith("[@]", k) or "@" in inside
        return part

    # arithmetic

    def arithmetic(self, i: int, outermost: bool) -> tuple[int, int]:
        """Look ahead from behind `((`: where the inner and the outer parenthesis close.

        The outer one is looked for on demand, else it is the next character or -1. Commands in
        expansions are read on the way.
        """
        s = self.s
        begin = i
        depth = 2
        inner = -1
        scratch: list[Part] = []
        while i < self.n:
            c = s[i]
            self.fuel -= 1
            if c not in _IN_ARITHMETIC:
                i += 1
                continue
            if c == "(":
                depth += 1
                i += 1
            elif c == ")":
                depth -= 1
                if depth == 1 and inner < 0:
                    inner = i
                    if not outermost or s.startswith(")", i + 1):
                        self.level(begin, i)
                        return inner, i + 1 if s.startswith(")", i + 1) else -1
                elif depth == 0:
                    return inner, i
                i += 1
            elif c == "\\":
                i += 2
            else:
                i = self.operand(i, scratch)
            if self.fuel < 0:
                raise Unreadable("parentheses nested too deep")
        raise Unreadable(_UNCLOSED)

    def raw(self, i: int, scratch: list[Part], quoted: bool) -> int:
        """Past the quote or expansion at `i` of a text that bash reads raw at first."""
        s = self.s
        c = s[i]
        if c == "'":
            return self.inert(i + 1)
        if c == '"':
            self.double(i + 1, scratch)
        elif c == "`":
            self.backtick(i, scratch, quoted, '"' if quoted else "")
        elif s.startswith("'", self.skip(i + 1)):
            return self.inert_ansi(self.skip(i + 1) + 1)
        else:
            self.dollar(i, scratch, quoted)
        return self.i

    def operand(self, i: int, scratch: list[Part]) -> int:
        """The same in an arithmetic text."""
        end = self.raw(i, scratch, True)
        if self.s[i] == "$" and self.s.startswith("{", self.skip(i + 1)):
            self.level(i, end)
        return end

    def level(self, start: int, end: int) -> None:
        """Refuse where bash, which here counts parentheses in the raw text, sees another end."""
        text = self.s[start:end]
        if ("(" in text or ")" in text) and counted(text, 0, True) != len(text):
            raise Unreadable("arithmetic that bash may end elsewhere")

    def subscript(self, i: int) -> int:
        """Past the bracket that closes the one at `i`. The content expands as arithmetic does."""
        s = self.s
        depth = 0
        scratch: list[Part] = []
        while i < self.n:
            c = s[i]
            if c == "[":
                depth += 1
                i += 1
            elif c == "]":
                depth -= 1
                i += 1
                if depth == 0:
                    return i
            elif c == "\\":
                i += 2
            elif c in "'\"$`":
                i = self.operand(i, scratch)
            else:
                i += 1
        raise Unreadable(_UNCLOSED)
