"""What our store adds to the rules of every store: durability, bindings, what goes on after."""

from __future__ import annotations

import asyncio
import json
import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from barry_cli.base.canonical import NotCanonical
from barry_cli.base.paths import folders
from barry_cli.base.problems import BarryError, SessionNotFound
from barry_cli.contract.continuation import ContinuationDescriptor, RecordedCallResult
from barry_cli.contract.events import Done, Partial, Text, ToolProgress, ToolResult
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.contract.turns import (
    ApprovalDecision,
    PublicInterrupt,
    RequiredReview,
    TurnFinish,
    TurnSnapshot,
)
from barry_cli.turns.store.owners import new_owner
from barry_cli.turns.store.problems import (
    CallRefused,
    CallUncertain,
    InterruptClosed,
    LeaseLost,
    OwnerLives,
    TurnActive,
    TurnOver,
)
from barry_cli.turns.store.record import Record
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.unit.turns.store.places import admit, begin, dead_owner, new_session

CANARY = "canary-51f0"


class Clock:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def turn(self, **by: float) -> None:
        self.now += timedelta(**by)


def descriptor(payload: Any = None) -> ContinuationDescriptor:
    return ContinuationDescriptor(
        adapter_id="toy", adapter_version="1", config_fingerprint="f", format="toy",
        harness_version="1", payload=payload, version=1,
    )  # fmt: skip


def call(id: str, input: Any = None, tool: str = "shell") -> PermissionRequest:
    return PermissionRequest(id=id, tool=tool, input=input)


def put_down(
    store: SqliteTurnStore, session_id: str, *calls: PermissionRequest, **admitted: Any
) -> tuple[str, str, tuple[PublicInterrupt, ...]]:
    turn_id, owner = begin(store, session_id, **admitted)
    paused = store.pause(session_id, turn_id, owner, descriptor(CANARY), calls)
    return turn_id, owner, paused.interrupts


def decide(
    store: SqliteTurnStore, session_id: str, turn_id: str, *decisions: ApprovalDecision, **more: Any
) -> TurnSnapshot:
    asked = {"run_id": "run", "request_id": f"r{len(decisions)}-{id(decisions)}", "actor": "ada"}
    return store.resolve(
        session_id=session_id, turn_id=turn_id, decisions=decisions, **{**asked, **more}
    )


def allowed(interrupt: PublicInterrupt, **more: Any) -> ApprovalDecision:
    return ApprovalDecision(interrupt_id=interrupt.id, decision=Allowed(**more))


def denied(interrupt: PublicInterrupt, reason: str | None = None) -> ApprovalDecision:
    return ApprovalDecision(interrupt_id=interrupt.id, decision=Denied(reason=reason))


async def ran() -> RecordedCallResult:
    return RecordedCallResult(id="c", result="ran")


# --- claims ---


def test_a_session_is_not_free_before_its_turn_is_let_go() -> None:
    """An answer that is complete is followed by the next turn only once its handle is closed."""
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner = begin(store, session)
        store.finish(session, turn_id, owner, TurnFinish(state="completed"))
        second = admit(store, session)  # not refused: it is over
        assert store.snapshot(session, second).state == "queued"
        assert store.promote_queued(session) is None
        with pytest.raises(TurnActive):
            admit(store, session)  # now one waits
        store.released(session, turn_id, owner)
        promoted = store.promote_queued(session)
        assert promoted is not None
        assert promoted[1].id == second
        assert store.queued_sessions() == []


def test_a_gone_owner_of_a_turn_that_is_over_is_in_nobodys_way() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner = begin(store, session, dead_owner())
        second = admit(store, session, if_active="queue")
        store.finish(session, turn_id, owner, TurnFinish(state="completed"))
        assert store.queued_sessions() == [session]
        promoted = store.promote_queued(session)
        assert promoted is not None
        assert promoted[1].id == second
        with pytest.raises(LeaseLost):
            store.released(session, turn_id, owner)


