"""An inbox by hooks: what a hook takes, and what shows that it arrived."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.contract import hook_inbox
from barry_cli.contract.evidence import Underway
from barry_cli.contract.hook_inbox import HookInbox
from barry_cli.contract.instrument import Notice

STOP = Notice(kind="stop")


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hook_inbox, "LOOK_SECONDS", 0.02)


class Hooks:
    """What runs inside: notices that a test tells, and a hook that asks or doesn't."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[Notice | None] = asyncio.Queue()
        self.asking: Notice | None = None
        self.breaks = False

    async def notices(self) -> AsyncIterator[Notice]:
        while (notice := await self.told.get()) is not None:
            yield notice

    async def hand(self, text: str, *, fits: Callable[[Notice], bool] | None = None) -> bool:
        if self.breaks:
            raise OSError("gone")
        return self.asking is not None and fits is not None and fits(self.asking)

    async def ask(self, frame: Any, *, seconds: float = 5) -> None:
        raise AssertionError("it has no plugin")


def shows(line: bytes) -> list[str]:
    kind, _, text = line.decode().partition(":")
    return [text.replace("|", "\n")] if kind == "user" else []


class Session:
    """An inbox, the hooks it works with, and the ids that it has shown."""

    def __init__(self, folder: Path) -> None:
        self.hooks = Hooks()
        self.hooks.asking = STOP
        self.inbox = HookInbox(
            self.hooks,
            guarantee="turn-end",
            evidence="its transcript",
            fits=lambda notice, text: notice.kind == "stop" and "<" not in text,
            shows=shows,
        )
        self.transcript = folder / "conversation"
        self.shown: list[str] = []

    def write(self, *lines: str, cut: bool = False) -> None:
        with self.transcript.open("a") as file:
            file.write("\n".join(lines) + ("" if cut else "\n"))

    async def send(self, id: str, text: str) -> bool:
        return await self.inbox.deliver({"id": id, "content": text})

    async def until(self, count: int) -> list[str]:
        async with asyncio.timeout(5):
            while len(self.shown) < count:
                await asyncio.sleep(0.01)
        return self.shown

    async def hear(self) -> None:
        """Let all that was told so far be heard, and the transcript be looked at."""
        await asyncio.sleep(0.15)


@asynccontextmanager
async def session(folder: Path) -> AsyncIterator[Session]:
    made = Session(folder)
    made.write("user:what stands there")

    async def read() -> None:
        async for message_id in made.inbox.consumed():
            made.shown.append(message_id)

    reading = asyncio.create_task(read())
    made.hooks.told.put_nowait(Notice(kind="start", transcript=str(made.transcript)))
    await asyncio.sleep(0.05)
    yield made
    made.hooks.told.put_nowait(None)
    async with asyncio.timeout(5):
        await reading


def run(test: Coroutine[Any, Any, None]) -> None:
    asyncio.run(test)


def test_the_transcript_shows_what_it_gained(tmp_path: Path) -> None:
    async def test() -> None:
        async with session(tmp_path) as here:
            assert await here.send("m1", "two\nlines")
            here.write("user:another", "agent:two|lines")
            here.write("user:two|li", cut=True)
            await here.hear()
            assert here.shown == []
            here.write("nes")
            assert await here.until(1) == ["m1"]

    run(test())


def test_what_stood_there_before_shows_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        async with session(tmp_path) as here:
            here.write("user:again")
            assert await here.send("m1", "again")
            await here.hear()
            assert here.shown == []
            here.write("user:again")
            assert await here.until(1) == ["m1"]

    run(test())


@pytest.mark.parametrize("what", ["a pipe", "no path", "a folder"])
def test_a_transcript_that_is_none_ends_nothing(tmp_path: Path, what: str) -> None:
    """Hooks tell where it is: a pipe would be waited for, and with it all else."""
    place = str(tmp_path / "other")
    if what == "a pipe":
        os.mkfifo(place)
    elif what == "a folder":
        os.mkdir(place)

    async def test() -> None:
        async with session(tmp_path) as here:
            told = "a\0b" if what == "no path" else place
            here.hooks.told.put_nowait(Notice(kind="start", transcript=told))
            assert await here.send("m1", "hello")
            await here.hear()
            here.hooks.told.put_nowait(Notice(kind="start", transcript=str(here.transcript)))
            await here.hear()
            here.write("user:hello")
            assert await here.until(1) == ["m1"]

    run(test())


def test_a_prompt_that_is_the_message_shows_it(tmp_path: Path) -> None:
    async def test() -> None:
        async with session(tmp_path) as here:
            for message_id in ("m1", "m2"):
                assert await here.send(message_id, f"text of {message_id}")
            here.hooks.told.put_nowait(Notice(kind="prompt", prompt="text of m1\n\ntext of m2"))
            assert await here.until(2) == ["m1", "m2"]

    run(test())


@pytest.mark.parametrize("said", ["ok, go on", "not ok", "ok\n\nand more", "OK"])
def test_what_a_person_says_shows_no_message(tmp_path: Path, said: str) -> None:
    async def test() -> None:
        async with session(tmp_path) as here:
            assert await here.send("m1", "ok")
            here.hooks.told.put_nowait(Notice(kind="prompt", prompt=said))
            here.write(f"user:{said}".replace("\n", "|"))
            await here.hear()
            assert here.shown == []

    run(test())


def test_what_no_hook_takes_is_shown_by_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        async with session(tmp_path) as here:
            assert not await here.send("m1", "<b>")
            here.hooks.asking = None
            assert not await here.send("m2", "plain")
            here.write("user:plain", "user:<b>")
            await here.hear()
            assert here.shown == []

    run(test())


def test_where_a_hook_was_gone_its_arrival_is_still_seen(tmp_path: Path) -> None:
    async def test() -> None:
        async with session(tmp_path) as here:
            here.hooks.breaks = True
            with pytest.raises(OSError, match="gone"):
                await here.send("m1", "plain")
            here.write("user:plain")
            assert await here.until(1) == ["m1"]

    run(test())


def test_a_transcript_that_goes_or_begins_anew_is_no_loss(tmp_path: Path) -> None:
    async def test() -> None:
        async with session(tmp_path) as here:
            assert await here.send("m1", "plain")
            here.transcript.unlink()
            await here.hear()
            here.write("user:plain")
            assert await here.until(1) == ["m1"]
            other = tmp_path / "other"
            other.write_text("user:later\n")
            here.hooks.told.put_nowait(Notice(kind="start", transcript=str(other)))
            assert await here.send("m2", "later")
            here.transcript = other
            await here.hear()
            here.write("user:later")
            assert await here.until(2) == ["m1", "m2"]

    run(test())


TEXTS = st.text("ab\n", min_size=1, max_size=6)


@given(st.lists(TEXTS, min_size=1, max_size=5))
def test_messages_joined_by_blank_lines_are_each_shown_once(texts: list[str]) -> None:
    underway = Underway()
    for index, text in enumerate(texts):
        underway.wrote(str(index), text)
    found = underway.whole("\n\n".join(texts))
    # A text that ends where another begins may read in two ways; it is never shown twice.
    assert len(found) == len(set(found))
    if not any("\n" in text for text in texts):
        assert found == [str(index) for index in range(len(texts))]
        assert not underway.waiting


@given(TEXTS, st.text(min_size=1))
def test_a_text_with_anything_beside_shows_none(text: str, more: str) -> None:
    for told in (more + text, text + more):
        underway = Underway()
        underway.wrote("1", text)
        assert underway.whole(told) == []
        assert underway.waiting
