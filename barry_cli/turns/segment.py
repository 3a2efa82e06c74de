"""A harness at work on a turn, one segment after the other, in one handle."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from barry_cli.base.canonical import canonical_json
from barry_cli.base.problems import BarryError, Refused
from barry_cli.contract.continuation import SegmentCompleted, SegmentFailed, SegmentInterrupted
from barry_cli.contract.session import Allowed
from barry_cli.contract.turns import TurnFinish
from barry_cli.turns.around import OVER, Signals, Slot, Surroundings
from barry_cli.turns.effects import Authority, Decision, PersistedEffects
from barry_cli.turns.told import told
from barry_cli.turns.waits import bounded, stopped

if TYPE_CHECKING:
    from barry_cli.contract.continuation import ContinuationHarness
    from barry_cli.contract.levels import ApprovalContinuation
    from barry_cli.contract.turns import TurnSnapshot
    from barry_cli.turns.recorder import Recorder

log = logging.getLogger(__name__)

Outcome = SegmentCompleted | SegmentFailed | SegmentInterrupted | TurnFinish
"""How a segment ended; a TurnFinish where its checkpoint can't be restored."""


class _CannotRestore(Exception):
    """The checkpoint is of no use to the handle that there is now."""


class _Ended(BarryError):
    """The code that drives a harness tried to end the whole process."""