def test_orphans_are_freed_or_lost() -> None:
    """At rest since its checkpoint, a turn goes on; at work, it is lost."""
    sessions = [new_session() for _ in range(5)]
    with SqliteTurnStore(folders()) as store, SqliteTurnStore(folders()) as other:
        at_work, _ = begin(store, sessions[0], dead_owner())
        waits, _, found = put_down(store, sessions[1], call("a"))
        resolved, _, others = put_down(store, sessions[2], call("a"))
        gone = dead_owner()
        for turn in (waits, resolved):
            other._database._connection.execute(
                "UPDATE turn SET owner = ? WHERE id = ?", (gone, turn)
            )
        decide(store, sessions[2], resolved, allowed(others[0]))
        over, owner = begin(store, sessions[3], dead_owner())
        store.finish(sessions[3], over, owner, TurnFinish(state="failed", error="no"))
        begin(store, sessions[4])  # lives

        told = {each.turn_id: (each.state, each.put_down) for each in other.orphans()}
        assert told == {
            at_work: ("running", False),
            waits: ("waiting_for_input", True),
            resolved: ("running", True),
            over: ("failed", True),
        }
        with pytest.raises(TurnOver, match="at work"):
            other.free(sessions[0], at_work)
        assert other.lost(sessions[0], at_work, "gone").state == "recovery_required"
        assert other.free(sessions[1], waits).state == "waiting_for_input"
        assert other.free(sessions[2], resolved).state == "running"
        assert other.free(sessions[3], over).state == "failed"
        assert other.orphans() == []
        (runnable,) = other.runnable()
        assert (runnable.turn.id, runnable.input, runnable.restoring) == (resolved, "hello", True)
        assert other.runnable(sessions[0]) == []
        assert found[0].status == "pending"


def test_what_is_held_by_who_lives_is_neither_freed_nor_lost() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner, _ = put_down(store, session, call("a"))
        for work in (
            lambda: store.free(session, turn_id),
            lambda: store.lost(session, turn_id, "x"),
        ):
            with pytest.raises(OwnerLives) as problem:
                work()
            assert owner.split()[0] in str(problem.value)
        store.released(session, turn_id, owner)
        assert store.free(session, turn_id).state == "waiting_for_input"
        lost = store.lost(session, turn_id, "its harness is gone")
        assert (lost.state, lost.interrupts[0].status) == ("recovery_required", "cancelled")


def test_a_turn_that_nobody_began_is_not_lost() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id = admit(store, session)
        with pytest.raises(TurnOver, match="nobody has begun"):
            store.lost(session, turn_id, "x")
        (runnable,) = store.runnable(session)
        assert (runnable.turn.id, runnable.restoring) == (turn_id, False)


def test_a_turn_that_is_only_got_ready_is_not_lost_with_its_owner() -> None:
    """Claimed at rest, it runs again when its owner goes; taken up, it is lost with them."""
    session = new_session()
    with SqliteTurnStore(folders()) as store, SqliteTurnStore(folders()) as other:
        turn_id, owner = admit(store, session), dead_owner()
        assert store.claim(session, turn_id, owner, at_rest=True)
        assert other.orphans()[0].put_down
        assert other.free(session, turn_id).state == "running"
        (runnable,) = other.runnable()
        assert (runnable.turn.id, runnable.restoring) == (turn_id, False)
        with pytest.raises(LeaseLost):
            store.append(session, turn_id, Text(text="late"))
        assert store.claim(session, turn_id, owner, at_rest=True)
        assert store.claim(session, turn_id, owner)
        assert not other.orphans()[0].put_down
        assert not store.claim(session, turn_id, owner, at_rest=True)


@pytest.mark.parametrize("how", ["execute", "append", "claim", "deny"])
async def test_what_goes_on_after_a_pause_is_not_at_rest(how: str) -> None:
    """A live handle goes on in the same claim: from then on its turn is lost with its owner."""
    session = new_session()
    with SqliteTurnStore(folders()) as store, SqliteTurnStore(folders()) as other:
        turn_id, owner = begin(store, session, dead_owner())
        store.pause(session, turn_id, owner, descriptor(), (call("a"),))
        store.append(session, turn_id, Text(text="still waiting"))
        assert other.orphans()[0].put_down
        decide(store, session, turn_id, allowed(store.snapshot(session, turn_id).interrupts[0]))
        assert other.orphans()[0].put_down
        if how == "execute":
            await store.execute(session, turn_id, owner, call("a"), ran)
        elif how == "append":
            store.append(session, turn_id, Text(text="on"))
        elif how == "deny":
            store.denied(session, turn_id, owner, call("b"), RecordedCallResult(id="b", result=1))
        else:
            assert store.claim(session, turn_id, owner)
            assert not other.claim(session, turn_id, owner)
        assert not other.orphans()[0].put_down


