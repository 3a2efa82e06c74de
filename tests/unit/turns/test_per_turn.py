"""A session that starts its harness anew for each turn."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from barry_cli.base.problems import Refused
from barry_cli.contract.abort import Abort
from barry_cli.contract.data import JsonSchema
from barry_cli.contract.events import Done, Failed, Init, Result, SessionEvent, Text
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.session import Allowed, DeliveryOptions, PermissionRequest, Session
from barry_cli.turns.per_turn import PerTurnOptions, per_turn_session
from barry_cli.turns.unsupported import NotSupportedInMode

PROMISED = Guarantees(
    capture="total",
    delivery="turn-end",
    gating="per-call",
    identity="inherent",
    interrupt=True,
    keeps_vendor_ui=False,
    steer=False,
)


@dataclass
class Harness:
    """Runs turns: says what it was given, and does what a message asks."""

    given: list[tuple[str, str | None, JsonSchema | None]] = field(default_factory=list)
    closed: int = 0
    ended: list[str] = field(default_factory=list)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)
    started: asyncio.Event = field(default_factory=asyncio.Event)

    async def run_turn(
        self,
        content: str,
        *,
        harness_session_id: str | None,
        signal: Abort,
        output_schema: JsonSchema | None,
    ) -> AsyncIterator[SessionEvent]:
        self.given.append((content, harness_session_id, output_schema))
        self.started.set()
        try:
            yield Init(harness_session_id=harness_session_id or "conversation-1")
            if content == "crash":
                raise ValueError("crashed with secret-key")
            if content == "wait":
                await self.go_on.wait()
            if content == "hang":
                await asyncio.Event().wait()
            if content == "stop when asked":
                await signal.wait()
                yield Text(text="stopped itself")
                yield Done(turns=1)
            if content == "flood":
                while True:
                    yield Text(text="x" * 1000)
                    await asyncio.sleep(0)
            yield Text(text=f"did {content}")
        finally:
            self.ended.append(content)

    async def close(self) -> None:
        self.closed += 1


def session_of(harness: Harness, **options: Any) -> Session:
    return per_turn_session(
        PerTurnOptions(
            **{
                "id": "s1",
                "guarantees": PROMISED,
                "run_turn": harness.run_turn,
                "close": harness.close,
                "grace": 0.05,
                "closing": 0.05,
                "secrets": ["secret-key"],
                **options,
            }
        )
    )


async def turn_of(session: Session) -> list[SessionEvent]:
    """The events up to the next done."""
    events = []
    async for event in session.events():
        events.append(event)
        if isinstance(event, Done):
            break
    return events


def kinds(events: list[SessionEvent]) -> list[str]:
    return [event.type for event in events]


async def rest_of(session: Session) -> list[SessionEvent]:
    return [event async for event in session.events()]


async def test_what_a_session_is_when_it_starts() -> None:
    session = session_of(Harness(), harness_version="1.2.3", warnings=["be careful"])
    assert (session.id, session.mode, session.guarantees) == ("s1", "hosted", PROMISED)
    assert session.harness_session_id is None
    assert session.harness_version == "1.2.3"
    assert list(session.warnings) == ["be careful"]
    assert session.attach is session.detach is session.compact is session.external_turns is None
    assert session.status() == "idle"


async def test_an_idle_session_starts_a_turn() -> None:
    harness = Harness()
    session = session_of(harness)
    receipt = await session.deliver("one", DeliveryOptions(output_schema={"type": "object"}))
    assert receipt.status == "started"
    assert session.status() == "active"
    assert kinds(await turn_of(session)) == ["init", "text", "done"]
    assert session.status() == "idle"
    assert harness.given == [("one", None, {"type": "object"})]


async def test_who_reads_done_and_delivers_starts_a_turn() -> None:
    session = session_of(Harness())
    ids = set()
    for number in range(5):
        receipt = await session.deliver(f"{number}")
        assert receipt.status == "started"
        ids.add(receipt.message_id)
        await turn_of(session)
    assert len(ids) == 5


async def test_the_conversation_goes_on() -> None:
    harness = Harness()
    session = session_of(harness)
    for content in ("one", "two"):
        await session.deliver(content)
        await turn_of(session)
    assert session.harness_session_id == "conversation-1"
    resumed = session_of(harness, harness_session_id="conversation-0")
    assert resumed.harness_session_id == "conversation-0"
    await resumed.deliver("three")
    await turn_of(resumed)
    assert [each[1] for each in harness.given] == [None, "conversation-1", "conversation-0"]


async def test_a_subagent_has_a_conversation_of_its_own() -> None:
    async def run_turn(content: str, **_: Any) -> AsyncIterator[SessionEvent]:
        yield Init(harness_session_id="main")
        yield Init(harness_session_id="sub", parent_tool_use_id="1")

    session = session_of(Harness(), run_turn=run_turn)
    await session.deliver("one")
    await turn_of(session)
    assert session.harness_session_id == "main"


@pytest.mark.parametrize("asked", [None, "queue", "steer"])
async def test_a_busy_session_queues_and_says_so(asked: Any) -> None:
    harness = Harness()
    session = session_of(harness)
    await session.deliver("wait")
    for content in ("two", "three"):
        receipt = await session.deliver(content, DeliveryOptions(if_active=asked))
        assert receipt.status == "queued"
    assert len(harness.given) == 0  # nothing ran yet: the first turn begins with the loop
    await harness.started.wait()
    assert [content for content, *_ in harness.given] == ["wait"]
    harness.go_on.set()
    for content in ("wait", "two", "three"):
        assert (await turn_of(session))[1] == Text(text=f"did {content}")
    assert session.status() == "idle"


async def test_errors_are_events_and_the_session_goes_on() -> None:
    session = session_of(Harness())
    await session.deliver("crash")
    events = await turn_of(session)
    assert kinds(events) == ["init", "error", "done"]
    assert "secret-key" not in str(events)
    assert session.status() == "error"
    assert (await session.deliver("two")).status == "started"
    assert kinds(await turn_of(session)) == ["init", "text", "done"]
    assert session.status() == "idle"


async def test_a_result_with_an_error_is_a_failed_turn() -> None:
    async def run_turn(content: str, **_: Any) -> AsyncIterator[SessionEvent]:
        yield Result(error="too many turns")

    session = session_of(Harness(), run_turn=run_turn)
    await session.deliver("one")
    await turn_of(session)
    assert session.status() == "error"


async def test_what_cannot_start_a_turn_is_an_event_too() -> None:
    def run_turn(content: str, **_: Any) -> AsyncIterator[SessionEvent]:
        raise OSError("no such program")

    session = session_of(Harness(), run_turn=run_turn)
    await session.deliver("one")
    assert kinds(await turn_of(session)) == ["error", "done"]


# --- interrupt ---


async def test_interrupting_an_idle_session_is_harmless() -> None:
    session = session_of(Harness())
    await session.interrupt()
    await session.deliver("one")
    assert kinds(await turn_of(session)) == ["init", "text", "done"]
    await session.interrupt()


@pytest.mark.parametrize("content", ["hang", "stop when asked"])
async def test_interrupt_stops_the_running_turn_and_the_next_goes_on(content: str) -> None:
    harness = Harness()
    session = session_of(harness)
    await session.deliver(content)
    await session.deliver("two")
    await harness.started.wait()
    await session.interrupt()
    assert harness.ended[0] == content
    first = await turn_of(session)
    assert kinds(first)[-2:] == (["error", "done"] if content == "hang" else ["text", "done"])
    assert kinds(await turn_of(session)) == ["init", "text", "done"]


async def test_interrupts_at_once_wait_for_the_same_end() -> None:
    harness = Harness()
    session = session_of(harness)
    await session.deliver("hang")
    await harness.started.wait()
    await asyncio.gather(session.interrupt(), session.interrupt())
    assert kinds(await turn_of(session)) == ["init", "error", "done"]
    assert session.status() == "idle"  # it did what it was told


async def test_an_interrupt_that_nobody_waits_for_stops_the_turn_too() -> None:
    harness = Harness()
    session = session_of(harness)
    await session.deliver("hang")
    await harness.started.wait()
    impatient = asyncio.create_task(session.interrupt())
    await asyncio.sleep(0)
    impatient.cancel()
    assert kinds(await turn_of(session)) == ["init", "error", "done"]


async def test_a_mode_that_cannot_interrupt_says_so() -> None:
    session = session_of(Harness(), guarantees=PROMISED.model_copy(update={"interrupt": False}))
    with pytest.raises(NotSupportedInMode) as raised:
        await session.interrupt()
    assert (raised.value.operation, raised.value.mode) == ("interrupt", "hosted")


async def test_nothing_is_asked_so_nothing_is_answered() -> None:
    session = session_of(Harness())
    with pytest.raises(NotSupportedInMode) as raised:
        await session.answer(PermissionRequest(id="1", tool="sh", input={}), Allowed())
    problem = pickle.loads(pickle.dumps(raised.value))
    assert isinstance(problem, Refused)
    assert (problem.exit_code, problem.operation, problem.mode) == (2, "answer", "hosted")
    assert "answer" in problem.message
    assert "hosted" in problem.message


# --- close ---


async def test_closing_stops_the_turn_and_tells_what_is_dropped() -> None:
    harness = Harness()
    session = session_of(harness)
    await session.deliver("hang")
    queued = await session.deliver("two")
    await harness.started.wait()
    await session.close()
    events = await rest_of(session)
    assert kinds(events) == ["init", "error", "error", "done"]
    dropped = events[1]
    assert isinstance(dropped, Failed)
    assert dropped.error.startswith("dropped: ")
    assert queued.message_id in dropped.error
    assert harness.ended == ["hang"]
    assert harness.closed == 1


async def test_closing_is_done_once_whoever_asks() -> None:
    harness = Harness()
    session = session_of(harness)
    await session.deliver("hang")
    await asyncio.gather(session.close(), session.close())
    await session.close()
    assert harness.closed == 1
    assert sum(isinstance(event, Done) for event in await rest_of(session)) == 1


async def test_closing_goes_on_when_who_asked_is_gone() -> None:
    harness = Harness()
    session = session_of(harness)
    await session.deliver("hang")
    await harness.started.wait()
    impatient = asyncio.create_task(session.close())
    await asyncio.sleep(0)
    impatient.cancel()
    assert kinds(await rest_of(session))[-1] == "done"
    await session.close()
    assert harness.closed == 1


async def test_a_session_that_was_never_used_closes() -> None:
    harness = Harness()
    session = session_of(harness)
    await session.close()
    assert await rest_of(session) == []
    assert harness.closed == 1
    assert session.status() == "idle"


async def test_nothing_is_delivered_after_close() -> None:
    session = session_of(Harness(), close=None)
    await session.close()
    with pytest.raises(Refused, match="s1 is closed"):
        await session.deliver("late")


async def test_nothing_is_delivered_while_it_closes() -> None:
    session = session_of(Harness())
    await session.deliver("hang")
    closing = asyncio.create_task(session.close())
    await asyncio.sleep(0)
    with pytest.raises(Refused):
        await session.deliver("late")
    await closing


@pytest.mark.parametrize("how", ["raises", "hangs"])
async def test_a_release_that_fails_ends_the_session_all_the_same(how: str) -> None:
    async def release() -> None:
        if how == "raises":
            raise OSError("busy")
        await asyncio.Event().wait()

    session = session_of(Harness(), close=release)
    await session.close()
    assert await rest_of(session) == []


# --- the bound ---


async def test_a_turn_that_nobody_reads_is_stopped_when_it_overflows() -> None:
    harness = Harness()
    session = session_of(harness, limit=20_000)
    await session.deliver("flood")
    async with asyncio.timeout(5):
        while not harness.ended:
            await asyncio.sleep(0.01)
    events = await turn_of(session)
    assert kinds(events)[-2:] == ["error", "done"]
    failed = events[-2]
    assert isinstance(failed, Failed)
    assert failed.error.startswith("overflow: ")
    assert (await session.deliver("two")).status == "started"
    assert kinds(await turn_of(session)) == ["init", "text", "done"]
    await session.close()
    assert await rest_of(session) == []
