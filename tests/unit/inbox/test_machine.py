"""Any order of steps, by any owner: a message goes in once, or it is said that nobody knows."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from barry_cli.base.paths import folders
from barry_cli.inbox.messages import NOT_OBSERVABLE
from barry_cli.inbox.spool import Spool
from tests.unit.inbox.sessions import ME, session

OWNERS = ("one", "two")
PLACE = st.integers(0, 4)
WHO = st.sampled_from(OWNERS)


class Messages(RuleBasedStateMachine):
    """What the spool says is compared with a list of what was done."""

    def __init__(self) -> None:
        super().__init__()
        self.session_id = session().id
        self.gone: set[str] = set()
        self.spools = {
            name: Spool(folders(), owner=name, gone=self.gone.__contains__) for name in OWNERS
        }
        self.known: list[dict[str, Any]] = []

    def teardown(self) -> None:
        for each in self.spools.values():
            each.close()

    def at(self, place: int) -> dict[str, Any]:
        if self.known and place:  # else one that there is not
            return self.known[place % len(self.known)]
        return {"id": "none", "state": "", "owner": None, "begun": 0, "reason": None}

    def step(self, it: dict[str, Any], allowed: bool, happened: bool, to: str, **more: Any) -> None:
        assert happened is allowed, (it, to)
        if allowed:
            it.update({"state": to, "owner": None, "reason": None, **more})

    @rule(who=WHO)
    def hold(self, who: str) -> None:
        if len(self.known) < 4:
            message_id = f"m{len(self.known)}"
            held = self.spools[who].hold(self.session_id, message_id, sender=ME, id=message_id)
            assert held.seq == len(self.known) + 1
            self.known.append(
                {"id": message_id, "state": "held", "owner": None, "begun": 0, "reason": None}
            )

    @rule(who=WHO, place=PLACE)
    def hold_again(self, who: str, place: int) -> None:
        it = self.at(place)
        if it["state"]:
            held = self.spools[who].hold(self.session_id, it["id"], sender=ME, id=it["id"])
            assert (f"m{held.seq - 1}", held.state) == (it["id"], it["state"])

    @rule(who=WHO, place=PLACE)
    def begin(self, who: str, place: int) -> None:
        it = self.at(place)
        allowed = it["state"] == "held"
        done = self.spools[who].begin(self.session_id, it["id"])
        self.step(it, allowed, done, "writing", owner=who, begun=it["begun"] + 1)

    @rule(who=WHO, place=PLACE)
    def back(self, who: str, place: int) -> None:
        it = self.at(place)
        allowed = it["state"] == "writing" and it["owner"] == who
        done = self.spools[who].back(self.session_id, it["id"])
        self.step(it, allowed, done, "held", begun=it["begun"] - 1)  # nothing received it

    @rule(who=WHO, place=PLACE, reason=st.sampled_from((None, NOT_OBSERVABLE)))
    def written(self, who: str, place: int, reason: str | None) -> None:
        it = self.at(place)
        allowed = it["state"] == "writing" and it["owner"] == who
        done = self.spools[who].written(self.session_id, it["id"], reason=reason)
        self.step(it, allowed, done, "written", reason=reason)

    @rule(who=WHO, place=PLACE, reason=st.sampled_from((None, NOT_OBSERVABLE)))
    def write(self, who: str, place: int, reason: str | None) -> None:
        self.begin(who, place)
        self.written(who, place, reason)

    @rule(who=WHO, place=PLACE)
    def consumed(self, who: str, place: int) -> None:
        it = self.at(place)
        allowed = it["state"] in ("writing", "written", "uncertain")
        self.step(it, allowed, self.spools[who].consumed(self.session_id, it["id"]), "consumed")

    @rule(who=WHO, place=PLACE)
    def failed(self, who: str, place: int) -> None:
        it = self.at(place)
        allowed = it["state"] in ("held", "writing", "written")
        done = self.spools[who].failed(self.session_id, it["id"], "no")
        self.step(it, allowed, done, "failed", reason="no")

    @rule(who=WHO, place=PLACE)
    def uncertain(self, who: str, place: int) -> None:
        it = self.at(place)
        allowed = it["state"] in ("writing", "written")
        done = self.spools[who].uncertain(self.session_id, it["id"], "who knows")
        self.step(it, allowed, done, "uncertain", reason="who knows")

    @rule(who=WHO, over=st.booleans(), dead=st.sets(WHO))
    def settle(self, who: str, over: bool, dead: set[str]) -> None:
        self.gone |= dead
        changed = self.spools[who].settle(self.session_id, over=over)
        self.gone.clear()
        expected = []
        for it in self.known:
            cut = it["state"] == "writing" and (over or it["owner"] in dead)
            unseen = it["state"] == "written" and over and it["reason"] is None
            if cut or unseen:
                it.update({"state": "uncertain", "owner": None})
                expected.append(it["id"])
        assert [each.id for each in changed] == expected
        for each in changed:
            self.known[each.seq - 1]["reason"] = each.reason
            assert each.reason

    @invariant()
    def all_is_as_it_was_done(self) -> None:
        found = self.spools["one"].list(self.session_id)
        assert [(each.id, each.state, each.owner, each.reason) for each in found] == [
            (it["id"], it["state"], it["owner"], it["reason"]) for it in self.known
        ]
        # Never written twice, whatever was tried: a second beginning needs a way back between.
        assert all(it["begun"] <= 1 for it in self.known)

    @invariant()
    def the_oldest_held_one_is_next(self) -> None:
        held = [it["id"] for it in self.known if it["state"] == "held"]
        following = self.spools["two"].next(self.session_id)
        assert (None if following is None else following.id) == (held[0] if held else None)
        waiting = [it for it in self.known if it["state"] in ("held", "writing")]
        assert self.spools["two"].on_its_way(self.session_id) == len(waiting)


TestMessages = Messages.TestCase
TestMessages.settings = settings(max_examples=50, stateful_step_count=30, deadline=None)
