"""Words: pieces put together, with what is known and what bash alone learns."""

from barry_cli.policy.ruling.shell.braces import TooMany, expand
from barry_cli.policy.ruling.shell.expansions import Expansions
from barry_cli.policy.ruling.shell.nodes import (
    ARRAY,
    BRACE,
    GLOB,
    PROCESS_IN,
    PROCESS_OUT,
    TEXT,
    TILDE,
    Part,
    Word,
)
from barry_cli.policy.ruling.shell.source import (
    BREAKS,
    MOST_PIECES,
    MOST_WORDS,
    NAME,
    NAME_START,
    Unreadable,
)

# What a word is open to
GLOBS = 1  # * ? [..] match files
BRACES = 2  # {a,b} becomes several words
COLONS = 4  # it is an assignment's value: a tilde counts behind a colon too
PATTERN = 8  # ?(..) *(..) +(..) @(..) !(..) are patterns
ARGUMENT = GLOBS | BRACES

# What braces that make too many words cost, in words.
_BRACES_TRIED = 512
_STOPS = BREAKS | frozenset("'\"\\$`")
_MAGIC = frozenset("*?[")
_BEFORE_GROUP = frozenset("?*+@!")


class Words(Expansions):
    """Reads words."""

    __slots__ = ()

    def pieces(self, flags: int) -> list[Part]:
        """The pieces of the word at `self.i`, none when no word starts there."""
        s = self.s
        n = self.n
        i = self.i
        out: list[Part] = []
        while i < n:
            c = s[i]
            if c not in _STOPS:
                j = i + 1
                while j < n and s[j] not in _STOPS:
                    j += 1
                out.append(Part(TEXT, s[i:j], i, j, False))
                self.i = i = j
            else:
                i = self.special(i, c, flags, out)
                if i < 0:
                    break
                self.i = i
            if len(out) > MOST_PIECES:
                raise Unreadable("more pieces of a word than are read")
        return out

    def special(self, i: int, c: str, flags: int, out: list[Part]) -> int:
        """Past the quote, expansion or pattern at `i`; -1 when the word ends there."""
        s = self.s
        if c == '"':
            self.double(i + 1, out)
        elif c == "'":
            end = self.single(i + 1)
            out.append(Part(TEXT, s[i + 1 : end], i, end + 1, True))
            return end + 1
        elif c == "$":
            self.dollar(i, out, False)
        elif c == "\\":
            if not s.startswith("\n", i + 1):
                out.append(Part(TEXT, s[i + 1 : i + 2] or c, i, min(i + 2, self.n), True))
            return min(i + 2, self.n)
        elif c == "`":
            self.backtick(i, out, False)
        elif c in "<>":
            j = self.skip(i + 1)
            if not s.startswith("(", j):
                return -1
            self.process(i, j, out)
        elif c == "(" and out and s[i - 1] in _BEFORE_GROUP and self.patterns(flags):
            end = self.balanced(i)
            out.append(Part(GLOB, s[i:end], i, end, False))
            out[-1].many = True
            return end
        else:
            return -1
        return self.i

    def process(self, i: int, j: int, out: list[Part]) -> None:
        """<(..) or >(..) from `i`; its parenthesis is at `j`."""
        s = self.s
        commands = len(self.commands)
        self.i = j + 1
        self.inner(s[i] + "(")
        kind = PROCESS_IN if s[i] == "<" else PROCESS_OUT
        part = Part(kind, s[i : self.i], i, self.i, False)
        part.commands = tuple(self.commands[commands:])
        out.append(part)

    def patterns(self, flags: int) -> bool:
        """Extended patterns are on here: `[[` turns them on, and shopt on an earlier line."""
        if flags & PATTERN or self.extended:
            return True
        if "extglob" not in self.s:
            return False
        for command in self.commands:
            texts = [word.text for word in command.words]
            if "shopt" in texts and "extglob" in texts and "\n" in self.s[command.end : self.i]:
                self.extended = True
                return True
        return False

    def balanced(self, i: int) -> int:
        """Past the parenthesis that closes the one at `i` of a pattern."""
        s = self.s
        begin = i
        depth = 0
        while i < self.n:
            c = s[i]
            i += 1
            if c == "(":
                depth += 1
            elif c == ")":
                depth -= 1
                if depth == 0:
                    break
            elif c == "\\":
                i += 1
            elif c in "'\"":
                i = s.find(c, i) + 1
                if i == 0:
                    break
        inside = s[begin:i]
        if depth or "$(" in inside or "`" in inside or '\\"' in inside or "$[" in inside:
            raise Unreadable("a pattern that can't be read with certainty")
        return i

    # words

    def one(self, flags: int) -> Word:
        """The word at `self.i`, without brace expansion; there must be one."""
        at = self.i
        pieces = self.pieces(flags)
        if self.i == at or self.number(pieces):
            raise Unreadable("a word is missing")
        return self.build(pieces, at, self.i, flags)

    def number(self, pieces: list[Part]) -> bool:
        """The word just read is the descriptor of a redirection that follows at once."""
        i = self.i
        if i >= self.n or self.s[i] not in "<>" or len(pieces) != 1 or pieces[0].quoted:
            return False
        text = pieces[0].text
        if pieces[0].kind != TEXT or not text.isascii():
            return False
        if text.isdecimal():
            return int(text[:12]) < 1 << 31
        name, bracket, _ = text[1:].partition("[")
        return (
            text[0] == "{"
            and text[-1] == "}"
            and (name.isidentifier() if bracket else name[:-1].isidentifier())
        )

    def finish(self, pieces: list[Part], at: int, words: list[Word], flags: int) -> None:
        """Add the word or words that `pieces` stand for."""
        self.count(1)
        if flags & BRACES:
            for piece in pieces:
                if piece.kind == TEXT and not piece.quoted and "{" in piece.text:
                    self.spread(pieces, at, words, flags)
                    return
        words.append(self.build(pieces, at, self.i, flags))

    def spread(self, pieces: list[Part], at: int, words: list[Word], flags: int) -> None:
        end = self.i
        for piece in pieces:
            if (
                piece.kind == TEXT
                and not piece.quoted
                and len(piece.text) != piece.end - piece.start
            ):
                raise Unreadable("braces that can't be read with certainty")
        expanded: list[list[Part]] | None = None
        if self.words <= MOST_WORDS:
            try:
                expanded = expand(pieces, self.s)
            except TooMany:
                self.words += _BRACES_TRIED
            else:
                self.words += len(expanded) * (1 + (end - at) // 16)
        if expanded is None:
            part = Part(BRACE, self.s[at:end], at, end, False)
            part.many = True
            part.commands = tuple([command for piece in pieces for command in piece.commands])
            words.append(Word(None, at, end, False, (part,)))
        else:
            words += [self.build(word, at, end, flags) for word in expanded if word]

    def build(self, pieces: list[Part], at: int, end: int, flags: int) -> Word:
        """One word of its pieces: tildes and globs found, known text put together."""
        if len(pieces) == 1:
            piece = pieces[0]
            text = piece.text
            if piece.kind == TEXT and (piece.quoted or not _magic(text, flags, "]" in text)):
                return Word(text, at, end, piece.quoted)
        quoted = False
        holes = False
        parts: list[Part] = []
        last = len(pieces) - 1
        for k, piece in enumerate(pieces):
            if piece.kind != TEXT:
                holes = True
                parts.append(piece)
            elif piece.quoted:
                quoted = True
                parts.append(piece)
            else:
                self.plain(piece, k == 0, k == last, flags, parts)
        if any(part.kind == GLOB and part.text == "[" for part in parts):
            parts = _open_bracket(parts, end)
        if not holes and all(part.kind == TEXT for part in parts):
            return Word("".join([part.text for part in parts]), at, end, quoted)
        return Word(None, at, end, quoted, _joined(parts))

    def plain(self, piece: Part, first: bool, last: bool, flags: int, out: list[Part]) -> None:
        """Split unquoted known text at its tildes and globs."""
        text = piece.text
        if not _magic(text, flags, True):
            out.append(piece)
            return
        at = 0
        for start, end in _tildes(text, first, last, flags):
            self.globs(piece, at, start, flags, out)
            out.append(Part(TILDE, text[start:end], piece.start + start, piece.start + end, False))
            at = end
        self.globs(piece, at, len(text), flags, out)

    def globs(self, piece: Part, i: int, end: int, flags: int, out: list[Part]) -> None:
        text = piece.text
        known = i
        while i < end:
            if flags & GLOBS and text[i] in _MAGIC:
                stop = i + 1
                if text[i] == "[":
                    close = text.find(
                        "]", i + 3 if text[i + 1 : i + 2] in ("!", "^") else i + 2, end
                    )
                    stop = close + 1 if close >= 0 else i + 1
                else:
                    while stop < end and text[stop] in "*?":
                        stop += 1
                if i > known:
                    out.append(
                        Part(TEXT, text[known:i], piece.start + known, piece.start + i, False)
                    )
                part = Part(GLOB, text[i:stop], piece.start + i, piece.start + stop, False)
                part.many = True
                out.append(part)
                if len(out) > MOST_PIECES // 4:
                    raise Unreadable("more pieces of a word than are read")
                i = known = stop
            else:
                i += 1
        if end > known:
            out.append(Part(TEXT, text[known:end], piece.start + known, piece.start + end, False))

    # compound assignments

    def items(self) -> tuple[Word, ...]:
        """The words of a compound assignment, from behind `(` to past `)`."""
        self.enter()
        s = self.s
        out: list[Word] = []
        begin = self.i
        waiting = len(self.pending)
        while True:
            self.gap()
            if len(self.pending) != waiting:
                raise Unreadable("a here-document that begins in a compound assignment")
            i = self.i
            c = s[i : i + 1]
            if c == ")":
                break
            if c in BREAKS and not (c in "<>" and s.startswith("(", self.skip(i + 1))):
                raise Unreadable("a compound assignment that bash rejects")
            flags = ARGUMENT
            head: list[Part] = []
            if c == "[":
                self.i = self.subscript(i)
                head = [Part(TEXT, s[i : self.i], i, self.i, False)]
                if s.startswith(("=", "+="), self.i):
                    flags = COLONS
                    head[0].quoted = True
            pieces = head + self.pieces(flags)
            if self.number(pieces) or not pieces:
                raise Unreadable("a compound assignment that bash rejects")
            self.finish(pieces, i, out, flags)
        if self.substitutions and "\\" in s[begin : self.i]:
            # bash 5.2 loses some of these when it prints a substitution, and reads that anew
            raise Unreadable("a compound assignment that some bash versions misread")
        self.i += 1
        self.depth -= 1
        return tuple(out)

    def array(self, start: int) -> Part:
        """The part for `(items)` whose parenthesis is at `start`."""
        commands = len(self.commands)
        self.count(2)
        self.i = start + 1
        self.items()
        part = Part(ARRAY, self.s[start : self.i], start, self.i, False)
        part.commands = tuple(self.commands[commands:])
        return part

    def gap(self) -> None:
        """Past blanks, comments and line feeds."""
        raise NotImplementedError

    def name(self, i: int) -> int:
        """Past the variable's name at `i`; `i` itself when there is none."""
        s = self.s
        if s[i : i + 1] not in NAME_START:
            return i
        while i < self.n and (s[i] in NAME or s[i] == "\\"):
            if s[i] == "\\":
                after = self.skip(i)
                if after == i:
                    return i
                i = after
            else:
                i += 1
        return i


def _magic(text: str, flags: int, brackets: bool) -> bool:
    """There is more to this unquoted text than its characters."""
    if "~" in text:
        return True
    return flags & GLOBS != 0 and ("*" in text or "?" in text or (brackets and "[" in text))


def _tildes(text: str, first: bool, last: bool, flags: int) -> list[tuple[int, int]]:
    """Where tildes stand that bash expands: in front, and behind = and : of an assignment."""
    out: list[tuple[int, int]] = []
    name, equals, _ = text.partition("=")
    colons = flags & COLONS != 0
    if not colons and first and equals and name.removesuffix("+").isidentifier():
        colons = True
    i = text.find("~")
    while i >= 0:
        before = text[i - 1] if i else ""
        if (i == 0 and first) or (colons and before and before in ":="):
            end = i + 1
            while end < len(text) and text[end] != "/" and not (colons and text[end] == ":"):
                end += 1
            if end < len(text) or last:
                out.append((i, end))
            if len(out) > MOST_PIECES // 8:
                raise Unreadable("more tildes than are read")
        i = text.find("~", i + 1)
    return out


def _open_bracket(parts: list[Part], end: int) -> list[Part]:
    """A bracket that its own piece doesn't close: a glob to the word's end when a later one may."""
    closed = -1
    for k, part in enumerate(parts):
        if not part.quoted and "]" in part.text:
            closed = k
    for k, part in enumerate(parts):
        if part.kind != GLOB or part.text != "[":
            continue
        if k < closed:
            glob = Part(GLOB, "[", part.start, end, False)
            glob.many = True
            glob.commands = tuple([command for later in parts[k:] for command in later.commands])
            return [*parts[:k], glob]
        part.kind = TEXT
        part.many = False
    return parts


def _joined(parts: list[Part]) -> tuple[Part, ...]:
    """Known pieces that stand side by side become one."""
    out: list[Part] = []
    known: list[Part] = []
    for part in (*parts, None):
        if part is not None and part.kind == TEXT:
            known.append(part)
            continue
        text = "".join([piece.text for piece in known])
        if text:
            quoted = all(piece.quoted for piece in known)
            out.append(Part(TEXT, text, known[0].start, known[-1].end, quoted))
        known = []
        if part is not None:
            out.append(part)
    return tuple(out)
