"""What every turn of one execution shares, and how a turn is told to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from barry_cli.contract.continuation import ContinuationHarness
    from barry_cli.contract.turns import TurnExecutionStore
    from barry_cli.turns.effects import Authorize
    from barry_cli.turns.recorder import WakeUp

OVER = frozenset({"completed", "failed", "cancelled", "recovery_required"})
"""The states that a turn doesn't leave."""


class Slot(Protocol):
    """Leave to run one more harness."""

    def release(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long a harness is waited for, in seconds."""

    interrupt_seconds: float = 10.0
    """From an interrupt until the segment has to be over."""
    close_seconds: float = 10.0
    """For a handle to close, and for a segment that is stopped by force."""
    watch_seconds: float = 1.0
    """How soon is seen what another process recorded: a decision, a cancellation, an expiry."""


@dataclass(frozen=True, kw_only=True)
class Surroundings:
    """What all turns of one TurnExecution have in common."""

    store: TurnExecutionStore
    authorize: Authorize
    open_harness: Callable[[str], Awaitable[ContinuationHarness]]
    acquire: Callable[[], Awaitable[Slot]] | None
    wake_up: WakeUp
    owner: str
    limits: Limits


class Signals:
    """What one turn is told from outside while it is at work."""

    def __init__(self, seconds: float) -> None:
        self.stopping: Literal["cancel", "close"] | None = None
        self._seconds = seconds
        self._nudged = asyncio.Event()

    def stop(self, why: Literal["cancel", "close"]) -> None:
        """End what runs; a cancellation goes before a mere stop."""
        if self.stopping != "cancel":
            self.stopping = why
        self._nudged.set()

    def nudge(self) -> None:
        """Look at the record: something changed."""
        self._nudged.set()

    async def wait(self, *work: asyncio.Task[Any]) -> None:
        """Until nudged, until one of the tasks is over, or until it is time to look anyway."""
        nudged = asyncio.create_task(self._nudged.wait())
        try:
            await asyncio.wait(
                {nudged, *work}, timeout=self._seconds, return_when=asyncio.FIRST_COMPLETED
            )
        finally:
            nudged.cancel()
            self._nudged.clear()
