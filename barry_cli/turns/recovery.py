"""What a host does with its session's turns when it starts: nothing is lost, nothing is stolen."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from barry_cli.base.problems import Refused
from barry_cli.contract.turns import TurnExecutionStore

if TYPE_CHECKING:
    from barry_cli.contract.turns import TurnSnapshot, TurnState
    from barry_cli.turns.execution import TurnExecution

OWNER_GONE = (
    "the process that ran this turn is gone, and how far the turn came is not known: look at what "
    "it did before you ask again"
)


class OrphanedTurn(Protocol):
    """A turn held by an owner who is gone. ``put_down``: nothing is lost with them."""

    @property
    def session_id(self) -> str: ...
    @property
    def turn_id(self) -> str: ...
    @property
    def put_down(self) -> bool: ...


class RunnableTurn(Protocol):
    """A turn that runs and that nobody holds."""

    @property
    def turn(self) -> TurnSnapshot: ...
    @property
    def input(self) -> Any: ...
    @property
    def restoring(self) -> bool: ...


class RecoverableStore(TurnExecutionStore, Protocol):
    """A store that also says what a crash left behind."""

    def orphans(self) -> Sequence[OrphanedTurn]: ...
    def free(self, session_id: str, turn_id: str) -> TurnSnapshot:
        """Take a gone owner off a turn that was put down, or that is over."""
        ...

    def runnable(self, session_id: str | None = None) -> Sequence[RunnableTurn]: ...
    def list_turns(self, session_id: str) -> Sequence[TurnSnapshot]: ...


def settle_orphans(store: RecoverableStore, session_id: str | None = None) -> dict[str, TurnState]:
    """Record what became of the turns whose owners are gone; their states, by turn.

    One that was put down, or is over, is only freed. Another is ``recovery_required``: what was
    begun may have had its effect, so nothing of it runs again by itself. Needs no harness, so that
    anybody who looks may do it.
    """
    settled: dict[str, TurnState] = {}
    for orphan in store.orphans():
        if session_id in (None, orphan.session_id):
            found = (orphan.session_id, orphan.turn_id)
            with suppress(Refused):  # another process was quicker
                turn = store.free(*found) if orphan.put_down else store.lost(*found, OWNER_GONE)
                settled[turn.id] = turn.state
    return settled


def recover_turns(
    execution: TurnExecution, store: RecoverableStore, session_id: str
) -> list[TurnSnapshot]:
    """Go on with the turns of a session after a crash; those that ``execution`` was given.

    What can run runs, what waits is watched, and where nothing is active the next of the queue
    begins. Turns that a living process holds are left to it. Raises StoreProblem, SessionNotFound.
    """
    settle_orphans(store, session_id)
    given = []
    for each in store.runnable(session_id):
        execution.recover(each.turn, each.input, each.restoring)
        given.append(each.turn)
    for turn in store.list_turns(session_id):
        if turn.state == "waiting_for_input":
            execution.recover(turn)
            given.append(turn)
    promoted = store.promote_queued(session_id)
    if promoted is not None:
        content, turn = promoted
        execution.recover(turn, content, restoring=False)
        given.append(turn)
    return given
