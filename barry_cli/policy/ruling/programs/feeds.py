"""What a command reads from its input, where the line itself shows it."""

from barry_cli.policy.ruling.programs.call import Call, Place, Scope, joined, known
from barry_cli.policy.ruling.programs.positional import resolved
from barry_cli.policy.ruling.shell.nodes import (
    COMMAND,
    PROCESS_IN,
    TEXT,
    Command,
    Feed,
    Group,
    Part,
    Redirect,
    Word,
)

NOTHING = "nothing"  # the input of whoever runs the line
FILE = "file"  # a file, whose content isn't looked at
SHOWN = "shown"
HIDDEN = "hidden"  # the output of something else

_DEEPEST = 8
_SILENT = frozenset(
    "cd : true false set shopt export unset local declare readonly umask sleep wait pushd popd"
    " mkdir touch read test [".split()
)
_ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", "a": "\a", "r": "\r", '"': '"', "'": "'", "e": "\x1b"}
_PATTERN = frozenset("*?[\\")
_STDIN = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


class Fed:
    """What comes in. `words`: the texts in order, for SHOWN; they stand in `place`."""

    __slots__ = ("kind", "place", "words")

    def __init__(
        self, kind: str, place: Place | None = None, words: list[Word] | None = None
    ) -> None:
        self.kind = kind
        self.place = place
        self.words = words or []

    @property
    def text(self) -> str:
        return "".join([word.text or "" for word in self.words])


def is_input(text: str | None) -> bool:
    """The name stands for a program's own input."""
    return text in _STDIN


def fed(call: Call) -> Fed:
    """What the call reads from its standard input."""
    return _fed(call.command, call.scope, 0)


def fed_by(call: Call, descriptor: int) -> Fed:
    """What the call reads from another descriptor."""
    if descriptor == 0:
        return fed(call)
    at: Command | Group | None = call.command
    while at is not None:
        for redirect in reversed(at.redirects):
            if redirect.fd == descriptor:
                return _redirected(redirect, call.scope, 0)
        at = at.group if isinstance(at, Command) else at.outer
    return Fed(HIDDEN)


def of_file(word: Word, call: Call) -> Fed:
    """What is read from the file that a word names."""
    if is_input(word.text):
        return fed(call)
    text = word.text or ""
    number = text.rpartition("/fd/")[2]
    if text.startswith(("/dev/fd/", "/proc/self/fd/")) and number.isdecimal() and len(number) < 5:
        return fed_by(call, int(number))
    for part in word.parts:
        if part.kind == PROCESS_IN:
            return _printed_by(part, call.scope, 0)
    return Fed(FILE)


def told(words: list[Word], call: Call) -> str | None:
    """The words joined, with what their substitutions plainly print; None when that isn't known."""
    text = joined(words)
    if text is not None:
        return text
    texts = []
    for word in words:
        if word.text is not None:
            texts.append(word.text)
            continue
        text = ""
        for part in word.parts:
            if part.kind == TEXT:
                text += part.text
                continue
            printed = _printed_by(part, call.scope, 0) if part.kind == COMMAND else Fed(HIDDEN)
            if printed.kind != SHOWN:
                return None
            value = printed.text.rstrip("\n")
            if not part.quoted:
                if not _PATTERN.isdisjoint(value):
                    return None
                value = " ".join(value.split())
            text += value
        texts.append(text)
    return " ".join(texts)


def _fed(command: Command, scope: Scope, depth: int) -> Fed:
    while True:
        feed = command.stdin()
        if feed is not None:
            return _feed(feed, scope, depth)
        host = scope.host
        if host is None:
            return Fed(NOTHING)
        command, scope = host.command, host.scope


def _feed(feed: Feed, scope: Scope, depth: int) -> Fed:
    if depth > _DEEPEST:
        return Fed(HIDDEN)
    if feed.redirect is not None:
        return _redirected(feed.redirect, scope, depth)
    return _all_printed(feed.commands, scope, depth)


def _redirected(redirect: Redirect, scope: Scope, depth: int) -> Fed:
    body = redirect.body
    if body is not None:
        body = resolved([body], scope)[0]
        return Fed(HIDDEN) if body.text is None else Fed(SHOWN, scope.place, [body])
    target = redirect.target
    if redirect.op == "<&":
        return Fed(FILE if target.text == "-" else HIDDEN)
    for part in target.parts:
        if part.kind == PROCESS_IN:
            return _printed_by(part, scope, depth)
    return Fed(HIDDEN if is_input(target.text) else FILE)


