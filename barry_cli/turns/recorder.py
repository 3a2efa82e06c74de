"""What a harness says while it works, put on record as it says it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from barry_cli.base.canonical import NotCanonical
from barry_cli.base.problems import Refused
from barry_cli.contract.data import Data
from barry_cli.turns.store.documents import document_of
from barry_cli.turns.told import told
from barry_cli.turns.writable import writable

if TYPE_CHECKING:
    from barry_cli.contract.events import Done, Failed, SessionEvent
    from barry_cli.contract.turns import TurnExecutionStore

log = logging.getLogger(__name__)

PASSING = frozenset({"partial", "tool_progress"})
"""Events that are of use only while their turn goes on: the store drops them at its end."""

_TOGETHER = 64  # passing events that are recorded in one commit,
_SOON = 0.05  # and the seconds that the first of them waits for others
_IN_A_ROW = 64  # events that are taken before others get their turn of the loop

Committed = Callable[[str, int], None]
"""(session, number of its last event): something was recorded."""


class WakeUp:
    """Tells who follows a session that there is something to read; it can't hinder anything."""

    def __init__(self, store: TurnExecutionStore, committed: Committed | None) -> None:
        self._store = store
        self._committed = committed

    def __call__(self, session_id: str, sequence: int | None = None) -> None:
        """``sequence``: the number that the last event got; None where it must be looked up."""
        if self._committed is None:
            return
        try:
            if sequence is None:
                sequence = self._store.last_sequence(session_id)
            self._committed(session_id, sequence)
        except Exception as error:  # readers replay from the store: nothing is lost
            log.warning("a wake-up for session %s failed: %s", session_id, told(error))


class Recorder:
    """The way from one segment of a harness to the event log.

    Passing events are recorded together, soon; all others before ``emit`` returns, in order.
    ``done`` is kept back: the transaction that ends the turn writes it, once. So is a permission
    request: the checkpoint's transaction writes it. The first failure to record is kept: a turn
    of which something is missing in the record has failed, whatever its harness says.
    """

    def __init__(
        self,
        store: TurnExecutionStore,
        wake_up: WakeUp,
        session_id: str,
        turn_id: str,
        *,
        private: object = None,
    ) -> None:
        """``private``: of what no text may appear in an error that is recorded."""
        self._store = store
        self._wake_up = wake_up
        self._session_id = session_id
        self._turn_id = turn_id
        self._private = private
        self._open = True
        self._taken = 0
        self._passing: list[SessionEvent] = []
        self._soon: asyncio.TimerHandle | None = None
        self._done: Done | None = None
        self._usage_seen = False
        self._last_failure: str | None = None
        self.failure: BaseException | None = None

    async def emit(self, event: SessionEvent) -> None:
        """Record an event. Raises what the store raises."""
        given: object = event  # somebody else's code
        if not isinstance(given, Data) or not hasattr(given, "parent_tool_use_id"):
            raise Refused(f"the harness gave a {type(given).__name__} where an event belongs")
        if not self._open:
            raise Refused("an event came after its turn's segment was over, and is not recorded")
        if event.type == "done":
            if event.parent_tool_use_id is None:  # a subagent's end is not the turn's
                self._done = self._done or event
        elif event.type in PASSING:
            self._pass(event)
        elif event.type != "permission_request":
            self._append(event)
        self._taken += 1
        if self._taken % _IN_A_ROW == 0:  # a harness that never waits would keep the loop
            await asyncio.sleep(0)

    def _pass(self, event: SessionEvent) -> None:
        self._passing.append(event)
        if len(self._passing) >= _TOGETHER:
            self._flush()
        elif self._soon is None:
            self._soon = asyncio.get_running_loop().call_later(_SOON, self._flush_quietly)

    def _flush(self) -> None:
        """Record the passing events that wait."""
        if self._soon is not None:
            self._soon.cancel()
            self._soon = None
        passing, self._passing = self._passing, []
        if passing:
            self._record(passing, together=True)

    def _flush_quietly(self) -> None:
        try:
            self._flush()
        except Exception as error:  # it is kept, and fails the turn
            log.warning("turn %s is not recorded: %s", self._turn_id, told(error))

    def _append(self, event: SessionEvent) -> None:
        self._flush()
        if event.type == "usage":
            self._usage_seen = True
        if event.type == "error":
            event = event.model_copy(update={"error": told(event.error, self._private)})
            self._last_failure = event.error
        self._record([event])

    def _record(self, events: Sequence[SessionEvent], *, together: bool = False) -> None:
        try:
            try:
                sequence = self._put(events, together)
            except NotCanonical:  # nothing is written then
                sequence = self._put([_in_words(event) for event in events], together)
        except Exception as error:
            self.failure = self.failure or error
            raise
        self._wake_up(self._session_id, sequence)

    def _put(self, events: Sequence[object], together: bool) -> int:
        if together:
            return self._store.append_many(self._session_id, self._turn_id, events)
        return self._store.append(self._session_id, self._turn_id, events[0])

    def close(self) -> None:
        """The segment is over. What its harness says from now on is refused.

        A usage that came with the harness's own ``done`` alone is recorded before ours.
        """
        if not self._open:
            return
        self._open = False
        self._flush_quietly()
        usage = self._done.usage if self._done is not None else None
        if usage is not None and not self._usage_seen:
            from barry_cli.contract.events import UsageReported

            try:
                self._append(UsageReported(id=self._turn_id, usage=usage))
            except Exception as error:
                log.warning("the usage of turn %s is not recorded: %s", self._turn_id, told(error))

    def last_events(self, error: str | None) -> tuple[Failed | Done, ...]:
        """What the end of the turn records: its error, unless the harness said it, and ``done``."""
        from barry_cli.contract.events import Done, Failed

        done = self._done or Done()
        if error is None or error == self._last_failure:
            return (done,)
        return (Failed(error=error), done)


def _in_words(event: SessionEvent) -> object:
    """An event that the record can keep; of numbers that count something, none is made a text."""
    return event if event.type == "usage" else writable(document_of(event))
