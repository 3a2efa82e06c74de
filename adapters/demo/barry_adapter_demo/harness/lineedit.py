"""Typing a line at a prompt: append, erase, paste. No cursor keys, no history."""

from collections import deque

from .cancel import Cancel
from .keys import Key, Keys
from .mail import Mail
from .terminal import Terminal, harmless

_ESCAPE_SECONDS = 0.05


class Closed(Exception):
    """^D on an empty line, or no terminal any more."""


class Arrived(Exception):
    """A message came from outside while nothing was asked. What was typed is kept."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Interrupted(Exception):
    """^C, or an end of the process. ``typed``: something was on the line."""

    def __init__(self, typed: bool) -> None:
        super().__init__()
        self.typed = typed


class LineInput:
    """Keys that nobody asked for yet wait for the next prompt, never for a question."""

    def __init__(self, terminal: Terminal, cancel: Cancel, mail: Mail | None = None) -> None:
        self._terminal = terminal
        self._cancel = cancel
        self._mail = mail
        self._draft = ""
        self._keys = Keys()
        self._ahead: deque[Key] = deque()
        self._prompt = ""
        self._line = ""

    def ask(self, prompt: str) -> str:
        """The answer to a question. What was typed before it came, or is pasted, is no answer."""
        while data := self._terminal.read(0):
            self._ahead.extend(self._keys.feed(data))
        kept, self._ahead = self._ahead, deque()
        try:
            return self._read(prompt, pastes=False)
        finally:
            self._ahead = kept + self._ahead

    def line(self, prompt: str) -> str:
        """The next message, as typed or pasted. Raises Arrived for one from outside."""
        draft, self._draft = self._draft, ""
        return self._read(prompt, pastes=True, draft=draft, mail=self._mail)

    def _read(self, prompt: str, *, pastes: bool, draft: str = "", mail: Mail | None = None) -> str:
        self._prompt, self._line = prompt, draft
        self._terminal.redraw = self._redraw
        self._redraw()
        try:
            while True:
                name, text = self._next(mail)
                if name == "enter":
                    return self._line
                if name == "end" and not self._line:
                    raise Closed
                if name == "text" or (name == "paste" and pastes):
                    self._line += text
                    self._terminal.write(harmless(text))
                elif name.startswith("erase"):
                    self._erase(name)
        finally:
            self._terminal.redraw = None
            self._terminal.write("\n")

    def _next(self, mail: Mail | None) -> Key:
        while not self._ahead:
            pending = self._keys.escape_pending
            if mail is not None and not pending and (text := mail.take()) is not None:
                self._draft = self._line
                raise Arrived(text)
            also = (mail.wakes,) if mail is not None and not pending else ()
            data = self._terminal.read(_ESCAPE_SECONDS if pending else None, *also)
            if self._cancel.reason:
                raise Interrupted(bool(self._line))
            if data is None:
                self._keys.drop_escape()
            elif not data:
                raise Closed
            else:
                self._ahead.extend(self._keys.feed(data))
        return self._ahead.popleft()

    def _erase(self, name: str) -> None:
        kept = self._line[:-1] if name == "erase" else ""
        if name == "erase-word":
            head = self._line.rstrip()
            kept = head[: len(head) - len(head.split()[-1])] if head else ""
        gone, self._line = self._line[len(kept) :], kept
        if gone.isascii() and gone.isprintable():
            self._terminal.write("\b \b" * len(gone))
        else:
            self._terminal.write("\n")  # Its width is not known: show the line anew.
            self._redraw()

    def _redraw(self) -> None:
        self._terminal.write(self._prompt + harmless(self._line))