# --- calls ---


async def test_an_approval_is_for_one_input() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner, interrupts = put_down(store, session, call("a", "ls"), call("b", "rm"))
        decide(store, session, turn_id, allowed(interrupts[0]), denied(interrupts[1], "no"))
        with pytest.raises(CallRefused, match="another tool or input"):
            await store.execute(session, turn_id, owner, call("a", "rm -r /"), ran)
        with pytest.raises(CallRefused, match="another tool or input"):
            await store.execute(session, turn_id, owner, call("a", "ls", "other"), ran)
        with pytest.raises(CallRefused, match="denied"):
            await store.execute(session, turn_id, owner, call("b", "rm"), ran)
        assert (await store.execute(session, turn_id, owner, call("a", "ls"), ran)).result == "ran"
        with pytest.raises(CallRefused, match="has run"):
            store.denied(
                session, turn_id, owner, call("a", "ls"), RecordedCallResult(id="a", result=1)
            )


async def test_a_call_that_runs_keeps_its_turn_from_being_put_down() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner = begin(store, session)

        async def effect() -> RecordedCallResult:
            with pytest.raises(CallRefused, match="still runs"):
                store.pause(session, turn_id, owner, descriptor(), ())
            assert store.recorded(session, turn_id, call("a")) is None
            return RecordedCallResult(id="a", result=None)

        await store.execute(session, turn_id, owner, call("a"), effect)
        store.pause(session, turn_id, owner, descriptor(), (call("b"),))


async def test_executing_is_on_disk_before_the_effect_begins() -> None:
    """Another process sees it; when the owner is gone it is uncertain, and its end is refused."""
    session = new_session()
    with SqliteTurnStore(folders()) as store, SqliteTurnStore(folders()) as other:
        turn_id, owner = begin(store, session, dead_owner())

        def states() -> list[str]:
            rows = other._database._connection.execute("SELECT state FROM call")
            return [row[0] for row in rows]

        async def effect() -> RecordedCallResult:
            assert states() == ["executing"]
            assert other.lost(session, turn_id, "gone").state == "recovery_required"
            assert states() == ["uncertain"]
            return RecordedCallResult(id="a", result=None)

        with pytest.raises(LeaseLost):
            await store.execute(session, turn_id, owner, call("a"), effect)
        assert states() == ["uncertain"]


@pytest.mark.parametrize("how", [asyncio.CancelledError, KeyboardInterrupt])
async def test_an_interrupted_effect_says_so_and_stays_uncertain(
    how: type[BaseException],
) -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner = begin(store, session)

        async def effect() -> RecordedCallResult:
            raise how

        with pytest.raises(how):
            await store.execute(session, turn_id, owner, call("a"), effect)
        for work in (
            lambda: store.execute(session, turn_id, owner, call("a"), ran),
            lambda: _deny(store, session, turn_id, owner),
        ):
            with pytest.raises(CallUncertain, match="nobody knows how it went"):
                await work()


async def _deny(store: SqliteTurnStore, session: str, turn_id: str, owner: str) -> object:
    return store.denied(session, turn_id, owner, call("a"), RecordedCallResult(id="a", result=1))


async def test_a_call_left_running_is_uncertain_when_its_turn_is_let_go() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner = begin(store, session)

        async def effect() -> RecordedCallResult:
            store.finish(session, turn_id, owner, TurnFinish(state="failed", error="hung"))
            store.released(session, turn_id, owner)
            return RecordedCallResult(id="a", result=None)

        with pytest.raises(LeaseLost):
            await store.execute(session, turn_id, owner, call("a"), effect)
        row = store._database._connection.execute("SELECT state FROM call").fetchone()
        assert row[0] == "uncertain"


