"""Run a program to its end within bounds: its time, its output, and everything it starts.

A small helper process (`bounded_init.py`) stands between: it is the parent of the run's whole
tree, also of what the run put into a session of its own, so several runs side by side can't be
mistaken for each other. When the run ends, takes too long, or this process dies, the helper ends
the tree.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    import subprocess

_CHUNK = 65536
_END_SECONDS = 5.0
"""How long the helper may take to end a tree before it is ended itself."""
_HELPER = Path(__file__).with_name("bounded_init.py")
_helpers: set[int] = set()
_lock = threading.Lock()


@contextmanager
def own_runs() -> Iterator[frozenset[int]]:
    """The pids of this process's own runs' helpers; no other starts inside the block.

    For one who ends children of this process that are not its own.
    """
    with _lock:
        yield frozenset(_helpers)


@dataclass(frozen=True, slots=True)
class Finished:
    """What a bounded run came to."""

    returncode: int | None
    """Its exit code, minus the number of the signal that ended it, None when out of time."""
    stdout: bytes
    stderr: bytes
    timed_out: bool
    truncated: bool = False
    """True when it wrote more than was kept."""


class _Run:
    """One helper and the three descriptors that are read from it."""

    def __init__(
        self,
        argv: Sequence[str],
        env: Mapping[str, str],
        cwd: str | os.PathLike[str] | None,
        timeout: float,
        limit_bytes: int,
        pass_fds: Sequence[int],
    ) -> None:
        if not argv:
            raise ValueError("a run needs a program")
        self._argv = list(argv)
        self._limit = limit_bytes
        self._report = bytearray()
        self._kept: dict[int, bytearray] = {}
        self._deadline = time.monotonic() + timeout
        self.timed_out = self.truncated = self.over = False
        self._control, self._helper = start_helper(argv, env, cwd, pass_fds)
        try:
            assert self._helper.stdout is not None
            assert self._helper.stderr is not None
            self._out, self._err = self._helper.stdout.fileno(), self._helper.stderr.fileno()
            for descriptor in (self._out, self._err):
                os.set_blocking(descriptor, False)
                self._kept[descriptor] = bytearray()
        except BaseException:
            self.close()
            raise

    def descriptors(self) -> tuple[int, ...]:
        return (self._control.fileno(), self._out, self._err)

    def seconds_left(self) -> float:
        return max(0.0, self._deadline - time.monotonic())

    def out_of_time(self) -> None:
        """First ask the helper to end the tree; if even that takes too long, give up on it."""
        if self.timed_out:
            self._helper.kill()
            self.over = True
            return
        self.timed_out = True
        self._deadline = time.monotonic() + _END_SECONDS
        self.abort()

    def abort(self) -> None:
        import socket

        with suppress(OSError):  # The helper has already gone.
            self._control.shutdown(socket.SHUT_WR)

    def read(self, descriptor: int) -> bool:
        """Take what is there; False when this descriptor will bring nothing more."""
        try:
            data = os.read(descriptor, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if descriptor == self._control.fileno():
            self._report += data
            self.over = self.over or not data
        else:
            kept = self._kept[descriptor]
            room = self._limit - len(kept)
            kept += data[: max(0, room)]
            self.truncated = self.truncated or len(data) > room
        return bool(data)

    def drain(self) -> None:
        """Take the rest without waiting: whoever still holds a pipe now has escaped the tree."""
        for descriptor in (self._out, self._err):
            for _ in range(64):  # 4 MiB: more than a pipe holds, and an end to it.
                before = len(self._kept[descriptor]), self.truncated
                if not self.read(descriptor):
                    break
                if before == (len(self._kept[descriptor]), self.truncated):
                    break

    def finished(self) -> Finished:
        report = dict(line.split(" ", 1) for line in self._report.decode("ascii").splitlines())
        if "failed" in report:
            number, what = report["failed"].split(" ")
            name = self._argv[0] if what == "program" else "the working directory"
            raise OSError(int(number), os.strerror(int(number)), name)
        if "ended" not in report:
            # The helper is dead, so what it would have ended is ours: as much as is known of it.
            end_group(report.get("group"))
            if not self.timed_out:
                raise OSError(f"{self._argv[0]} could not be watched: its helper process ended")
        code = None if self.timed_out else int(report["ended"])
        out, err = bytes(self._kept[self._out]), bytes(self._kept[self._err])
        return Finished(code, out, err, self.timed_out, self.truncated)

    def gone(self) -> bool:
        return helper_gone(self._helper)

    def kill(self) -> None:
        self._helper.kill()
        self._helper.wait()

    def close(self) -> None:
        """Let go of everything. The helper sees it, ends what is left of the tree, and ends."""
        self._control.close()
        for stream in (self._helper.stdout, self._helper.stderr):
            if stream is not None:
                stream.close()


def helper_gone(helper: subprocess.Popen[bytes]) -> bool:
    """Whether a helper has ended; it is collected then."""
    if helper.poll() is None:
        return False
    _helpers.discard(helper.pid)
    return True


def end_group(leader: str | None) -> None:
    """KILL a run's process group: what is left to do once its helper is dead."""
    import signal

    if leader is not None:
        with suppress(OSError):
            os.killpg(int(leader), signal.SIGKILL)


