"""A call runs once it is on record, and its end is recorded as it was told, or as unknown."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from barry_cli.base.paths import folders
from barry_cli.contract.events import ToolResult, ToolUse
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.host.calls import NOT_RECORDED, Calls
from barry_cli.host.masking import Mask
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.unit.turns.store.places import begin, new_session


class Turn:
    """A turn under way."""

    def __init__(self, decision: Allowed | Denied) -> None:
        self.store = SqliteTurnStore(folders())
        self.session_id = new_session()
        self.turn_id, owner = begin(self.store, self.session_id)

        async def ruling(request: PermissionRequest) -> Allowed | Denied:
            return decision

        self.calls = Calls(self.store, self.session_id, self.turn_id, owner, ruling, Mask([]))

    def states(self) -> dict[str, str]:
        with sqlite3.connect(f"{folders().database.as_uri()}?mode=ro", uri=True) as connection:
            return dict(connection.execute("SELECT id, state FROM call").fetchall())


@pytest.fixture
def turn() -> Iterator[Turn]:
    made = Turn(Allowed())
    yield made
    made.store.close()


def asked(id: str = "1", **given: Any) -> PermissionRequest:
    return PermissionRequest(id=id, tool="Shell", input={"command": "ls", **given})


async def test_it_is_on_record_before_it_runs(turn: Turn) -> None:
    assert await turn.calls.decide(asked()) == Allowed()
    assert turn.states() == {"1": "executing"}
    turn.calls.see(ToolUse(id="1", tool="Shell", input={"command": "ls"}))
    turn.calls.see(ToolResult(id="1", result="a b"))
    await turn.calls.settle(over=True)
    assert turn.states() == {"1": "completed"}


async def test_its_failure_is_recorded(turn: Turn) -> None:
    await turn.calls.decide(asked())
    turn.calls.see(ToolResult(id="1", result="no", error=True))
    await turn.calls.settle(over=True)
    assert turn.states() == {"1": "failed"}


async def test_it_may_be_told_of_under_another_id(turn: Turn) -> None:
    """Some harnesses ask under one id, and tell of the call under another."""
    await turn.calls.decide(asked("ask-1"))
    await turn.calls.decide(asked("ask-2", more=1))
    turn.calls.see(ToolUse(id="use-2", tool="Shell", input={"command": "ls", "more": 1}))
    turn.calls.see(ToolResult(id="use-2", result="done"))
    await asyncio.sleep(0)
    await turn.calls.settle(over=False)
    assert turn.states() == {"ask-1": "uncertain", "ask-2": "completed"}


async def test_what_never_ended_is_uncertain_unless_the_turn_came_to_its_end(turn: Turn) -> None:
    await turn.calls.decide(asked())
    await turn.calls.settle(over=False)
    assert turn.states() == {"1": "uncertain"}
    await turn.calls.decide(asked("2"))
    await turn.calls.settle(over=True)
    assert turn.states()["2"] == "completed"


async def test_a_denied_call_is_recorded_so() -> None:
    turn = Turn(Denied(reason="not here"))
    assert await turn.calls.decide(asked()) == Denied(reason="not here")
    assert turn.states() == {"1": "denied"}
    turn.store.close()


async def test_what_can_not_be_recorded_does_not_run(turn: Turn) -> None:
    turn.store.cancel(turn.session_id, turn.turn_id)
    decision = await turn.calls.decide(asked())
    assert isinstance(decision, Denied)
    assert decision.reason is not None
    assert decision.reason.startswith(NOT_RECORDED)
    assert turn.states() == {}
    await turn.calls.settle(over=False)


async def test_an_id_that_comes_again_is_another_call(turn: Turn) -> None:
    """With the same input or another, while the first runs or after it: each is on record."""
    for given in ({}, {"more": 1}, {}):
        assert await turn.calls.decide(asked(**given)) == Allowed()
    assert turn.states() == dict.fromkeys(("1", "1~2", "1~3"), "executing")
    for _ in range(2):
        turn.calls.see(ToolResult(id="1", result="done"))
    await asyncio.sleep(0)
    await turn.calls.settle(over=False)
    assert sorted(turn.states().values()) == ["completed", "completed", "uncertain"]
