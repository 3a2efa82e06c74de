"""A store of turns under test: how it is opened, and the few steps that most checks begin with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NoReturn, TypeVar

from barry_cli.base.ids import new_id
from barry_cli.base.problems import BarryError
from barry_cli.contract.continuation import ContinuationDescriptor, RecordedCallResult
from barry_cli.contract.session import PermissionRequest
from barry_cli.contract.turns import (
    ApprovalDecision,
    AutomaticReview,
    RequiredReview,
    TurnExecutionStore,
    TurnSnapshot,
)
from barry_cli.testing.subject import NotConforming, require

Answer = TypeVar("Answer")


@dataclass(frozen=True, kw_only=True)
class TurnStoreKit:
    """What a store's author gives to the suite.

    ``open`` gives another store object over the same record each time, as another process would
    have it; ``new_session`` makes a session in that record and gives its id; ``living_owner`` and
    ``dead_owner`` give an owner that lives, and one that has ended for sure, a new one each time.
    """

    open: Callable[[], Awaitable[TurnExecutionStore]]
    new_session: Callable[[], Awaitable[str]]
    living_owner: Callable[[], str]
    dead_owner: Callable[[], str]
    close: Callable[[TurnExecutionStore], Awaitable[None]]


@dataclass
class Case:
    """One check's own session, and its store objects, which are closed when it is over."""

    kit: TurnStoreKit
    session: str
    store: TurnExecutionStore
    opened: list[TurnExecutionStore] = field(default_factory=list)

    async def another(self) -> TurnExecutionStore:
        """Another object over the same record."""
        store = await self.kit.open()
        self.opened.append(store)
        return store

    def admit(
        self, content: Any = "hello", *, queue: bool = False, until: datetime | None = None
    ) -> TurnSnapshot:
        """A turn of a request of its own."""
        return self.store.admit(
            session_id=self.session,
            request_id=new_id(),
            run_id="run",
            actor="ada",
            content=content,
            policy=RequiredReview(expires_at=until) if until is not None else AutomaticReview(),
            if_active="queue" if queue else "error",
        )

    def begin(self, owner: str | None = None, *, until: datetime | None = None) -> tuple[str, str]:
        """A turn that is claimed: its id, and its owner."""
        owner = owner or self.kit.living_owner()
        turn = self.admit(until=until)
        require(turn.state == "running", f"a turn admitted to an idle session is {turn.state}")
        require(
            self.store.claim(self.session, turn.id, owner),
            "a turn that runs and that nobody holds can't be claimed",
        )
        return turn.id, owner

    def put_down(
        self, *calls: PermissionRequest, until: datetime | None = None
    ) -> tuple[str, str, TurnSnapshot]:
        """A turn that waits for decisions on these calls."""
        turn_id, owner = self.begin(until=until)
        paused = self.store.pause(self.session, turn_id, owner, descriptor(), calls)
        return turn_id, owner, paused

    def resolve(
        self,
        turn_id: str,
        *decisions: ApprovalDecision,
        store: TurnExecutionStore | None = None,
        request: str | None = None,
    ) -> TurnSnapshot:
        """Decide, under a request of its own."""
        return (store or self.store).resolve(
            session_id=self.session,
            turn_id=turn_id,
            run_id="run",
            request_id=request or new_id(),
            actor="ada",
            decisions=decisions,
        )

    def state(self, turn_id: str) -> str:
        """The turn's state."""
        return self.store.snapshot(self.session, turn_id).state


def descriptor(payload: object = None) -> ContinuationDescriptor:
    """A checkpoint."""
    return ContinuationDescriptor(
        adapter_id="toy",
        adapter_version="1",
        config_fingerprint="f",
        format="toy",
        harness_version="1.2.3",
        payload=payload,
        version=1,
    )


def request(id: str, input: Any = None, tool: str = "shell") -> PermissionRequest:
    """A call that a harness asks about."""
    return PermissionRequest(id=id, tool=tool, input=input)


@dataclass
class Effect:
    """An effect that counts how often it ran."""

    answer: Any = "done"
    ran: int = 0

    async def __call__(self) -> RecordedCallResult:
        self.ran += 1
        return RecordedCallResult(id="its own", result=self.answer)


def refuses(what: str, work: Callable[[], object]) -> BarryError:
    """The problem that the work raises. Raises NotConforming when it raises none."""
    try:
        work()
    except BarryError as problem:
        return problem
    except Exception as error:
        _wrong_error(what, error)
    raise NotConforming(f"{what} is not refused")


async def refuses_to(what: str, work: Callable[[], Awaitable[object]]) -> BarryError:
    """``refuses`` for what is waited for."""
    try:
        await work()
    except BarryError as problem:
        return problem
    except Exception as error:
        _wrong_error(what, error)
    raise NotConforming(f"{what} is not refused")


def _wrong_error(what: str, error: Exception) -> NoReturn:
    raise NotConforming(
        f"{what} raises {type(error).__name__} ({error}), which is none of Barry's problems"
    ) from error
