"""One execution path for every turn of every driven session (seed 001).

Whoever wants a turn, a command or an app, gets it here. The store is the truth: what is kept in
memory is what runs in this process now, and it can be lost at any moment.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from barry_cli.base.problems import BarryError, Refused
from barry_cli.turns.around import OVER, Limits, Slot, Surroundings
from barry_cli.turns.effects import Authority
from barry_cli.turns.recorder import WakeUp
from barry_cli.turns.review import review_automatically
from barry_cli.turns.run import TurnRun
from barry_cli.turns.store.owners import new_owner
from barry_cli.turns.told import told

if TYPE_CHECKING:
    from barry_cli.contract.continuation import ContinuationHarness
    from barry_cli.contract.session import Allowed, Denied, PermissionRequest
    from barry_cli.contract.turns import (
        ApprovalDecision,
        AutomaticReview,
        RequiredReview,
        TurnExecutionStore,
        TurnSnapshot,
    )

log = logging.getLogger(__name__)

_SELDOM = 30.0  # seconds between two tries to record what could not be recorded

__all__ = ["Limits", "Slot", "TurnExecution", "TurnExecutionDependencies"]


@dataclass(frozen=True, kw_only=True)
class TurnExecutionDependencies:
    """What turns are executed with."""

    store: TurnExecutionStore
    authorize: Callable[[str, PermissionRequest], Awaitable[Allowed | Denied]]
    """(session id, call) -> what the authority in force says now; asked before every effect."""
    open_harness: Callable[[str], Awaitable[ContinuationHarness]]
    """(session id) -> a handle for one segment, which is closed after it."""
    acquire: Callable[[], Awaitable[Slot]] | None = None
    """Waits for leave to run one more harness."""
    committed: Callable[[str, int], None] | None = None
    """(session id, number of its last event): only a wake-up; the store is what is replayed."""


class TurnExecution:
    """Admits turns, runs them, puts them down for an approval, takes them up again.

    It belongs to the event loop that its methods are called on.
    """

    def __init__(
        self, dependencies: TurnExecutionDependencies, *, limits: Limits | None = None
    ) -> None:
        self._store = dependencies.store
        self._wake_up = WakeUp(dependencies.store, dependencies.committed)
        self._around = Surroundings(
            store=dependencies.store,
            authorize=dependencies.authorize,
            open_harness=dependencies.open_harness,
            acquire=dependencies.acquire,
            wake_up=self._wake_up,
            owner=new_owner(),
            limits=limits or Limits(),
        )
        self._runs: dict[str, TurnRun] = {}
        self._queued: dict[str, str] = {}
        self._waiting: dict[str, Callable[[], object]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing: asyncio.Task[None] | None = None

    @property
    def owner(self) -> str:
        """Who holds the turns that run here, as the store knows it."""
        return self._around.owner

    # --- what one asks for ---

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
        """Record a turn and set it to work. The same request gives the same turn, run once.

        Raises what the store's ``admit`` refuses, and Refused after ``close``.
        """
        self._check_open()
        turn = self._store.admit(
            session_id=session_id,
            request_id=request_id,
            run_id=run_id,
            actor=actor,
            content=content,
            policy=policy,
            if_active=if_active,
        )
        if turn.state == "queued":
            self._queued[turn.id] = session_id
            self._promote(session_id)  # what it waited for may have ended just now
        self._dispatch(turn, content)
        return turn

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
        """Record decisions; the turn goes on once nothing is left to decide.

        Raises what the store's ``resolve`` refuses, and Refused after ``close``.
        """
        self._check_open()
        turn = self._store.resolve(
            session_id=session_id,
            turn_id=turn_id,
            run_id=run_id,
            request_id=request_id,
            actor=actor,
            decisions=decisions,
            context=context,
        )
        self._wake_up(session_id)
        self._dispatch(turn)
        return turn

    def recover(self, turn: TurnSnapshot, input: Any = None, restoring: bool = True) -> None:
        """Go on with a recorded turn: run it where it can run, watch it where it waits.

        A turn that is held, by whomever, is left alone. One with a checkpoint is restored; one
        without begins with ``input``, which may be None only where ``restoring`` is False: it says
        what the caller takes it for, and the record decides.
        """
        if self._closing is not None:
            return
        turn = self._store.snapshot(turn.session_id, turn.id)
        if turn.state == "running" and input is None and restoring and not turn.interrupts:
            raise Refused(
                f"turn {turn.id} was never begun, and what it was asked for was not given",
                hint="a turn without a checkpoint is recovered with its input",
            )
        if turn.state == "waiting_for_input" and turn.review_policy.mode == "automatic":
            self._beside(self._review(turn))
        self._dispatch(turn, input)

    async def cancel(self, session_id: str, turn_id: str) -> TurnSnapshot:
        """End a turn that isn't over: its harness is interrupted, and waited for, but not for ever.

        Raises what the store's ``cancel`` refuses.
        """
        while (run := self._runs.get(turn_id)) is not None and run.session_id == session_id:
            run.signals.stop("cancel")
            await run.ended.wait()
        turn = self._store.cancel(session_id, turn_id)
        self._wake_up(session_id)
        self._queued.pop(turn_id, None)
        self._forget(turn_id)
        self._promote(session_id)
        return turn

    async def settled(self, turn_id: str) -> None:
        """Return once the turn is not at work here: over, waiting for a person, or not ours.

        A queued turn isn't settled while one of its session is at work here.
        """
        while (run := self._at_work(turn_id)) is not None:
            await run.quiet.wait()
            session_id = self._queued.get(turn_id)
            if session_id and self._store.snapshot(session_id, turn_id).state != "queued":
                del self._queued[turn_id]  # another process took it

    async def close(self) -> None:
        """Stop what runs here, and begin nothing more. Idempotent.

        A turn that was not begun, or that waits with a checkpoint, can be recovered; one that was
        at work is ``recovery_required``.
        """
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    # --- what runs here ---

    def _check_open(self) -> None:
        if self._closing is not None:
            raise Refused("turns are not executed here any more", hint="start the session again")

    def _at_work(self, turn_id: str) -> TurnRun | None:
        run = self._runs.get(turn_id)
        if run is None and (session_id := self._queued.get(turn_id)) is not None:
            runs = (each for each in self._runs.values() if each.session_id == session_id)
            run = next((each for each in runs if not each.quiet.is_set()), None)
        return run if run is not None and not run.quiet.is_set() else None

    def _dispatch(self, turn: TurnSnapshot, content: Any = None) -> None:
        """Set a running turn to work unless it is; a waiting one is watched."""
        run = self._runs.get(turn.id)
        if run is not None:
            if turn.state == "running":
                run.wake()
        elif self._closing is None and turn.state == "running":
            self._queued.pop(turn.id, None)
            self._forget(turn.id)
            run = self._runs[turn.id] = TurnRun(self._around, turn, content)
            self._beside(self._run(run))
        elif self._closing is None and turn.state == "waiting_for_input":
            self._watch(turn)

    async def _run(self, run: TurnRun) -> None:
        try:
            await run.run()
        finally:
            del self._runs[run.turn_id]
            try:
                if self._closing is None and (
                    run.troubled or (run.released and not self._go_on(run))
                ):
                    self._beside(self._settle(run))
            finally:  # whoever waits for it is told in any case
                run.ended.set()
                run.quiet.set()

    async def _settle(self, run: TurnRun) -> None:
        """Try again, ever more rarely, what the record did not take: its disk was full, perhaps.

        Else the turn would be held, and its session busy, for as long as this process lives.
        """
        seconds = self._around.limits.watch_seconds
        while True:
            await asyncio.sleep(seconds)
            seconds = min(2 * seconds, _SELDOM)
            if run.turn_id in self._runs:  # it was taken up again
                return
            try:
                if run.troubled:
                    run.settle()
            except Refused:  # it is not ours any more
                return
            except Exception as error:
                log.debug("turn %s is not settled: %s", run.turn_id, told(error))
            else:
                if self._go_on(run):
                    return

    def _go_on(self, run: TurnRun) -> bool:
        """What comes after a lease is given back: the same turn again, or the next one.

        False where the record can't be used.
        """
        try:
            turn = self._store.snapshot(run.session_id, run.turn_id)
        except BarryError as problem:
            log.warning("turn %s can't be looked up: %s", run.turn_id, told(problem))
            return False
        if turn.state in OVER:
            return self._promote(run.session_id)
        if run.signals.stopping is None:
            self._dispatch(turn, run.content)
        return True

    def _promote(self, session_id: str) -> bool:
        """Let the next of the queue run; False where the record can't be used."""
        if self._closing is not None:
            return True
        try:
            promoted = self._store.promote_queued(session_id)
        except BarryError as problem:
            log.warning("the queue of session %s stands still: %s", session_id, told(problem))
            return False
        if promoted is not None:
            content, turn = promoted
            self._dispatch(turn, content)
        return True

    # --- what waits ---

    def _watch(self, turn: TurnSnapshot) -> None:
        if turn.id not in self._waiting:
            self._waiting[turn.id] = self._beside(self._await_decision(turn))

    def _forget(self, turn_id: str) -> None:
        """Watch a turn no longer."""
        end = self._waiting.pop(turn_id, None)
        if end is not None:
            end()

    async def _await_decision(self, turn: TurnSnapshot) -> None:
        """See what another process decides, and what expires: the store says so when asked."""
        while True:
            await asyncio.sleep(self._around.limits.watch_seconds)
            try:
                now = self._store.snapshot(turn.session_id, turn.id)
            except BarryError as problem:
                log.warning("turn %s can't be looked up: %s", turn.id, told(problem))
                continue
            if now.state != "waiting_for_input":
                self._waiting.pop(turn.id, None)
                self._dispatch(now)
                if now.state in OVER:
                    self._promote(turn.session_id)
                return

    async def _review(self, turn: TurnSnapshot) -> None:
        """Decide what a turn that waits for nobody still waits for, after a crash."""
        authority = Authority(self._around.authorize, turn.session_id)
        try:
            turn = await review_automatically(self._store, authority, turn)
        except Exception as error:
            log.warning("turn %s goes on waiting: %s", turn.id, told(error))
            return
        self._wake_up(turn.session_id)
        self._dispatch(turn)

    # --- the end ---

    def _beside(self, work: Coroutine[Any, Any, None]) -> Callable[[], object]:
        """Run it beside the caller; gives what ends it."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # a loop alone doesn't keep its tasks
        task.add_done_callback(self._tasks.discard)
        return task.cancel

    async def _close(self) -> None:
        runs = list(self._runs.values())
        for run in runs:
            run.signals.stop("close")
        for turn_id in list(self._waiting):
            self._forget(turn_id)
        await asyncio.gather(*(run.ended.wait() for run in runs))
        left = [task for task in self._tasks if not task.done()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        self._queued.clear()