def _printed_by(part: Part, scope: Scope, depth: int) -> Fed:
    return _all_printed(part.commands, scope, depth)


def _all_printed(commands: tuple[Command, ...], scope: Scope, depth: int) -> Fed:
    found: list[Word] = []
    place = scope.place
    for command in commands:
        printed = _printed(command, scope, depth)
        if printed.kind != SHOWN:
            return Fed(HIDDEN)
        found += printed.words
        if printed.place is not None:
            place = printed.place
    return Fed(SHOWN, place, found) if commands else Fed(HIDDEN)


def _printed(command: Command, scope: Scope, depth: int) -> Fed:
    """What a command writes: only of the plainest programs can that be said."""
    words = resolved(command.words, scope)
    while words and words[0].text in {"command", "builtin"}:
        words = words[1:]
    if not words or words[0].text in _SILENT:
        return Fed(SHOWN)
    name = words[0].basename
    if name in {"cat", "tee"}:
        files = [word for word in words[1:] if word.prefix[:1] != "-" or word.text == "-"]
        if name == "tee" or not files or (len(files) == 1 and is_input(files[0].text)):
            return _fed(command, scope, depth + 1)
        for part in files[0].parts if len(files) == 1 else ():
            if part.kind == PROCESS_IN:
                return _printed_by(part, scope, depth + 1)
        return Fed(HIDDEN)
    text = None
    if name == "echo":
        text = _echo(words[1:])
    elif name == "printf":
        text = _printf(words[1:])
    elif name == "yes":
        text = joined(words[1:]) if len(words) > 1 else "y"
    return Fed(HIDDEN) if text is None else Fed(SHOWN, scope.place, [_spanning(text, words)])


def _spanning(text: str, words: list[Word]) -> Word:
    word = known(text, words[0])
    if len(words) > 1:
        word.start, word.end = words[1].start, words[-1].end
    return word


def _echo(words: list[Word]) -> str | None:
    end, escapes = "\n", False
    while words:
        flags = words[0].text
        if not flags or flags[0] != "-" or len(flags) < 2 or flags[1:].strip("neE"):
            break
        words = words[1:]
        for flag in flags[1:]:
            if flag == "n":
                end = ""
            else:
                escapes = flag == "e"
    text = joined(words)
    if text is None:
        return None
    if escapes:
        text = _escaped(text)
    return None if text is None else text + end


def _printf(words: list[Word]) -> str | None:
    if words and words[0].text == "--":
        words = words[1:]
    if not words:
        return ""
    if words[0].text == "-v":
        return ""
    values = [word.text for word in words]
    form = values[0]
    if form is None or None in values:
        return None
    form = _escaped(form)
    if form is None:
        return None
    pieces = form.replace("%%", "\0").split("%")
    rest = [value or "" for value in values[1:]]
    found = ""
    while True:
        found += pieces[0]
        for piece in pieces[1:]:
            if piece[:1] not in {"s", "b", "d", "q"}:
                return None
            value = rest.pop(0) if rest else ""
            if piece[0] == "b":
                value = _escaped(value) or ""
            found += value + piece[1:]
        if not rest or len(pieces) == 1 or len(found) > 65_536:
            return found.replace("\0", "%")


def _escaped(text: str) -> str | None:
    """Backslash escapes read as printf reads them; None for those that are rare."""
    if "\\" not in text:
        return text
    found = ""
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\\":
            found += char
            continue
        char = text[at : at + 1]
        at += 1
        if char in _ESCAPES:
            found += _ESCAPES[char]
        elif char == "x" or (char and char in "01234567"):
            base = 16 if char == "x" else 8
            start = at if char == "x" else at - 1
            if char == "0" and text[at : at + 1] and text[at] in "01234567":
                start = at
            end = start
            while end < len(text) and end < start + (2 if base == 16 else 3):
                if text[end] not in "0123456789abcdefABCDEF"[: base if base == 8 else 22]:
                    break
                end += 1
            if end == start:
                return None
            found += chr(int(text[start:end], base))
            at = end
        elif char in {"c", "u", "U", ""}:
            return None
        else:
            found += "\\" + char
    return found
