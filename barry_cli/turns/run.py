"""One turn while it is at work here: from its claim until its lease is given back.

    claim -> slot -> handle -> take up -> begin | restore -> outcome -> record -> close -> released

Until it is taken up nothing has happened, and after a crash anybody may claim it again.
A checkpoint is committed, together with the requests that a person gets to see, before anybody is
told and before the handle is closed; the lease is given back only after that. So whatever a crash
cuts off, the record says what is left to do, and nobody else begins while a handle lives. A
``live`` handle alone can go on: it stays open, with its lease and its slot, while its turn waits.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from barry_cli.base.problems import BarryError, StoreProblem
from barry_cli.contract.continuation import SegmentCompleted, SegmentFailed, SegmentInterrupted
from barry_cli.contract.turns import TurnFinish
from barry_cli.turns.around import OVER, Signals, Surroundings
from barry_cli.turns.effects import Authority
from barry_cli.turns.recorder import Recorder
from barry_cli.turns.review import review_automatically
from barry_cli.turns.segment import Outcome, Segments
from barry_cli.turns.told import told
from barry_cli.turns.writable import writable

if TYPE_CHECKING:
    from barry_cli.contract.turns import TurnSnapshot

log = logging.getLogger(__name__)

_AT_WORK = "Barry was closed while this turn was at work; how far it came is not known"
_WAITED = (
    "Barry was closed while this turn waited for a decision, and its harness can't go on in "
    "another process"
)
_UNKNOWN = "how this turn ended could not be recorded"


class TurnRun:
    """One claim, or, with a ``live`` handle, all of the turn's claims."""

    def __init__(self, around: Surroundings, turn: TurnSnapshot, content: Any) -> None:
        self.session_id = turn.session_id
        self.turn_id = turn.id
        self.signals = Signals(around.limits.watch_seconds)
        self.quiet = asyncio.Event()
        """Set while nothing is at work: at the end, and while a live handle waits for a person."""
        self.ended = asyncio.Event()
        """Set once it is over here and what comes after it is under way."""
        self.content = content
        self.released = False
        """It was claimed here, and the lease was given back."""
        self.troubled = False
        """The record did not take all that it has to: ``settle`` tries again."""
        self._claimed = self._on_record = False
        self._end: TurnFinish | None = None  # what the record did not take
        self._around = around
        self._store = around.store
        self._turn = (turn.session_id, turn.id)
        self._segments = Segments(around, turn, content, self.signals)

    def wake(self) -> None:
        """Look at the record: the turn may go on."""
        self.quiet.clear()
        self.signals.nudge()

    # --- the path ---

    async def run(self) -> None:
        """The whole path. Raises nothing but a cancellation."""
        try:
            if not self._store.claim(*self._turn, self._around.owner, at_rest=True):
                return
            self._claimed = True
            try:
                self._on_record = await self._work()
            finally:
                await self._segments.close()
            if self._on_record:
                self._store.released(*self._turn, self._around.owner)
                self.released = True
            else:
                self.troubled = True
        except Exception as error:
            self._log(error)
            self.troubled = True

    def settle(self) -> None:
        """Record what could not be recorded when it was over here, and give the lease back.

        Raises what the store raises.
        """
        if self._claimed:
            if not self._on_record and self._store.snapshot(*self._turn).state not in OVER:
                self._finish(self._end or _last_words(_UNKNOWN))
            self._store.released(*self._turn, self._around.owner)
            self.released = True
        self.troubled = False

    def _log(self, error: BaseException) -> None:
        # Without its trace, which may hold what is private.
        log.error("turn %s: %s", self.turn_id, told(error, self._segments.private))

    async def _work(self) -> bool:
        """Whether all is on record, so that the lease may be given back."""
        while True:
            recorder = Recorder(
                self._store, self._around.wake_up, *self._turn, private=self._segments.private
            )
            outcome = await self._segments.play(recorder)
            if self.signals.stopping == "close" and not self._segments.begun:
                return True  # nothing happened: it is as runnable as before
            turn = await self._conclude(outcome, recorder)
            if turn is None:
                return False
            if turn.state == "waiting_for_input" and self._segments.is_live:
                turn = await self._rest()
                if self.signals.stopping is not None and turn.state not in OVER:
                    stop = TurnFinish(state="recovery_required", error=_WAITED)
                    return await self._conclude(stop, recorder) is not None
            if turn.state != "running" or not self._segments.is_live:
                return True

    async def _rest(self) -> TurnSnapshot:
        """Keep a live handle until all is decided, somewhere, or until this turn is to end."""
        while True:
            self.quiet.set()
            await self.signals.wait()
            try:
                turn = self._store.snapshot(*self._turn)
            except (
                BarryError
            ) as problem:  # for the moment, perhaps: a handle is not given up for that
                self._log(problem)
                if self.signals.stopping is None:
                    continue
                raise
            if self.signals.stopping is not None:
                return turn
            if turn.state != "waiting_for_input":
                self.quiet.clear()
                return turn

    # --- the record ---

    async def _conclude(self, outcome: Outcome, recorder: Recorder) -> TurnSnapshot | None:
        """The turn as it is recorded then; None when that failed, and the lease must stay."""
        try:
            return await self._record(outcome, recorder)
        except Exception as error:
            problem = told(error, self._segments.private)
            later = self._end if isinstance(error, StoreProblem) else None
        log.warning("turn %s could not be recorded as it ended: %s", self.turn_id, problem)
        failed = _last_words(problem)  # not the harness's own: they may be what can't be recorded
        try:
            turn = self._store.snapshot(*self._turn)
            if turn.state in OVER:  # another process was quicker
                return turn
            return self._finish(failed)
        except Exception as error:
            self._log(error)
            self._end = later or failed
            return None

    async def _record(self, outcome: Outcome, recorder: Recorder) -> TurnSnapshot:
        stopping = self.signals.stopping
        if stopping == "cancel":
            return self._cancel(outcome, recorder)
        if isinstance(outcome, SegmentInterrupted):
            if stopping == "close" and self._segments.is_live:
                end = TurnFinish(state="recovery_required", error=_WAITED)
                return self._finish(end, recorder)
            return await self._pause(outcome)
        if isinstance(outcome, SegmentCompleted):
            end = TurnFinish(
                state="completed",
                conversation=outcome.conversation,
                result=writable(outcome.result),
            )
        elif not isinstance(outcome, SegmentFailed):
            end = outcome
        elif stopping == "close":
            end = TurnFinish(state="recovery_required", error=_AT_WORK)
        else:
            end = TurnFinish(state="failed", error=outcome.error)
        return self._finish(end, recorder)

    async def _pause(self, outcome: SegmentInterrupted) -> TurnSnapshot:
        turn = self._store.pause(
            *self._turn, self._around.owner, outcome.continuation, outcome.calls
        )
        self._around.wake_up(self.session_id)
        if turn.state == "waiting_for_input" and turn.review_policy.mode == "automatic":
            authority = Authority(self._around.authorize, self.session_id)
            turn = await review_automatically(self._store, authority, turn)
        return turn

    def _finish(self, end: TurnFinish, recorder: Recorder | None = None) -> TurnSnapshot:
        if recorder is not None:
            end = replace(end, events=recorder.last_events(end.error))
        self._end = end
        turn = self._store.finish(*self._turn, self._around.owner, end)
        self._around.wake_up(self.session_id)
        return turn

    def _cancel(self, outcome: Outcome, recorder: Recorder) -> TurnSnapshot:
        turn = self._store.cancel(*self._turn)
        self._around.wake_up(self.session_id)
        if isinstance(outcome, SegmentCompleted) and outcome.conversation is not None:
            # So that the next turn goes on where this one was cut off.
            end = TurnFinish(state="completed", conversation=outcome.conversation)
            return self._finish(end, recorder)
        return turn


def _last_words(error: str) -> TurnFinish:
    """The end of a turn of which nothing else can be recorded."""
    from barry_cli.contract.events import Done, Failed

    return TurnFinish(state="failed", error=error, events=(Failed(error=error), Done()))
