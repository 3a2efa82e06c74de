"""Turns run once, in order, and end with one ``done`` each, whatever their harness does."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.problems import Refused, StoreProblem
from barry_cli.contract.continuation import (
    RecordedCallResult,
    SegmentCompleted,
    SegmentFailed,
    SegmentInterrupted,
)
from barry_cli.contract.events import (
    Done,
    Failed,
    PermissionRequested,
    Text,
    ToolResult,
    ToolUse,
    UsageReported,
)
from barry_cli.contract.models import TokenUsage
from barry_cli.contract.session import Allowed, Denied
from barry_cli.contract.turns import ApprovalDecision, AutomaticReview
from barry_cli.turns.execution import Limits
from tests.turn_harness import (
    CANARY,
    SESSION,
    Ask,
    Do,
    Say,
    Scripted,
    call,
    descriptor,
    emits,
    gives,
    raises,
)
from tests.unit.turns.world import World

USAGE = TokenUsage(input=3, output=5)


async def forever(*_: Any) -> None:
    await asyncio.Event().wait()


class Stubborn:
    """Does not stop when it is told to, but for the end of the test."""

    def __init__(self) -> None:
        self.over = asyncio.Event()

    async def __call__(self, *_: Any) -> None:
        while not self.over.is_set():
            try:
                await self.over.wait()
            except asyncio.CancelledError:
                continue


# --- a turn ---


async def test_a_turn_runs_and_is_recorded(world: World) -> None:
    world.scripts["go"] = [Say("one"), Say("two")]
    turn = await world.done("go")
    assert (turn.state, turn.result, turn.error) == ("completed", "go done", None)
    assert world.kinds(turn.id) == ["text", "text", "usage", "done"]
    assert world.events()[-1] == {
        "type": "done", "turns": 1,
        "usage": {"input": 3, "output": 5, "cached": 0, "cacheWrite": 0, "complete": True},
    }  # fmt: skip
    assert world.committed[-1] == (SESSION, world.plain.last_sequence(SESSION))


async def test_it_is_claimed_first_and_let_go_last(world: World) -> None:
    world.scripts["go"] = [Say("one")]
    await world.done("go")
    order = [each for each in world.trace if each != "committed"]
    assert order == [
        "admit", "claim", "open", "claim", "begin go after 0", "append", "append", "finish",
        "close", "released", "promote_queued",
    ]  # fmt: skip


async def test_the_next_turn_goes_on_with_the_conversation(world: World) -> None:
    world.scripts["go"] = [Say("one")]
    await world.done("go")
    await world.done("go")
    assert [each for each in world.trace if each.startswith("begin")] == [
        "begin go after 0",
        "begin go after 1",
    ]


async def test_other_content_than_text_arrives_as_json(world: World) -> None:
    world.scripts['{"a":[1,null]}'] = [Say("one")]
    turn = await world.done({"a": [1, None]})
    assert turn.state == "completed"


async def test_the_same_request_runs_once(world: World) -> None:
    world.scripts["go"] = [Say("one")]
    first = world.admit("go", request_id="q")
    second = world.admit("go", request_id="q")
    await world.execution.settled(first.id)
    third = world.admit("go", request_id="q")
    await world.execution.settled(first.id)
    assert first.id == second.id == third.id
    assert world.trace.count("begin go after 0") == 1
    assert world.kinds() == ["text", "usage", "done"]


async def test_usage_stands_before_done_and_only_once(world: World) -> None:
    end = [emits(Done(usage=USAGE), Text(text="late"), UsageReported(id="u", usage=USAGE))]
    world.scripts["go"] = end
    turn = await world.done("go")
    assert world.kinds(turn.id) == ["text", "usage", "done"]


async def test_a_subagents_end_is_not_the_turns(world: World) -> None:
    world.scripts["go"] = [emits(Done(parent_tool_use_id="t", turns=9)), Say("more")]
    turn = await world.done("go")
    assert world.kinds(turn.id) == ["text", "usage", "done"]
    assert world.events()[-1]["turns"] == 1


async def test_a_slot_is_held_while_a_handle_is_open(world: World) -> None:
    free = asyncio.Semaphore(1)

    class Slot:
        def release(self) -> None:
            world.trace.append("free")
            free.release()

    async def acquire() -> Slot:
        await free.acquire()
        world.trace.append("slot")
        return Slot()

    world.acquire = acquire
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = await world.done("go")
    assert [each for each in world.trace if each in ("slot", "open", "close", "free")] == [
        "slot", "open", "close", "free",
    ]  # fmt: skip
    assert (await world.decided(turn.id, Allowed())).state == "completed"
    assert free._value == 1


# --- queue ---


async def test_queued_turns_follow_in_order(world: World) -> None:
    for each in "abc":
        world.scripts[each] = [Say(each)]
    turns = [world.admit(each, if_active="queue") for each in "abc"]
    assert [each.state for each in turns] == ["running", "queued", "queued"]
    await world.execution.settled(turns[2].id)
    assert [each["text"] for each in world.events() if each["type"] == "text"] == ["a", "b", "c"]
    assert world.trace.count("close") == 3
    # The next handle is opened once the one before is closed and its lease is given back.
    steps = [each for each in world.trace if each in ("open", "close", "released")]
    assert steps == ["open", "close", "released"] * 3


async def test_a_second_turn_is_refused_where_it_may_not_queue(world: World) -> None:
    world.scripts["go"] = [Do(forever)]
    world.admit("go")
    with pytest.raises(Refused):
        world.admit("go")


async def test_a_failed_turn_does_not_stop_the_queue(world: World) -> None:
    world.scripts |= {"bad": [raises(RuntimeError("no"))], "go": [Say("on")]}
    world.admit("bad")
    second = world.admit("go", if_active="queue")
    await world.execution.settled(second.id)
    assert world.turn(second.id).state == "completed"


# --- approvals ---


async def test_a_checkpoint_is_committed_then_shown_then_the_handle_closed(world: World) -> None:
    world.scripts["go"] = [Say("first"), Ask((call("c1"), call("c2")))]
    seen: list[list[str]] = []
    close = Scripted.close

    def made(handle: Scripted) -> Scripted:
        async def closing() -> None:
            seen.append(world.kinds())
            await close(handle)

        handle.close = closing  # type: ignore[method-assign]
        return handle

    world.make = made
    turn = await world.done("go")
    assert turn.state == "waiting_for_input"
    assert [each.status for each in turn.interrupts] == ["pending", "pending"]
    after = world.trace[world.trace.index("pause") :]
    assert after == ["pause", "committed", "close", "released"]
    assert seen == [["text", "permission_request", "permission_request"]]
    request = world.events()[-1]
    assert (request["id"], request["tool"], request["input"]) == (
        "c2", "Shell", {"command": "run c2"},
    )  # fmt: skip


async def test_an_approved_call_runs_once_in_a_handle_of_its_own(world: World) -> None:
    world.scripts["go"] = [Ask((call("c1"),)), Say("after")]
    turn = await world.done("go")
    assert world.effects.lines() == []
    turn = await world.decided(turn.id, Allowed())
    assert turn.state == "completed"
    assert world.effects.lines() == ["c1"]
    assert len(world.handles) == 2
    assert [each for each in world.trace if each in ("open", "validate", "restore go at 0")] == [
        "open", "open", "validate", "restore go at 0",
    ]  # fmt: skip
    assert world.kinds(turn.id) == [
        "permission_request", "tool_use", "tool_result", "text", "usage", "done",
    ]  # fmt: skip


async def test_a_turn_waits_until_all_is_decided(world: World) -> None:
    world.scripts["go"] = [Ask((call("c1"), call("c2"))), Ask((call("c3"),))]
    turn = await world.done("go")
    turn = await world.decided(turn.id, Allowed())
    assert turn.state == "waiting_for_input"
    assert world.effects.lines() == []
    turn = await world.decided(turn.id, Denied(reason="not that"))
    assert turn.state == "waiting_for_input"  # for c3
    assert world.effects.lines() == ["c1"]
    assert world.handles[-1].told[-1] == RecordedCallResult(id="c2", result="not that", error=True)
    assert (await world.decided(turn.id, Allowed())).state == "completed"
    assert world.effects.lines() == ["c1", "c3"]


async def test_the_authority_is_asked_whatever_a_person_said(world: World) -> None:
    world.scripts["go"] = [Ask((call("c1"), call("c2")))]
    world.verdict = lambda each: Denied(reason="not now") if each.id == "c1" else Allowed()
    turn = await world.done("go")
    turn = await world.decided(turn.id, Allowed(), Allowed())
    assert turn.state == "completed"
    assert world.effects.lines() == ["c2"]
    assert world.handles[-1].told[0].error
    assert {"c1", "c2"} <= set(world.authority_asked)


async def test_the_authority_is_asked_again_when_a_call_begins(world: World) -> None:
    """The bound may have been tightened while the harness was restored."""
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = await world.done("go")
    verdicts = iter([Allowed(), Denied(reason="by now it isn't")])
    world.verdict = lambda each: next(verdicts)
    turn = await world.decided(turn.id, Allowed())
    assert world.handles[-1].decided == {"c1": Allowed()}
    assert world.effects.lines() == []
    assert world.handles[-1].told == [
        RecordedCallResult(id="c1", result="denied: by now it isn't", error=True)
    ]


async def test_a_kept_answer_asks_nobody_but_the_authority(world: World) -> None:
    world.scripts |= {
        "a": [Ask((call("c1"),))],
        "b": [Ask((call("c9", input={"command": "run c1"}),))],
    }
    turn = await world.done("a")
    await world.decided(turn.id, Allowed(persist=True))
    assert world.handles[-1].decided == {"c1": Allowed()}  # and no vendor gets an "always"
    world.authority_asked.clear()
    world.verdict = lambda each: Allowed(persist=True)  # nor does the authority give one
    turn = await world.done("b")
    assert turn.state == "completed"
    assert world.handles[-1].decided == {"c9": Allowed()}
    assert "c9" in world.authority_asked
    assert world.effects.lines() == ["c1", "c9"]
    assert world.kinds(turn.id).count("permission_request") == 0
    world.verdict = lambda each: Denied(reason="no more")
    world.scripts["c"] = [Ask((call("c8", input={"command": "run c1"}),))]
    await world.done("c")
    assert world.effects.lines() == ["c1", "c9"]


async def test_a_person_who_denied_is_not_overruled_by_a_harness(world: World) -> None:
    class Eager(Scripted):
        async def restore(self, continuation: Any, decisions: Any, effects: Any, emit: Any) -> Any:
            result = await effects.execute(call("c1"), lambda: self.effect(call("c1")))
            return SegmentCompleted(result=result.result)

    def eager(handle: Scripted) -> Eager:
        return Eager(handle.scripts, handle.effect, trace=world.trace)

    world.make = eager
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = await world.done("go")
    turn = await world.decided(turn.id, Denied(reason="never"))
    assert (turn.state, turn.result) == ("completed", "denied: never")
    assert world.effects.lines() == []


async def test_without_a_review_the_authority_alone_decides(world: World) -> None:
    world.scripts["go"] = [Ask((call("c1"), call("c2"))), Say("after")]
    world.verdict = lambda each: Denied(reason="bound") if each.id == "c2" else Allowed()
    turn = await world.done("go", policy=AutomaticReview())
    assert turn.state == "completed"
    assert [each.status for each in turn.interrupts] == ["approved", "denied"]
    assert world.effects.lines() == ["c1"]


async def test_what_is_recorded_is_replayed(world: World) -> None:
    """A harness that asks for a call again, after another pause, gets what it gave."""

    class Again(Scripted):
        async def restore(self, continuation: Any, decisions: Any, effects: Any, emit: Any) -> Any:
            results = [
                await effects.execute(call("c1"), lambda: self.effect(call("c1"))) for _ in "ab"
            ]
            assert results[0] == results[1] == await effects.recorded(call("c1"))
            world.verdict = lambda each: Denied()  # what has run stays so
            assert results[0] == await effects.execute(call("c1"), forever)
            return SegmentCompleted(result=results[0].result)

    world.make = lambda handle: Again(handle.scripts, handle.effect, trace=world.trace)
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = await world.done("go")
    turn = await world.decided(turn.id, Allowed())
    assert (turn.state, turn.result) == ("completed", "did c1")
    assert world.effects.lines() == ["c1"]


async def test_a_request_that_came_again_does_not_begin_anew(world: World) -> None:
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = await world.done("go", request_id="q")
    other = World(Path(world.effects.path).parent, where=world.where)
    world.decide(turn.id, Allowed(), by=other.plain)
    world.admit("go", request_id="q")
    await world.execution.settled(turn.id)
    assert world.turn(turn.id).state == "completed"
    assert sum(each.startswith("begin") for each in world.trace) == 1
    assert world.effects.lines() == ["c1"]
    await other.close()


async def test_what_another_process_decides_is_seen(world: World) -> None:
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = await world.done("go")
    other = World(Path(world.effects.path).parent, where=world.where)
    world.decide(turn.id, Allowed(), by=other.plain)
    await until(lambda: world.turn(turn.id).state == "completed")
    assert world.effects.lines() == ["c1"]
    await other.close()


async def test_what_is_decided_while_its_handle_closes_goes_on_after_it(world: World) -> None:
    closing = asyncio.Event()
    close = Scripted.close

    def made(handle: Scripted) -> Scripted:
        async def slow() -> None:
            await closing.wait()
            await close(handle)

        handle.close = slow  # type: ignore[method-assign]
        return handle

    world.limits = Limits(watch_seconds=0.02)
    world.make = made
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = world.admit("go")
    await until(lambda: "permission_request" in world.kinds())
    world.decide(turn.id, Allowed())
    await asyncio.sleep(0.05)
    assert world.trace.count("open") == 1
    closing.set()
    await world.execution.settled(turn.id)
    assert world.turn(turn.id).state == "completed"
    assert world.effects.lines() == ["c1"]
    steps = [each for each in world.trace if each in ("open", "close", "released")]
    assert steps == ["open", "close", "released"] * 2


async def until(true: Any, seconds: float = 10) -> None:
    give_up = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < give_up
        await asyncio.sleep(0.01)


# --- what goes wrong ---


class Silent(Scripted):
    async def begin(self, content: str, emit: Any, conversation: Any = None) -> Any:
        return None


def interrupted(*calls: Any, payload: Any = CANARY) -> SegmentInterrupted:
    return SegmentInterrupted(calls=calls, continuation=descriptor(payload))


WRONGS = {
    "it raises": (raises(RuntimeError("boom")), "RuntimeError: boom"),
    "it refuses": (raises(Refused("not like this")), "not like this"),
    "it ends Barry": (raises(SystemExit(3)), "tried to end Barry"),
    "it says so": (gives(SegmentFailed(error="sorry")), "sorry"),
    "it cancels itself": (raises(asyncio.CancelledError()), "stopped"),
    "it waits for nothing": (gives(interrupted()), "an approval of nothing"),
    "it asks twice at once": (gives(interrupted(call("c1"), call("c1"))), "same id"),
    "its checkpoint is no JSON": (gives(interrupted(call("c1"), payload={1, 2})), "$"),
    "its result is no JSON": (gives(SegmentCompleted(result={1})), "$"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONGS)
async def test_a_harness_that_goes_wrong_fails_its_turn(world: World, wrong: str) -> None:
    step, error = WRONGS[wrong]
    world.scripts["go"] = [Say("first"), step]
    turn = await world.done("go")
    assert turn.state == "failed"
    assert error in str(turn.error)
    assert world.kinds(turn.id) == ["text", "error", "done"]
    assert world.events()[-2]["error"] == turn.error
    assert world.trace[-3:] == ["close", "released", "promote_queued"]
    assert CANARY not in world.shown()


async def test_a_harness_without_an_outcome(world: World) -> None:
    world.make = lambda handle: Silent(handle.scripts, handle.effect, trace=world.trace)
    turn = await world.done("go")
    assert (turn.state, turn.error) == (
        "failed", "the harness ended its segment without an outcome",
    )  # fmt: skip


@pytest.mark.parametrize("handle", [None, "a text"], ids=str)
async def test_what_is_no_handle(world: World, handle: Any) -> None:
    world.make = lambda _: handle
    turn = await world.done("go")
    assert turn.state == "failed"
    assert world.kinds(turn.id) == ["error", "done"]
    assert world.trace[-2:] == ["released", "promote_queued"]


async def test_a_harness_that_cannot_wait_may_not(world: World) -> None:
    world.kind = "unsupported"
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = await world.done("go")
    assert turn.state == "failed"
    assert "permission_request" not in world.kinds()


async def test_an_error_that_the_harness_said_is_said_once(world: World) -> None:
    world.scripts["go"] = [emits(Failed(error="sorry")), gives(SegmentFailed(error="sorry"))]
    turn = await world.done("go")
    assert world.kinds(turn.id) == ["error", "done"]


@pytest.mark.parametrize("where", ["open", "acquire", "authorize"])
async def test_what_surrounds_a_harness_may_go_wrong(world: World, where: str) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("boom")

    async def acquire() -> Any:
        broken()

    world.scripts["go"] = [Ask((call("c1"),))]
    if where == "open":
        world.make = broken
    elif where == "acquire":
        world.acquire = acquire
    else:
        world.verdict = broken
    turn = await world.done("go")
    if where == "authorize":
        turn = await world.decided(turn.id, Allowed())
        assert world.effects.lines() == []
    assert (turn.state, turn.error) == ("failed", "RuntimeError: boom")
    assert world.kinds(turn.id)[-2:] == ["error", "done"]
    assert world.kinds(turn.id).count("done") == 1


async def test_an_authority_that_decides_nothing_allows_nothing(world: World) -> None:
    world.scripts["go"] = [Ask((call("c1"),))]
    world.verdict = lambda each: True
    turn = await world.done("go", policy=AutomaticReview())
    assert turn.state == "failed"
    assert "no decision" in str(turn.error)
    assert world.effects.lines() == []


async def test_a_failure_that_the_harness_swallows_fails_the_turn(world: World) -> None:
    async def careless(emit: Any) -> Any:
        with pytest.raises(StoreProblem):
            await emit(Text(text="lost"))
        world.store.broken.clear()
        return SegmentCompleted(result="all well")

    world.scripts["go"] = [Do(careless)]
    world.store.broken["append"] = lambda: StoreProblem("the disk is full")
    turn = await world.done("go")
    assert (turn.state, turn.error) == ("failed", "the disk is full")
    assert world.kinds(turn.id) == ["error", "done"]


async def test_a_turn_whose_end_cannot_be_recorded_stays_held(world: World) -> None:
    """Given back, it would run again; so it is left to who looks after this process is gone."""
    world.scripts["go"] = [Say("one")]
    world.store.broken["finish"] = lambda: StoreProblem("the disk is full")
    turn = await world.done("go")
    assert turn.state == "running"
    assert world.plain.runnable() == []
    assert world.trace[-1] == "close"
    world.store.broken.clear()
    turn = await world.execution.cancel(SESSION, turn.id)
    assert turn.state == "cancelled"


@pytest.mark.parametrize("what", ["claim", "finish", "released", "promote_queued"])
async def test_what_the_record_did_not_take_is_settled_later(world: World, what: str) -> None:
    """Else the session would be busy for as long as this process lives."""
    world.scripts["go"] = [Say("one")]
    world.scripts["next"] = [Say("two")]
    world.store.broken[what] = lambda: StoreProblem("the disk is full")
    turn = world.admit("go")
    then = world.admit("next", if_active="queue")
    await world.execution.settled(turn.id)
    assert world.turn(then.id).state == "queued"
    await asyncio.sleep(0.1)  # more than one try
    world.store.broken.clear()
    async with asyncio.timeout(5):
        while world.turn(then.id).state != "completed":
            await asyncio.sleep(0.01)
    assert world.turn(turn.id).result == "go done"
    assert world.kinds(turn.id) == ["text", "usage", "done"]
    assert [each for each in world.trace if each.startswith("begin")] == [
        "begin go after 0",
        "begin next after 1",
    ]


async def test_an_end_that_was_not_recorded_is_not_forced_on_a_turn(world: World) -> None:
    world.scripts["go"] = [Say("one")]
    world.store.broken["finish"] = lambda: StoreProblem("the disk is full")
    turn = await world.done("go")
    assert world.plain.cancel(SESSION, turn.id).state == "cancelled"
    world.store.broken.clear()
    assert (await world.done("go", if_active="queue")).state == "queued"
    async with asyncio.timeout(5):
        while world.kinds().count("done") < 2:
            await asyncio.sleep(0.01)
    assert world.turn(turn.id).state == "cancelled"


@pytest.mark.parametrize(
    "outcome",
    [
        SegmentInterrupted.model_construct(calls=(call("c1"),), continuation=None),
        SegmentInterrupted.model_construct(calls=5, continuation=descriptor("x")),
        SegmentInterrupted(calls=(call("c1"),), continuation=descriptor(object())),
        SegmentCompleted.model_construct(conversation="x", result=None),
        SegmentCompleted(result=object()),
        SegmentFailed.model_construct(error=None),
    ],
    ids=["no checkpoint", "no calls", "payload", "conversation", "result", "no error"],
)
async def test_an_outcome_that_is_none_fails_its_turn(world: World, outcome: Any) -> None:
    world.scripts["go"] = [gives(outcome)]
    turn = await world.done("go")
    assert turn.state == "failed"
    assert world.kinds(turn.id) == ["error", "done"]
    assert world.plain.runnable() == []


@pytest.mark.parametrize(
    "last", [Done(duration_ms=2**60), Done(turns=2**60), Done.model_construct(usage="much")]
)
async def test_last_words_that_cannot_be_recorded(world: World, last: Done) -> None:
    world.scripts["go"] = [emits(last)]
    turn = await world.done("go")
    assert turn.state in ("failed", "completed")
    assert world.kinds(turn.id)[-1] == "done"


@pytest.mark.parametrize("what", [None, {"type": "text", "text": "one"}, object()])
async def test_what_is_no_event_fails_its_turn(world: World, what: Any) -> None:
    world.scripts["go"] = [emits(what)]
    turn = await world.done("go")
    assert turn.state == "failed"
    assert "where an event belongs" in str(turn.error)


async def test_what_json_cannot_carry_is_told_in_words(world: World) -> None:
    world.scripts["go"] = [
        Say("half \ud83d"),
        emits(
            ToolUse(id="c", tool="t", input={"id": 2**63, "x": float("inf")}),
            ToolResult(id="c", result=["cut \ud83d", "whole \ud83d\ude00"]),
            Failed(error="half \ud83d"),
        ),
        gives(SegmentCompleted(result="half \ud83d")),
    ]
    turn = await world.done("go")
    assert (turn.state, turn.result) == ("completed", "half \ufffd")
    said = world.events(turn.id)
    assert said[0]["text"] == "half \ufffd"
    assert said[1]["input"] == {"id": str(2**63), "x": "inf"}
    assert said[2]["result"] == ["cut \ufffd", "whole \U0001f600"]
    assert said[3]["error"] == "half \ufffd"


async def test_a_harness_that_never_waits_is_cancelled(world: World) -> None:
    stop: list[str] = []

    async def flood(emit: Any) -> None:
        while not stop:
            await emit(Text(text="x"))

    world.scripts["go"] = [Do(flood)]
    turn = world.admit("go")
    asyncio.get_running_loop().call_later(20, stop.append, "for want of an answer")
    await asyncio.sleep(0.05)
    assert (await world.execution.cancel(SESSION, turn.id)).state == "cancelled"
    assert not stop


async def test_what_comes_too_late_is_refused(world: World) -> None:
    kept: list[Any] = []

    class Late(Scripted):
        async def restore(self, continuation: Any, decisions: Any, effects: Any, emit: Any) -> Any:
            kept.extend([effects, emit])
            return SegmentCompleted(result="early")

    world.make = lambda handle: Late(handle.scripts, handle.effect, trace=world.trace)
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = await world.done("go")
    await world.decided(turn.id, Allowed())
    effects, emit = kept
    with pytest.raises(Refused):
        await emit(Text(text="late"))
    for late in (
        effects.authorize(call("c1")),
        effects.execute(call("c1"), lambda: world.effects(call("c1"))),
        effects.denied(call("c1"), RecordedCallResult(id="c1", result="")),
    ):
        with pytest.raises(Refused):
            await late
    assert world.effects.lines() == []
    assert world.kinds(turn.id)[-1] == "done"


async def test_a_harness_does_not_publish_a_request_itself(world: World) -> None:
    request = PermissionRequested(id="c1", tool="Shell", input={"command": "run c1"})
    world.scripts["go"] = [emits(request), Ask((call("c1"),))]
    turn = await world.done("go")
    assert world.kinds(turn.id) == ["permission_request"]


async def test_a_wake_up_hinders_nothing(world: World, caplog: pytest.LogCaptureFixture) -> None:
    def broken(session_id: str, sequence: int) -> None:
        raise RuntimeError("nobody listens")

    world._committed = broken  # type: ignore[method-assign]
    world.scripts["go"] = [Say("one"), Ask((call("c1"),))]
    turn = await world.done("go")
    assert (await world.decided(turn.id, Allowed())).state == "completed"
    assert "nobody listens" in caplog.text


async def test_a_checkpoint_is_nobodys_business(
    world: World, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Its payload stands in no event, snapshot, log or error, even where a harness shouts it."""

    class Shouts(Scripted):
        def validate(self, continuation: Any) -> None:
            if self.content_of(continuation) == "v":
                raise RuntimeError(f"what is {continuation!r}?")

        @staticmethod
        def content_of(continuation: Any) -> str:
            return str(continuation.payload["content"])

        async def restore(self, continuation: Any, decisions: Any, effects: Any, emit: Any) -> Any:
            await emit(Failed(error=f"about {continuation.payload}"))
            raise ValueError(f"can't read {continuation.payload}")

        async def close(self) -> None:
            raise RuntimeError(f"can't close {self.closes}")

        closes = CANARY

    caplog.set_level(logging.DEBUG)
    world.make = lambda handle: Shouts(handle.scripts, handle.effect, trace=world.trace)
    world.scripts |= {"r": [Ask((call("c1"),))], "v": [Ask((call("c2"),))]}
    first = await world.done("r")
    first = await world.decided(first.id, Allowed())
    second = await world.done("v")
    second = await world.decided(second.id, Allowed())
    assert (first.state, second.state) == ("failed", "recovery_required")
    assert "can't read" in str(first.error)
    assert "********" in str(first.error)
    assert "********" in str(second.error)
    assert world.plain.continuation(SESSION, first.id).payload["why"] == CANARY
    output = capfd.readouterr()
    assert CANARY not in world.shown() + caplog.text + output.out + output.err


