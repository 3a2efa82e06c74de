"""A harness's TUI in a terminal of our own: its screen can be read, and keys can be sent."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from collections.abc import Mapping, Sequence

import pexpect
import pyte

from barry_cli.base.processes import descendants, end, identify
from barry_cli.contract.proof import NotShown

ROWS, COLUMNS = 50, 140

# Sequences of newer terminals (kitty keyboard, modifyOtherKeys, queries) that the screen model
# would draw as text.
_FOREIGN = re.compile(rb"\x1b\[[<=>][0-9;]*[A-Za-z]|\x1b\[\?[0-9;]*[u$][a-z]?")


class _Screen(pyte.Screen):
    """A screen that answers what programs ask a terminal."""

    def __init__(self, child: pexpect.spawn) -> None:
        super().__init__(COLUMNS, ROWS)
        self._child = child

    def write_process_input(self, data: str) -> None:
        with contextlib.suppress(OSError):
            self._child.send(data)


class ScreenTerminal:
    """One program in one pseudo-terminal. Close it: that ends the program and all it started."""

    def __init__(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: str | os.PathLike[str]
    ) -> None:
        self._child = pexpect.spawn(
            argv[0],
            list(argv[1:]),
            env={**env, "TERM": "xterm-256color"},
            cwd=str(cwd),
            dimensions=(ROWS, COLUMNS),
            timeout=None,
        )
        self._child.delaybeforesend = None
        self._screen = _Screen(self._child)
        self._stream = pyte.ByteStream(self._screen)
        self._tail = b""
        self._drawn = (0, "")
        self.raw = bytearray()
        """Every byte that the program wrote."""

    @property
    def pid(self) -> int:
        """The program's process."""
        return int(self._child.pid)

    def pump(self, seconds: float = 0.0) -> bool:
        """Take in what the program writes for so long; False once it has ended."""
        give_up = time.monotonic() + seconds
        while True:
            left = max(0.0, give_up - time.monotonic())
            try:
                data = self._child.read_nonblocking(65536, timeout=min(left, 0.1))
            except pexpect.TIMEOUT:
                if left <= 0:
                    return True
                continue
            except (pexpect.EOF, OSError, ValueError):  # ValueError: it was closed
                return False
            self._feed(data)

    def _feed(self, data: bytes) -> None:
        self.raw += data
        data = self._tail + data
        cut = data.rfind(b"\x1b", max(0, len(data) - 24))
        # A sequence that is not complete yet waits for the rest of it.
        complete = cut < 0 or re.match(rb"\x1b(\[[0-9;?<=>]*[@-~]|[^\[\]P])", data[cut:])
        self._tail = b"" if complete else data[cut:]
        ready = data if complete else data[:cut]
        # A sequence that the model can't follow costs one chunk, never the session.
        with contextlib.suppress(Exception):
            self._stream.feed(_FOREIGN.sub(b"", ready))

    def screen(self) -> str:
        """The text now on the screen, line by line, without styling."""
        self.pump()
        if self._drawn[0] != len(self.raw):  # to draw it takes longer than most writes
            text = "\n".join(line.rstrip() for line in self._screen.display).rstrip()
            self._drawn = len(self.raw), text
        return self._drawn[1]

    def wait_for(self, text: str, *, seconds: float = 60) -> str:
        """Wait until the text is on the screen, line breaks and runs of space apart.

        Raises NotShown with the screen when it doesn't come.
        """
        wanted = "".join(text.split())
        give_up = time.monotonic() + seconds
        while True:
            alive = self.pump(0.1)
            screen = self.screen()
            if wanted in "".join(screen.split()):
                return screen
            if not alive:
                raise NotShown(f"it ended before {text!r} was on the screen:\n{screen}")
            if time.monotonic() >= give_up:
                raise NotShown(f"{text!r} was not on the screen in {seconds:g} s:\n{screen}")

    def settle(self, *, quiet: float = 0.7, seconds: float = 20) -> str:
        """Wait until nothing was written for so long, and give the screen."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            before = len(self.raw)
            if not self.pump(quiet) or len(self.raw) == before:
                break
        return self.screen()

    def type(self, text: str) -> None:
        """Send keys."""
        self._child.send(text)

    def submit(self, text: str) -> None:
        """Type a prompt and press Enter, apart: some TUIs take one burst for a paste."""
        self.type(text)
        self.pump(0.5)
        self.type("\r")

    def signal(self, number: int) -> None:
        """Send a signal to the program."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def ended(self, *, seconds: float = 15) -> int | None:
        """Wait for the end: the exit code, or minus the signal; None when it still runs."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            self.pump(0.1)
            if not self._child.isalive():
                signalled = self._child.signalstatus
                code: int = -signalled if signalled is not None else self._child.exitstatus
                return code
        return None

    def close(self, *, seconds: float = 15) -> int | None:
        """End it (TERM, then KILL) with all that it started, and give its exit code, or None when
        a signal ended it.
        """
        started = descendants(self.pid) if self._child.isalive() else []
        code: int | None = None
        if self._child.isalive():
            self.signal(signal.SIGTERM)
            code = self.ended(seconds=seconds)
            if code is None:
                self.signal(signal.SIGKILL)
                self.ended(seconds=5)
        else:
            code = self._child.exitstatus
        end([each for each in started if identify(each.pid) == each], 2.0)
        with contextlib.suppress(OSError):  # what a program that ended by itself left in its group
            os.killpg(self.pid, signal.SIGKILL)
        with contextlib.suppress(Exception):
            self._child.close(force=True)
        return code if code is not None and code >= 0 else None