class Segments:
    """The side of a turn that works. ``play`` is called again only where the handle is ``live``."""

    def __init__(
        self, around: Surroundings, turn: TurnSnapshot, content: Any, signals: Signals
    ) -> None:
        self.begun = False
        """The harness was told to do something."""
        self.private: list[Any] = []
        """Of what no text may be shown: payloads of checkpoints and conversations."""
        self._around = around
        self._store = around.store
        self._turn = (turn.session_id, turn.id)
        self._content = content
        self._signals = signals
        self._handle: ContinuationHarness | None = None
        self._kind: ApprovalContinuation = "unsupported"
        self._slot: Slot | None = None
        self._effects: PersistedEffects | None = None

    @property
    def is_live(self) -> bool:
        """Only this very handle can go on after an approval."""
        return self._kind == "live"

    async def play(self, recorder: Recorder) -> Outcome:
        """One segment, to its end or to where it is stopped. Raises nothing but a cancellation."""
        session_id, turn_id = self._turn
        authority = Authority(self._around.authorize, session_id)
        work = asyncio.create_task(
            _guarded(lambda: self._perform(recorder, authority)), name=f"turn {turn_id}"
        )
        try:
            await self._watch(work)
        finally:
            if self._effects is not None:
                self._effects.close()
            if not work.done():  # we are stopped ourselves, or it can't be
                work.cancel()
            recorder.close()
        try:
            return self._outcome(work, recorder.failure or authority.failure)
        except Exception as error:  # an outcome that is none, whatever it is made of
            return SegmentFailed(error=told(error, self.private))

    async def close(self) -> None:
        """Close the handle, or give it up after a while; then let go of its slot."""
        turn_id = self._turn[1]
        if (handle := self._handle) is not None:
            await bounded(
                f"closing the handle of turn {turn_id}",
                _guarded(lambda: handle.close()),  # noqa: PLW0108 - it may have none
                self._around.limits.close_seconds,
                private=self.private,
            )
        if self._slot is not None:
            try:
                self._slot.release()
            except Exception as error:
                log.warning("the slot of turn %s: %s", turn_id, told(error))

    # --- at work ---

    async def _perform(self, recorder: Recorder, authority: Authority) -> Outcome:
        """Begin, or restore where the record has a checkpoint: a turn is begun only once."""
        around = self._around
        if self._handle is None:
            if around.acquire is not None:
                self._slot = await around.acquire()
            self._handle = await around.open_harness(self._turn[0])
            self._kind = self._handle.approval_continuation
        if self._signals.stopping is not None:
            return SegmentFailed(error="it was stopped before it began")
        turn = self._store.snapshot(*self._turn)
        if turn.interrupts:
            return await self._restore(self._handle, turn, recorder, authority)
        conversation = self._store.conversation(self._turn[0])
        if conversation is not None:
            self.private.append(conversation.payload)
        content = self._content
        text = content if isinstance(content, str) else canonical_json(content)
        self._take_up()
        return await self._handle.begin(text, recorder.emit, conversation)

    async def _restore(
        self,
        handle: ContinuationHarness,
        turn: TurnSnapshot,
        recorder: Recorder,
        authority: Authority,
    ) -> Outcome:
        continuation = self._store.continuation(*self._turn)
        self.private.append(continuation.payload)
        try:
            handle.validate(continuation)
        except Exception as error:
            raise _CannotRestore(told(error, self.private)) from None
        decisions = await self._decisions(turn, authority)
        self._effects = PersistedEffects(
            self._store, authority, *self._turn, self._around.owner, decisions
        )
        self._take_up()
        return await handle.restore(continuation, decisions, self._effects, recorder.emit)

    def _take_up(self) -> None:
        """From here on what happens can't be known without this process."""
        if not self._store.claim(*self._turn, self._around.owner):
            raise Refused("the turn was ended elsewhere before it was taken up here")
        self.begun = True

    async def _decisions(self, turn: TurnSnapshot, authority: Authority) -> dict[str, Decision]:
        """What was decided, as far as the authority in force allows it still."""
        calls = {interrupt.call.id: interrupt.call for interrupt in turn.interrupts}
        decided: dict[str, Decision] = {}
        for call_id, decision in self._store.decisions(*self._turn).items():
            allowed = isinstance(decision, Allowed)
            decided[call_id] = await authority(calls[call_id]) if allowed else decision
        return decided

    # --- watched ---

    async def _watch(self, work: asyncio.Task[Outcome]) -> None:
        """Wait for the segment, or stop it when this turn is to end, here or in the record."""
        while not work.done():
            await self._signals.wait(work)
            if work.done():
                return
            if self._signals.stopping is None and self._ended_elsewhere():
                self._signals.stop("cancel")
            if self._signals.stopping is not None:
                await self._stop(work)
                return

    def _ended_elsewhere(self) -> bool:
        try:
            return self._store.snapshot(*self._turn).state in OVER
        except BarryError as problem:  # it will be seen where something is to be recorded
            log.warning("turn %s can't be looked up: %s", self._turn[1], told(problem))
            return False

    async def _stop(self, work: asyncio.Task[Outcome]) -> None:
        """Interrupt; wait for the segment to end in its own way; then by force."""
        name, limits = f"turn {self._turn[1]}", self._around.limits
        if self._effects is not None:
            self._effects.close()
        if (handle := self._handle) is not None and self.begun:
            interrupt = asyncio.create_task(
                bounded(
                    f"interrupting {name}",
                    _guarded(lambda: handle.interrupt()),  # noqa: PLW0108 - nor this
                    limits.interrupt_seconds,
                    private=self.private,
                )
            )
            await asyncio.wait({work, interrupt}, return_when=asyncio.FIRST_COMPLETED)
            if interrupt.done() and interrupt.result():
                await asyncio.wait({work}, timeout=limits.interrupt_seconds)
            interrupt.cancel()
        await stopped(name, work, limits.close_seconds)

    # --- its outcome ---

    def _outcome(self, work: asyncio.Task[Outcome], failure: BaseException | None) -> Outcome:
        if not work.done() or work.cancelled():
            error: BaseException | str | None = failure or "it was stopped before it ended"
        else:
            error = work.exception()
            if isinstance(error, _CannotRestore):
                return TurnFinish(state="recovery_required", error=str(error))
            error = failure or error
        if error is None:
            outcome = work.result()
            error = self._fault(outcome)
            if error is None:
                return outcome
        return SegmentFailed(error=told(error, self.private))

    def _fault(self, outcome: Outcome) -> str | None:
        """What is wrong with an outcome, or the error that it is."""
        if isinstance(outcome, SegmentFailed):
            return outcome.error or "the harness failed, and did not say why"
        if isinstance(outcome, SegmentCompleted):
            if outcome.conversation is not None:
                self.private.append(outcome.conversation.payload)
            return None
        if not isinstance(outcome, SegmentInterrupted):
            return "the harness ended its segment without an outcome"
        self.private.append(outcome.continuation.payload)
        if self._kind == "unsupported":
            return "the harness stopped for an approval, and it can't go on from one"
        if not outcome.calls:
            return "the harness stopped for an approval of nothing"
        return None


async def _guarded(work: Callable[[], Awaitable[Any]]) -> Any:
    """A harness that calls ``sys.exit`` ends its segment, not Barry."""
    try:
        return await work()
    except SystemExit as error:
        raise _Ended(f"the harness's code tried to end Barry with status {error.code}") from None
