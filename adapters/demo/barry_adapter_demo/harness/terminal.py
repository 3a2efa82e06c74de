"""The terminal: its mode, what is written to it, and leaving it as it was."""

import errno
import os
import signal
import termios
import tty
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from .cancel import Cancel
from .processes import Groups
from .wire import write

_COLOURS = {"you": "1;36", "demo": "1;35", "tool": "33", "error": "31", "quiet": "2"}


def visible(text: str) -> str:
    """A text on one line with every control character shown, for what a person decides on."""
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def harmless(text: str) -> str:
    """A text of several lines, without anything that moves or recolours."""
    return "".join(
        each if each in "\n\t" or " " <= each < "\x7f" or each > "\x9f" else "\ufffd"
        for each in text
    )


class Terminal:
    """Reads key by key (``cbreak``: signals stay on), with bracketed paste."""

    def __init__(
        self, cancel: Cancel, groups: Groups, env: Mapping[str, str], *, leave_raw: bool
    ) -> None:
        self._cancel = cancel
        self._groups = groups
        self._escapes = env.get("TERM", "dumb") != "dumb"
        self._colours = self._escapes and not env.get("NO_COLOR")
        self._leave_raw = leave_raw
        self._saved: list[Any] | None = None
        self.redraw: Callable[[], None] | None = None
        """Shows the line being typed again, after other programs wrote to the terminal."""

    def open(self) -> None:
        """Take the terminal. What was typed before is kept."""
        self._enter()
        signal.signal(signal.SIGTSTP, self._suspend)

    def close(self) -> None:
        """Give the terminal back, on every way out."""
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        self._leave()
        if self._leave_raw:
            tty.setraw(0, termios.TCSANOW)
            self.write("\x1b[?1049h")

    def write(self, text: str) -> None:
        try:
            write(1, text.encode("utf-8", "replace"), self._cancel)
        except OSError:
            self._cancel.set("hangup")  # The terminal is gone.

    def styled(self, style: str, text: str) -> str:
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self._colours else text

    def read(self, seconds: float | None, *also: int) -> bytes | None:
        """What was typed. None: nothing in time, or the flag is set. Empty: the end.

        ``also``: files that end the wait, too.
        """
        if 0 not in self._cancel.wait(seconds, 0, *also):
            return None
        try:
            return os.read(0, 4096)
        except OSError:
            self._cancel.set("hangup")
            return None

    def _enter(self) -> None:
        while True:
            try:
                self._saved = termios.tcgetattr(0)
                mode = termios.tcgetattr(0)
                mode[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN)
                mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
                mode[6][termios.VQUIT] = b"\0"  # ^\\ would end us with the terminal in this mode.
                # In the background this stops us, as it stops any program, until fg.
                termios.tcsetattr(0, termios.TCSANOW, mode)
                break
            except termios.error as error:
                if self._cancel.ending:
                    return
                if error.args[0] != errno.EINTR:
                    self._cancel.set("hangup")  # The terminal is gone.
                    return
        if self._escapes:
            self.write("\x1b[?2004h")

    def _leave(self) -> None:
        """Only while the terminal is ours: in the background it is somebody else's."""
        try:
            if self._saved is None or os.tcgetpgrp(0) != os.getpgrp():
                return
            if self._escapes:
                self.write("\x1b[?2004l")
            termios.tcsetattr(0, termios.TCSANOW, self._saved)
        except (OSError, termios.error):
            pass  # The terminal is gone; there is nothing to give back.
        self._saved = None

    def _suspend(self, _number: int, _frame: FrameType | None) -> None:
        """^Z: give the terminal back, stop like any program, take it again when continued."""
        self._leave()
        self._groups.stop_all()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._suspend)
        self._groups.continue_all()
        if not self._cancel.ending:
            self._enter()
            if self.redraw:
                self.redraw()
