"""A session that a person drives is on record while it goes on, and never in its own way."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.paths import folders
from barry_cli.base.problems import StoreProblem
from barry_cli.capture import capture as room
from barry_cli.capture.capture import Capture, Watched
from barry_cli.capture.otlp import HOST, Door
from barry_cli.contract.events import SessionEvent, Text
from barry_cli.contract.instrument import Notice
from barry_cli.turns.store.record import Record
from barry_cli.turns.store.sessions import Sessions
from tests.unit.capture.notebook import DONE, Notebook, agent, result, use, user
from tests.unit.turns.store.places import new_session

Event = Mapping[str, Any]

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks that come sooner; what is quiet stays what it is."""
    monkeypatch.setattr(room, "INTERVAL", 0.1)
    monkeypatch.setattr(room, "_SOON", 0.01)


def watched(notebook: Any = None, **values: Any) -> Watched:
    session_id = new_session(mode="instrumented")
    plain: dict[str, Any] = {
        "session_id": session_id,
        "cwd": "/",
        "env": {},
        "promised": "near-total",
        "transcript": notebook,
    }
    return Watched(**{**plain, **values})


def recorded(session: Watched) -> list[Event]:
    found = Record(folders()).events(session.session_id, 0, 100_000)
    assert [each.sequence for each in found] == list(range(1, len(found) + 1))
    return [each.event for each in found]


def said(events: list[Event]) -> list[Event]:
    return [event for event in events if event["type"] not in ("init", "status")]


async def until(holds: Callable[[], bool], seconds: float = 15) -> None:
    async with asyncio.timeout(seconds):
        while not holds():
            await asyncio.sleep(0.02)


def notice(kind: Any, **parts: Any) -> Notice:
    return Notice(kind=kind, harness_session_id="c", **parts)


async def test_a_session_while_it_goes_on(notebook: Notebook) -> None:
    session = watched(notebook)
    capture = Capture(folders(), session)
    await capture.start()
    capture.notice(notice("start"))
    capture.notice(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), use("1"), result("1"), agent("so"))
    await until(lambda: agent("so") in recorded(session))
    capture.notice(notice("stop"))
    await until(lambda: DONE in recorded(session))
    notebook.write("c", user("bye"), agent("bye"))
    await capture.stop()
    assert said(recorded(session)) == [
        user("hi"), use("1"), result("1"), agent("so"), DONE, user("bye"), agent("bye"), DONE,
    ]  # fmt: skip
    assert capture.sources == ("hooks", "transcript")
    assert capture.level() == ("near-total", None)
    capture.notice(notice("prompt", prompt="too late"))
    await capture.stop()


async def test_what_was_said_before_it_was_resumed_is_not_said_again(notebook: Notebook) -> None:
    notebook.write("c", user("before"), agent("then"))
    session = watched(notebook, conversation="c")
    capture = Capture(folders(), session)
    await capture.start()
    notebook.write("c", user("now"), agent("yes"))
    await capture.stop()
    assert said(recorded(session)) == [user("now"), agent("yes"), DONE]
    assert recorded(session)[0] == {"type": "init", "harnessSessionId": "c"}


async def test_a_conversation_that_somebody_else_found(notebook: Notebook) -> None:
    session = watched(notebook)
    capture = Capture(folders(), session)
    await capture.start()
    notebook.write("found", user("hi"), agent("ho"))
    capture.conversation("found")
    await until(lambda: agent("ho") in recorded(session))
    await capture.stop()
    assert capture.sources == ("transcript",)


async def test_without_a_transcript_less_is_promised() -> None:
    session = watched(None)
    capture = Capture(folders(), session)
    await capture.start()
    capture.notice(notice("prompt", prompt="hi"))
    await until(lambda: user("hi") in recorded(session))
    level, why = capture.level()
    assert level == "post-hoc"
    assert why == (
        "there is no transcript that Barry can read: what is recorded comes from its hooks"
    )
    await capture.stop()


@pytest.mark.parametrize("promised", ["none", "post-hoc"])
async def test_no_more_is_promised_than_was(promised: str) -> None:
    capture = Capture(folders(), watched(None, promised=promised))
    await capture.start()
    capture.notice(notice("prompt", prompt="hi"))
    await capture.stop()
    assert capture.level() == (promised, None)


async def test_a_session_that_nothing_told_of(notebook: Notebook) -> None:
    capture = Capture(folders(), watched(notebook))
    await capture.start()
    assert capture.level() == ("near-total", None)  # nobody knows better yet
    await capture.stop()
    level, why = capture.level()
    assert level == "none"
    assert why is not None
    assert why.startswith("neither")


async def test_a_transcript_that_can_not_be_read(notebook: Notebook) -> None:
    notebook.broken = ValueError("not as it was")
    session = watched(notebook, conversation="c")
    capture = Capture(folders(), session)
    await capture.start()
    notebook.write("c", user("hi"))
    capture.notice(notice("prompt", prompt="hi"))
    await capture.stop()
    assert user("hi") in recorded(session)
    level, why = capture.level()
    assert level == "post-hoc"
    assert why is not None
    assert "(ValueError: not as it was)" in why


