"""Where a harness's processes run, and how one is held (seed 002's Executor).

A driver never starts a process itself: the executor that it was given does, on this machine or in
a sandbox, and a harness behaves the same in both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class RunningProcess(Protocol):
    """A program that was started, together with everything that it starts."""

    @property
    def pid(self) -> int | None:
        """Its number where it runs; None when that isn't known here."""
        ...

    async def read(self) -> bytes:
        """The next bytes of its stdout, at most 64 KiB; empty at the end."""
        ...

    async def read_errors(self) -> bytes:
        """The next bytes of its stderr; empty at the end."""
        ...

    async def write(self, data: bytes) -> None:
        """Give it all of this on stdin. Raises OSError when it doesn't read any more."""
        ...

    def close_input(self) -> None:
        """End its stdin. Idempotent."""
        ...

    def signal(self, number: int) -> bool:
        """Send a signal to the program alone; False when it has ended."""
        ...

    async def wait(self) -> int | None:
        """Once it and all that it started are gone: its exit code, minus the number of the signal
        that ended it, or None when nobody can tell.
        """
        ...

    async def end(self) -> None:
        """End it and all that it started, and let go of it. Idempotent; bounded in time."""
        ...


class Executor(Protocol):
    """Who starts processes."""

    @property
    def local(self) -> bool:
        """Whether they run on this machine, with its files and this user's home."""
        ...

    @property
    def variables(self) -> Mapping[str, str]:
        """Environment variables that it sets itself, over all others."""
        ...

    async def start(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, open_input: bool = False
    ) -> RunningProcess:
        """Start a program with exactly this environment, in a session of its own.

        A bare name is looked for on the PATH of ``env``. Without ``open_input`` its stdin is empty.
        Raises OSError when the program or the folder refuses; nothing is running then.
        """
        ...
