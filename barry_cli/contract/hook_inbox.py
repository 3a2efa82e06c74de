"""An inbox by a harness's own hooks: a message goes to one that asks for it, and what shows that it
arrived is what the harness tells its hooks afterwards, or writes into its transcript.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from barry_cli.base.problems import Refused
from barry_cli.contract.evidence import Underway, spoken

if TYPE_CHECKING:
    from barry_cli.contract.instrument import Inside, Notice
    from barry_cli.contract.levels import DeliveryLevel

LOOK_SECONDS = 0.25
"""How often the transcript is looked at while a message is underway."""

_PIECE = 1 << 20


class HookInbox:
    """What an adapter whose hooks take messages gives its launch as inbox."""

    def __init__(
        self,
        inside: Inside,
        *,
        guarantee: DeliveryLevel,
        evidence: str,
        fits: Callable[[Notice, str], bool],
        shows: Callable[[bytes], Iterable[str]],
        transcript: str | None = None,
        prompts: bool = True,
    ) -> None:
        """``fits``: whether a text may go to the hook that told of this. ``shows``: the texts that
        a line of the transcript shows the agent to have been told, each as a whole.
        ``transcript``: where it is, when that is known before any hook tells. ``prompts``: whether
        a prompt that a hook tells of is one that the agent gets; False where another hook may still
        drop it.
        """
        self._inside = inside
        self._guarantee = guarantee
        self._evidence = evidence
        self._fits = fits
        self._shows = shows
        self._prompts = prompts
        self._underway = Underway()
        self._record = _Record()
        if transcript is not None:
            self._record.at(transcript)

    @property
    def guarantee(self) -> DeliveryLevel:
        """What a sender can be promised while the TUI runs."""
        return self._guarantee

    @property
    def evidence(self) -> str:
        """What shows that a message was taken in."""
        return self._evidence

    async def deliver(self, message: Mapping[str, str]) -> bool:
        """Give a message to a hook that asks now; False where none does.

        Raises OSError when a hook took it and nobody knows what became of it.
        """
        text = spoken(message)
        if not self._underway.waiting:
            self._record.from_here()
        self._underway.wrote(message["id"], text)
        try:
            given = await self.give(message["id"], text)
        except Refused:
            self._underway.failed(message["id"])
            raise
        if not given:
            self._underway.failed(message["id"])
        return given

    async def give(self, message_id: str, text: str) -> bool:
        """Put a text before the agent; False when surely nothing received it. For an inbox that
        has another way besides.
        """
        return await self._inside.hand(text, fits=lambda notice: self._fits(notice, text))

    async def consumed(self) -> AsyncIterator[str]:
        """The ids of messages that the harness shows taken in, until it has ended."""
        notices = self._inside.notices()
        coming = asyncio.ensure_future(_next(notices))
        try:
            while True:
                await asyncio.wait({coming}, timeout=LOOK_SECONDS)
                notice = coming.result() if coming.done() else None
                for message_id in self._shown(notice):
                    yield message_id
                if notice is not None:
                    coming = asyncio.ensure_future(_next(notices))
                elif coming.done():
                    return
        finally:
            coming.cancel()

    def heard(self, notice: Notice) -> None:
        """For an inbox that has more to do with what it is told."""

    def _shown(self, notice: Notice | None) -> Iterator[str]:
        if notice is not None:
            self.heard(notice)
            if notice.transcript:
                self._record.at(notice.transcript)
            if self._prompts and notice.kind == "prompt" and notice.prompt:
                yield from self._underway.whole(notice.prompt)
        if self._underway.waiting:
            for line in self._record.lines():
                for text in self._shows(line):
                    yield from self._underway.whole(text)


class _Record:
    """The lines that a transcript gains."""

    def __init__(self) -> None:
        self._path: str | None = None
        self._read = 0
        self._rest = b""

    def at(self, path: str) -> None:
        """Where it is."""
        if path != self._path:
            self._path = path
            self.from_here()

    def from_here(self) -> None:
        """What stands there already shows nothing of what comes."""
        self._rest = b""
        try:
            self._read = os.path.getsize(self._path) if self._path is not None else 0
        except (OSError, ValueError):  # a path with a NUL is none
            self._read = 0

    def lines(self) -> Iterator[bytes]:
        """The whole lines since the last look; one that can't be read is looked at again."""
        if self._path is None or not os.path.isfile(self._path):  # a pipe would be waited for
            return
        try:
            with open(self._path, "rb") as file:
                if os.fstat(file.fileno()).st_size < self._read:
                    self._read, self._rest = 0, b""  # it was written anew
                file.seek(self._read)
                while piece := file.read(_PIECE):
                    self._read += len(piece)
                    *whole, self._rest = (self._rest + piece).split(b"\n")
                    yield from whole
        except OSError:
            return


async def _next(notices: AsyncIterator[Notice]) -> Notice | None:
    try:
        return await anext(notices)
    except StopAsyncIteration:
        return None
