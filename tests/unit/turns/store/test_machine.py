"""The store beside a model of it: whatever comes in whatever order, both say the same."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from barry_cli.base.problems import BarryError
from barry_cli.contract.continuation import ContinuationDescriptor, RecordedCallResult
from barry_cli.contract.events import Done, Partial, Text
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.contract.turns import (
    ApprovalDecision,
    AutomaticReview,
    RequiredReview,
    TurnFinish,
)
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.unit.turns.store.places import home, new_session

OVER = ("completed", "failed", "cancelled", "recovery_required")
REFUSED = "refused"
TURN, STORE = st.integers(0, 8), st.integers(0, 5)
SELDOM = st.integers(0, 7)


@dataclass
class Turn:
    """What the model knows of a turn."""

    id: str
    content: int
    expires: datetime | None
    state: str = "running"
    holder: tuple[int, str] | None = None
    """Which store object holds it, and under what name."""
    at_rest: bool = False
    begun: bool = False
    interrupts: list[list[Any]] = field(default_factory=list)
    """Of the last pause: [id, call id, input, status, persist]."""
    calls: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Call id -> (input, state)."""
    asked: dict[str, str] = field(default_factory=dict)
    """Call id -> the status of the last interrupt about it."""


class Machine(RuleBasedStateMachine):
    """Two store objects, one session, owners of whom some are gone."""

    def __init__(self) -> None:
        super().__init__()
        self.top = tempfile.mkdtemp(prefix="barry-")
        where = home(self.top)
        self.session = new_session(where)
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.gone: set[str] = set()
        self.stores = [
            SqliteTurnStore(where, clock=lambda: self.now, is_gone=lambda who: who in self.gone)
            for _ in range(2)
        ]
        self.model: dict[str, Turn] = {}
        self.requests: dict[str, tuple[Any, str]] = {}
        self.answers: set[int] = set()
        self.events: list[tuple[str, str]] = []
        self.conversation: int | None = None
        self.ran: list[tuple[str, str]] = []
        self.owners = 0
        self.remembered: list[dict[str, tuple[int, str]]] = [{}, {}]
        """What each store object believes to hold: turn -> holder."""

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        shutil.rmtree(self.top)

    # --- what the model says ---

    def active(self) -> Turn | None:
        found = [t for t in self.model.values() if t.state in ("running", "waiting_for_input")]
        assert len(found) <= 1
        return found[0] if found else None

    def queued(self) -> list[Turn]:
        return [turn for turn in self.model.values() if turn.state == "queued"]

    def free_over(self) -> bool:
        """No turn is held; what the dead hold and is over is let go."""
        for turn in self.model.values():
            if turn.holder is not None:
                if turn.state in OVER and turn.holder[1] in self.gone:
                    self.let_go(turn)
                else:
                    return False
        return True

    def let_go(self, turn: Turn) -> None:
        turn.holder = None
        self.drop(turn)

    def drop(self, turn: Turn) -> None:
        """Passing events of a turn that is over go, but for the session's last event."""
        if turn.state in OVER:
            last = len(self.events) - 1
            for at, (who, kind) in enumerate(self.events):
                if who == turn.id and kind == "partial" and at != last:
                    self.events[at] = (who, "")

    def expire(self, turn: Turn) -> None:
        if turn.state == "waiting_for_input" and turn.expires and turn.expires <= self.now:
            for each in turn.interrupts:
                if each[3] == "pending":
                    each[3] = turn.asked[each[1]] = "expired"
            turn.state = "running"

    def end(self, turn: Turn, state: str, *events: str) -> None:
        turn.state = state
        for each in turn.interrupts:
            if each[3] == "pending":
                each[3] = turn.asked[each[1]] = "cancelled"
        self.events += [(turn.id, kind) for kind in events]
        self.drop(turn)

    def both(self, work: Any, allowed: bool) -> Any:
        """What the store gives; it refuses where the model does, and nowhere else."""
        try:
            found = work()
        except BarryError as problem:
            if allowed:
                raise AssertionError(f"refused: {problem}") from problem
            return REFUSED
        assert allowed, found
        return found

    def picked(self, number: int) -> Turn | None:
        """Mostly the turn that is active or held, at times another."""
        turns = list(self.model.values())
        busy = [each for each in turns if each.state in ("running", "waiting_for_input")] or [
            each for each in turns if each.holder is not None
        ]
        if number < 6 and busy:
            return busy[0]
        return turns[number % len(turns)] if turns else None

    def chosen(self, turn: Turn, number: int) -> int:
        """Mostly the store object that holds the turn."""
        return turn.holder[0] if number > 1 and turn.holder is not None else number % 2

    # --- what happens ---

    @initialize(minutes=st.none() | st.integers(1, 30), dies=st.booleans())
    def begin(self, minutes: int | None, dies: bool) -> None:
        """A turn at work, so that every example has one."""
        self.admit(0, 0, False, minutes, 0)
        self.claim(0, 0, True, dies, False)

    @rule(
        content=st.integers(0, 2),
        request=st.integers(0, 30),
        queue=st.booleans(),
        minutes=st.none() | st.integers(-5, 30),
        which=STORE,
    )
    def admit(
        self, content: int, request: int, queue: bool, minutes: int | None, which: int
    ) -> None:
        which %= 2
        until = None if minutes is None else self.now + timedelta(minutes=minutes)
        body = (content, queue, until)
        known = self.requests.get(f"{request}")
        blocked = self.active() is not None or bool(self.queued())
        allowed = known[0] == body if known else queue or not blocked
        found = self.both(
            lambda: self.stores[which].admit(
                session_id=self.session,
                request_id=f"{request}",
                run_id="run",
                actor="ada",
                content=content,
                policy=RequiredReview(expires_at=until) if until else AutomaticReview(),
                if_active="queue" if queue else "error",
            ),
            allowed,
        )
        if found is REFUSED:
            return
        if known:
            assert found.id == known[1]
            return
        free = self.free_over()
        turn = Turn(found.id, content, until)
        turn.state = "queued" if blocked or not free else "running"
        assert found.state == turn.state
        self.model[turn.id] = turn
        self.requests[f"{request}"] = (body, turn.id)

    @rule(turn=TURN, which=STORE, fresh=st.booleans(), dies=st.booleans(), at_rest=st.booleans())
    def claim(self, turn: int, which: int, fresh: bool, dies: bool, at_rest: bool) -> None:
        known = self.picked(turn)
        if known is None:
            return
        which = self.chosen(known, which)
        self.owners += 1
        owner = f"{self.owners}" if fresh or known.holder is None else known.holder[1]
        if dies and fresh:
            self.gone.add(owner)
        again = known.holder == (which, owner) and known.at_rest
        can = known.state == "running" and (known.holder is None or again)
        found = self.stores[which].claim(self.session, known.id, owner, at_rest=at_rest)
        assert found is can
        if can:
            known.at_rest = at_rest and (known.at_rest or not known.begun)
            known.holder, known.begun = (which, owner), True
            self.remembered[which][known.id] = known.holder

    @rule(turn=TURN, which=STORE, kinds=st.lists(st.booleans(), max_size=3))
    def append(self, turn: int, which: int, kinds: list[bool]) -> None:
        known = self.picked(turn)
        if known is None:
            return
        which = self.chosen(known, which)
        # One who held it once, and lost it, has to let go first.
        mine = self.remembered[which].get(known.id) == known.holder
        events = [Partial(text="p") if each else Text(text="t") for each in kinds]
        found = self.both(
            lambda: self.stores[which].append_many(self.session, known.id, events),
            mine and known.state not in OVER,
        )
        if found is REFUSED:
            return
        self.events += [(known.id, each.type) for each in events]
        assert found == len(self.events)
        if known.state == "running" and known.holder is not None and events:
            known.at_rest = False

    @rule(turn=TURN, which=STORE, inputs=st.lists(st.integers(0, 1), max_size=2))
    def pause(self, turn: int, which: int, inputs: list[int]) -> None:
        known = self.picked(turn)
        if known is None:
            return
        which = self.chosen(known, which)
        calls = [
            PermissionRequest(id=f"{at}", tool="shell", input=each)
            for at, each in enumerate(inputs)
        ]
        holds = known.holder is not None and known.holder[0] == which
        same = all(known.calls.get(c.id, (c.input, ""))[0] == c.input for c in calls)
        found = self.both(
            lambda: self.stores[which].pause(
                self.session, known.id, known.holder[1] if known.holder else "?", private(), calls
            ),
            holds and known.state == "running" and same,
        )
        if found is REFUSED:
            return
        known.interrupts = []
        for each, shown in zip(
            calls, found.interrupts[-len(calls) :] if calls else (), strict=True
        ):
            status = "approved" if each.input in self.answers else "pending"
            known.interrupts.append([shown.id, each.id, each.input, status, status != "pending"])
            known.asked[each.id] = status
            known.calls.setdefault(each.id, (each.input, "not_started"))
            if status == "pending":
                self.events.append((known.id, "permission_request"))
        pending = any(each[3] == "pending" for each in known.interrupts)
        known.state, known.at_rest = ("waiting_for_input" if pending else "running"), True
        self.expire(known)
        assert found.state == known.state

    @rule(
        turn=TURN,
        which=STORE,
        allow=st.booleans(),
        persist=st.booleans(),
        chosen=st.sampled_from([{0, 1}, {0, 1}, {0, 1}, {0}, {1}]),
    )
    def resolve(self, turn: int, which: int, allow: bool, persist: bool, chosen: set[int]) -> None:
        known = self.picked(turn)
        if known is None:
            return
        which = self.chosen(known, which)
        named = [each for at, each in enumerate(known.interrupts) if at in chosen]
        decision = Allowed(persist=persist or None) if allow else Denied()
        self.expire(known)
        status = "approved" if allow else "denied"
        fits = [
            each[3] == "pending" or (each[3] == status and each[4] == (allow and persist))
            for each in named
        ]
        self.owners += 1
        found = self.both(
            lambda: self.stores[which].resolve(
                session_id=self.session,
                turn_id=known.id,
                run_id="run",
                request_id=f"resolve {self.owners}",
                actor="ada",
                decisions=[
                    ApprovalDecision(interrupt_id=each[0], decision=decision) for each in named
                ],
            ),
            bool(named) and all(fits),
        )
        if found is REFUSED:
            return
        for each in named:
            each[3:] = [status, allow and persist]
            known.asked[each[1]] = status
            if allow and persist:
                self.answers.add(each[2])
        if known.state == "waiting_for_input" and all(
            each[3] != "pending" for each in known.interrupts
        ):
            known.state = "running"
        assert found.state == known.state

    @rule(
        turn=TURN,
        which=STORE,
        id=st.integers(0, 1),
        input=st.integers(0, 1),
        how=st.sampled_from(["fine", "fails", "cut off"]),
    )
    def execute(self, turn: int, which: int, id: int, input: int, how: str) -> None:
        known = self.picked(turn)
        if known is None:
            return
        which = self.chosen(known, which)
        holds = known.holder is not None and known.holder[0] == which
        at, state = known.calls.get(f"{id}", (input, "not_started"))
        over = state in ("completed", "failed")
        may_begin = (
            state == "not_started"
            and known.state == "running"
            and known.asked.get(f"{id}", "approved") == "approved"
        )
        began = []

        async def effect() -> RecordedCallResult:
            began.append(1)
            if how == "fails":
                raise OSError("no")
            if how == "cut off":
                raise asyncio.CancelledError
            return RecordedCallResult(id="x", result=input)

        work = self.stores[which].execute(
            self.session,
            known.id,
            known.holder[1] if known.holder else "?",
            PermissionRequest(id=f"{id}", tool="shell", input=input),
            effect,
        )
        allowed = holds and at == input and (over or may_begin)
        try:
            found = self.both(lambda: asyncio.run(work), allowed)
        except asyncio.CancelledError:
            found = None
        if found is REFUSED:
            assert not began
            return
        assert bool(began) is not over
        if began:
            assert (known.id, f"{id}") not in self.ran
            self.ran.append((known.id, f"{id}"))
            states = {"fine": "completed", "fails": "failed", "cut off": "uncertain"}
            known.calls[f"{id}"] = (input, states[how])
            known.at_rest = False
        elif found is not None:
            assert bool(found.error) is (state == "failed")

    @rule(
        turn=TURN,
        which=STORE,
        state=st.sampled_from(["completed", "failed", "recovery_required"]),
        sure=SELDOM,
        tells=st.booleans(),
        conversation=st.none() | st.integers(0, 3),
    )
    def finish(
        self, turn: int, which: int, state: Any, sure: int, tells: bool, conversation: int | None
    ) -> None:
        known = self.picked(turn)
        if known is None or sure < 4:
            return
        which = self.chosen(known, which)
        holds = known.holder is not None and known.holder[0] == which
        can = known.state in ("running", "cancelled") or (
            known.state == "waiting_for_input" and state != "completed"
        )
        outcome = TurnFinish(
            state=state,
            conversation=None if conversation is None else private(conversation),
            events=(Done(),) if tells else (),
        )
        found = self.both(
            lambda: self.stores[which].finish(
                self.session, known.id, known.holder[1] if known.holder else "?", outcome
            ),
            holds and can,
        )
        if found is REFUSED:
            return
        if conversation is not None:
            self.conversation = conversation
        if known.state != "cancelled":
            self.end(known, state, *(["done"] if tells else []))
        assert found.state == known.state

    @rule(turn=TURN, which=STORE)
    def released(self, turn: int, which: int) -> None:
        known = self.picked(turn)
        if known is None:
            return
        which = self.chosen(known, which)
        found = self.both(
            lambda: self.stores[which].released(
                self.session, known.id, known.holder[1] if known.holder else "?"
            ),
            known.holder is not None and known.holder[0] == which,
        )
        self.remembered[which].pop(known.id, None)
        if found is not REFUSED:
            self.let_go(known)

    @rule(turn=TURN, which=STORE, sure=SELDOM)
    def cancel(self, turn: int, which: int, sure: int) -> None:
        known = self.picked(turn)
        if known is None or sure != 3:
            return
        which = self.chosen(known, which)
        found = self.stores[which].cancel(self.session, known.id)
        if known.state not in OVER:
            self.end(known, "cancelled", "done")
        assert found.state == known.state

    @rule(turn=TURN, which=STORE, sure=SELDOM)
    def lost(self, turn: int, which: int, sure: int) -> None:
        known = self.picked(turn)
        if known is None or sure != 3:
            return
        which = self.chosen(known, which)
        lives = known.holder is not None and known.holder[1] not in self.gone
        found = self.both(
            lambda: self.stores[which].lost(self.session, known.id, "gone"),
            not lives and (known.begun or known.state in OVER),
        )
        if found is REFUSED:
            return
        if known.state not in OVER:
            self.end(known, "recovery_required", "error", "done")
        if known.holder is not None:
            self.let_go(known)
        assert found.state == known.state

    @rule(turn=TURN, which=STORE)
    def free(self, turn: int, which: int) -> None:
        known = self.picked(turn)
        if known is None:
            return
        which = self.chosen(known, which)
        lives = known.holder is not None and known.holder[1] not in self.gone
        rests = known.holder is None or known.at_rest or known.state in OVER
        found = self.both(
            lambda: self.stores[which].free(self.session, known.id), not lives and rests
        )
        if found is not REFUSED and known.holder is not None:
            self.let_go(known)

    @rule(which=STORE)
    def promote(self, which: int) -> None:
        found = self.stores[which % 2].promote_queued(self.session)
        free = self.free_over()
        if not free or self.active() is not None or not self.queued():
            assert found is None
            return
        known = self.queued()[0]
        assert found is not None
        assert (found[0], found[1].id, found[1].state) == (known.content, known.id, "running")
        known.state = "running"

    @rule(minutes=st.integers(-30, 60))
    def time_passes(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @precondition(lambda self: (turn := self.active()) and turn.expires and turn.interrupts)
    @rule(early=st.booleans())
    def it_is_nearly_or_just_too_late(self, early: bool) -> None:
        turn = self.active()
        assert turn is not None
        assert turn.expires is not None
        self.now = turn.expires - timedelta(microseconds=int(early))

    @precondition(lambda self: (turn := self.active()) and turn.holder and turn.interrupts)
    @rule(at=st.integers(0, 1), input=st.none() | st.integers(0, 1))
    def run_what_was_asked(self, at: int, input: int | None) -> None:
        turn = self.active()
        assert turn is not None
        _, call, asked, _, _ = turn.interrupts[at % len(turn.interrupts)]
        self.execute(0, 5, int(call), asked if input is None else input, "fine")

    @rule(turn=TURN, sure=SELDOM)
    def its_owner_dies(self, turn: int, sure: int) -> None:
        known = self.picked(turn)
        if known is not None and known.holder is not None and sure == 3:
            self.gone.add(known.holder[1])

    # --- what always holds ---

    @precondition(lambda self: self.model)
    @invariant()
    def they_say_the_same(self) -> None:
        for turn in self.model.values():
            self.expire(turn)
            found = self.stores[0].snapshot(self.session, turn.id)
            assert found.state == turn.state
            last = {each.call.id: each.status for each in found.interrupts}
            assert last == turn.asked
        store = self.stores[1]
        numbers = [(at + 1, kind) for at, (_, kind) in enumerate(self.events) if kind]
        read = store.events(self.session, limit=10_000)
        assert [(each.sequence, each.event["type"]) for each in read] == numbers
        assert store.last_sequence(self.session) == len(self.events)
        held = {
            turn.id: bool(turn.at_rest or turn.state in OVER)
            for turn in self.model.values()
            if turn.holder is not None and turn.holder[1] in self.gone
        }
        assert {each.turn_id: each.put_down for each in store.orphans()} == held
        runs = [t.id for t in self.model.values() if t.state == "running" and t.holder is None]
        assert [each.turn.id for each in store.runnable()] == runs
        kept = store.conversation(self.session)
        assert (None if kept is None else kept.payload) == self.conversation


def private(payload: object = None) -> ContinuationDescriptor:
    return ContinuationDescriptor(
        adapter_id="toy", adapter_version="1", config_fingerprint="f", format="toy",
        harness_version="1", payload=payload, version=1,
    )  # fmt: skip


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_many_more_orders() -> None:
    run_state_machine_as_test(
        Machine, settings=settings(max_examples=1500, stateful_step_count=60, deadline=None)
    )
