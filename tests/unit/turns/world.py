"""A TurnExecution over the embedded store, with scripted harnesses and a trace of what happens."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from barry_cli.base.ids import new_id
from barry_cli.base.paths import Folders, folders
from barry_cli.contract.continuation import ContinuationHarness, RecordedCallResult
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.contract.turns import (
    ApprovalDecision,
    AutomaticReview,
    RequiredReview,
    TurnSnapshot,
)
from barry_cli.turns.execution import Limits, Slot, TurnExecution, TurnExecutionDependencies
from barry_cli.turns.store.sessions import Sessions
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.turn_harness import REVIEW, SESSION, Effects, Scripted, Step, add_session

QUICK = Limits(interrupt_seconds=0.4, close_seconds=0.4, watch_seconds=0.02)


class Traced:
    """The store, noting what is called; ``broken`` makes a method raise."""

    def __init__(self, store: SqliteTurnStore, trace: list[str]) -> None:
        self._store = store
        self._trace = trace
        self.broken: dict[str, Callable[[], BaseException | None]] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._store, name)
        if name in ("snapshot", "last_sequence", "conversation", "continuation", "decisions"):
            return found

        def call(*given: Any, **named: Any) -> Any:
            self._trace.append(name)
            error = self.broken.get(name, lambda: None)()
            if error is not None:
                raise error
            return found(*given, **named)

        return call


def home_in(top: Path) -> Folders:
    """A Barry home below a folder, with the session in it."""
    where = Folders(*(top / name for name in ("config", "data", "state", "cache", "run")))
    if not where.database.exists():
        add_session(Sessions(where))
    return where


class World:
    """One process's view: more than one may share a Barry home."""

    def __init__(
        self, tmp_path: Path, *, where: Folders | None = None, clock: Any = None, **store: Any
    ) -> None:
        self.trace: list[str] = []
        self.where = where or folders()
        if where is None:
            add_session(Sessions(self.where))
        self.plain = SqliteTurnStore(self.where, **({"clock": clock} if clock else {}), **store)
        self.store = Traced(self.plain, self.trace)
        self.effects = Effects(tmp_path / "effects")
        self.handles: list[Scripted] = []
        self.scripts: dict[str, Sequence[Step]] = {}
        self.verdict: Callable[[PermissionRequest], Any] = lambda call: Allowed()
        self.authority_asked: list[str] = []
        self.make: Callable[[Scripted], Any] = lambda handle: handle
        self.kind = "durable"
        self.effect: Callable[[PermissionRequest], Awaitable[RecordedCallResult]] = self.effects
        self.committed: list[tuple[str, int]] = []
        self.acquire: Callable[[], Awaitable[Slot]] | None = None
        self.limits = QUICK
        self._execution: TurnExecution | None = None

    @property
    def execution(self) -> TurnExecution:
        if self._execution is None:
            self._execution = TurnExecution(
                TurnExecutionDependencies(
                    store=self.store,  # type: ignore[arg-type] - it passes all calls on
                    authorize=self._authorize,
                    open_harness=self._open,
                    acquire=self.acquire,
                    committed=self._committed,
                ),
                limits=self.limits,
            )
        return self._execution

    async def _authorize(self, session_id: str, call: PermissionRequest) -> Allowed | Denied:
        assert session_id == SESSION
        self.authority_asked.append(call.id)
        verdict: Allowed | Denied = self.verdict(call)
        return verdict

    async def _open(self, session_id: str) -> ContinuationHarness:
        self.trace.append("open")
        handle = Scripted(
            self.scripts, self.effect, approval_continuation=self.kind, trace=self.trace
        )  # type: ignore[arg-type] - a test's own word
        self.handles.append(handle)
        made: ContinuationHarness = self.make(handle)
        return made

    def _committed(self, session_id: str, sequence: int) -> None:
        self.trace.append("committed")
        self.committed.append((session_id, sequence))

    # --- what tests do ---

    def admit(
        self,
        content: Any,
        *,
        request_id: str | None = None,
        policy: AutomaticReview | RequiredReview = REVIEW,
        **more: Any,
    ) -> TurnSnapshot:
        return self.execution.admit(
            session_id=SESSION, request_id=request_id or new_id(), run_id="r1", actor="ada",
            content=content, policy=policy, **more,
        )  # fmt: skip

    async def done(self, content: Any, **more: Any) -> TurnSnapshot:
        """The turn once it is settled."""
        turn = self.admit(content, **more)
        await self.execution.settled(turn.id)
        return self.turn(turn.id)

    def turn(self, turn_id: str) -> TurnSnapshot:
        return self.plain.snapshot(SESSION, turn_id)

    def decide(self, turn_id: str, *decisions: Allowed | Denied, by: Any = None) -> TurnSnapshot:
        """Answer what is pending, in order; by this execution, or by another store."""
        pending = [each for each in self.turn(turn_id).interrupts if each.status == "pending"]
        resolved: TurnSnapshot = (by or self.execution).resolve(
            session_id=SESSION, turn_id=turn_id, run_id="r2", request_id=new_id(), actor="bob",
            decisions=[
                ApprovalDecision(interrupt_id=interrupt.id, decision=decision)
                for interrupt, decision in zip(pending, decisions, strict=False)
            ],
        )  # fmt: skip
        return resolved

    async def decided(self, turn_id: str, *decisions: Allowed | Denied) -> TurnSnapshot:
        """The turn once it is settled after these answers."""
        self.decide(turn_id, *decisions)
        await self.execution.settled(turn_id)
        return self.turn(turn_id)

    def events(self, turn_id: str | None = None) -> list[dict[str, Any]]:
        return [
            dict(each.event)
            for each in self.plain.events(SESSION)
            if turn_id in (None, each.turn_id)
        ]

    def kinds(self, turn_id: str | None = None) -> list[str]:
        return [each["type"] for each in self.events(turn_id)]

    def shown(self) -> str:
        """Everything that anybody gets to see."""
        turns = [each.model_dump_json() for each in self.plain.list_turns(SESSION)]
        return json.dumps(self.events()) + "".join(turns) + json.dumps(self.trace)

    async def close(self) -> None:
        if self._execution is not None:
            await self._execution.close()
        self.plain.close()
