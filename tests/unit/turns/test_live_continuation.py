"""A live session waits for an approval in memory, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from barry_cli.base.problems import Refused, StoreProblem
from barry_cli.contract.abort import Abort
from barry_cli.contract.continuation import (
    ContinuationDescriptor,
    RecordedCallResult,
    SegmentCompleted,
    SegmentFailed,
    SegmentInterrupted,
)
from barry_cli.contract.data import snapshot
from barry_cli.contract.events import Failed, Init, Result, SessionEvent, Text, UsageReported
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.models import Endpoint, TokenUsage
from barry_cli.contract.session import (
    Allowed,
    Denied,
    HttpMcpServer,
    PermissionRequest,
    Resume,
    Session,
    SessionConfig,
)
from barry_cli.contract.turns import AutomaticReview
from barry_cli.turns.live_continuation import LiveContinuation
from barry_cli.turns.per_turn import PerTurnOptions, per_turn_session
from barry_cli.turns.recovery import recover_turns
from tests.turn_harness import SESSION
from tests.unit.turns.live_session import Live, Starts
from tests.unit.turns.world import World

CONFIG = SessionConfig(session_id=SESSION, cwd="/")
WAYS = (
    "callback",
    "event",
    "event then callback",
    "callback then event",
    "event, and a late callback",
)


class Effects:
    """An authority that counts what it is asked."""

    def __init__(self, verdict: Allowed | Denied | None = None) -> None:
        self.verdict = verdict or Allowed()
        self.asked: list[str] = []

    async def authorize(self, call: PermissionRequest) -> Allowed | Denied:
        self.asked.append(call.id)
        return self.verdict

    async def execute(self, call: Any, effect: Any) -> RecordedCallResult:
        raise AssertionError

    async def denied(self, call: Any, result: Any) -> RecordedCallResult:
        raise AssertionError

    async def recorded(self, call: Any) -> None:
        raise AssertionError


class Emitted(list[SessionEvent]):
    async def __call__(self, event: SessionEvent) -> None:
        self.append(event)

    @property
    def said(self) -> list[str]:
        return [event.text for event in self if isinstance(event, Text)]


async def one_call(live: Live, content: str) -> None:
    live.say(f"about {content}")
    decision = await live.ask("c1")
    live.say("yes" if decision == Allowed() else f"no: {getattr(decision, 'reason', decision)}")


async def opened(starts: Starts, config: SessionConfig = CONFIG) -> LiveContinuation:
    return await LiveContinuation.open("toy", "f1", config, starts)


async def begun(
    starts: Starts, emit: Emitted, config: SessionConfig = CONFIG
) -> tuple[LiveContinuation, SegmentInterrupted]:
    live = await opened(starts, config)
    outcome = await live.begin("it", emit)
    assert isinstance(outcome, SegmentInterrupted), outcome
    return live, outcome


# --- one turn ---


async def test_a_turn_that_asks_nothing() -> None:
    async def work(live: Live, content: str) -> None:
        live.say(f"heard {content}")

    emit = Emitted()
    live = await opened(Starts(work))
    outcome = await live.begin("it", emit)
    assert isinstance(outcome, SegmentCompleted)
    assert outcome.result == "heard it"
    assert [event.type for event in emit] == ["text", "done"]
    assert outcome.conversation is not None
    assert snapshot(outcome.conversation) == {
        "adapterId": "toy", "adapterVersion": "", "configFingerprint": "f1",
        "format": "conversation", "harnessVersion": "9.9", "payload": "conversation-1",
        "version": 1,
    }  # fmt: skip
    await live.close()


@pytest.mark.parametrize("way", WAYS)
async def test_an_approved_call_goes_on(way: str) -> None:
    emit, starts, effects = Emitted(), Starts(one_call, asks=way), Effects()
    live, paused = await begun(starts, emit)
    assert [each.id for each in paused.calls] == ["c1"]
    assert emit.said == ["about it"]
    live.validate(paused.continuation)
    outcome = await live.restore(paused.continuation, {"c1": Allowed(persist=True)}, effects, emit)
    assert isinstance(outcome, SegmentCompleted)
    assert emit.said == ["about it", "yes"]  # and it got no answer for good
    assert effects.asked == ["c1"]
    assert "permission_request" not in [event.type for event in emit]
    (session,) = starts.sessions
    assert session.answers == ([("c1", Allowed())] if way in (WAYS[1], WAYS[4]) else [])
    await live.close()


@pytest.mark.parametrize("way", WAYS)
async def test_a_denied_call_is_told_why(way: str) -> None:
    emit, effects = Emitted(), Effects()
    live, paused = await begun(Starts(one_call, asks=way), emit)
    decisions = {"c1": Denied(reason="not today")}
    outcome = await live.restore(paused.continuation, decisions, effects, emit)
    assert isinstance(outcome, SegmentCompleted)
    assert emit.said[-1] == "no: not today"
    assert effects.asked == []
    await live.close()


async def test_the_authority_has_the_last_word() -> None:
    emit = Emitted()
    live, paused = await begun(Starts(one_call), emit)
    effects = Effects(Denied(reason="by now it isn't"))
    await live.restore(paused.continuation, {"c1": Allowed()}, effects, emit)
    assert emit.said[-1] == "no: by now it isn't"
    await live.close()


async def test_the_hosts_own_ruling_can_only_deny() -> None:
    async def decide(request: PermissionRequest) -> Allowed | Denied:
        return Denied(reason="bound") if request.id == "c0" else Allowed()

    async def work(live: Live, content: str) -> None:
        for each in ("c0", "c1"):
            live.say(str((await live.ask(each)).allow))

    emit = Emitted()
    for way in ("callback", "callback then event", "event then callback"):
        emit.clear()
        config = SessionConfig(session_id=SESSION, cwd="/", decide=decide)
        live, paused = await begun(Starts(work, asks=way), emit, config)
        assert [each.id for each in paused.calls] == ["c1"]
        await live.restore(paused.continuation, {"c1": Allowed()}, Effects(), emit)
        assert emit.said == ["False", "True"]
        await live.close()


async def test_calls_side_by_side() -> None:
    """One comes while the others wait already: it is asked about next."""

    async def work(live: Live, content: str) -> None:
        async def late() -> Any:
            await asyncio.sleep(0.05)
            return await live.ask("c3")

        answers = await asyncio.gather(live.ask("c1"), live.ask("c2"), late())
        live.say(str([each.allow for each in answers]))

    emit = Emitted()
    live, paused = await begun(Starts(work), emit)
    assert [each.id for each in paused.calls] == ["c1", "c2"]
    await asyncio.sleep(0.1)
    decisions: Mapping[str, Any] = {"c1": Allowed(), "c2": Denied()}
    again = await live.restore(paused.continuation, decisions, Effects(), emit)
    assert isinstance(again, SegmentInterrupted)
    assert [each.id for each in again.calls] == ["c3"]
    with pytest.raises(Refused):  # one checkpoint is good for one time
        live.validate(paused.continuation)
    outcome = await live.restore(again.continuation, {"c3": Allowed()}, Effects(), emit)
    assert isinstance(outcome, SegmentCompleted)
    assert emit.said == ["[True, False, True]"]
    await live.close()


async def test_an_approval_is_for_the_call_that_was_shown() -> None:
    """While it waits the harness gives it up and asks for something else under its id."""

    async def work(live: Live, content: str) -> None:
        first = asyncio.create_task(live.ask("c1", "ls"))
        await asyncio.sleep(0.05)
        first.cancel()
        await asyncio.wait({first})
        live.say(str((await live.ask("c1", "rm -rf /")).allow))

    emit = Emitted()
    live, paused = await begun(Starts(work), emit)
    await asyncio.sleep(0.1)
    again = await live.restore(paused.continuation, {"c1": Allowed()}, Effects(), emit)
    assert isinstance(again, SegmentInterrupted)
    assert again.calls[0].input == {"command": "rm -rf /"}
    assert emit.said == []
    await live.close()


@pytest.mark.parametrize(
    ("calls_back", "answered"),
    [(0.0, 0.0), (0.05, 0.1), (0.05, 0.0)],
    ids=["at once", "while it waits", "after the answer"],
)
async def test_what_is_shown_is_what_is_asked(calls_back: float, answered: float) -> None:
    """The event says one thing, the callback another: the callback's is not approved by that."""

    class Liar(Live):
        async def ask(self, id: str, command: str | None = None) -> Allowed | Denied:
            shown = asyncio.ensure_future(super().ask(id, "ls"))
            decide = self.config.decide
            assert decide is not None
            await asyncio.sleep(calls_back)
            request = PermissionRequest(id=id, tool="Shell", input={"command": "rm -rf /"})
            decision = await decide(request)
            shown.cancel()
            return decision

    async def start(config: SessionConfig) -> Any:
        return Liar(config, one_call, asks="event")

    emit = Emitted()
    live = await LiveContinuation.open("toy", "f1", CONFIG, start)
    outcome = await live.begin("it", emit)
    while isinstance(outcome, SegmentInterrupted):
        if outcome.calls[0].input != {"command": "ls"}:
            break
        await asyncio.sleep(answered)
        outcome = await live.restore(outcome.continuation, {"c1": Allowed()}, Effects(), emit)
    assert "yes" not in emit.said
    await live.close()


