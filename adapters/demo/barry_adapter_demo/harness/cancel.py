"""One flag that ends every wait: set from a signal handler or from another thread.

Handlers only set the flag. Nothing is raised in the middle of other work, so a transcript line is
never torn and a child is never forgotten.
"""

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

_STATUS = {"interrupt": 130, "hangup": 129, "term": 143}
_BY_SIGNAL = {signal.SIGINT: "interrupt", signal.SIGHUP: "hangup", signal.SIGTERM: "term"}


class Cancel:
    """An interrupt can be cleared and work goes on; an end (SIGTERM, SIGHUP) stays."""

    def __init__(self) -> None:
        self._interrupted = False
        self._ending: str | None = None
        self._read, self._write = os.pipe()
        os.set_blocking(self._read, False)
        os.set_blocking(self._write, False)

    @property
    def reason(self) -> str | None:
        """``interrupt``, ``hangup``, ``term``, or None while nothing happened."""
        return self._ending or ("interrupt" if self._interrupted else None)

    @property
    def ending(self) -> bool:
        return self._ending is not None

    @property
    def status(self) -> int:
        """The exit status that the reason asks for; 0 without one."""
        return _STATUS.get(self.reason or "", 0)

    def set(self, reason: str = "interrupt") -> None:
        if reason == "interrupt":
            self._interrupted = True
        else:
            self._ending = reason
        with suppress(BlockingIOError):  # A full pipe wakes its reader as well.
            os.write(self._write, b"x")

    def clear(self) -> None:
        """Forget an interrupt."""
        self._interrupted = False
        with suppress(BlockingIOError):
            while os.read(self._read, 512):
                pass

    def wait(self, seconds: float | None, *files: int) -> list[int]:
        """Wait until a file is readable, the time is over or the flag is set.

        Returns the readable files; none once the flag is set.
        """
        ready = [] if self._is_set() else select.select([self._read, *files], [], [], seconds)[0]
        return [] if self._is_set() else [each for each in ready if each != self._read]

    def writable(self, file: int) -> bool:
        """Wait until a file takes bytes. False when it does not and the flag is set."""
        while not select.select([], [file], [], 0)[1]:
            if self._is_set():
                return False
            select.select([self._read], [file], [])
        return True

    def _is_set(self) -> bool:
        return self.reason is not None


def install(cancel: Cancel, *, ignore_term: bool = False) -> None:
    """Let SIGINT, SIGHUP and SIGTERM set the flag. A signal that is ignored already stays so."""
    for number, name in _BY_SIGNAL.items():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _handler(cancel, name, ignore_term))


def _handler(
    cancel: Cancel, name: str, ignore_term: bool
) -> Callable[[int, FrameType | None], None]:
    def handle(_number: int, _frame: FrameType | None) -> None:
        if not (ignore_term and name == "term"):
            cancel.set(name)

    return handle
