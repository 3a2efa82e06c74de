"""[[ .. ]] and the expressions in it."""

from barry_cli.policy.ruling.shell.documents import Documents
from barry_cli.policy.ruling.shell.nodes import TEXT, Part
from barry_cli.policy.ruling.shell.source import Unreadable
from barry_cli.policy.ruling.shell.words import PATTERN

_UNARY = frozenset("abcdefghknoprstuvwxzGLNORS")
_BINARY = frozenset("= == != =~ -nt -ot -ef -eq -ne -lt -le -gt -ge".split())
_ARITHMETIC = frozenset("-eq -ne -lt -le -gt -ge".split())
_REJECTED = "a condition that bash rejects"


class Conditions(Documents):
    """Reads conditions as bash's own parser for them does."""

    __slots__ = ()

    def condition(self) -> None:
        """From behind `[[` to past `]]`."""
        if self.either() != "]]":
            raise Unreadable(_REJECTED)

    def either(self) -> str:
        """Terms with && and ||; returns the sign behind them, which is taken."""
        while True:
            self.term()
            self.gap()
            sign = self.sign()
            if sign not in ("&&", "||"):
                return sign
            if self.portable:
                raise Unreadable("[[ .. ]] that another shell reads differently")

    def sign(self) -> str:
        """The sign at `self.i`: && || ( ) < > ]], or "" for a word."""
        s = self.s
        i = self.i
        c = s[i : i + 1]
        if c in ("&", "|"):
            j = self.skip(i + 1)
            if not s.startswith(c, j):
                raise Unreadable(_REJECTED)
            self.i = j + 1
            return c + c
        if c in ("<", ">"):
            j = self.skip(i + 1)
            following = s[j : j + 1]
            if following == "(":
                return ""
            if following in (c, "&", "|", ">"):
                raise Unreadable(_REJECTED)
        if c and c in "()<>":
            self.i = i + 1
            if self.portable:
                raise Unreadable("[[ .. ]] that another shell reads differently")
            return c
        if c == "]" and self.ends(i):
            return "]]"
        if c in ("", ";", "\n"):
            raise Unreadable(_REJECTED)
        return ""

    def ends(self, i: int) -> bool:
        """The word `]]` stands at `i`; it is taken."""
        s = self.s
        j = self.skip(i + 1)
        if not s.startswith("]", j):
            return False
        j = self.skip(j + 1)
        if j < self.n and s[j] not in " \t\n;&|()<>":
            return False
        self.i = j
        return True

    def term(self) -> None:
        self.gap()
        sign = self.sign()
        while sign == "":
            first, raw = self.side(0)
            if raw != "!":
                self.test(first, raw)
                return
            self.gap()
            sign = self.sign()
        if sign != "(":
            raise Unreadable(_REJECTED)
        self.enter()
        if self.either() != ")":
            raise Unreadable(_REJECTED)
        self.depth -= 1

    def test(self, first: list[Part], raw: str) -> None:
        """One test whose first word was read."""
        self.blank()
        if len(raw) == 2 and raw[0] == "-" and raw[1] in _UNARY:
            if self.sign() != "":
                raise Unreadable(_REJECTED)
            word, _ = self.side(0)
            if raw in ("-v", "-R"):
                self.calm(word)
            return
        keep = self.i
        sign = self.sign()
        if sign in ("&&", "||", ")", "]]"):
            self.i = keep
            return
        if sign == "(":
            raise Unreadable(_REJECTED)
        operator = sign
        if sign == "":
            _, operator = self.side(0)
            if operator not in _BINARY:
                raise Unreadable(_REJECTED)
        self.blank()
        if operator == "=~":
            self.expression()
            return
        if self.sign() != "":
            raise Unreadable(_REJECTED)
        second, _ = self.side(PATTERN if operator in ("=", "==", "!=") else 0)
        if operator in _ARITHMETIC:
            self.calm(first)
            self.calm(second)

    def side(self, flags: int) -> tuple[list[Part], str]:
        """A word and its source without joined lines."""
        at = self.i
        pieces = self.pieces(flags)
        self.count(1)
        if self.i == at or self.number(pieces):
            raise Unreadable(_REJECTED)
        return pieces, self.s[at : self.i].replace("\\\n", "")

    def calm(self, pieces: list[Part]) -> None:
        """Refuse text that arithmetic would expand once more."""
        for piece in pieces:
            if piece.kind == TEXT and ("$(" in piece.text or "`" in piece.text):
                raise Unreadable("text that a condition would run")

    def expression(self) -> None:
        """The right side of =~, in which parentheses and bars are plain."""
        s = self.s
        at = i = self.i
        while i < self.n:
            if s[i] == "(":
                i = self.balanced(i)
            elif s[i] == "|":
                i += 1
            else:
                self.i = i
                if not self.pieces(0) or self.i == i:
                    break
                i = self.i
        self.i = i
        if i == at or s[i : i + 1] in ("<", ">"):
            raise Unreadable(_REJECTED)
        if self.portable and ("|" in s[at:i] or "(" in s[at:i]):
            raise Unreadable("[[ .. ]] that another shell reads differently")
