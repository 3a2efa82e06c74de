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


class ContinuationEffects(Protocol):
    """Every call goes through current authority and a persisted effect boundary."""

    async def authorize(self, call: PermissionRequest) -> Allowed | Denied: ...
    async def execute(
        self, call: PermissionRequest, effect: Callable[[], Awaitable[RecordedCallResult]]
    ) -> RecordedCallResult: ...
    async def denied(
        self, call: PermissionRequest, result: RecordedCallResult
    ) -> RecordedCallResult: ...
    async def recorded(self, call: PermissionRequest) -> RecordedCallResult | None: ...


class ContinuationHarness(Protocol):
    """A quiescent segment returns before its runtime is released."""

    @property
    def approval_continuation(self) -> ApprovalContinuation: ...
    async def begin(
        self, content: str, emit: Emit, conversation: ContinuationDescriptor | None = None
    ) -> SegmentCompleted | SegmentFailed | SegmentInterrupted: ...
    async def restore(
        self,
        continuation: ContinuationDescriptor,
        decisions: Mapping[str, Allowed | Denied],
        effects: ContinuationEffects,
        emit: Emit,
    ) -> SegmentCompleted | SegmentFailed | SegmentInterrupted: ...
    def validate(self, continuation: ContinuationDescriptor) -> None: ...
    async def interrupt(self) -> None: ...
    async def close(self) -> None: ...