# --- what it refuses ---


@pytest.mark.parametrize(
    "other",
    [
        {"adapter_id": "another"},
        {"format": "conversation"},
        {"format": "script"},
        {"version": 2},
        {"config_fingerprint": "f2"},
        {"payload": "another"},
        {"payload": None},
    ],
    ids=str,
)
async def test_a_checkpoint_of_another_kind(other: dict[str, Any]) -> None:
    emit = Emitted()
    live, paused = await begun(Starts(one_call), emit)
    wrong = paused.continuation.model_copy(update=other)
    with pytest.raises(Refused):
        live.validate(wrong)
    with pytest.raises(Refused):
        await live.restore(wrong, {"c1": Allowed()}, Effects(), emit)
    assert emit.said == ["about it"]
    live.validate(paused.continuation)
    await live.close()
    with pytest.raises(Refused):
        live.validate(paused.continuation)


async def test_another_process_cannot_go_on() -> None:
    emit = Emitted()
    live, paused = await begun(Starts(one_call), emit)
    other = await opened(Starts(one_call))
    with pytest.raises(Refused, match="a process that is gone"):
        other.validate(paused.continuation)
    await live.close()
    await other.close()


# --- how it ends ---


async def fails(live: Live, content: str) -> None:
    live.queue.push(Failed(error="it broke"))