async def test_a_failure_is_told_without_its_secrets() -> None:
    session = new_session()
    with SqliteTurnStore(
        folders(), redact=lambda text: text.replace("s3cret", "********")
    ) as store:
        turn_id, owner = begin(store, session)
        for number, (error, said) in enumerate(
            (
                (OSError("token s3cret refused\nand a long trace"),
                 "OSError: token ******** refused"),
                (BarryError("a sentence"), "a sentence"),
                (ValueError(), "ValueError"),
                (ValueError("\ud800"), "ValueError: ?"),
                (ValueError("x" * 10_000), "ValueError: " + "x" * 485 + "..."),
            )
        ):  # fmt: skip

            async def effect(error: Exception = error) -> RecordedCallResult:
                raise error

            result = await store.execute(session, turn_id, owner, call(f"{number}"), effect)
            assert result == RecordedCallResult(id=f"{number}", result=said, error=True)


async def test_a_result_that_cannot_be_kept_has_run_all_the_same() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner = begin(store, session)

        async def effect() -> RecordedCallResult:
            return RecordedCallResult(id="a", result={"x": [math.nan]})

        for _ in range(2):
            result = await store.execute(session, turn_id, owner, call("a"), effect)
            assert result.error is True
            assert "$.result.x[0] is nan" in result.result


@pytest.mark.parametrize("given", [None, "done", {"result": "done"}])
async def test_an_effect_without_a_result_has_run_all_the_same(given: Any) -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn, owner = begin(store, session)
        call = PermissionRequest(id="c", tool="shell", input=None)

        async def effect() -> RecordedCallResult:
            result: RecordedCallResult = given
            return result

        result = await store.execute(session, turn, owner, call, effect)
        assert result.error
        assert result.result.startswith("it ran, but its result can't be recorded")
        assert store.recorded(session, turn, call) == result


def test_any_number_may_be_asked_for() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn, _ = begin(store, session)
        store.append(session, turn, Text(text="a"))
        assert store.events(session, after=2**70) == []
        assert len(store.events(session, limit=2**70)) == 1


async def test_no_effect_begins_while_a_turn_waits_or_is_over() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner, _ = put_down(store, session, call("a"))
        with pytest.raises(TurnOver, match="waiting_for_input"):
            await store.execute(session, turn_id, owner, call("other"), ran)
        store.cancel(session, turn_id)
        with pytest.raises(TurnOver, match="cancelled"):
            await store.execute(session, turn_id, owner, call("other"), ran)


# --- decisions ---


def test_a_decision_keeps_who_and_why() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, _, interrupts = put_down(store, session, call("a"))
        decide(
            store, session, turn_id, denied(interrupts[0], "no"), actor="bob",
            context={"seen": True}, run_id="later",
        )  # fmt: skip
        row = store._database._connection.execute("SELECT * FROM interrupt").fetchone()
        assert (row["decided_by"], json.loads(row["context"])) == ("bob", {"seen": True})
        found = store.snapshot(session, turn_id)
        assert (found.run_id, found.interrupts[0].run_id) == ("later", "run")


@pytest.mark.parametrize("back", [{"minutes": -30}, {"days": -4000}])
def test_what_has_expired_stays_so_when_the_clock_jumps_back(back: dict[str, float]) -> None:
    session, clock = new_session(), Clock()
    until = clock.now + timedelta(minutes=10)
    with SqliteTurnStore(folders(), clock=clock) as store:
        turn_id, _, interrupts = put_down(
            store, session, call("a"), policy=RequiredReview(expires_at=until)
        )
        assert store.snapshot(session, turn_id).interrupts[0].expires_at == until
        clock.turn(minutes=10)
        assert [each.id for each in store.expire_due()] == [turn_id]
        clock.turn(**back)
        assert store.expire_due() == []
        found = store.snapshot(session, turn_id)
        assert (found.state, found.interrupts[0].status) == ("running", "expired")
        with pytest.raises(InterruptClosed, match="expired"):
            decide(store, session, turn_id, allowed(interrupts[0]))
        decision = store.decisions(session, turn_id)["a"]
        assert isinstance(decision, Denied)
        assert decision.reason is not None
        assert "expired" in decision.reason


def test_in_time_is_in_time_whatever_the_clock_said_before() -> None:
    session, clock = new_session(), Clock()
    until = clock.now + timedelta(minutes=10)
    with SqliteTurnStore(folders(), clock=clock) as store:
        turn_id, _, interrupts = put_down(
            store, session, call("a"), policy=RequiredReview(expires_at=until)
        )
        clock.turn(minutes=9, seconds=59)
        assert store.expire_due() == []
        assert decide(store, session, turn_id, allowed(interrupts[0])).state == "running"
        clock.turn(minutes=9)
        assert store.snapshot(session, turn_id).interrupts[0].status == "approved"


