"""env: its assignments and options, and the words that -S holds."""

from barry_cli.policy.ruling.programs.call import Call, Unknown, known
from barry_cli.policy.ruling.programs.shells import Inner
from barry_cli.policy.ruling.programs.wrapped import wrapped
from barry_cli.policy.ruling.shell.nodes import Word

_LONGEST = 8192
_ENV = (
    "0a i ignore-environment 0 null u: unset: C: chdir: S: split-string: v debug block-signal"
    " default-signal ignore-signal list-signal-handling a: argv0: P: - help! version!"
)


def env(call: Call) -> list[Inner]:
    """`env`: assignments and options, then the command; -S holds words of its own."""
    words = call.words
    for _ in range(8):
        at = _split_at(words)
        if at == 0:
            break
        head = words[at].prefix
        inside = head.partition("=")[2] if head[:2] == "--" else head.partition("S")[2]
        behind = at + 1
        source = words[at]
        if not inside and (head[:2] != "--" or "=" not in head):
            if behind >= len(words):
                return []
            source = words[behind]
            inside = source.text or ""
            behind += 1
        pieces = _pieces(inside, source) if source.text is not None else None
        if pieces is None:
            return [Unknown("what env -S holds can't be known", [source])]
        words = [words[0], *pieces, *words[behind:]]
    if words is call.words:
        return wrapped(call, _ENV, 1)
    again = Call(words, call.command, call.scope, call)
    return wrapped(again, _ENV, 1)


def _split_at(words: list[Word]) -> int:
    """Where env's -S stands, 0 when it doesn't."""
    at = 1
    while at < len(words):
        head = words[at].prefix
        if head[:1] != "-" or head == "--":
            return 0
        if head[:3] == "--s":
            return at
        if head[:2] != "--":
            letters = head[1:].lstrip("iv0")
            if letters[:1] == "S":
                return at
            at += letters in {"u", "C", "a", "P"}
        elif head in {"--unset", "--chdir", "--argv0"}:
            at += 1
        at += 1
    return 0


def _pieces(text: str, near: Word) -> list[Word] | None:
    """Split as env -S splits; None where it replaces something."""
    if len(text) > _LONGEST:
        return None
    splitter = _Splitter(text)
    while splitter.step():
        pass
    if splitter.strange or splitter.quote:
        return None
    splitter.close()
    return [known(piece, near) for piece in splitter.found]


class _Splitter:
    """Takes the text of -S apart. `strange`: something in it can't be told from the text."""

    __slots__ = ("at", "found", "piece", "quote", "strange", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: list[str] = []
        self.piece: str | None = None
        self.quote = ""
        self.strange = False

    def close(self) -> None:
        if self.piece is not None:
            self.found.append(self.piece)
        self.piece = None

    def add(self, text: str) -> None:
        self.piece = (self.piece or "") + text

    def step(self) -> bool:
        """Read one character; False at the end."""
        char = self.text[self.at : self.at + 1]
        self.at += 1
        if not char or (char == "#" and self.piece is None and not self.quote):
            return False
        if char == "$" and self.quote != "'":
            self.strange = True
        elif char == "\\" and self.quote != "'":
            return self._escape()
        elif char == self.quote:
            self.quote = ""
        elif self.quote:
            self.add(char)
        elif char in "'\"":
            self.quote = char
            self.add("")
        elif char.isspace():
            self.close()
        else:
            self.add(char)
        return not self.strange

    def _escape(self) -> bool:
        char = self.text[self.at : self.at + 1]
        self.at += 1
        if char == "c":
            return False
        if char == "_" and not self.quote:
            self.close()
        elif char in "fnrtv":
            self.strange = True
        else:
            self.add(" " if char == "_" else char)
        return not self.strange
