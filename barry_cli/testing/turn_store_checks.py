"""What every store of turns has to keep to: how turns come in, are held, logged and ended."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from barry_cli.contract.data import snapshot
from barry_cli.contract.events import Done, Text
from barry_cli.contract.turns import AutomaticReview, TurnFinish, TurnSnapshot
from barry_cli.testing.subject import require
from barry_cli.testing.turn_store_kit import Case, Effect, descriptor, refuses, refuses_to, request

COMPLETED = TurnFinish(state="completed", events=(Done(),))
CANARY = "canary-7c1d"


async def a_request_is_admitted_once(case: Case) -> None:
    """The same request with the same body gives the same turn; with another body it is refused."""

    def admit(content: Any, actor: str = "ada") -> TurnSnapshot:
        return case.store.admit(
            session_id=case.session,
            request_id="one",
            run_id="run",
            actor=actor,
            content=content,
            policy=AutomaticReview(),
        )

    first = admit({"a": 1, "b": [None]})
    again = admit({"b": [None], "a": 1})
    require(first.id == again.id, "the same request gives another turn the second time")
    refuses("another content under the same request", lambda: admit({"a": 2}))
    refuses("another actor under the same request", lambda: admit({"a": 1, "b": [None]}, "bob"))


async def turns_come_one_at_a_time(case: Case) -> None:
    """A second turn is refused or queued; the queue is first come, first served."""
    turn_id, owner = case.begin()
    refuses("a second turn while one is active", case.admit)
    second, third = case.admit("second", queue=True), case.admit("third", queue=True)
    states = {second.state, third.state}
    require(states == {"queued"}, f"turns behind an active one are {states}, not queued")
    require(
        not case.store.claim(case.session, second.id, case.kit.living_owner()),
        "a queued turn can be claimed",
    )
    require(
        case.store.promote_queued(case.session) is None, "a turn is promoted beside an active one"
    )
    case.store.finish(case.session, turn_id, owner, COMPLETED)
    case.store.released(case.session, turn_id, owner)
    for expected in (second, third):
        promoted = case.store.promote_queued(case.session)
        require(promoted is not None, "nothing is promoted, though a turn is queued")
        assert promoted is not None
        content, turn = promoted
        require(turn.id == expected.id, "the queue is not first come, first served")
        require(turn.state == "running", f"a promoted turn is {turn.state}, not running")
        wanted = "second" if turn.id == second.id else "third"
        require(content == wanted, f"a promoted turn's input is {content!r}, not {wanted!r}")
        case.store.cancel(case.session, turn.id)
    require(case.store.promote_queued(case.session) is None, "an empty queue gives a turn")


async def what_is_unknown_is_refused(case: Case) -> None:
    """A session or a turn that isn't there is a problem, and nothing is made of it."""
    turn_id, owner = case.begin()
    other = await case.kit.new_session()
    store = case.store
    for at in (("nowhere", turn_id), (case.session, "nothing"), (other, turn_id)):
        where = f"turn {at[1]} of session {at[0]}"
        refuses(f"a snapshot of {where}", partial(store.snapshot, *at))
        refuses(f"a claim of {where}", partial(store.claim, *at, owner))
        refuses(f"an event of {where}", partial(store.append, *at, _said()))
        refuses(f"the end of {where}", partial(store.cancel, *at))
        refuses(f"the decisions of {where}", partial(store.decisions, *at))
    refuses("the queue of an unknown session", lambda: store.promote_queued("nowhere"))
    refuses("the conversation of an unknown session", lambda: store.conversation("nowhere"))
    refuses("the log of an unknown session", lambda: store.last_sequence("nowhere"))


async def a_turn_is_claimed_once(case: Case) -> None:
    """Whoever comes second gets False, and one that is over can't be had."""
    turn_id, owner = case.begin()
    second = await case.another()
    for store in (case.store, second):
        for who in (case.kit.living_owner(), owner):
            require(
                not store.claim(case.session, turn_id, who), "a turn that is held is claimed again"
            )
    case.store.finish(case.session, turn_id, owner, COMPLETED)
    require(
        not second.claim(case.session, turn_id, case.kit.living_owner()),
        "a turn that is over can be claimed",
    )


async def a_turn_at_rest_is_taken_up(case: Case) -> None:
    """Who claims a turn at rest holds it, and claims it once more to begin."""
    turn, owner = case.admit(), case.kit.living_owner()
    second = await case.another()
    store = case.store
    require(store.claim(case.session, turn.id, owner, at_rest=True), "it can't be claimed at rest")
    require(
        not second.claim(case.session, turn.id, case.kit.living_owner()),
        "a turn that is held at rest is claimed by another",
    )
    require(store.claim(case.session, turn.id, owner), "a turn held at rest can't be taken up")
    require(
        not store.claim(case.session, turn.id, owner), "a turn that was taken up is claimed again"
    )
    ended = store.finish(case.session, turn.id, owner, COMPLETED)
    require(ended.state == "completed", f"a turn that was taken up and completed is {ended.state}")


