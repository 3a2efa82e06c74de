"""How a harness feels: the echo of a key, and how fast its output comes, in a terminal."""

from __future__ import annotations

import os
import pty
import select
import statistics
import time
from collections.abc import Mapping, Sequence

KEYS = 150
MEGABYTES = 6

# Raw input; `k` asks for echoes, `o` for output.
ECHOING = """#!@PYTHON@ -IS
import os, sys, tty
if sys.argv[1:] == ["--version"]:
    print("toy 1.2.3")
    sys.exit()
tty.setraw(0)
os.write(1, b"<ready>")
while (key := os.read(0, 1)) != b"q":
    if key == b"o":
        line = (b"\\x1b[32m" + b"x" * 90 + b"\\x1b[0m\\r\\n") * 64
        left = @BYTES@
        while left > 0:
            left -= os.write(1, line)
        os.write(1, b"<end>")
    else:
        os.write(1, key)
""".replace("@BYTES@", str(MEGABYTES << 20))


class Typist:
    """A program in a terminal, and somebody who types."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], cwd: str) -> None:
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(cwd)
            os.execve(argv[0], list(argv), dict(env))
        self._read_until(b"<ready>")

    def _read_until(self, mark: bytes, seconds: float = 30) -> None:
        tail = b""
        give_up = time.monotonic() + seconds
        while mark not in tail:
            ready, _, _ = select.select([self._terminal], [], [], give_up - time.monotonic())
            assert ready, tail
            tail = (tail + os.read(self._terminal, 65536))[-65536:]

    def echo(self) -> float:
        """Milliseconds from a key to its echo, the median of many."""
        took = []
        for _ in range(KEYS):
            began = time.perf_counter()
            os.write(self._terminal, b"a")
            self._read_until(b"a")
            took.append((time.perf_counter() - began) * 1000)
        return statistics.median(took)

    def output(self) -> float:
        """Milliseconds for a megabyte of coloured lines."""
        began = time.perf_counter()
        os.write(self._terminal, b"o")
        self._read_until(b"<end>")
        return (time.perf_counter() - began) * 1000 / MEGABYTES

    def close(self) -> int:
        """Leave; the exit status."""
        os.write(self._terminal, b"q")
        _, status = os.waitpid(self._pid, 0)
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(status)
