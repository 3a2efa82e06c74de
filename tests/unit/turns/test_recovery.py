"""What is found at the start of a host, what expires, and what a clock does to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.problems import Refused
from barry_cli.contract.continuation import RecordedCallResult, SegmentCompleted
from barry_cli.contract.session import Allowed, Denied
from barry_cli.contract.turns import ApprovalDecision, AutomaticReview, RequiredReview
from barry_cli.turns.recovery import OWNER_GONE, recover_turns, settle_orphans
from barry_cli.turns.store.database import connect
from tests.turn_harness import REVIEW, SESSION, Ask, Do, Say, Scripted, call, descriptor
from tests.unit.turns.world import World

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
async def other(world: World, tmp_path: Path) -> AsyncIterator[World]:
    """A second process on the same home, for whom everybody else is gone."""
    made = World(tmp_path, where=world.where, is_gone=lambda owner: True)
    made.scripts = world.scripts
    yield made
    await made.close()


def claimed(world: World, *, at_rest: bool = False, **more: Any) -> str:
    """A turn that somebody holds who does nothing more."""
    turn = world.plain.admit(
        session_id=SESSION, request_id="q", run_id="r", actor="ada", content="go", policy=REVIEW,
        **more,
    )  # fmt: skip
    assert world.plain.claim(SESSION, turn.id, "somebody", at_rest=at_rest)
    return turn.id


async def recovered(world: World, *, settle: bool = True) -> None:
    given = recover_turns(world.execution, world.plain, SESSION)
    for turn in given if settle else []:
        await world.execution.settled(turn.id)


# --- at the start ---


async def test_who_was_at_work_needs_a_person(world: World, other: World) -> None:
    world.scripts["go"] = [Say("one")]
    turn_id = claimed(world)
    queued = world.plain.admit(
        session_id=SESSION, request_id="q2", run_id="r", actor="ada", content="go", policy=REVIEW,
        if_active="queue",
    )  # fmt: skip
    await recovered(other)
    lost = other.turn(turn_id)
    assert (lost.state, lost.error) == ("recovery_required", OWNER_GONE)
    assert other.kinds(turn_id) == ["error", "done"]
    assert other.turn(queued.id).state == "completed"
    assert other.trace.count("begin go after 0") == 1


@pytest.mark.parametrize("before", ["admit", "claim"])
async def test_what_was_not_begun_runs(world: World, other: World, before: str) -> None:
    world.scripts["go"] = [Say("one")]
    if before == "claim":
        turn_id = claimed(world, at_rest=True)
    else:
        turn_id = world.plain.admit(
            session_id=SESSION, request_id="q", run_id="r", actor="a", content="go", policy=REVIEW
        ).id
    await recovered(other)
    assert other.turn(turn_id).state == "completed"
    assert other.kinds(turn_id) == ["text", "usage", "done"]


async def test_nothing_is_stolen(world: World, tmp_path: Path) -> None:
    """The same, but its owner lives."""
    world.scripts["go"] = [Say("one"), Do(lambda emit: asyncio.Event().wait())]
    turn = world.admit("go")
    while "text" not in world.kinds():
        await asyncio.sleep(0.01)
    neighbour = World(tmp_path, where=world.where)
    await recovered(neighbour)
    neighbour.execution.recover(turn, "go")
    await neighbour.execution.settled(turn.id)
    assert "open" not in neighbour.trace
    assert neighbour.turn(turn.id).state == "running"
    assert settle_orphans(neighbour.plain) == {}
    await neighbour.close()


async def test_what_was_put_down_waits_on(world: World, other: World) -> None:
    """Its owner died between the checkpoint and the close of the handle."""
    world.scripts["go"] = [Ask((call("c1"),))]
    turn_id = claimed(world)
    kept = {"at": 0, "content": "go", "turns": 0}
    world.plain.pause(SESSION, turn_id, "somebody", descriptor(kept), [call("c1")])
    await recovered(other)
    assert other.turn(turn_id).state == "waiting_for_input"
    assert (await other.decided(turn_id, Allowed())).state == "completed"
    assert other.effects.lines() == ["c1"]
    assert other.kinds(turn_id).count("permission_request") == 1


async def test_what_was_decided_goes_on(world: World, other: World) -> None:
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = await world.done("go")
    world.decide(turn.id, Allowed(), by=world.plain)  # and died, before it could go on
    await world.execution.close()
    await recovered(other)
    assert other.turn(turn.id).state == "completed"
    assert other.effects.lines() == ["c1"]


async def test_a_call_that_was_begun_is_never_begun_again(world: World, other: World) -> None:
    started = asyncio.Event()

    async def hang() -> RecordedCallResult:
        started.set()
        await asyncio.Event().wait()
        raise AssertionError

    world.scripts["go"] = [Say("one")]
    turn_id = claimed(world)
    running = asyncio.create_task(
        world.plain.execute(SESSION, turn_id, "somebody", call("c1"), hang)
    )
    await started.wait()
    await recovered(other)
    assert other.turn(turn_id).state == "recovery_required"
    with closing(connect(world.where.database)) as connection:
        assert connection.execute("SELECT state FROM call").fetchone()[0] == "uncertain"
    for store in (world.plain, other.plain):
        with pytest.raises(Refused):
            await store.execute(SESSION, turn_id, "somebody", call("c1"), hang)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_without_a_review_a_crash_leaves_no_question(world: World, other: World) -> None:
    world.scripts["go"] = [Ask((call("c1"), call("c2")))]
    turn = world.plain.admit(
        session_id=SESSION, request_id="q", run_id="r", actor="ada", content="go",
        policy=AutomaticReview(),
    )  # fmt: skip
    assert world.plain.claim(SESSION, turn.id, "somebody")
    kept = {"at": 0, "content": "go", "turns": 0}
    calls = [call("c1"), call("c2")]
    world.plain.pause(SESSION, turn.id, "somebody", descriptor(kept), calls)
    other.verdict = lambda each: Denied() if each.id == "c2" else Allowed()
    await recovered(other)
    while other.turn(turn.id).state != "completed":
        await asyncio.sleep(0.01)
    assert other.effects.lines() == ["c1"]


async def test_a_checkpoint_that_nobody_can_restore(world: World) -> None:
    world.scripts["go"] = [Ask((call("c1"),))]

    class Newer(Scripted):
        def validate(self, continuation: Any) -> None:
            raise Refused("the adapter is another version by now")

    turn = await world.done("go")
    world.make = lambda handle: Newer(handle.scripts, handle.effect, trace=world.trace)
    turn = await world.decided(turn.id, Allowed())
    assert (turn.state, turn.error) == (
        "recovery_required", "the adapter is another version by now",
    )  # fmt: skip
    assert world.effects.lines() == []
    assert world.kinds(turn.id)[-2:] == ["error", "done"]


async def test_the_record_says_whether_a_turn_is_begun_or_restored(world: World) -> None:
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = world.plain.admit(
        session_id=SESSION, request_id="q", run_id="r", actor="ada", content="go", policy=REVIEW
    )
    with pytest.raises(Refused, match="never begun"):
        world.execution.recover(turn)
    world.execution.recover(turn, "go")  # it is not said that this one has no checkpoint
    await world.execution.settled(turn.id)
    world.decide(turn.id, Allowed(), by=world.plain)
    world.execution.recover(turn, "go", restoring=False)
    await world.execution.settled(turn.id)
    assert world.turn(turn.id).state == "completed"
    assert [each.split()[0] for each in world.trace if " go " in each] == ["begin", "restore"]
    world.execution.recover(turn, "go")  # it is over
    await world.execution.settled(turn.id)
    assert world.trace.count("open") == 2


async def test_a_turn_without_content_is_recovered(world: World) -> None:
    world.scripts["null"] = [Say("one")]
    turn = world.plain.admit(
        session_id=SESSION, request_id="q", run_id="r", actor="ada", content=None, policy=REVIEW
    )
    recover_turns(world.execution, world.plain, SESSION)
    await world.execution.settled(turn.id)
    assert world.turn(turn.id).state == "completed"


# --- time ---


@pytest.fixture
async def timed(tmp_path: Path) -> AsyncIterator[World]:
    made = World(tmp_path, clock=Clock())
    yield made
    await made.close()


def until(minutes: int) -> RequiredReview:
    return RequiredReview(expires_at=NOON + timedelta(minutes=minutes))


async def test_what_nobody_decides_in_time_is_denied(timed: World) -> None:
    timed.scripts["go"] = [Ask((call("c1"), call("c2"))), Say("on")]
    turn = await timed.done("go", policy=until(5))
    timed.decide(turn.id, Allowed())
    clock(timed).now = NOON + timedelta(minutes=6)
    await ends(timed, turn.id)
    turn = timed.turn(turn.id)
    assert [each.status for each in turn.interrupts] == ["approved", "expired"]
    assert timed.effects.lines() == ["c1"]
    assert isinstance(timed.handles[-1].decided["c2"], Denied)
    assert turn.state == "completed"


def clock(world: World) -> Clock:
    found = world.plain._clock
    assert isinstance(found, Clock)
    return found


async def ends(world: World, turn_id: str) -> None:
    for _ in range(1000):
        if world.turn(turn_id).state not in ("waiting_for_input", "running"):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(world.turn(turn_id))


async def test_a_decision_in_time_holds_while_it_is_restored(timed: World) -> None:
    """The time is over while its handle is opened, and while it is at work."""

    class Slow(Scripted):
        async def restore(self, continuation: Any, decisions: Any, effects: Any, emit: Any) -> Any:
            clock(timed).now = NOON + timedelta(minutes=6)
            await asyncio.sleep(0.1)  # the record is looked at meanwhile
            result = await effects.execute(call("c1"), lambda: self.effect(call("c1")))
            return SegmentCompleted(result=result.result)

    timed.make = lambda handle: Slow(handle.scripts, handle.effect, trace=timed.trace)
    timed.scripts["go"] = [Ask((call("c1"),))]
    turn = await timed.done("go", policy=until(5))
    clock(timed).now = NOON + timedelta(minutes=4)
    turn = await timed.decided(turn.id, Allowed())
    assert (turn.state, turn.result) == ("completed", "did c1")
    assert [each.status for each in turn.interrupts] == ["approved"]


async def test_a_turn_that_asks_too_late_is_denied_at_once(timed: World) -> None:
    timed.scripts["go"] = [Ask((call("c1"),)), Ask((call("c2"),))]
    clock(timed).now = NOON + timedelta(minutes=6)
    turn = await timed.done("go", policy=until(5))
    await ends(timed, turn.id)
    turn = timed.turn(turn.id)
    assert turn.state == "completed"
    assert [each.status for each in turn.interrupts] == ["expired", "expired"]
    assert timed.effects.lines() == []


async def test_a_clock_that_jumps_back_undoes_nothing(timed: World) -> None:
    timed.scripts["go"] = [Ask((call("c1"), call("c2"))), Ask((call("c3"),))]
    turn = await timed.done("go", policy=until(5))
    timed.decide(turn.id, Allowed())
    clock(timed).now = NOON + timedelta(minutes=6)
    assert [each.status for each in timed.turn(turn.id).interrupts] == ["approved", "expired"]
    clock(timed).now = NOON - timedelta(days=1)
    for _ in range(1000):
        if len(timed.turn(turn.id).interrupts) == 3:
            break
        await asyncio.sleep(0.01)
    await timed.execution.settled(turn.id)
    turn = timed.turn(turn.id)
    assert [each.status for each in turn.interrupts] == ["approved", "expired", "pending"]
    with pytest.raises(Refused):
        timed.execution.resolve(
            session_id=SESSION, turn_id=turn.id, run_id="r", request_id="late", actor="bob",
            decisions=[
                ApprovalDecision(interrupt_id=turn.interrupts[1].id, decision=Allowed())
            ],
        )  # fmt: skip
    turn = await timed.decided(turn.id, Allowed())
    assert turn.state == "completed"
    assert timed.effects.lines() == ["c1", "c3"]
    sequences = [each.sequence for each in timed.plain.events(SESSION)]
    assert sequences == sorted(sequences)
