"""Children that are started as a group of their own and end as a group.

A child that leaves its group on purpose (``setsid``) is out of reach.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess

_GRACE = 1.0  # Seconds between SIGTERM and SIGKILL.


class Groups:
    """The groups that are alive now."""

    def __init__(self) -> None:
        self._live: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def start(
        self,
        command: list[str],
        cwd: str,
        *,
        env: dict[str, str] | None = None,
        talk: bool = False,
        errors: bool = False,
    ) -> subprocess.Popen[bytes]:
        """Start a child in a session of its own, so that it cannot touch the terminal.

        ``talk`` gives it a pipe on stdin and keeps stderr apart, for who reads it with ``errors``.
        Raises OSError.
        """
        import subprocess

        apart = subprocess.PIPE if errors else subprocess.DEVNULL
        child = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE if talk else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=apart if talk else subprocess.STDOUT,
            bufsize=0,
            start_new_session=True,
        )
        with self._lock:
            self._live.add(child)
        return child

    def end(self, child: subprocess.Popen[bytes], grace: float = _GRACE) -> None:
        """Ask the group to end, then kill what is left of it, and collect the child."""
        if child.poll() is None:
            _signal(child, signal.SIGTERM)
            _signal(child, signal.SIGCONT)
            deadline = time.monotonic() + grace
            while child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.02)
        _signal(child, signal.SIGKILL)
        child.wait()
        with self._lock:
            self._live.discard(child)

    def end_all(self) -> None:
        for child in self._all():
            self.end(child)

    def stop_all(self) -> None:
        for child in self._all():
            _signal(child, signal.SIGSTOP)

    def continue_all(self) -> None:
        for child in self._all():
            _signal(child, signal.SIGCONT)

    def _all(self) -> list[subprocess.Popen[bytes]]:
        with self._lock:
            return list(self._live)


def _signal(child: subprocess.Popen[bytes], number: int) -> None:
    # Nobody is left in the group, or (macOS) only the dead.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