async def test_a_harness_that_reports(notebook: Notebook) -> None:
    def mapped(record: Mapping[str, Any]) -> Iterator[SessionEvent]:
        if record["name"] == "assistant_response":
            yield Text(text=str(record["attributes"]["response"]), role="assistant")

    door = Door.bind()
    session = watched(notebook, telemetry=mapped)
    capture = Capture(folders(), session, door=door)
    await capture.start()
    body = (Path(__file__).parent / "logs.json").read_bytes()
    lines = "".join(f"{name}: {value}\r\n" for name, value in door.headers.items())
    head = (
        f"POST /v1/logs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{lines}"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection(HOST, int(door.endpoint.rpartition(":")[2]))
    writer.write(head.encode() + body)
    assert b"200 OK" in await reader.read()
    writer.close()
    await capture.stop()
    assert agent("ok") in recorded(session)
    assert capture.sources == ("telemetry",)
    assert capture.level()[0] == "post-hoc"
    with pytest.raises(OSError, match="Connect call failed"):
        await asyncio.open_connection(HOST, int(door.endpoint.rpartition(":")[2]))


async def test_what_no_record_can_hold_is_made_text() -> None:
    session = watched(None)
    capture = Capture(folders(), session)
    await capture.start()
    odd = {"input": {"half": "\ud83d", "big": 2**70, "no": float("nan")}}
    capture.notice(notice("after-tool", tool="run", call="1", document=odd))
    await capture.stop()
    (called,) = [event for event in recorded(session) if event["type"] == "tool_use"]
    assert called["input"] == {"half": "�", "big": str(2**70), "no": "nan"}
    assert capture.level()[1] is not None
    assert "could not be recorded" not in str(capture.level()[1])


async def test_ten_thousand_events_do_not_stop_the_loop(notebook: Notebook) -> None:
    session = watched(notebook, conversation="c")
    capture = Capture(folders(), session)
    await capture.start()
    notebook.write("c", *(agent(f"line {number}") for number in range(10_000)))
    longest = await _longest_pause(lambda: len(recorded(session)) > 5_000)
    began = time.monotonic()
    notebook.write("c", *(agent(f"more {number}") for number in range(10_000)))
    await capture.stop()
    took = time.monotonic() - began
    assert len(said(recorded(session))) == 20_001
    assert capture.level() == ("near-total", None)
    # All of it on the loop would be a pause as long as the whole work.
    assert longest < max(took, 0.2)


async def _longest_pause(over: Callable[[], bool]) -> float:
    longest = 0.0
    async with asyncio.timeout(30):
        while True:
            for _ in range(20):
                began = time.monotonic()
                await asyncio.sleep(0.005)
                longest = max(longest, time.monotonic() - began)
            if await asyncio.to_thread(over):
                return longest


async def test_a_database_that_somebody_holds_is_waited_for_elsewhere() -> None:
    session = watched(None)
    capture = Capture(folders(), session)
    await capture.start()
    other = sqlite3.connect(folders().database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        capture.notice(notice("prompt", prompt="hi"))
        for _ in range(20):
            began = time.monotonic()
            await asyncio.sleep(0.01)
            assert time.monotonic() - began < 5  # SQLite waits for twice as long
    finally:
        other.execute("ROLLBACK")
        other.close()
    await until(lambda: user("hi") in recorded(session))
    await capture.stop()


async def test_a_record_that_can_not_be_kept_is_said() -> None:
    session = watched(None)
    capture = Capture(folders(), session)
    await capture.start()
    Sessions(folders()).forget(session.session_id)
    capture.notice(notice("prompt", prompt="hi"))
    await capture.stop()
    level, why = capture.level()
    assert level == "post-hoc"
    assert why is not None
    assert "could not be recorded: there is no session" in why


async def test_a_full_disk_costs_nothing_once_there_is_room() -> None:
    session = watched(None)
    capture = Capture(folders(), session)
    await capture.start()
    log = capture._log
    assert log is not None
    real, full = log.append, True

    def append(session_id: str, events: Any) -> int:
        if full:
            raise StoreProblem("the disk is full")
        return real(session_id, events)

    log.append = append  # type: ignore[method-assign]
    capture.notice(notice("prompt", prompt="one"))
    await asyncio.sleep(0.3)
    capture.notice(notice("prompt", prompt="two"))
    await asyncio.sleep(0.3)
    assert recorded(session) == []
    full = False
    await capture.stop()
    assert said(recorded(session)) == [user("one"), user("two"), DONE]
    assert "could not be recorded" not in str(capture.level()[1])


async def test_nothing_is_started_where_nothing_can_be_recorded(tmp_path: Path) -> None:
    session = watched(None)
    folders().database.write_bytes(b"no database, but long enough to be looked at as one" * 4)
    with pytest.raises(StoreProblem, match="is no database"):
        await Capture(folders(), session).start()


class _Endless(Notebook):
    """One whose reading never ends, until the test lets it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.let_go = threading.Event()

    def read(self, path: Path) -> Iterator[SessionEvent]:
        self.let_go.wait(30)
        yield from ()


async def test_a_reading_that_never_ends_ends_with_the_session(tmp_path: Path) -> None:
    endless = _Endless(tmp_path)
    session = watched(endless)
    capture = Capture(folders(), session)
    await capture.start()
    endless.write("c", user("hi"))
    capture.notice(notice("prompt", prompt="hi"))
    await asyncio.sleep(0.1)
    async with asyncio.timeout(room.ENDING + 5):
        await capture.stop()
    level, why = capture.level()
    assert level == "post-hoc"
    assert why is not None
    assert why.endswith("the last look at it took too long")
    endless.let_go.set()


async def test_nothing_that_is_said_is_written_anywhere_else(
    notebook: Notebook, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    session = watched(notebook)
    capture = Capture(folders(), session)
    await capture.start()
    capture.notice(notice("prompt", prompt="open sesame"))
    await capture.stop()
    assert "open sesame" in json.dumps(recorded(session))
    assert folders().database.stat().st_mode & 0o077 == 0
    assert "sesame" not in caplog.text
    assert capsys.readouterr() == ("", "")
