"""A turn as it is recorded, and what keeps that record (seed 001).

``queued -> running -> (waiting_for_input -> running)* -> completed | failed | cancelled |
recovery_required``
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import AwareDatetime, BeforeValidator, ConfigDict, Field, TypeAdapter

from barry_cli.contract.data import Data
from barry_cli.contract.session import PermissionDecision, PermissionRequest

if TYPE_CHECKING:
    from barry_cli.contract.continuation import ContinuationDescriptor, RecordedCallResult
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.session import Allowed, Denied

TurnState = Literal[
    "queued",
    "running",
    "waiting_for_input",
    "recovery_required",
    "completed",
    "failed",
    "cancelled",
]
"""``recovery_required``: its owner is gone and what it was doing can't be known; a person says."""

CallState = Literal["not_started", "executing", "completed", "failed", "denied", "uncertain"]
"""``uncertain``: begun by an owner that is gone; it may have had its effect, and never runs again
by itself."""


def _written(value: object) -> object:
    """A number would be taken for seconds, and has no offset either."""
    written = isinstance(value, str) and "T" in value.upper()
    if not written and not isinstance(value, datetime):
        raise ValueError("a time is written as in ISO 8601, with its offset")
    return value


Moment = Annotated[AwareDatetime, BeforeValidator(_written)]
"""A time with its offset: 2026-01-31T12:00:00Z."""


class AutomaticReview(Data):
    """Nobody is waited for."""

    mode: Literal["automatic"] = "automatic"


class RequiredReview(Data):
    """The turn waits for a person where its harness asks; until ``expires_at``, where given."""

    mode: Literal["review_required"] = "review_required"
    expires_at: Moment | None = None


ReviewPolicy = Annotated[AutomaticReview | RequiredReview, Field(discriminator="mode")]

ReviewPolicySchema: TypeAdapter[AutomaticReview | RequiredReview] = TypeAdapter(
    ReviewPolicy, config=ConfigDict(defer_build=True)
)
"""Strict: an unknown key, or a time without an offset, is refused."""


class PublicInterrupt(Data):
    """A call that waits for a decision, as an app gets to see it."""

    id: str
    run_id: str
    call: PermissionRequest
    status: Literal["pending", "cancelled", "approved", "denied", "expired"]
    expires_at: Moment | None = None


class ApprovalDecision(Data):
    """What somebody decided about one interrupt."""

    interrupt_id: str
    decision: PermissionDecision


class TurnSnapshot(Data):
    """A turn as an app gets to see it; ``revision`` grows with every change of it."""

    id: str
    session_id: str
    run_id: str
    state: TurnState
    revision: int
    review_policy: ReviewPolicy
    interrupts: tuple[PublicInterrupt, ...] = ()
    result: Any = None
    error: str | None = None


@dataclass(frozen=True, kw_only=True)
class TurnFinish:
    """How a turn ended, as its owner says it."""

    state: Literal["failed", "completed", "recovery_required"]
    conversation: ContinuationDescriptor | None = None
    error: str | None = None
    result: Any = None
    events: Sequence[SessionEvent] = ()
    """Its last events, ``done`` among them: recorded in the transaction that ends the turn."""


