"""What every store of turns has to keep to: decisions, and effects that happen once."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from barry_cli.base.problems import BarryError
from barry_cli.contract.continuation import RecordedCallResult
from barry_cli.contract.session import Allowed, Denied
from barry_cli.contract.turns import ApprovalDecision
from barry_cli.testing.subject import require
from barry_cli.testing.turn_store_kit import Case, Effect, descriptor, refuses, refuses_to, request


def _allow(interrupt_id: str, *, persist: bool | None = None) -> ApprovalDecision:
    return ApprovalDecision(interrupt_id=interrupt_id, decision=Allowed(persist=persist))


def _deny(interrupt_id: str) -> ApprovalDecision:
    return ApprovalDecision(interrupt_id=interrupt_id, decision=Denied(reason="no"))


async def a_paused_turn_waits(case: Case) -> None:
    """A checkpoint, one pending interrupt and one event per call, all at once."""
    calls = (request("a", 1), request("b", 2))
    turn_id, _, paused = case.put_down(*calls)
    require(paused.state == "waiting_for_input", f"a paused turn is {paused.state}")
    require(
        [each.call for each in paused.interrupts] == list(calls), "the interrupts are other calls"
    )
    statuses = {each.status for each in paused.interrupts}
    require(statuses == {"pending"}, f"the interrupts of a new pause are {statuses}")
    require(case.store.last_sequence(case.session) == 2, "a pause does not record what it asks")
    require(not case.store.decisions(case.session, turn_id), "there is a decision that nobody made")
    refuses("a second turn while one waits", case.admit)


async def a_turn_goes_on_when_all_is_decided(case: Case) -> None:
    """Decisions may come one by one; the turn runs again after the last one."""
    turn_id, _, paused = case.put_down(request("a", 1), request("b", 2))
    first, second = (each.id for each in paused.interrupts)
    state = case.resolve(turn_id, _allow(first)).state
    require(state == "waiting_for_input", f"with a decision missing the turn is {state}")
    ended = case.resolve(turn_id, _deny(second))
    require(ended.state == "running", f"with all decided the turn is {ended.state}")
    statuses = [each.status for each in ended.interrupts]
    require(statuses == ["approved", "denied"], f"the interrupts are {statuses}")
    found = dict(case.store.decisions(case.session, turn_id))
    require(
        found == {"a": Allowed(), "b": Denied(reason="no")}, f"the decisions come back as {found}"
    )


async def a_decision_is_made_once(case: Case) -> None:
    """The same request again changes nothing; another answer, or a half-good one, is refused."""
    turn_id, _, paused = case.put_down(request("a", 1), request("b", 2))
    first, second = (each.id for each in paused.interrupts)
    refuses("a decision about nothing", lambda: case.resolve(turn_id))
    refuses(
        "decisions of which one is unknown",
        lambda: case.resolve(turn_id, _allow(first), _allow("nothing")),
    )
    refuses(
        "two decisions about one interrupt",
        lambda: case.resolve(turn_id, _allow(first), _deny(first)),
    )
    statuses = {each.status for each in case.store.snapshot(case.session, turn_id).interrupts}
    require(statuses == {"pending"}, "a part of a refused request is recorded")
    one = case.resolve(turn_id, _allow(first), request="r")
    again = case.resolve(turn_id, _allow(first), request="r")
    require(one.revision == again.revision, "the same request changes something the second time")
    refuses(
        "another body under the same request",
        lambda: case.resolve(turn_id, _deny(first), request="r"),
    )
    refuses("a decision the other way", lambda: case.resolve(turn_id, _deny(first)))
    case.resolve(turn_id, _allow(first), _allow(second))
    require(case.state(turn_id) == "running", "the same decision again is refused")


async def of_two_decisions_one_holds(case: Case) -> None:
    """Two people decide against each other: the first is recorded, the second is told."""
    turn_id, _, paused = case.put_down(request("a"))
    interrupt = paused.interrupts[0].id
    second = await case.another()
    made = []
    for store, decision in ((case.store, _allow(interrupt)), (second, _deny(interrupt))):
        try:
            case.resolve(turn_id, decision, store=store)
            made.append(decision.decision)
        except BarryError:
            continue
    require(len(made) == 1, f"{len(made)} of two contrary decisions are accepted")
    held = second.decisions(case.session, turn_id)["a"]
    require(held.allow is made[0].allow, "the decision that holds is not the one accepted")


async def an_expired_call_is_denied(case: Case) -> None:
    """Who decides too late is told, and the turn goes on with a denial."""
    past = datetime.now(UTC) - timedelta(minutes=5)
    turn_id, _, paused = case.put_down(request("a"), until=past)
    interrupt = paused.interrupts[0].id
    refuses("a decision that comes too late", lambda: case.resolve(turn_id, _allow(interrupt)))
    found = case.store.snapshot(case.session, turn_id)
    require(found.interrupts[0].status == "expired", "what is expired is not recorded as such")
    require(found.state == "running", f"a turn whose calls have expired is {found.state}")
    decision = case.store.decisions(case.session, turn_id).get("a")
    require(decision is not None and not decision.allow, "an expired call is not denied")


async def a_cancelled_turn_asks_no_more(case: Case) -> None:
    """What waits is cancelled with its turn, and can't be decided any more."""
    turn_id, _, paused = case.put_down(request("a"))
    ended = case.store.cancel(case.session, turn_id)
    require(ended.interrupts[0].status == "cancelled", "an interrupt outlives its turn")
    refuses(
        "a decision about a cancelled turn",
        lambda: case.resolve(turn_id, _allow(paused.interrupts[0].id)),
    )


