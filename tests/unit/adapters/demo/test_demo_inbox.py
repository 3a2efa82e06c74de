"""The demo's ways in: what its transcript shows of a message, and what its pipe bears."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from barry_adapter_demo import inbox
from barry_adapter_demo.harness.mail import Mail
from barry_adapter_demo.harness.transcript import now
from barry_adapter_demo.inbox import PipeInbox
from barry_cli.contract.instrument import Notice
from barry_cli.inbox.messages import LARGEST


class Inside:
    """What the harness's hooks tell."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[Notice] = asyncio.Queue()

    async def notices(self) -> AsyncIterator[Notice]:
        while True:
            yield await self.told.get()

    async def hand(self, text: str, *, fits: Callable[[Notice], bool] | None = None) -> bool:
        raise AssertionError("it goes through the pipe")

    async def ask(self, frame: Any, *, seconds: float = 5) -> None:
        raise AssertionError("it has no plugin")


class Harness:
    """The ends that the harness has: its pipe, its transcript, its hooks."""

    def __init__(self, folder: Path) -> None:
        self.inside = Inside()
        self.transcript = folder / "conversation.jsonl"
        self._path = folder / "pipe"
        os.mkfifo(self._path)
        self.pipe = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)
        self.inbox = PipeInbox(self.inside, self._path)
        self.shown: list[str] = []

    def says(self, text: str, *, time: str | None = None) -> None:
        row = {"time": time or now(), "type": "user", "text": text}
        with self.transcript.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def read(self) -> bytes:
        found = b""
        try:
            while piece := os.read(self.pipe, 1 << 20):
                found += piece
        except BlockingIOError:
            pass
        return found

    async def watch(self) -> None:
        async for each in self.inbox.consumed():
            self.shown.append(each)

    async def send(self, id: str, text: str) -> bool:
        return await self.inbox.deliver({"id": id, "content": text})

    async def until(self, count: int) -> list[str]:
        async with asyncio.timeout(5):
            while len(self.shown) < count:
                await asyncio.sleep(0.01)
        return self.shown

    async def tell(self, path: str) -> None:
        self.inside.told.put_nowait(Notice(kind="start", transcript=path))
        await asyncio.sleep(0.1)


@asynccontextmanager
async def running(folder: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Harness]:
    monkeypatch.setattr(inbox, "_LOOK_SECONDS", 0.01)
    monkeypatch.setattr(inbox, "_WRITE_SECONDS", 0.2)
    harness = Harness(folder)
    watching = asyncio.ensure_future(harness.watch())
    try:
        yield harness
        assert not watching.done()
    finally:
        watching.cancel()
        os.close(harness.pipe)


async def test_what_a_resumed_conversation_holds_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same was said in it before; it is read only after the message was written."""
    async with running(tmp_path, monkeypatch) as harness:
        harness.says("go on", time="2020-01-01T00:00:00.000Z")
        assert await harness.send("m1", "go on")
        await harness.tell(str(harness.transcript))
        assert harness.shown == []
        harness.says("go on")
        assert await harness.until(1) == ["m1"]


@pytest.mark.parametrize("what", ["a pipe", "no path", "a folder", "nothing"])
async def test_a_transcript_that_is_none_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    place = str(tmp_path / "other")
    if what == "a pipe":
        os.mkfifo(place)
    elif what == "a folder":
        os.mkdir(place)
    async with running(tmp_path, monkeypatch) as harness:
        await harness.tell("a\0b" if what == "no path" else place)
        assert await harness.send("m1", "hello")
        await harness.tell(str(harness.transcript))
        harness.says("hello")
        assert await harness.until(1) == ["m1"]


async def test_what_was_cut_short_spoils_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, monkeypatch) as harness:
        with pytest.raises(TimeoutError):
            await harness.send("m1", "x" * 500_000)
        before = harness.read()
        assert await harness.send("m2", "after it")
        *lines, rest = (before + harness.read()).split(b"\n")
        assert rest == b""
        assert json.loads(lines[-1]) == {"text": "after it"}


async def test_a_full_pipe_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it was written: it can be offered again."""
    async with running(tmp_path, monkeypatch) as harness:
        with suppress(BlockingIOError):
            while True:
                os.write(harness.pipe, b"x" * 4096)
        assert await harness.send("m1", "no room") is False
        assert set(harness.read()) == {ord("x")}
        assert await harness.send("m1", "no room")


@pytest.mark.parametrize("letter", ["\x01", '"', "x"])
async def test_the_largest_message_gets_through_the_pipe(tmp_path: Path, letter: str) -> None:
    """However long it is as JSON."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    mail = Mail(str(pipe))
    text = letter * LARGEST
    assert await PipeInbox(Inside(), pipe).deliver({"id": "m1", "content": text})
    async with asyncio.timeout(5):
        while (found := mail.take()) is None:
            await asyncio.sleep(0.01)
    assert found == text