class TurnExecutionStore(Protocol):
    """The one record of turns. Each method is one transaction.

    Raises ``base.problems`` only: a turn that isn't there, a request that is refused, a store that
    can't be used. Every method that takes an owner refuses one who doesn't hold the turn's lease
    in its present claim.
    """

    def admit(
        self,
        *,
        session_id: str,
        request_id: str,
        run_id: str,
        actor: str,
        content: Any,
        policy: AutomaticReview | RequiredReview,
        if_active: Literal["error", "queue"] = "error",
    ) -> TurnSnapshot:
        """Record a new turn, once per (session, request): the same body gives the same turn.

        Refused when the same request had another body, and, with ``if_active="error"``, while
        another turn of the session is not over. A queued turn waits its turn, first come first
        served. The turn admitted is ``running`` (unclaimed) or ``queued``.
        """
        ...

    def snapshot(self, session_id: str, turn_id: str) -> TurnSnapshot: ...

    def claim(self, session_id: str, turn_id: str, owner: str, *, at_rest: bool = False) -> bool:
        """Take an unclaimed running turn; False when it isn't one. Never steals.

        Who holds a turn that rests takes it up by another claim: one that it paused and that runs
        again, or one that it claimed ``at_rest``, while what it needs is got ready. An owner who
        goes loses nothing of a turn that rests.
        """
        ...

    def append(self, session_id: str, turn_id: str, event: object) -> int:
        """Record an event (camelCase JSON or a SessionEvent); its number in the session.

        Refused for a turn that is over: nothing follows its ``done``, which came with its end.
        """
        ...

    def append_many(self, session_id: str, turn_id: str, events: Sequence[object]) -> int:
        """Record events in one transaction, one after the other; the last one's number."""
        ...

    def last_sequence(self, session_id: str) -> int:
        """The number of the session's last event; 0 while there is none."""
        ...

    def pause(
        self,
        session_id: str,
        turn_id: str,
        owner: str,
        continuation: ContinuationDescriptor,
        calls: Sequence[PermissionRequest],
    ) -> TurnSnapshot:
        """Commit the checkpoint and one pending interrupt per call: ``waiting_for_input``.

        The same transaction records a ``permission_request`` for each one that stays pending.
        Calls that a kept answer of this session covers are decided at once.
        """
        ...

    def resolve(
        self,
        *,
        session_id: str,
        turn_id: str,
        run_id: str,
        request_id: str,
        actor: str,
        decisions: Sequence[ApprovalDecision],
        context: Any = None,
    ) -> TurnSnapshot:
        """Record decisions, once per request; ``running`` again when all interrupts are decided.

        Refused, and nothing recorded, for an interrupt that is unknown, cancelled or expired, for
        one decided otherwise before, and for another body under the same request.
        """
        ...

    def decisions(self, session_id: str, turn_id: str) -> Mapping[str, Allowed | Denied]:
        """The decisions of the turn's last pause: call id -> decision."""
        ...

    async def execute(
        self,
        session_id: str,
        turn_id: str,
        owner: str,
        call: PermissionRequest,
        effect: Callable[[], Awaitable[RecordedCallResult]],
    ) -> RecordedCallResult:
        """Run an effect once: ``executing`` is on disk before it begins, its result after.

        A call recorded as over gives its result again without running; one that is uncertain, or
        was asked with another input, is refused.
        """
        ...

    def denied(
        self,
        session_id: str,
        turn_id: str,
        owner: str,
        call: PermissionRequest,
        outcome: RecordedCallResult,
    ) -> RecordedCallResult:
        """Record that a call was denied, and what its harness is told."""
        ...

    def recorded(
        self, session_id: str, turn_id: str, call: PermissionRequest
    ) -> RecordedCallResult | None:
        """What a call gave, when it is over."""
        ...

    def finish(
        self, session_id: str, turn_id: str, owner: str, outcome: TurnFinish
    ) -> TurnSnapshot:
        """End the turn, with its last events. One that was cancelled meanwhile stays cancelled, and
        keeps the conversation alone.
        """
        ...

    def released(self, session_id: str, turn_id: str, owner: str) -> None:
        """Give the lease back, once the handle is closed."""
        ...

    def cancel(self, session_id: str, turn_id: str) -> TurnSnapshot:
        """End a turn that isn't over, with a ``done``; its pending interrupts are cancelled.

        Idempotent.
        """
        ...

    def lost(self, session_id: str, turn_id: str, error: str) -> TurnSnapshot:
        """The turn's owner is gone: ``recovery_required``, executing calls ``uncertain``; an
        ``error`` and a ``done`` are recorded with it.

        Refused while the owner lives.
        """
        ...

    def promote_queued(self, session_id: str) -> tuple[Any, TurnSnapshot] | None:
        """The next queued turn, now ``running``, with its input; None while one is active."""
        ...

    def continuation(self, session_id: str, turn_id: str) -> ContinuationDescriptor:
        """The turn's last checkpoint. Private: never shown."""
        ...

    def conversation(self, session_id: str) -> ContinuationDescriptor | None:
        """The conversation that the session's last finished turn left. Private: never shown."""
        ...
