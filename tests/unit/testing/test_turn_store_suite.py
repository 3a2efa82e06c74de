"""The published suite passes our store, and fails each that breaks one rule, by the right check."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest

from barry_cli.base.problems import BarryError
from barry_cli.contract.continuation import ContinuationDescriptor, RecordedCallResult
from barry_cli.contract.data import snapshot
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.contract.turns import ApprovalDecision, TurnFinish, TurnSnapshot
from barry_cli.testing import NotConforming, check_turn_store, turn_store_checks
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.unit.turns.store.places import kit


async def test_our_store_passes() -> None:
    checks = turn_store_checks(kit())
    assert len(checks) >= 25
    for check in checks.values():
        await check()
    await check_turn_store(kit())


class Steals(SqliteTurnStore):
    def claim(self, session_id: str, turn_id: str, owner: str, *, at_rest: bool = False) -> bool:
        with self._database.writing("claim") as connection:
            connection.execute("UPDATE turn SET owner = NULL WHERE id = ?", (turn_id,))
        return super().claim(session_id, turn_id, owner, at_rest=at_rest)


class NeverRests(SqliteTurnStore):
    def claim(self, session_id: str, turn_id: str, owner: str, *, at_rest: bool = False) -> bool:
        return super().claim(session_id, turn_id, owner)


class ForgetsFences(SqliteTurnStore):
    def _held(self, connection: Any, session_id: str, turn_id: str, owner: str) -> Any:
        row = connection.execute("SELECT * FROM turn WHERE id = ?", (turn_id,)).fetchone()
        if row is None or row["owner"] != owner:
            raise BarryError("not held")
        return row


class Reruns(SqliteTurnStore):
    async def execute(
        self,
        session_id: str,
        turn_id: str,
        owner: str,
        call: PermissionRequest,
        effect: Callable[[], Awaitable[RecordedCallResult]],
    ) -> RecordedCallResult:
        with self._database.writing("forget") as connection:
            connection.execute("DELETE FROM call WHERE turn_id = ?", (turn_id,))
        return await super().execute(session_id, turn_id, owner, call, effect)


class RerunsTheUncertain(SqliteTurnStore):
    async def execute(self, *given: Any) -> RecordedCallResult:
        with self._database.writing("forget") as connection:
            connection.execute("DELETE FROM call WHERE state = 'uncertain'")
        return await super().execute(*given)


class LetsErrorsOut(SqliteTurnStore):
    async def execute(
        self,
        session_id: str,
        turn_id: str,
        owner: str,
        call: PermissionRequest,
        effect: Callable[[], Awaitable[RecordedCallResult]],
    ) -> RecordedCallResult:
        raised: list[Exception] = []

        async def watched() -> RecordedCallResult:
            try:
                return await effect()
            except Exception as error:
                raised.append(error)
                raise

        result = await super().execute(session_id, turn_id, owner, call, watched)
        if raised:
            raise raised[0]
        return result


class AdmitsTwice(SqliteTurnStore):
    _count = itertools.count()

    def admit(self, **asked: Any) -> TurnSnapshot:
        return super().admit(**{**asked, "request_id": f"{next(self._count)}"})


class LastComeFirst(SqliteTurnStore):
    def promote_queued(self, session_id: str) -> Any:
        with self._database.writing("turn round") as connection:
            connection.execute(
                "UPDATE turn SET number = -number WHERE session_id = ? AND state = 'queued' "
                "AND number > 0",
                (session_id,),
            )
        return super().promote_queued(session_id)


class SkipsNumbers(SqliteTurnStore):
    def append(self, session_id: str, turn_id: str, event: object) -> int:
        number = super().append(session_id, turn_id, event)
        with self._database.writing("skip") as connection:
            connection.execute("UPDATE session SET last_event = last_event + 1")
        return number


class BelievesTheDead(SqliteTurnStore):
    def lost(self, session_id: str, turn_id: str, error: str) -> TurnSnapshot:
        self._is_gone = lambda owner: True
        return super().lost(session_id, turn_id, error)


class Revives(SqliteTurnStore):
    def finish(
        self, session_id: str, turn_id: str, owner: str, outcome: TurnFinish
    ) -> TurnSnapshot:
        with self._database.writing("revive") as connection:
            connection.execute(
                "UPDATE turn SET state = 'running', ended_at = NULL WHERE id = ?", (turn_id,)
            )
        return super().finish(session_id, turn_id, owner, outcome)


class DecidesTwice(SqliteTurnStore):
    def resolve(self, **asked: Any) -> TurnSnapshot:
        with self._database.writing("open") as connection:
            connection.execute(
                "UPDATE interrupt SET status = 'pending', decision = NULL WHERE turn_id = ? "
                "AND status IN ('approved', 'denied')",
                (asked["turn_id"],),
            )
        return super().resolve(**asked)


class HalfDecides(SqliteTurnStore):
    def resolve(self, *, decisions: Sequence[ApprovalDecision], **asked: Any) -> TurnSnapshot:
        for each in decisions[:-1]:
            super().resolve(**{**asked, "request_id": each.interrupt_id}, decisions=(each,))
        return super().resolve(**asked, decisions=decisions[-1:])


class NeverExpires(SqliteTurnStore):
    def _now(self) -> int:
        return 0


class AnswersAnything(SqliteTurnStore):
    def pause(self, session_id: str, turn_id: str, owner: str, *rest: Any) -> TurnSnapshot:
        paused = super().pause(session_id, turn_id, owner, *rest)
        with self._database.writing("widen") as connection:
            connection.execute(
                "UPDATE interrupt SET status = 'approved', decision = '{\"allow\":true}' "
                "WHERE EXISTS (SELECT 1 FROM answer WHERE session_id = ?)",
                (session_id,),
            )
        return self.snapshot(session_id, turn_id) if paused else paused


class ShowsWhatIsPrivate(SqliteTurnStore):
    def snapshot(self, session_id: str, turn_id: str) -> TurnSnapshot:
        found = super().snapshot(session_id, turn_id)
        try:
            private = self.continuation(session_id, turn_id)
        except BarryError:
            return found
        return found.model_copy(update={"result": snapshot(private)})


class ForgetsTheConversation(SqliteTurnStore):
    def conversation(self, session_id: str) -> ContinuationDescriptor | None:
        super().conversation(session_id)
        return None


class RunsTheDenied(SqliteTurnStore):
    def denied(self, *given: Any) -> RecordedCallResult:
        return given[-1]


class GuessesDecisions(SqliteTurnStore):
    def decisions(self, session_id: str, turn_id: str) -> Mapping[str, Allowed | Denied]:
        found = super().decisions(session_id, turn_id)
        return dict.fromkeys(found, Allowed())


WRONG: dict[type[SqliteTurnStore], str] = {
    Steals: "a_gone_owners_turn_is_not_stolen",
    NeverRests: "a_turn_at_rest_is_taken_up",
    ForgetsFences: "writes_are_fenced",
    Reruns: "an_effect_happens_once",
    RerunsTheUncertain: "an_interrupted_effect_is_uncertain",
    LetsErrorsOut: "an_effect_that_fails_has_failed",
    AdmitsTwice: "a_request_is_admitted_once",
    LastComeFirst: "turns_come_one_at_a_time",
    SkipsNumbers: "events_are_numbered",
    BelievesTheDead: "only_a_gone_owner_is_lost",
    Revives: "a_cancelled_turn_stays_cancelled",
    DecidesTwice: "a_decision_is_made_once",
    HalfDecides: "a_decision_is_made_once",
    NeverExpires: "an_expired_call_is_denied",
    AnswersAnything: "a_kept_answer_decides",
    ShowsWhatIsPrivate: "what_is_private_is_kept_apart",
    ForgetsTheConversation: "what_is_private_is_kept_apart",
    RunsTheDenied: "a_denied_call_does_not_run",
    GuessesDecisions: "a_turn_goes_on_when_all_is_decided",
}


@pytest.mark.parametrize("store", WRONG, ids=lambda each: each.__name__)
async def test_a_store_that_breaks_a_rule_fails(store: type[SqliteTurnStore]) -> None:
    with pytest.raises(NotConforming):
        await turn_store_checks(kit(store))[WRONG[store]]()


async def test_every_failure_is_told_at_once() -> None:
    class Careless(Steals, ForgetsTheConversation):
        """Breaks two rules."""

    with pytest.raises(NotConforming) as problem:
        await check_turn_store(kit(Careless))
    told = str(problem.value)
    for name in (WRONG[Steals], WRONG[ForgetsTheConversation], "a_turn_is_claimed_once"):
        assert f"{name}: " in told
    assert "a_request_is_admitted_once: " not in told


async def test_another_error_than_a_problem_is_no_refusal() -> None:
    class Crashes(SqliteTurnStore):
        def snapshot(self, session_id: str, turn_id: str) -> TurnSnapshot:
            raise KeyError(turn_id)

    with pytest.raises(NotConforming, match="none of Barry's problems"):
        await turn_store_checks(kit(Crashes))["what_is_unknown_is_refused"]()
