"""An answer that comes when its session is over is no answer."""

from __future__ import annotations

import pytest

from barry_cli.base.problems import Refused
from barry_cli.contract.session import Allowed
from barry_cli.contract.turns import ApprovalDecision
from tests.turn_harness import SESSION, Ask, call
from tests.unit.turns.world import World


async def test_p10_an_answer_after_the_end_of_the_session_runs_nothing(world: World) -> None:
    world.scripts["go"] = [Ask((call("c1"), call("c2")))]
    turn = await world.done("go")
    assert [each.status for each in turn.interrupts] == ["pending", "pending"]
    await world.execution.cancel(SESSION, turn.id)
    await world.execution.close()
    over = world.turn(turn.id)
    assert [each for each in over.interrupts if each.status == "pending"] == []
    ran = list(world.trace)
    for interrupt in over.interrupts:
        late = ApprovalDecision(interrupt_id=interrupt.id, decision=Allowed())
        with pytest.raises(Refused, match=r"cancelled|over"):
            world.plain.resolve(
                session_id=SESSION, turn_id=turn.id, run_id="r", request_id=interrupt.id,
                actor="ada", decisions=[late],
            )  # fmt: skip
    assert world.effects.lines() == []
    assert [each for each in world.trace if each not in ran] == []
    assert world.turn(turn.id).state == "cancelled"