async def a_kept_answer_decides(case: Case) -> None:
    """``persist`` answers every later call of the same shape in this session, and no other."""
    turn_id, owner, paused = case.put_down(request("a", {"x": 1}))
    case.resolve(turn_id, _allow(paused.interrupts[0].id, persist=True))
    case.store.released(case.session, turn_id, owner)
    require(case.store.claim(case.session, turn_id, owner), "a resolved turn can't be claimed")
    calls = (request("b", {"x": 1}), request("c", {"x": 2}), request("d", {"x": 1}, "other"))
    later = case.store.pause(case.session, turn_id, owner, descriptor(), calls)
    statuses = [each.status for each in later.interrupts[-3:]]
    require(
        statuses == ["approved", "pending", "pending"],
        f"after a kept answer the same call, another input and another tool are {statuses}",
    )
    case.store.cancel(case.session, turn_id)
    case.store.released(case.session, turn_id, owner)
    turn_id, owner, paused = case.put_down(request("e", {"x": 1}))
    require(paused.state == "running", "a turn whose calls are all answered waits")
    found = case.store.decisions(case.session, turn_id).get("e")
    require(found is not None and found.allow, "a kept answer is no decision")


async def an_effect_happens_once(case: Case) -> None:
    """The second time its result is given, and it does not run."""
    turn_id, owner = case.begin()
    effect = Effect({"out": [1, None]})
    call = request("a", {"x": 1})
    require(case.store.recorded(case.session, turn_id, call) is None, "a new call has a result")
    for _ in range(2):
        result = await case.store.execute(case.session, turn_id, owner, call, effect)
        require(result.result == {"out": [1, None]}, "a result comes back as another")
        require(result.id == "a", "a result is not under its call's id")
    require(effect.ran == 1, f"an effect ran {effect.ran} times")
    second = await case.another()
    found = second.recorded(case.session, turn_id, call)
    require(found is not None and found.result == effect.answer, "a result is not recorded")
    await refuses_to(
        "a call with another input",
        lambda: case.store.execute(case.session, turn_id, owner, request("a", 2), effect),
    )
    refuses(
        "the result of another input",
        lambda: case.store.recorded(case.session, turn_id, request("a", 2)),
    )
    require(effect.ran == 1, "an effect ran for another input")


async def an_effect_is_not_begun_twice(case: Case) -> None:
    """While it runs it is refused, and not run."""
    turn_id, owner = case.begin()
    inner = Effect()
    call = request("a")

    async def outer() -> RecordedCallResult:
        await refuses_to(
            "a call that runs",
            lambda: case.store.execute(case.session, turn_id, owner, call, inner),
        )
        return RecordedCallResult(id="a", result=None)

    await case.store.execute(case.session, turn_id, owner, call, outer)
    require(inner.ran == 0, "an effect ran twice at once")


async def an_effect_that_fails_has_failed(case: Case) -> None:
    """An error is a result: recorded, and given again without another try."""
    turn_id, owner = case.begin()
    ran = []

    async def fail() -> RecordedCallResult:
        ran.append(1)
        raise OSError("the pipe is broken")

    for _ in range(2):
        result = await case.store.execute(case.session, turn_id, owner, request("a"), fail)
        require(result.error is True, "an effect that raised has no error")
    require(len(ran) == 1, "an effect that failed is tried again")


async def an_interrupted_effect_is_uncertain(case: Case) -> None:
    """Nobody knows how far it came, so it never runs again by itself."""
    turn_id, owner = case.begin()
    effect = Effect()
    call = request("a")

    async def interrupted() -> RecordedCallResult:
        raise asyncio.CancelledError

    try:
        await case.store.execute(case.session, turn_id, owner, call, interrupted)
    except asyncio.CancelledError:
        pass
    else:
        require(False, "an effect that was interrupted has a result")
    await refuses_to(
        "a call of which nobody knows how it went",
        lambda: case.store.execute(case.session, turn_id, owner, call, effect),
    )
    require(effect.ran == 0, "a call runs again that may have run")


async def a_denied_call_does_not_run(case: Case) -> None:
    """What its harness is told is recorded, and given again."""
    turn_id, owner = case.begin()
    effect = Effect()
    call = request("a")
    told = RecordedCallResult(id="a", result="not allowed", error=True)
    for _ in range(2):
        result = case.store.denied(case.session, turn_id, owner, call, told)
        require(result == told, "what a harness is told comes back as another")
    result = await case.store.execute(case.session, turn_id, owner, call, effect)
    require(result == told and effect.ran == 0, "a denied call runs")
    require(case.store.recorded(case.session, turn_id, call) == told, "a denial is not recorded")
