"""One process of a harness while it is talked to: lines in, messages out, stderr kept."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from barry_cli.headless.inbox import Inbox
from barry_cli.headless.reading import Kept, Lines, OversizedLine

if TYPE_CHECKING:
    from barry_cli.contract.execution import RunningProcess
    from barry_cli.contract.session import Allowed, Denied, PermissionRequest

_WAITING_BATCHES = 32
_STDERR_BYTES = 32_768  # of its beginning, and as much of its end
_STDERR_SECONDS = 1.0
_STYLE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
"""What a terminal obeys: colours, titles. They would hide what a line says."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Lines that came together."""

    lines: list[str]


@dataclass(frozen=True, slots=True)
class TooLong:
    """A line was longer than a turn takes; nothing is read after it."""


@dataclass(frozen=True, slots=True)
class Over:
    """The process and all that it started are gone."""

    code: int | None


@dataclass(frozen=True, slots=True)
class Ruled:
    """How a call was ruled."""

    request: PermissionRequest
    decision: Allowed | Denied
    final: bool
    """False: a person is asked as well."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The turn is to be cut short."""

    steered: bool


Item: TypeAlias = Batch | TooLong | Over | Ruled | Cut


class AgentProcess:
    """Pumps a process's output into an inbox. ``end`` it on every way out."""

    def __init__(self, process: RunningProcess, *, line_limit: int) -> None:
        self.inbox: Inbox[Item] = Inbox(_WAITING_BATCHES)
        self.input_closed = False
        self.over = False
        self._process = process
        self._stderr = Kept(_STDERR_BYTES, _STDERR_BYTES)
        self._outgoing: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._draining = asyncio.ensure_future(self._drain())
        self._tasks = [
            self._draining,
            asyncio.ensure_future(self._pump(Lines(line_limit))),
            asyncio.ensure_future(self._write()),
        ]

    @property
    def stderr(self) -> str:
        """What it wrote there so far, without colours: the beginning and the end."""
        return _STYLE.sub("", self._stderr.text())

    def send(self, text: str) -> None:
        """Give it this on stdin, in order, without waiting for it to read."""
        if text and not self.input_closed:
            self._outgoing.put_nowait(text.encode("utf-8", "replace"))

    def close_input(self) -> None:
        """End its stdin once everything sent is written."""
        if not self.input_closed:
            self.input_closed = True
            self._outgoing.put_nowait(None)

    def signal(self, number: int) -> bool:
        """Signal the program alone."""
        return self._process.signal(number)

    async def end(self) -> None:
        """End it and all that it started. Idempotent."""
        self.input_closed = True
        try:
            await self._process.end()
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _write(self) -> None:
        try:
            while (data := await self._outgoing.get()) is not None:
                await self._process.write(data)
        except OSError:  # it doesn't read: its exit says more than this would
            pass
        self._process.close_input()

    async def _drain(self) -> None:
        with suppress(OSError):
            while data := await self._process.read_errors():
                self._stderr.feed(data)

    async def _pump(self, lines: Lines) -> None:
        try:
            while data := await self._process.read():
                if found := lines.feed(data):
                    await self.inbox.put_when_room(Batch(found))
            if found := lines.flush():
                await self.inbox.put_when_room(Batch(found))
        except OversizedLine:
            self.inbox.put(TooLong())
            return
        except OSError:  # as good as its end
            pass
        code = await self._process.wait()
        await asyncio.wait({self._draining}, timeout=_STDERR_SECONDS)
        self.over = True
        self.inbox.put(Over(code))
