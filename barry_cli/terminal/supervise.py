"""Wait for a harness that has the terminal, as if Barry were not there.

The harness inherits the terminal and shares Barry's process group, so the kernel and the shell
treat the two as one job. Barry prints nothing and reads nothing until it has ended.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from barry_cli.base.processes import (
    ProcessIdentity,
    adopted_zombies,
    descendants,
    end,
    identify,
    is_stopped,
    own_runs,
    subreaper,
)
from barry_cli.terminal.exit import Ended
from barry_cli.terminal.job_signals import ENDING, JobSignals, stop_as
from barry_cli.terminal.modes import Modes, Terminal
from barry_cli.terminal.start import start

__all__ = ["Ended", "supervise"]

_INNER_SECONDS = 0.1


def supervise(
    path: str | os.PathLike[str],
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | os.PathLike[str],
    *,
    on_start: Callable[[ProcessIdentity], None] = lambda identity: None,
    on_tick: Callable[[], None] = lambda: None,
    tick_seconds: float = 1.0,
    kill_after_seconds: float = 10.0,
    leftover_grace_seconds: float = 2.0,
    wrapped: bool = False,
) -> Ended:
    """Run a harness in the terminal, or without one, and return how it ended.

    In the main thread only; other threads may run. TERM, HUP, USR1 and USR2 are passed on; after a
    TERM or HUP it is killed once `kill_after_seconds` are over. After an abnormal end what it left
    running is ended, on Linux: every process below this one that is new since, bounded runs apart,
    so other threads must start processes by those only. `on_start` and `on_tick` must not block or
    print. `wrapped` says that the program is a sandbox, which does not report when the harness
    inside it stops itself.
    Raises OSError when the program or the directory refuses; nothing has happened then.
    """
    terminal = Terminal.open()
    modes = terminal.read() if terminal is not None and terminal.ours() else None
    earlier = set(descendants(os.getpid()))
    try:
        with subreaper(), JobSignals() as signals:
            child = start(path, argv, env, cwd, signals)
            job = _Job(child, terminal, modes, signals, kill_after_seconds, wrapped)
            signals.open()
            ended = job.wait(on_start, on_tick, tick_seconds)
            if ended.abnormal:
                _end_leftovers(earlier, leftover_grace_seconds)
            if terminal is not None and terminal.take_back():
                if ended.abnormal:
                    terminal.reset()
                if modes is not None:
                    terminal.write(modes)
            return ended
    finally:
        if terminal is not None:
            terminal.close()


class _Job:
    """The harness while it runs."""

    def __init__(
        self,
        child: int,
        terminal: Terminal | None,
        modes: Modes | None,
        signals: JobSignals,
        kill_after_seconds: float,
        wrapped: bool,
    ) -> None:
        self._child = child
        self._terminal = terminal
        self._shells = modes
        self._harnesses: Modes | None = None
        self._signals = signals
        self._kill_after = kill_after_seconds
        self._kill_at: float | None = None
        self._wrapped = wrapped
        self._fault: Exception | None = None
        self._zombies: set[int] = set()

    def wait(
        self,
        on_start: Callable[[ProcessIdentity], None],
        on_tick: Callable[[], None],
        tick_seconds: float,
    ) -> Ended:
        identity = identify(self._child)
        if identity is not None:
            self._call(lambda: on_start(identity))
        ticking = True
        tick_at = time.monotonic() + tick_seconds
        while True:
            pid, status = os.waitpid(self._child, os.WNOHANG | os.WUNTRACED)
            if pid and os.WIFSTOPPED(status):
                self._stop(os.WSTOPSIG(status))
                continue
            if pid:
                return self._ended(status)
            if self._wrapped and is_stopped(self._child, os.getpgrp()):
                self._stop(signal.SIGTSTP)
                continue
            now = time.monotonic()
            if self._kill_at is not None and now >= self._kill_at:
                self._kill_at = None
                os.kill(self._child, signal.SIGKILL)
            if now >= tick_at:
                tick_at = now + tick_seconds
                self._reap_adopted()
                ticking = ticking and self._call(on_tick)
            self._pass_on(self._signals.wait(self._seconds_to_wait(tick_at)))

    def _seconds_to_wait(self, tick_at: float) -> float:
        until = tick_at if self._kill_at is None else min(tick_at, self._kill_at)
        seconds = until - time.monotonic()
        return min(seconds, _INNER_SECONDS) if self._wrapped else seconds

    def _ended(self, status: int) -> Ended:
        code = os.waitstatus_to_exitcode(status)
        # Sent to the whole group, a signal may have ended the harness before it was seen here.
        self._note(self._signals.wait(0))
        forwarded = self._signals.forwarded
        if code < 0:
            return Ended(None, -code, forwarded, self._fault)
        return Ended(code, None, forwarded, self._fault)

    def _call(self, callback: Callable[[], None]) -> bool:
        """Whatever it raises waits until the harness has ended: the terminal is in use."""
        try:
            callback()
        except Exception as error:
            self._fault = self._fault or error
            return False
        return True

    def _pass_on(self, numbers: Sequence[signal.Signals]) -> None:
        for number in numbers:
            os.kill(self._child, number)  # Not yet waited for: the number is still its own.
            if number in ENDING:
                os.kill(self._child, signal.SIGCONT)  # A stopped one takes it once it goes on.
        self._note(numbers)

    def _note(self, numbers: Sequence[signal.Signals]) -> None:
        for number in numbers:
            if number in ENDING and self._signals.forwarded is None:
                self._signals.forwarded = number
                self._kill_at = time.monotonic() + self._kill_after

    def _stop(self, number: int) -> None:
        """The harness has stopped: give the shell its terminal, stop as well, and come back."""
        terminal = self._terminal
        if terminal is None:
            return  # No terminal, no job control: whoever stopped it lets it go on.
        if self._shells is not None and terminal.ours():
            self._harnesses = terminal.read()
            terminal.write(self._shells)
        stop_as(number)
        # Back in the foreground. A harness that had tidied up before it stopped sets its modes
        # itself, perhaps at this very moment: then hands off. One that had not gets them back.
        if self._harnesses not in (None, self._shells) and terminal.ours():
            terminal.write(self._harnesses)
        os.killpg(os.getpgrp(), signal.SIGCONT)

    def _reap_adopted(self) -> None:
        """Collect orphans of the harness that have ended.

        Only those that were seen ended a tick ago: another part of this process may be about to
        wait for a child of its own.
        """
        seen = adopted_zombies() - {self._child}
        for pid in seen & self._zombies:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        self._zombies = seen


def _leftovers(earlier: set[ProcessIdentity]) -> list[ProcessIdentity]:
    """What the harness left running, as far as this process has adopted it."""
    with own_runs() as own:
        below = descendants(os.getpid())
        ours = earlier.union(other for other in below if other.pid in own)
    ours = ours.union(*(descendants(other.pid) for other in ours))
    return [other for other in below if other not in ours]


def _end_leftovers(earlier: set[ProcessIdentity], grace_seconds: float) -> None:
    for seconds in (grace_seconds, 0.0, 0.0):  # Again for what was started in between.
        left = _leftovers(earlier)
        if not left:
            return
        end(left, seconds)
        for other in left:
            # Unreaped it would still count as the group that has the terminal.
            with suppress(ChildProcessError):
                os.waitpid(other.pid, os.WNOHANG)