async def a_gone_owners_turn_is_not_stolen(case: Case) -> None:
    """That its owner has ended makes a turn lost, never free to be claimed."""
    turn_id, _ = case.begin(case.kit.dead_owner())
    second = await case.another()
    require(
        not second.claim(case.session, turn_id, case.kit.living_owner()),
        "the turn of an owner who is gone is claimed by another",
    )


async def writes_are_fenced(case: Case) -> None:
    """Only the object that claimed the turn writes to it, and only in its present claim."""
    turn_id, owner = case.begin()
    second = await case.another()
    effect = Effect()

    async def no_write(store: Any, whose: str) -> None:
        act: dict[str, Callable[[], object]] = {
            "pause": lambda: store.pause(case.session, turn_id, owner, descriptor(), ()),
            "finish": lambda: store.finish(case.session, turn_id, owner, COMPLETED),
            "append": lambda: store.append(case.session, turn_id, _said()),
            "released": lambda: store.released(case.session, turn_id, owner),
        }
        for name, work in act.items():
            refuses(f"{name} by {whose}", work)
        await refuses_to(
            f"execute by {whose}",
            lambda: store.execute(case.session, turn_id, owner, request("c"), effect),
        )

    await no_write(second, "who never claimed the turn, under its owner's name")
    refuses(
        "finish by another owner",
        lambda: case.store.finish(case.session, turn_id, case.kit.living_owner(), COMPLETED),
    )
    case.store.released(case.session, turn_id, owner)
    require(
        second.claim(case.session, turn_id, owner), "a turn that was given back can't be claimed"
    )
    await no_write(case.store, "a claim that was given back")
    require(effect.ran == 0, "an effect ran for who doesn't hold the turn")
    require(case.state(turn_id) == "running", "a refused write changed the turn")
    second.append(case.session, turn_id, _said())


async def revisions_grow(case: Case) -> None:
    """Each change of a turn has a higher revision."""
    turn = case.admit()
    seen, owner = [turn.revision], case.kit.living_owner()
    case.store.claim(case.session, turn.id, owner)
    seen.append(case.store.snapshot(case.session, turn.id).revision)
    paused = case.store.pause(case.session, turn.id, owner, descriptor(), (request("c"),))
    seen.append(paused.revision)
    seen.append(case.store.cancel(case.session, turn.id).revision)
    require(seen == sorted(set(seen)), f"the revisions of a turn that changes are {seen}")


async def events_are_numbered(case: Case) -> None:
    """A session's events are numbered from 1 without a gap, over turns and over objects."""
    store = case.store
    require(store.last_sequence(case.session) == 0, "a new session has events")
    turn_id, owner = case.begin()
    numbers = [store.append(case.session, turn_id, _said(each)) for each in range(5)]
    require(numbers == [1, 2, 3, 4, 5], f"the first five events are numbered {numbers}")
    number = store.append(case.session, turn_id, {"type": "text", "text": "as JSON"})
    require(number == 6, f"the sixth event is numbered {number}")
    store.finish(case.session, turn_id, owner, COMPLETED)
    require(store.last_sequence(case.session) == 7, "the end of a turn did not record its events")
    store.released(case.session, turn_id, owner)
    turn_id, _ = case.begin()
    number = store.append(case.session, turn_id, _said())
    require(number == 8, f"the next turn's first event is numbered {number}, not 8")
    other = await case.another()
    require(other.last_sequence(case.session) == 8, "another object sees another number")


async def nothing_follows_the_end(case: Case) -> None:
    """A turn that is over takes no event, no decision and no other end."""
    turn_id, owner = case.begin()
    case.store.finish(case.session, turn_id, owner, COMPLETED)
    before = case.store.last_sequence(case.session)
    refuses("an event after the end", lambda: case.store.append(case.session, turn_id, _said()))
    refuses(
        "a second end",
        lambda: case.store.finish(
            case.session, turn_id, owner, TurnFinish(state="failed", events=(Done(),))
        ),
    )
    require(case.store.last_sequence(case.session) == before, "what was refused is recorded")
    require(
        case.store.cancel(case.session, turn_id).state == "completed",
        "a turn that was completed is cancelled afterwards",
    )


async def a_cancelled_turn_stays_cancelled(case: Case) -> None:
    """Cancelled once and for good, with one done; its owner's end changes nothing."""
    turn_id, owner = case.begin()
    effect = Effect()
    second = await case.another()
    require(second.cancel(case.session, turn_id).state == "cancelled", "it is not cancelled")
    after = case.store.last_sequence(case.session)
    require(after == 1, f"a cancelled turn has {after} events, not its done alone")
    second.cancel(case.session, turn_id)
    await refuses_to(
        "an effect after the turn was cancelled",
        lambda: case.store.execute(case.session, turn_id, owner, request("c"), effect),
    )
    require(effect.ran == 0, "an effect ran after the turn was cancelled")
    ended = case.store.finish(case.session, turn_id, owner, COMPLETED)
    require(ended.state == "cancelled", f"a cancelled turn became {ended.state}")
    require(case.store.last_sequence(case.session) == after, "a cancelled turn has two ends")
    case.store.released(case.session, turn_id, owner)


