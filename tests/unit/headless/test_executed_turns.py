"""Turns of a driven agent run through TurnExecution, over the embedded store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.paths import folders
from barry_cli.contract.continuation import ContinuationHarness
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.contract.turns import ApprovalDecision, AutomaticReview, RequiredReview
from barry_cli.headless.continuation import agent_continuation
from barry_cli.turns.execution import TurnExecution, TurnExecutionDependencies
from barry_cli.turns.store.sessions import Sessions
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.turn_harness import SESSION, add_session
from tests.unit.headless.test_agent_session import PROMISE, asking_agent
from tests.unit.headless.toy_agent import config


class World:
    """One session of the asking agent, in a folder of its own."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.allowed = True
        add_session(Sessions(folders()))
        self.store = SqliteTurnStore(folders())
        self.execution = TurnExecution(
            TurnExecutionDependencies(
                store=self.store, authorize=self.authorize, open_harness=self.open
            )
        )

    async def authorize(self, session_id: str, call: PermissionRequest) -> Allowed | Denied:
        return Allowed() if self.allowed else Denied(reason="the policy says no")

    async def open(self, session_id: str) -> ContinuationHarness:
        return await agent_continuation(
            asking_agent(), config(cwd=str(self.cwd)), adapter_id="demo", guarantees=PROMISE
        )

    async def turn(self, text: str, policy: Any) -> Any:
        turn = self.execution.admit(
            session_id=SESSION, request_id=text, run_id="r", actor="a", content=text, policy=policy
        )
        await self.execution.settled(turn.id)
        return self.store.snapshot(SESSION, turn.id)

    def types(self, turn_id: str) -> list[str]:
        found = [each for each in self.store.events(SESSION) if each.turn_id == turn_id]
        return [each.event["type"] for each in found]


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    (tmp_path / "work").mkdir()
    made = World(tmp_path / "work")
    yield made
    await made.execution.close()
    made.store.close()


@pytest.mark.parametrize("allowed", [True, False])
async def test_the_authority_in_force_rules(world: World, allowed: bool) -> None:
    world.allowed = allowed
    turn = await world.turn("run touch it", AutomaticReview())
    assert (turn.state, turn.error) == ("completed", None)
    assert (world.cwd / "it").exists() is allowed
    assert world.types(turn.id).count("done") == 1
    if not allowed:
        assert "the policy says no" in turn.result


@pytest.mark.parametrize("yes", [True, False])
async def test_a_person_rules(world: World, yes: bool) -> None:
    turn = await world.turn("run touch it", RequiredReview())
    assert turn.state == "waiting_for_input"
    assert not (world.cwd / "it").exists()
    (interrupt,) = turn.interrupts
    decision = Allowed() if yes else Denied(reason="not today")
    world.execution.resolve(
        session_id=SESSION, turn_id=turn.id, run_id="r2", request_id="q", actor="a",
        decisions=[ApprovalDecision(interrupt_id=interrupt.id, decision=decision)],
    )  # fmt: skip
    await world.execution.settled(turn.id)
    turn = world.store.snapshot(SESSION, turn.id)
    assert turn.state == "completed"
    assert (world.cwd / "it").exists() is yes


async def test_the_next_turn_goes_on_with_the_conversation(world: World) -> None:
    first = await world.turn("remember this", AutomaticReview())
    second = await world.turn("recall", AutomaticReview())
    assert (first.state, second.state) == ("completed", "completed")
    assert "remember this" in second.result
    named = [each.event for each in world.store.events(SESSION) if each.event["type"] == "init"]
    assert len({each["harnessSessionId"] for each in named}) == 1


async def test_a_cancelled_turn(world: World) -> None:
    turn = world.execution.admit(
        session_id=SESSION, request_id="x", run_id="r", actor="a", content="run sleep 60",
        policy=AutomaticReview(),
    )  # fmt: skip
    while "tool_use" not in world.types(turn.id):
        await asyncio.sleep(0.02)
    ended = await world.execution.cancel(SESSION, turn.id)
    assert ended.state == "cancelled"
    assert world.types(turn.id).count("done") == 1