async def test_a_secret_of_the_process_stands_in_no_error(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-very-secret-indeed")
    world.scripts["go"] = [raises(RuntimeError("401 for sk-very-secret-indeed\nTraceback"))]
    turn = await world.done("go")
    assert turn.error == "RuntimeError: 401 for ******** Traceback"


# --- an end from outside ---


async def test_a_cancelled_harness_may_say_its_last_words(world: World) -> None:
    async def work(emit: Any) -> Any:
        await world.handles[-1].interrupted.wait()
        await emit(UsageReported(id="u", usage=USAGE))
        return SegmentCompleted(conversation=descriptor({"turns": 7}))

    world.scripts |= {"go": [Say("one"), Do(work)], "next": [Say("two")]}
    turn = world.admit("go")
    await until(lambda: "text" in world.kinds())
    turn = await world.execution.cancel(SESSION, turn.id)
    assert turn.state == "cancelled"
    assert world.kinds(turn.id) == ["text", "usage", "done"]
    await world.done("next")
    assert "begin next after 7" in world.trace  # the conversation goes on where it was cut


@pytest.mark.parametrize("hangs", ["segment", "interrupt", "close", "all"])
async def test_a_harness_that_hangs_holds_up_nothing(world: World, hangs: str) -> None:
    stubborn = Stubborn()
    work = stubborn if hangs in ("segment", "all") else forever

    def made(handle: Scripted) -> Scripted:
        for name in ("interrupt", "close"):
            if hangs in (name, "all"):
                setattr(handle, name, stubborn)
        return handle

    world.make = made
    world.scripts |= {"go": [Do(work)], "next": [Say("on")]}
    turn = world.admit("go")
    second = world.admit("next", if_active="queue")
    await until(lambda: "begin go after 0" in world.trace)
    turn = await world.execution.cancel(SESSION, turn.id)
    assert turn.state == "cancelled"
    assert world.kinds(turn.id) == ["done"]
    assert not stubborn.over.is_set()
    world.make = lambda handle: handle
    await world.execution.settled(second.id)
    assert world.turn(second.id).state == "completed"
    stubborn.over.set()


async def test_a_harness_that_cannot_be_interrupted_is_stopped_at_once(world: World) -> None:
    async def cannot() -> None:
        raise Refused("this mode can't interrupt")

    def made(handle: Scripted) -> Scripted:
        handle.interrupt = cannot  # type: ignore[method-assign]
        return handle

    world.make = made
    world.limits = Limits(interrupt_seconds=3600, watch_seconds=0.02)
    world.scripts["go"] = [Do(forever)]
    turn = world.admit("go")
    await until(lambda: "begin go after 0" in world.trace)
    assert (await world.execution.cancel(SESSION, turn.id)).state == "cancelled"


@pytest.mark.parametrize("where", ["acquire", "open"])
async def test_a_turn_is_cancelled_before_it_began(world: World, where: str) -> None:
    world.scripts["go"] = [Say("one")]
    if where == "acquire":
        world.acquire = forever  # type: ignore[assignment]
    else:
        world._open = forever  # type: ignore[assignment,method-assign]
    turn = world.admit("go")
    await asyncio.sleep(0.05)
    assert (await world.execution.cancel(SESSION, turn.id)).state == "cancelled"
    assert world.kinds(turn.id) == ["done"]
    assert "begin go after 0" not in world.trace


async def test_waiting_and_queued_turns_are_cancelled(world: World) -> None:
    world.scripts |= {"go": [Ask((call("c1"),))], "b": [Say("b")], "c": [Say("c")]}
    first = await world.done("go")
    second = world.admit("b", if_active="queue")
    third = world.admit("c", if_active="queue")
    assert (await world.execution.cancel(SESSION, second.id)).state == "cancelled"
    first = await world.execution.cancel(SESSION, first.id)
    assert first.state == "cancelled"
    assert [each.status for each in first.interrupts] == ["cancelled"]
    await world.execution.settled(third.id)
    assert world.turn(third.id).state == "completed"
    assert world.kinds(second.id) == ["done"]
    late = ApprovalDecision(interrupt_id=first.interrupts[0].id, decision=Allowed())
    with pytest.raises(Refused):
        world.execution.resolve(
            session_id=SESSION, turn_id=first.id, run_id="r", request_id="x", actor="a",
            decisions=[late],
        )  # fmt: skip
    assert (await world.execution.cancel(SESSION, first.id)).state == "cancelled"
    assert world.kinds().count("done") == 3


async def test_a_cancellation_in_another_process_is_seen(world: World) -> None:
    world.scripts["go"] = [Do(forever)]
    turn = world.admit("go")
    await until(lambda: "begin go after 0" in world.trace)
    other = World(Path(world.effects.path).parent, where=world.where)
    assert (await other.execution.cancel(SESSION, turn.id)).state == "cancelled"
    await world.execution.settled(turn.id)
    assert "interrupt" in world.trace
    assert world.kinds(turn.id) == ["done"]
    await other.close()


async def test_no_call_begins_in_a_turn_that_is_being_stopped(world: World) -> None:
    class Slow(Scripted):
        async def restore(self, continuation: Any, decisions: Any, effects: Any, emit: Any) -> Any:
            await self.interrupted.wait()
            with pytest.raises(Refused):
                await effects.execute(call("c1"), lambda: self.effect(call("c1")))
            world.trace.append("refused")
            return SegmentCompleted()

    world.make = lambda handle: Slow(
        handle.scripts, handle.effect, trace=world.trace, interrupted=handle.interrupted
    )
    world.scripts["go"] = [Ask((call("c1"),))]
    turn = await world.done("go")
    world.decide(turn.id, Allowed())
    await until(lambda: "validate" in world.trace)
    assert (await world.execution.cancel(SESSION, turn.id)).state == "cancelled"
    assert "refused" in world.trace
    assert world.effects.lines() == []


async def test_closing_leaves_the_record_honest(world: World) -> None:
    world.scripts |= {"wait": [Ask((call("c1"),))], "work": [Say("one"), Do(forever)]}
    waiting = await world.done("wait")
    await world.execution.close()
    await world.execution.close()
    assert world.turn(waiting.id).state == "waiting_for_input"
    with pytest.raises(Refused):
        world.admit("work")
    assert world.plain.orphans() == []


@pytest.mark.parametrize("at", ["work", "open"])
async def test_closing_while_a_turn_is_at_work(world: World, at: str) -> None:
    world.scripts["work"] = [Say("one"), Do(forever)]
    if at == "open":
        world._open = forever  # type: ignore[assignment,method-assign]
    turn = world.admit("work")
    queued = world.admit("work", if_active="queue")
    await until(lambda: "text" in world.kinds() or at == "open")
    await asyncio.sleep(0.03)
    await asyncio.gather(world.execution.close(), world.execution.close())
    turn = world.turn(turn.id)
    if at == "work":
        assert turn.state == "recovery_required"
        assert "Barry was closed" in str(turn.error)
        assert world.kinds(turn.id) == ["text", "error", "done"]
    else:
        assert turn.state == "running"
        assert [each.turn.id for each in world.plain.runnable()] == [turn.id]
    assert world.turn(queued.id).state == "queued"
    await world.execution.settled(queued.id)


async def test_the_end_of_the_loop_gives_nothing_back(world: World) -> None:
    """Who is cut off by the end of its loop leaves the turn held: somebody has to look."""
    world.scripts["go"] = [Do(forever)]
    turn = world.admit("go")
    await until(lambda: "begin go after 0" in world.trace)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await world.execution.settled(turn.id)
    assert world.turn(turn.id).state == "running"
    assert "close" in world.trace
    assert "released" not in world.trace