async def only_a_gone_owner_is_lost(case: Case) -> None:
    """``lost`` is refused while the owner lives; then the turn waits for a person."""
    turn_id, owner = case.begin()
    second = await case.another()
    refuses("lost, while the owner lives", lambda: second.lost(case.session, turn_id, "gone"))
    case.store.append(case.session, turn_id, _said())
    case.store.finish(case.session, turn_id, owner, COMPLETED)
    case.store.released(case.session, turn_id, owner)

    turn_id, owner = case.begin(case.kit.dead_owner())
    before = case.store.last_sequence(case.session)
    lost = second.lost(case.session, turn_id, "its process has ended")
    require(lost.state == "recovery_required", f"a lost turn is {lost.state}")
    require(lost.error == "its process has ended", "a lost turn does not say why")
    require(
        second.last_sequence(case.session) == before + 2, "a lost turn has no error and no done"
    )
    refuses("an event by who lost it", lambda: case.store.append(case.session, turn_id, _said()))
    refuses(
        "an end by who lost it",
        lambda: case.store.finish(case.session, turn_id, owner, COMPLETED),
    )
    require(
        not second.claim(case.session, turn_id, case.kit.living_owner()), "a lost turn runs again"
    )


async def values_come_back_as_they_were(case: Case) -> None:
    """JSON that has one meaning is kept as it is; what would change is refused, and not kept."""
    kept = {"ä": [1, 1.5, True, None, "\u2028", {"": []}], "n": 2**53}
    first, owner = case.begin()
    case.admit(kept, queue=True)
    finish = TurnFinish(state="completed", result=kept, events=(Done(),))
    ended = case.store.finish(case.session, first, owner, finish)
    require(ended.result == kept, "a result comes back as another")
    case.store.released(case.session, first, owner)
    promoted = case.store.promote_queued(case.session)
    require(promoted is not None and promoted[0] == kept, "an input comes back as another")
    assert promoted is not None
    case.store.cancel(case.session, promoted[1].id)
    before = case.store.last_sequence(case.session)
    for value in (math.nan, math.inf, 2**53 + 1, {1: "a"}, "\ud800", b"bytes", {"a": {2}}):
        refuses(f"the input {value!r}", partial(case.admit, value))
    turn_id, owner = case.begin()
    refuses(
        "an event with NaN",
        lambda: case.store.append(case.session, turn_id, {"type": "text", "text": math.nan}),
    )
    refuses("an event without a type", lambda: case.store.append(case.session, turn_id, {}))
    refuses("an event that is a number", lambda: case.store.append(case.session, turn_id, 7))
    require(case.store.last_sequence(case.session) == before, "what was refused is recorded")


async def what_is_private_is_kept_apart(case: Case) -> None:
    """Checkpoint and conversation come back whole, and no snapshot or problem shows them."""
    turn_id, owner = case.begin()
    store = case.store
    require(store.conversation(case.session) is None, "a new session has a conversation")
    refuses(
        "the checkpoint of a turn without one", lambda: store.continuation(case.session, turn_id)
    )
    checkpoint = descriptor({"secret": CANARY})
    paused = store.pause(case.session, turn_id, owner, checkpoint, (request("c"),))
    require(store.continuation(case.session, turn_id) == checkpoint, "a checkpoint changed")
    ended = store.finish(
        case.session, turn_id, owner, TurnFinish(state="failed", conversation=checkpoint)
    )
    require(store.conversation(case.session) == checkpoint, "a conversation changed")
    for shown in (paused, ended, store.snapshot(case.session, turn_id)):
        require(CANARY not in repr(snapshot(shown)), "a snapshot shows what is private")
    problem = refuses(
        "a second pause", lambda: store.pause(case.session, turn_id, owner, checkpoint, ())
    )
    require(
        CANARY not in f"{problem} {problem.hint} {problem.details}",
        "a problem shows what is private",
    )


async def the_record_outlives_its_objects(case: Case) -> None:
    """What one object recorded, another finds."""
    turn_id, owner, paused = case.put_down(request("c", {"a": 1}))
    second = await case.another()
    found = second.snapshot(case.session, turn_id)
    require(found == paused, "another object sees another turn")
    require(
        second.continuation(case.session, turn_id) == descriptor(), "another checkpoint is found"
    )
    case.store.released(case.session, turn_id, owner)


def _said(text: object = "hello") -> Text:
    return Text(text=str(text))
