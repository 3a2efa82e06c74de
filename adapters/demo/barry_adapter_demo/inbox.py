"""Ways into the demo harness's TUI while it runs, and how its transcript shows what arrived."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from barry_adapter_demo.harness.transcript import now
from barry_cli.adapters import Underway, spoken

if TYPE_CHECKING:
    from barry_cli.adapters import DeliveryLevel, Inside

_LOOK_SECONDS = 0.2
_WRITE_SECONDS = 5.0  # in which nobody reads


class _Inbox:
    """What both ways share: the transcript is the evidence."""

    evidence = "its transcript"

    def __init__(self, inside: Inside) -> None:
        self._inside = inside
        self._underway = Underway()
        self._follower = _Follower()
        # From the plan on, so that no notice is missed.
        self._notices = inside.notices()

    def _begin(self, message: Mapping[str, str]) -> str:
        """A message is about to be given: as the model is to read it."""
        if not self._underway.waiting:
            self._follower.since = now()
        text = spoken(message)
        self._underway.wrote(message["id"], text)
        return text

    async def consumed(self) -> AsyncIterator[str]:
        """The ids of messages that stand in the transcript, as user or with a tool's result."""
        found: asyncio.Queue[str] = asyncio.Queue()
        follower = self._follower

        async def hear() -> None:
            async for notice in self._notices:
                follower.follow(notice.transcript)

        hearing = asyncio.create_task(hear())
        try:
            while True:
                over = hearing.done()
                for text, alone in follower.texts():
                    shown = self._underway.whole(text) if alone else self._underway.seen(text)
                    for message_id in shown:
                        found.put_nowait(message_id)
                while not found.empty():
                    yield found.get_nowait()
                if over:
                    return
                await asyncio.wait({hearing}, timeout=_LOOK_SECONDS)
        finally:
            hearing.cancel()


class _Follower:
    """Reads what is appended to a transcript, whole lines alone."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._at = 0
        self.since = ""
        """What was written before shows nothing: the same may have been said then."""

    def follow(self, path: str | None) -> None:
        if path and path != self._path:
            self._path, self._at = path, 0

    def texts(self) -> list[tuple[str, bool]]:
        """What the model was told since, and whether it was a message of its own."""
        if self._path is None or not os.path.isfile(self._path):  # it may never come, or to an end
            return []
        try:
            with open(self._path, "rb") as file:
                file.seek(self._at)
                data = file.read()
        except OSError:  # it appears with the first prompt
            return []
        whole = data[: data.rfind(b"\n") + 1]
        self._at += len(whole)
        return [text for line in whole.splitlines() if (text := _told(line, self.since))]


def _told(line: bytes, since: str) -> tuple[str, bool] | None:
    """What a row of the transcript told the model, if that was no earlier."""
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not (isinstance(row, dict) and str(row.get("time")) >= since):
        return None
    alone = row.get("type") == "user"
    text = row.get("text" if alone else "output")
    return (text, alone) if isinstance(text, str) else None


class PipeInbox(_Inbox):
    """A named pipe that the TUI reads: an idle one wakes, a busy one has it after its turn."""

    guarantee: DeliveryLevel = "wake"

    def __init__(self, inside: Inside, pipe: Path) -> None:
        super().__init__(inside)
        self._pipe = pipe

    async def deliver(self, message: Mapping[str, str]) -> bool:
        text = self._begin(message)
        # On a line of its own, whatever was cut short before it.
        line = b"\n" + json.dumps({"text": text}).encode() + b"\n"
        try:
            file = os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError as error:
            self._underway.failed(message["id"])
            if error.errno in (errno.ENXIO, errno.ENOENT):  # nobody reads it: not yet, or no more
                return False
            raise
        left, loop = memoryview(line), asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_WRITE_SECONDS) as patience:
                while left:
                    try:
                        left = left[os.write(file, left) :]
                        patience.reschedule(loop.time() + _WRITE_SECONDS)
                    except BlockingIOError:
                        await asyncio.sleep(0.01)
        except TimeoutError:
            if len(left) < len(line):
                raise
            self._underway.failed(message["id"])
            return False  # the pipe is full of what nobody reads
        finally:
            os.close(file)
        return True


class HookInbox(_Inbox):
    """The hooks after a call and after a turn give the message to the model."""

    guarantee: DeliveryLevel = "turn-end"

    async def deliver(self, message: Mapping[str, str]) -> bool:
        given = await self._inside.hand(self._begin(message))
        if not given:
            self._underway.failed(message["id"])
        return given
