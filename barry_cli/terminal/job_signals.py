"""Signals of a process that shares its process group with the harness it waits for.

What the terminal sends reaches the whole group, so it is the harness's and ignored here: the
keys that interrupt, quit and stop, and the stops of a background job. What somebody sends to Barry
alone is collected, to be passed on. Nothing happens inside a handler: a pipe wakes the one loop
that waits.
"""

from __future__ import annotations

import os
import select
import signal
from types import FrameType, TracebackType
from typing import Self

PASSED_ON = frozenset({signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2})
ENDING = frozenset({signal.SIGTERM, signal.SIGHUP})
_THE_HARNESSES = frozenset(
    {signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}
)
_ALL = PASSED_ON | _THE_HARNESSES | {signal.SIGCHLD}


def _nothing(number: int, frame: FrameType | None) -> None:
    """A handler is needed for the pipe to be written; and unlike "ignore" it ends at an exec."""


class JobSignals:
    """Takes the signals over inside a `with` block. In the main thread only.

    They are held back until `open`, so a child can be forked in between. On the way out they are
    as before, except that TERM and HUP stay ignored once one was passed on: a closing terminal
    sends two, and the second must not interrupt the way out.
    """

    def __init__(self) -> None:
        self.forwarded: signal.Signals | None = None

    def __enter__(self) -> Self:
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, _ALL)
        self._before = {number: signal.getsignal(number) for number in _ALL}
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(self._wake, False)
        self._wakeup = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in _ALL:
            if number in _THE_HARNESSES:
                signal.signal(number, signal.SIG_IGN)
            # What our starter ignores (nohup) stays ignored, here and in the harness.
            elif number == signal.SIGCHLD or self._before[number] is not signal.SIG_IGN:
                signal.signal(number, _nothing)
        return self

    def open(self) -> None:
        """Let the signals in, also those that came since the block began."""
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _ALL)

    def wait(self, seconds: float) -> list[signal.Signals]:
        """Wait for a signal, at most so long; return those to pass on."""
        select.select([self._woken], [], [], max(0.0, seconds))
        try:
            data = os.read(self._woken, 4096)
        except BlockingIOError:
            return []
        return [signal.Signals(number) for number in data if number in PASSED_ON]

    def restore_in_child(self) -> None:
        """Between fork and exec: what Barry's starter had set, and nothing held back."""
        for number, before in self._before.items():
            kept = signal.SIG_IGN if before is signal.SIG_IGN else signal.SIG_DFL
            signal.signal(number, kept)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Ignored by the interpreter.
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    def hang_up(self) -> signal.Signals:
        """The signal that tells the harness that Barry has gone: one that it does not ignore."""
        nohup = self._before[signal.SIGHUP] is signal.SIG_IGN
        return signal.SIGTERM if nohup else signal.SIGHUP

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, _ALL)
        for number, before in self._before.items():
            if self.forwarded is not None and number in ENDING:
                signal.signal(number, signal.SIG_IGN)
            else:
                # None is a handler that the interpreter does not know and can't set again.
                signal.signal(number, signal.SIG_DFL if before is None else before)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._woken)
        os.close(self._wake)
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)


def stop_as(number: int) -> None:
    """Stop this process as the harness was stopped, so that the shell reports the same.

    Returns when it goes on. Sent to this thread, so that nothing more runs before the stop.
    """
    if number == signal.SIGSTOP:
        signal.raise_signal(signal.SIGSTOP)
        return
    before = signal.signal(number, signal.SIG_DFL)
    try:
        signal.raise_signal(number)
    finally:
        signal.signal(number, before)
