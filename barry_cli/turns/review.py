"""A turn whose policy waits for nobody: the authority in force decides what its harness asks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from barry_cli.contract.turns import ApprovalDecision

if TYPE_CHECKING:
    from barry_cli.contract.session import Allowed, Denied, PermissionRequest
    from barry_cli.contract.turns import TurnExecutionStore, TurnSnapshot

REVIEWER = "authority"
"""The actor that is recorded."""


async def review_automatically(
    store: TurnExecutionStore,
    authority: Callable[[PermissionRequest], Awaitable[Allowed | Denied]],
    turn: TurnSnapshot,
) -> TurnSnapshot:
    """Decide every pending interrupt of a waiting turn, on record.

    Raises what the authority raises, then nothing is decided; and what the store raises.
    """
    pending = [each for each in turn.interrupts if each.status == "pending"]
    decisions = [
        ApprovalDecision(interrupt_id=each.id, decision=await authority(each.call))
        for each in pending
    ]
    return store.resolve(
        session_id=turn.session_id,
        turn_id=turn.id,
        run_id=turn.run_id,
        request_id=f"{REVIEWER}:{turn.id}:{turn.revision}",
        actor=REVIEWER,
        decisions=decisions,
    )