async def result(live: Live, content: str) -> None:
    live.say("words")
    live.queue.push(Result(result="the result", structured={"a": 1}))


async def failed_result(live: Live, content: str) -> None:
    live.queue.push(Result(error="no answer"))


async def ends(live: Live, content: str) -> None:
    live.queue.end()
    await asyncio.Event().wait()


ENDS = {
    "an error": (fails, {}, SegmentFailed(error="it broke")),
    "a failed result": (failed_result, {}, SegmentFailed(error="no answer")),
    "no end": (ends, {}, SegmentFailed(error="the session's events ended before its turn did")),
    "no delivery": (
        fails, {"receipt": "broken"}, SegmentFailed(error="RuntimeError: nobody takes it"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", ENDS)
async def test_how_a_turn_ends(how: str) -> None:
    work, more, end = ENDS[how]
    live = await opened(Starts(work, **more))
    assert await live.begin("it", Emitted()) == end
    await live.close()


async def test_a_result_is_the_structured_one() -> None:
    live = await opened(Starts(result))
    outcome = await live.begin("it", Emitted())
    assert isinstance(outcome, SegmentCompleted)
    assert outcome.result == {"a": 1}
    await live.close()


@pytest.mark.parametrize("status", ["queued", "steered", "held"])
async def test_a_session_that_is_at_work_already(status: str) -> None:
    live = await opened(Starts(fails, receipt=status))
    outcome = await live.begin("it", Emitted())
    assert isinstance(outcome, SegmentFailed)
    assert status in outcome.error
    await live.close()


async def test_its_secrets_stand_in_no_error() -> None:
    secrets = ("key-1234567", "token-89abcdef", "header-xyz-12")
    config = SessionConfig(
        session_id=SESSION, cwd="/", env={"TOY_TOKEN": secrets[1], "LANG": "C.UTF-8"},
        endpoint=Endpoint(url="http://127.0.0.1", api="toy", key=SecretStr(secrets[0])),
        mcp_servers={"m": HttpMcpServer(type="http", url="http://x", headers={"a": secrets[2]})},
    )  # fmt: skip

    async def leaks(live: Live, content: str) -> None:
        live.queue.push(Failed(error=f"401 for {' '.join(secrets)} in C.UTF-8"))

    live = await opened(Starts(leaks), config)
    outcome = await live.begin("it", Emitted())
    assert outcome == SegmentFailed(error="401 for ******** ******** ******** in C.UTF-8")
    await live.close()


async def test_an_interrupt_lets_nothing_wait() -> None:
    emit, starts = Emitted(), Starts(one_call)
    live, _ = await begun(starts, emit)
    await live.interrupt()
    await asyncio.sleep(0.01)
    assert starts.sessions[0].interrupts == 1
    assert starts.sessions[0].task is not None
    assert starts.sessions[0].task.done()
    await live.close()


async def test_closing_is_idempotent_and_leaves_nothing() -> None:
    before = asyncio.all_tasks()
    live, _ = await begun(starts := Starts(one_call), Emitted())
    await live.close()
    await live.close()
    await asyncio.sleep(0)
    assert starts.sessions[0].closed == 1
    assert asyncio.all_tasks() == before
    decide = starts.sessions[0].config.decide
    assert decide is not None
    late = await decide(PermissionRequest(id="x", tool="Shell", input={}))
    assert not late.allow


# --- conversations ---


def conversation(id: str, **other: Any) -> ContinuationDescriptor:
    return ContinuationDescriptor(
        **{
            "adapter_id": "toy", "adapter_version": "", "config_fingerprint": "an older one",
            "format": "conversation", "harness_version": "9.8", "payload": id, "version": 1,
            **other,
        }
    )  # fmt: skip


async def quick(live: Live, content: str) -> None:
    live.say(f"in {live.harness_session_id}")


@pytest.mark.parametrize(
    ("resume", "started"),
    [(None, [None, "c-7"]), (Resume(harness_session_id="c-7"), ["c-7"])],
    ids=["it was not resumed", "it was resumed"],
)
async def test_the_conversation_goes_on(resume: Resume | None, started: list[Any]) -> None:
    starts, emit = Starts(quick), Emitted()
    live = await opened(starts, SessionConfig(session_id=SESSION, cwd="/", resume=resume))
    await live.begin("it", emit, conversation("c-7"))
    assert emit.said == ["in c-7"]
    resumed = [each.config.resume for each in starts.sessions]
    assert [each and each.harness_session_id for each in resumed] == started
    assert [each.closed for each in starts.sessions[:-1]] == [1] * (len(started) - 1)
    await live.close()


@pytest.mark.parametrize(
    "other", [{"adapter_id": "x"}, {"format": "live"}, {"version": 3}], ids=str
)
async def test_a_conversation_of_another_kind(other: dict[str, Any]) -> None:
    live = await opened(Starts(quick))
    outcome = await live.begin("it", Emitted(), conversation("c-7", **other))
    assert isinstance(outcome, SegmentFailed)
    await live.close()


# --- in an execution ---


@pytest.fixture
async def lived(tmp_path: Path) -> AsyncIterator[tuple[World, Starts]]:
    world = World(tmp_path)
    starts = Starts(one_call)

    async def open_harness(session_id: str) -> Any:
        world.trace.append("open")
        return await opened(starts)

    world._open = open_harness  # type: ignore[method-assign] - another kind of harness
    yield world, starts
    await world.close()


async def test_it_waits_with_its_lease_and_goes_on(lived: tuple[World, Starts]) -> None:
    world, starts = lived
    turn = await world.done("it")
    assert turn.state == "waiting_for_input"
    assert "released" not in world.trace
    assert starts.sessions[0].closed == 0
    turn = await world.decided(turn.id, Allowed(persist=True))
    assert turn.state == "completed"
    assert (turn.result, len(starts.sessions), starts.sessions[0].closed) == ("yes", 1, 1)
    assert world.trace[-2:] == ["released", "promote_queued"]
    assert world.kinds(turn.id) == ["text", "permission_request", "text", "done"]
    turn = await world.done("it")  # the answer was kept, and the authority asked
    assert turn.result == "yes"
    assert world.kinds(turn.id) == ["text", "text", "done"]
    assert len(world.authority_asked) >= 2


async def test_the_authority_decides_without_a_review(lived: tuple[World, Starts]) -> None:
    world, starts = lived
    world.verdict = lambda each: Denied(reason="the bound says no")
    turn = await world.done("it", policy=AutomaticReview())
    assert (turn.state, turn.result) == ("completed", "no: the bound says no")
    assert len(starts.sessions) == 1


async def test_another_process_decides(lived: tuple[World, Starts], tmp_path: Path) -> None:
    world, _ = lived
    turn = await world.done("it")
    other = World(tmp_path, where=world.where)
    world.decide(turn.id, Denied(reason="from afar"), by=other.execution)
    for _ in range(1000):
        if world.turn(turn.id).state == "completed":
            break
        await asyncio.sleep(0.01)
    assert world.turn(turn.id).result == "no: from afar"
    assert "open" not in other.trace
    await other.close()


async def test_a_store_that_cannot_be_read_for_a_moment_ends_nothing(
    lived: tuple[World, Starts], monkeypatch: pytest.MonkeyPatch
) -> None:
    world, starts = lived
    turn = await world.done("it")
    read = world.plain.snapshot
    failed: list[str] = []

    def snapshot(session_id: str, turn_id: str) -> Any:
        if len(failed) < 2:
            failed.append(turn_id)
            raise StoreProblem("another Barry is writing to it")
        return read(session_id, turn_id)

    monkeypatch.setattr(world.plain, "snapshot", snapshot)
    for _ in range(1000):
        if len(failed) == 2:
            break
        await asyncio.sleep(0.01)
    assert starts.sessions[0].closed == 0
    assert (await world.decided(turn.id, Allowed())).state == "completed"


@pytest.mark.parametrize("where", ["here", "elsewhere"])
async def test_it_is_cancelled_while_it_waits(
    lived: tuple[World, Starts], tmp_path: Path, where: str
) -> None:
    world, starts = lived
    turn = await world.done("it")
    other = World(tmp_path, where=world.where)
    asked = world if where == "here" else other
    assert (await asked.execution.cancel(SESSION, turn.id)).state == "cancelled"
    for _ in range(1000):
        if "released" in world.trace:
            break
        await asyncio.sleep(0.01)
    assert starts.sessions[0].closed == 1
    assert world.kinds(turn.id) == ["text", "permission_request", "done"]
    assert world.plain.orphans() == []
    await other.close()


async def test_closing_while_it_waits_is_said(lived: tuple[World, Starts]) -> None:
    world, starts = lived
    turn = await world.done("it")
    await world.execution.close()
    turn = world.turn(turn.id)
    assert turn.state == "recovery_required"
    assert "can't go on in another process" in str(turn.error)
    assert world.kinds(turn.id)[-2:] == ["error", "done"]
    assert starts.sessions[0].closed == 1


async def test_a_process_that_is_gone_takes_it_along(
    lived: tuple[World, Starts], tmp_path: Path
) -> None:
    """It waits, its process dies, somebody decides: nobody can go on, and the record says so."""
    world, _ = lived
    turn = await world.done("it")
    other = World(tmp_path, where=world.where, is_gone=lambda owner: True)
    starts = Starts(one_call)

    async def open_harness(session_id: str) -> Any:
        return await opened(starts)

    other._open = open_harness  # type: ignore[method-assign] - another kind of harness
    recover_turns(other.execution, other.plain, SESSION)
    assert other.turn(turn.id).state == "waiting_for_input"
    turn = await other.decided(turn.id, Allowed())
    assert turn.state == "recovery_required"
    assert "a process that is gone" in str(turn.error)
    assert starts.sessions[0].answers == []
    assert other.kinds(turn.id)[-2:] == ["error", "done"]
    await other.close()


async def test_a_session_that_starts_its_harness_for_each_turn(tmp_path: Path) -> None:
    """The whole way: a generator of events, a session, a handle, an execution, the record."""
    world = World(tmp_path)
    seen: list[str | None] = []

    async def start(config: SessionConfig) -> Session:
        async def run_turn(
            content: str, *, harness_session_id: str | None, signal: Abort, output_schema: Any
        ) -> AsyncIterator[SessionEvent]:
            seen.append(harness_session_id)
            yield Init(harness_session_id=harness_session_id or "c-1")
            assert config.decide is not None
            request = PermissionRequest(id="c1", tool="Shell", input={"command": content})
            decision = await config.decide(request)
            yield Text(text=f"{content}: {decision.allow}")
            yield UsageReported(id="m", usage=TokenUsage(input=1, output=2))

        resumed = config.resume.harness_session_id if config.resume else None
        guarantees = Guarantees(
            capture="total", delivery="turn-end", gating="per-call", identity="inherent",
            interrupt=True, keeps_vendor_ui=False, steer=False,
        )  # fmt: skip
        return per_turn_session(
            PerTurnOptions(
                id=config.session_id, guarantees=guarantees, run_turn=run_turn,
                harness_session_id=resumed,
            )
        )  # fmt: skip

    async def open_harness(session_id: str) -> Any:
        return await LiveContinuation.open("toy", "f1", CONFIG, start)

    world._open = open_harness  # type: ignore[method-assign] - another kind of harness
    for content, decision in (("ls", Allowed()), ("rm", Denied(reason="no"))):
        turn = await world.done(content)
        assert turn.state == "waiting_for_input"
        turn = await world.decided(turn.id, decision)
        assert (turn.state, turn.result) == ("completed", f"{content}: {decision.allow}")
        kinds = world.kinds(turn.id)
        assert kinds == ["init", "permission_request", "text", "usage", "done"]
        assert world.events()[-1]["durationMs"] >= 0
    assert seen == [None, "c-1"]
    await world.close()