def _encode(
    argv: Sequence[str], env: Mapping[str, str], cwd: str | os.PathLike[str] | None
) -> bytes:
    """Write the order to the helper, as its `_decode` reads it.

    It goes through a socket: an environment holds secrets, which are nothing for a command line,
    and the helper's own interpreter must start with this process's environment.
    """
    parts = [os.fsencode(cwd or ""), str(len(argv)).encode(), *(os.fsencode(word) for word in argv)]
    for name, value in env.items():
        if not name or "=" in name:
            raise ValueError("a variable's name must not be empty or hold '='")
        parts.append(os.fsencode(name) + b"=" + os.fsencode(value))
    if any(b"\0" in part for part in parts):
        raise ValueError("a program's arguments and variables can't hold a NUL")
    return b"\0".join(parts)


def start_helper(
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | os.PathLike[str] | None,
    pass_fds: Sequence[int] = (),
    *,
    open_input: bool = False,
) -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """The helper of one run, and the socket on which it reports what became of the program.

    It writes ``group PID``, then ``running PID`` or ``failed ERRNO program|directory``, and at last
    ``ended CODE``. Closing the socket, or its sending side, ends the run's whole tree.
    """
    import socket
    import subprocess

    order = _encode(argv, env, cwd)
    ours, theirs = socket.socketpair()
    try:
        with theirs, _lock:
            helper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_HELPER), str(theirs.fileno())],
                stdin=subprocess.PIPE if open_input else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(theirs.fileno(), *pass_fds),
                start_new_session=True,
                bufsize=0,
            )
            _helpers.add(helper.pid)
        with suppress(OSError):  # It never came up: its missing report says so.
            ours.sendall(len(order).to_bytes(8, "big") + order)
    except BaseException:
        ours.close()
        raise
    return ours, helper


@contextmanager
def _closing(run: _Run) -> Iterator[None]:
    try:
        yield
    finally:
        run.close()
        deadline = time.monotonic() + _END_SECONDS
        while not run.gone():
            if time.monotonic() >= deadline:
                run.kill()
            time.sleep(0.005)


def run_bounded(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | os.PathLike[str] | None = None,
    timeout: float,
    limit_bytes: int,
    pass_fds: Sequence[int] = (),
) -> Finished:
    """Run a program in a session of its own, without input, and leave nothing of it behind.

    `timeout` is in seconds; of stdout and of stderr the first `limit_bytes` each are kept, the
    rest is read and dropped. What the program started is ended with it: on Linux everything, on
    other systems its process group. Raises OSError when it can't be started.
    """
    import selectors

    run = _Run(argv, env, cwd, timeout, limit_bytes, pass_fds)
    with _closing(run), selectors.DefaultSelector() as selector:
        for descriptor in run.descriptors():
            selector.register(descriptor, selectors.EVENT_READ)
        while not run.over:
            ready = selector.select(run.seconds_left())
            for key, _ in ready:
                if not run.read(key.fd):
                    selector.unregister(key.fd)
            if run.seconds_left() <= 0 and not run.over:
                run.out_of_time()
        run.drain()
        return run.finished()


async def run_bounded_async(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: str | os.PathLike[str] | None = None,
    timeout: float,
    limit_bytes: int,
    pass_fds: Sequence[int] = (),
) -> Finished:
    """As `run_bounded`, for many side by side. Cancelling it ends the run's whole tree."""
    import asyncio

    loop = asyncio.get_running_loop()
    run = _Run(argv, env, cwd, timeout, limit_bytes, pass_fds)
    over = asyncio.Event()

    def take(descriptor: int) -> None:
        if not run.read(descriptor):
            loop.remove_reader(descriptor)
        if run.over:
            over.set()

    try:
        for descriptor in run.descriptors():
            loop.add_reader(descriptor, take, descriptor)
        while not run.over:
            try:
                await asyncio.wait_for(over.wait(), run.seconds_left())
            except TimeoutError:
                run.out_of_time()
        run.drain()
        return run.finished()
    finally:
        for descriptor in run.descriptors():
            loop.remove_reader(descriptor)
        run.close()
        deadline = time.monotonic() + _END_SECONDS
        while not run.gone():
            if time.monotonic() >= deadline:
                run.kill()
            await asyncio.sleep(0.005)
