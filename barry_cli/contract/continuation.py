"""How a turn that waits for an approval is put down and taken up again (seed 001)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import Field

from barry_cli.contract.data import Data
from barry_cli.contract.session import PermissionRequest

if TYPE_CHECKING:
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.levels import ApprovalContinuation
    from barry_cli.contract.session import Allowed, Denied


class ContinuationDescriptor(Data):
    """Private adapter data: never part of what an app gets to see."""

    adapter_id: str
    adapter_version: str
    config_fingerprint: str
    format: str
    harness_version: str
    payload: Any
    version: int


class RecordedCallResult(Data):
    """What a call gave, as it was recorded."""

    id: str
    result: Any
    error: bool | None = None


class SegmentCompleted(Data):
    type: Literal["completed"] = "completed"
    conversation: ContinuationDescriptor | None = None
    result: Any = None


class SegmentFailed(Data):
    type: Literal["failed"] = "failed"
    error: str


class SegmentInterrupted(Data):
    type: Literal["interrupted"] = "interrupted"
    calls: tuple[PermissionRequest, ...]
    continuation: ContinuationDescriptor


SegmentOutcome = Annotated[
    SegmentCompleted | SegmentFailed | SegmentInterrupted, Field(discriminator="type")
]

Emit = Callable[["SessionEvent"], Awaitable[None]]
"""Puts an event on record. It raises where that failed: the segment should end then."""


class ContinuationEffects(Protocol):
    """Every call goes through current authority and a persisted effect boundary."""

    async def authorize(self, call: PermissionRequest) -> Allowed | Denied:
        """What may be done now. Asked last before a call that the vendor runs itself."""
        ...

    async def execute(
        self, call: PermissionRequest, effect: Callable[[], Awaitable[RecordedCallResult]]
    ) -> RecordedCallResult:
        """Run a call once, if it is allowed now; else its result says that it is denied.

        A call that is over gives its result again, without running.
        """
        ...

    async def denied(
        self, call: PermissionRequest, result: RecordedCallResult
    ) -> RecordedCallResult:
        """Record that a call was denied, and what its harness is told."""
        ...

    async def recorded(self, call: PermissionRequest) -> RecordedCallResult | None:
        """What a call gave, when it is over."""
        ...


class ContinuationHarness(Protocol):
    """A quiescent segment returns before its runtime is released.

    One handle serves one turn: a segment of it, or, where ``approval_continuation`` is ``live``,
    all of them. The owner commits the checkpoint before anybody sees the interrupt and before the
    handle is closed. What is emitted, or run, after a segment returned is refused.
    """

    @property
    def approval_continuation(self) -> ApprovalContinuation:
        """``durable``: another handle, in another process, can restore the checkpoint; ``live``:
        only this object can go on; ``unsupported``: it never waits for an approval.
        """
        ...

    async def begin(
        self, content: str, emit: Emit, conversation: ContinuationDescriptor | None = None
    ) -> SegmentCompleted | SegmentFailed | SegmentInterrupted:
        """Work on a new turn, in the conversation that the last finished one left.

        ``done`` and permission requests may be emitted; the owner records them at their time.
        """
        ...

    async def restore(
        self,
        continuation: ContinuationDescriptor,
        decisions: Mapping[str, Allowed | Denied],
        effects: ContinuationEffects,
        emit: Emit,
    ) -> SegmentCompleted | SegmentFailed | SegmentInterrupted:
        """Go on from a checkpoint that ``validate`` let pass; call id -> decision."""
        ...

    def validate(self, continuation: ContinuationDescriptor) -> None:
        """Raise, best a problem in one sentence, for a checkpoint that can't be restored here."""
        ...

    async def interrupt(self) -> None:
        """Let the segment end soon. Harmless at any time."""
        ...

    async def close(self) -> None:
        """Let go of everything. Idempotent."""
        ...