def test_a_zone_changes_no_moment() -> None:
    session, clock = new_session(), Clock()
    policy = RequiredReview.model_validate(
        {"mode": "review_required", "expiresAt": "2026-03-02T12:00:00+02:30"}
    )
    with SqliteTurnStore(folders(), clock=clock) as store:
        turn_id, _, _ = put_down(store, session, call("a"), policy=policy)
        clock.turn(minutes=29)
        assert store.snapshot(session, turn_id).state == "waiting_for_input"
        clock.turn(minutes=1)
        assert store.snapshot(session, turn_id).state == "running"


def test_a_pause_that_is_late_already_goes_on_at_once() -> None:
    session, clock = new_session(), Clock()
    with SqliteTurnStore(folders(), clock=clock) as store:
        turn_id, owner = begin(store, session, policy=RequiredReview(expires_at=clock.now))
        assert store.pause(session, turn_id, owner, descriptor(), (call("a"),)).state == "running"


def test_a_kept_answer_is_one_sessions() -> None:
    session, other = new_session(), new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, _, interrupts = put_down(store, session, call("a", {"x": 1}))
        decide(store, session, turn_id, allowed(interrupts[0], persist=True), actor="bob")
        with pytest.raises(InterruptClosed, match="by bob"):
            decide(store, session, turn_id, allowed(interrupts[0]))
        _, _, elsewhere = put_down(store, other, call("a", {"x": 1}))
        assert elsewhere[0].status == "pending"


# --- events and ends ---


def test_passing_events_go_with_their_turn() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner = begin(store, session)
        first = store.append_many(session, turn_id, [Partial(text="h"), Partial(text="he")])
        store.append(session, turn_id, Text(text="hello"))
        store.append(session, turn_id, ToolProgress(id="a", tool="shell", elapsed_seconds=0.5))
        store.append(session, turn_id, ToolResult(result=None, id="a"))
        assert (first, store.append_many(session, turn_id, [])) == (2, 5)
        assert len(store.events(session)) == 5
        finish = TurnFinish(state="completed", events=(Done(turns=1),))
        store.finish(session, turn_id, owner, finish)
        found = [(each.sequence, each.event) for each in store.events(session)]
        assert found == [
            (3, {"type": "text", "text": "hello"}),
            (5, {"type": "tool_result", "result": None, "id": "a"}),
            (6, {"type": "done", "turns": 1}),
        ]
        assert [each.sequence for each in store.events(session, after=3, limit=1)] == [5]
        assert all(each.turn_id == turn_id for each in store.events(session))


def test_no_number_is_given_twice() -> None:
    """A passing event that is the last one stays: the next number is counted from it."""
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner = begin(store, session)
        store.append_many(session, turn_id, [Partial(text="h"), Partial(text="he")])
        store.finish(session, turn_id, owner, TurnFinish(state="failed"))
        store.released(session, turn_id, owner)
        assert store.last_sequence(session) == 2
        turn_id, _ = begin(store, session)
        assert store.append(session, turn_id, Text(text="x")) == 3


def test_a_done_comes_with_the_end_alone() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, _ = begin(store, session)
        for event in (Done(), {"type": "done"}):
            with pytest.raises(TurnOver, match="done"):
                store.append(session, turn_id, event)
        with pytest.raises(NotCanonical) as problem:
            store.append_many(session, turn_id, [Text(text="a"), {"type": "text", "x": {1: 2}}])
        assert "$.x" in str(problem.value)
        assert store.events(session) == []


def test_a_cancelled_turn_keeps_its_conversation() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner = begin(store, session)
        store.cancel(session, turn_id)
        ended = store.finish(
            session, turn_id, owner,
            TurnFinish(state="completed", conversation=descriptor("c"), events=(Done(),)),
        )  # fmt: skip
        assert ended.state == "cancelled"
        assert store.conversation(session) == descriptor("c")
        assert [each.event["type"] for each in store.events(session)] == ["done"]


def test_a_waiting_turn_is_not_completed() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner, _ = put_down(store, session, call("a"))
        with pytest.raises(TurnOver):
            store.finish(session, turn_id, owner, TurnFinish(state="completed"))
        ended = store.finish(session, turn_id, owner, TurnFinish(state="recovery_required"))
        assert (ended.state, ended.interrupts[0].status) == ("recovery_required", "cancelled")


