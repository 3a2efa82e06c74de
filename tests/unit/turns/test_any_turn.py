"""Whatever harnesses, people and hosts do: each turn ends once, each call runs once."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from barry_cli.base.problems import Refused
from barry_cli.contract.continuation import SegmentCompleted, SegmentFailed
from barry_cli.contract.events import Done, Failed, PermissionRequested, UsageReported
from barry_cli.contract.models import TokenUsage
from barry_cli.contract.session import Allowed, Denied
from barry_cli.contract.turns import AutomaticReview
from barry_cli.turns.around import OVER
from barry_cli.turns.recovery import recover_turns
from tests.turn_harness import (
    CANARY,
    REVIEW,
    SESSION,
    Ask,
    Do,
    Say,
    Step,
    call,
    emits,
    gives,
    partials,
    raises,
)
from tests.unit.turns.world import World, home_in

USAGE = TokenUsage(input=1, output=1)
ODD: dict[str, Step] = {
    "partials": partials(3),
    "early done": emits(Done(usage=USAGE)),
    "two dones": emits(Done(), Done(turns=2)),
    "usage": emits(UsageReported(id="u", usage=USAGE)),
    "an own request": emits(PermissionRequested(id="x", tool="Shell", input={})),
    "an error event": emits(Failed(error="hm")),
    "an error": raises(RuntimeError("boom")),
    "an exit": raises(SystemExit(1)),
    "a failure": gives(SegmentFailed(error="sorry")),
    "an early end": gives(SegmentCompleted(result="early")),
}  # fmt: skip
STEPS = st.lists(
    st.sampled_from(["say", "ask one", "ask two", "hang", *ODD]), min_size=1, max_size=4
)
ACTIONS = st.sampled_from(["decide", "decide", "decide", "cancel", "restart", "again"])
DECISIONS = st.sampled_from([Allowed(), Allowed(), Allowed(persist=True), Denied(reason="no")])
VERDICTS = st.sampled_from(["allow", "allow", "allow", "deny", "fail"])


def script(names: list[str], turn: int) -> list[Step]:
    steps: list[Step] = []
    for at, name in enumerate(names):
        if name == "say":
            steps.append(Say(f"{turn}.{at}"))
        elif name.startswith("ask"):
            ids = [f"{turn}.{at}.{each}" for each in range(2 if name.endswith("two") else 1)]
            steps.append(Ask(tuple(call(each) for each in ids)))
        elif name == "hang":
            steps.append(Do(hang))
        else:
            steps.append(ODD[name])
    return steps


async def hang(emit: Any) -> Any:
    await asyncio.Event().wait()


@pytest.mark.timeout(300)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    scripts=st.lists(STEPS, min_size=1, max_size=3),
    actions=st.lists(ACTIONS, max_size=6),
    decisions=st.lists(DECISIONS, min_size=6, max_size=6),
    verdicts=st.lists(VERDICTS, min_size=30, max_size=30),
    automatic=st.booleans(),
)
def test_any_turn(
    scripts: list[list[str]],
    actions: list[str],
    decisions: list[Any],
    verdicts: list[str],
    automatic: bool,
) -> None:
    memory = Path("/dev/shm")
    top = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))
    try:
        asyncio.run(Story(top, scripts, actions, decisions, verdicts, automatic=automatic).tell())
    finally:
        shutil.rmtree(top)


class Story:
    """One example, from the first turn to what is left of all."""

    def __init__(
        self,
        top: Path,
        scripts: list[list[str]],
        actions: list[str],
        decisions: list[Any],
        verdicts: list[str],
        *,
        automatic: bool,
    ) -> None:
        self.top = top
        self.contents = [f"turn {number}" for number in range(len(scripts))]
        self.scripts = {
            content: script(names, number)
            for number, (content, names) in enumerate(zip(self.contents, scripts, strict=True))
        }
        self.actions = [*actions, *["decide"] * 8, *["cancel"] * 3]
        self.decisions = decisions * 9
        self.verdicts = iter(verdicts * 99)
        self.policy = AutomaticReview() if automatic else REVIEW
        self.world = self.opened()

    def opened(self) -> World:
        where = home_in(self.top)
        world = World(self.top, where=where, is_gone=lambda owner: True)
        world.scripts = self.scripts
        world.verdict = self.verdict
        return world

    def verdict(self, call: Any) -> Any:
        verdict = next(self.verdicts)
        if verdict == "fail":
            raise RuntimeError("the authority is not there")
        return Allowed() if verdict == "allow" else Denied(reason="the authority says no")

    async def tell(self) -> None:
        turns = [
            self.world.admit(content, request_id=content, policy=self.policy, if_active="queue")
            for content in self.contents
        ]
        for action in self.actions:
            await asyncio.sleep(0.004)
            states = {turn.id: self.world.turn(turn.id).state for turn in turns}
            going = [turn for turn in turns if states[turn.id] not in OVER]
            if not going:
                break
            await self.act(action, going[0], states[going[0].id])
        for turn in turns:
            if self.world.turn(turn.id).state not in OVER:
                await self.world.execution.cancel(SESSION, turn.id)
        self.check([turn.id for turn in turns])
        await self.world.close()

    async def act(self, action: str, turn: Any, state: str) -> None:
        if action == "cancel":
            await self.world.execution.cancel(SESSION, turn.id)
        elif action == "restart":
            await self.world.close()
            self.world = self.opened()
            recover_turns(self.world.execution, self.world.plain, SESSION)
        elif action == "again":
            for content in self.contents:
                self.world.admit(content, request_id=content, policy=self.policy, if_active="queue")
        elif state == "waiting_for_input" and not isinstance(self.policy, AutomaticReview):
            try:
                self.world.decide(turn.id, self.decisions.pop())
            except Refused:  # it was quicker
                assert self.world.turn(turn.id).state != "waiting_for_input"

    def check(self, turn_ids: list[str]) -> None:
        effects = Counter(self.world.effects.lines())
        assert not effects or max(effects.values()) == 1, effects
        for turn_id in turn_ids:
            turn = self.world.turn(turn_id)
            assert turn.state in OVER, turn
            kinds = self.world.kinds(turn_id)
            assert kinds.count("done") == 1, kinds
            assert kinds[-1] == "done", kinds
            assert (turn.error is None) == (turn.state in ("completed", "cancelled")), turn
            if turn.error is not None:
                errors = [each for each in self.world.events(turn_id) if each["type"] == "error"]
                assert errors[-1]["error"] == turn.error, errors
            asked = {each["id"] for each in self.world.events(turn_id)
                     if each["type"] == "permission_request"}  # fmt: skip
            assert asked <= {each.call.id for each in turn.interrupts}
            for interrupt in turn.interrupts:
                assert interrupt.status != "pending", turn
                if interrupt.status != "approved":
                    assert effects[interrupt.call.id] == 0, turn
        assert CANARY not in self.world.shown()
        assert self.world.plain.runnable() == []