def test_what_is_private_is_nowhere_else_in_the_record() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn_id, owner, _ = put_down(store, session, call("a"))
        store.finish(
            session, turn_id, owner,
            TurnFinish(state="failed", error="x", conversation=descriptor(CANARY)),
        )  # fmt: skip
        record = Record(folders())
        told = (record.turns(session), record.events(session), store.list_turns(session))
        assert CANARY not in repr(told)
        assert "endedAt" in told[0][0]
        holds = set()
        for (table,) in store._database._connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table'"
        ).fetchall():
            rows = store._database._connection.execute(f"SELECT * FROM {table}").fetchall()
            if CANARY in repr([tuple(row) for row in rows]):
                holds.add(table)
        assert holds == {"checkpoint", "conversation"}


def test_who_only_looks_sees_the_same() -> None:
    session = new_session()
    record = Record(folders())
    with SqliteTurnStore(folders()) as store:
        turn_id, _ = begin(store, session)
        store.append(session, turn_id, Text(text="a"))
        assert record.events(session) == store.events(session)
        (shown,) = record.turns(session)
        assert {"actor": "ada", "state": "running"}.items() <= shown.items()
    with pytest.raises(SessionNotFound):
        record.events("nowhere")
    folders().database.unlink()
    with pytest.raises(SessionNotFound):
        record.turns(session)


# --- commits ---


async def test_every_commit_is_told_before_and_after() -> None:
    session, told = new_session(), list[tuple[str, str]]()
    with SqliteTurnStore(folders(), on_commit=lambda *which: told.append(which)) as store:
        turn_id, owner, interrupts = put_down(store, session, call("a"))
        decide(store, session, turn_id, allowed(interrupts[0]))
        await store.execute(session, turn_id, owner, call("a"), ran)
        store.append(session, turn_id, Text(text="x"))
        store.finish(session, turn_id, owner, TurnFinish(state="completed"))
        store.released(session, turn_id, owner)
    names = "admit claim pause resolve executing over event finish released".split()
    assert told == [(when, name) for name in names for when in ("before", "after")]


def test_what_fails_before_its_commit_has_not_happened() -> None:
    session = new_session()

    def fail(when: str, what: str) -> None:
        if (when, what) == ("before", "claim"):
            raise RuntimeError("cut off")

    with SqliteTurnStore(folders(), on_commit=fail) as store:
        turn_id = admit(store, session)
        with pytest.raises(RuntimeError):
            store.claim(session, turn_id, new_owner())
        with pytest.raises(LeaseLost):
            store.finish(session, turn_id, new_owner(), TurnFinish(state="completed"))
    with SqliteTurnStore(folders()) as store:
        assert store.claim(session, turn_id, new_owner())


async def test_what_must_outlast_a_power_cut_is_synced() -> None:
    """FULL where a lost commit would let something run twice; NORMAL for the events between."""
    session, modes = new_session(), dict[str, int]()

    def look(when: str, what: str) -> None:
        if when == "before":
            row = store._database._connection.execute("PRAGMA synchronous").fetchone()
            modes[what] = row[0]

    with SqliteTurnStore(folders(), on_commit=look) as store:
        turn_id, owner, interrupts = put_down(store, session, call("a"), call("b"))
        store.append_many(session, turn_id, [Text(text="x")])
        decide(store, session, turn_id, allowed(interrupts[0]), denied(interrupts[1]))
        await store.execute(session, turn_id, owner, call("a"), ran)
        store.denied(session, turn_id, owner, call("b"), RecordedCallResult(id="b", result=1))
        store.append(session, turn_id, Text(text="x"))
        admit(store, session, if_active="queue")
        store.finish(session, turn_id, owner, TurnFinish(state="completed"))
        store.released(session, turn_id, owner)
        promoted = store.promote_queued(session)
        assert promoted is not None
        store.cancel(session, promoted[1].id)
    normal = {"event", "events", "released", "promote"}
    assert {what for what, mode in modes.items() if mode == 1} == normal
    assert {what for what, mode in modes.items() if mode == 2} >= {
        "admit", "claim", "pause", "resolve", "executing", "over", "denied", "finish", "cancel",
    }  # fmt: skip
