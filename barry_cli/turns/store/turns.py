"""The embedded store of turns: one SQLite file (seed 001's TurnExecutionStore).

Every change is one transaction, taken at once (``BEGIN IMMEDIATE``). What decides whether something
runs is synced to the disk before the method returns; events are not, so that a power cut, and
nothing less, may take the last of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Literal, Self

from barry_cli.base.canonical import NotCanonical, canonical_json
from barry_cli.base.paths import Folders
from barry_cli.contract.continuation import ContinuationDescriptor, RecordedCallResult
from barry_cli.contract.data import Data
from barry_cli.contract.session import PermissionRequest
from barry_cli.contract.turns import (
    ApprovalDecision,
    AutomaticReview,
    RequiredReview,
    TurnFinish,
    TurnSnapshot,
)
from barry_cli.turns.store import admission, approvals, calls, events, leases
from barry_cli.turns.store.documents import document_of, text_of
from barry_cli.turns.store.holding import DONE, TurnHolder
from barry_cli.turns.store.leases import IsGone
from barry_cli.turns.store.opened import OnCommit, OpenDatabase
from barry_cli.turns.store.owners import is_gone
from barry_cli.turns.store.problems import CallUncertain, TurnOver
from barry_cli.turns.store.reading import input_of, snapshot_of, utc_now
from barry_cli.turns.store.turn_rows import OVER, change, turn_in_log, turn_row


class SqliteTurnStore(TurnHolder):
    """The turns of one Barry home, seen by one thread.

    It remembers the fence of each claim that it made: two objects never write to a turn under the
    same claim, even when they call themselves by the same owner. ``clock`` gives an aware time;
    ``is_gone`` tells whether an owner has ended for sure; ``redact`` cleans the messages of effects
    that failed; ``on_commit`` is called before and after each commit, with its name.
    Raises StoreProblem where the file can't be used.
    """

    def __init__(
        self,
        folders: Folders,
        *,
        clock: Callable[[], datetime] = utc_now,
        is_gone: IsGone = is_gone,
        redact: Callable[[str], str] = str,
        on_commit: OnCommit | None = None,
    ) -> None:
        super().__init__(OpenDatabase(folders.database, on_commit), clock, is_gone)
        self._redact = redact

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file. What this object holds stays held by its owner. Idempotent."""
        self._database.close()

    # --- how turns come in ---

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
        """See TurnExecutionStore. Where a turn that is over is still held, the new one is queued.

        Raises SessionNotFound, RequestReused, TurnActive, NotCanonical.
        """
        asked = admission.admission(
            session_id=session_id,
            request_id=request_id,
            run_id=run_id,
            actor=actor,
            content=content,
            policy=policy,
            queue=if_active == "queue",
        )
        with self._database.writing("admit") as connection:
            turn_id = admission.admit(connection, asked, self._is_gone, self._now())
            return snapshot_of(connection, session_id, turn_id)

    def promote_queued(self, session_id: str) -> tuple[Any, TurnSnapshot] | None:
        """The next queued turn, now ``running``, with its input.

        None while a turn of the session is not over, or is over and still held by who lives.
        Raises SessionNotFound.
        """
        with self._database.writing("promote", durable=False) as connection:
            turn_id = admission.promote(connection, session_id, self._is_gone)
            if turn_id is None:
                return None
            return input_of(connection, turn_id), snapshot_of(connection, session_id, turn_id)

    # --- what its owner records ---

    def append(self, session_id: str, turn_id: str, event: object) -> int:
        """Record an event; its number in the session.

        By the object that claimed the turn; while nobody holds it, by any other.
        Raises LeaseLost, TurnOver, NotCanonical.
        """
        return self._append("event", session_id, turn_id, (event,))

    def append_many(self, session_id: str, turn_id: str, events: Sequence[object]) -> int:
        """Record events in one commit, numbered one after the other; the last one's number."""
        return self._append("events", session_id, turn_id, events)

    def _append(self, what: str, session_id: str, turn_id: str, given: Sequence[object]) -> int:
        rows = [_event_row(event) for event in given]
        with self._database.writing(what, durable=False) as connection:
            turn = turn_in_log(connection, session_id, turn_id)
            lease = self._leases.get(turn_id)
            if not lease.holds(turn) if lease is not None else turn["owner"] is not None:
                leases.refuse(turn)
            if turn["state"] in OVER:
                raise TurnOver(
                    f"turn {turn_id} is {turn['state']}: nothing follows its end",
                    details={"sessionId": session_id, "turnId": turn_id},
                )
            if not rows:
                return turn["last"] or 0
            if turn["put_down"] and turn["state"] == "running" and lease is not None:
                change(connection, turn, put_down=0)
            now, last = self._now(), turn["last"] or 0
            return events.add_events(connection, session_id, turn_id, rows, now, last)

    def pause(
        self,
        session_id: str,
        turn_id: str,
        owner: str,
        continuation: ContinuationDescriptor,
        calls: Sequence[PermissionRequest],
    ) -> TurnSnapshot:
        """See TurnExecutionStore. ``running`` at once when kept answers decide every call.

        Raises LeaseLost, TurnOver, CallRefused (a call still executes, two have one id, one came
        with another input), NotCanonical.
        """
        with self._database.writing("pause") as connection:
            turn = self._held(connection, session_id, turn_id, owner)
            approvals.pause(connection, turn, continuation, calls, self._now())
            return snapshot_of(connection, session_id, turn_id)

    def finish(
        self, session_id: str, turn_id: str, owner: str, outcome: TurnFinish
    ) -> TurnSnapshot:
        """End the turn, with its last events. One that was cancelled meanwhile stays cancelled, and
        keeps the conversation alone.

        Raises LeaseLost, NotCanonical, and TurnOver for one that ended before or is completed while
        it waits.
        """
        last = [_document(event) for event in outcome.events]
        result = None if outcome.result is None else canonical_json(outcome.result)
        with self._database.writing("finish") as connection:
            turn = self._held(connection, session_id, turn_id, owner)
            waits = turn["state"] == "waiting_for_input"
            if turn["state"] in OVER - {"cancelled"} or (waits and outcome.state == "completed"):
                raise TurnOver(
                    f"turn {turn_id} is {turn['state']}, so it can't be {outcome.state}",
                    details={"sessionId": session_id, "turnId": turn_id},
                )
            if outcome.conversation is not None:
                connection.execute(
                    "INSERT INTO conversation VALUES (?, ?) "
                    "ON CONFLICT (session_id) DO UPDATE SET descriptor = excluded.descriptor",
                    (session_id, text_of(outcome.conversation)),
                )
            if turn["state"] not in OVER:
                self._end(connection, turn, outcome.state, last, error=outcome.error, result=result)
            return snapshot_of(connection, session_id, turn_id)

    def cancel(self, session_id: str, turn_id: str) -> TurnSnapshot:
        """End a turn that isn't over, with a ``done``; its owner keeps it until they let go.

        A turn that is over stays as it is. Raises SessionNotFound or TurnNotFound.
        """
        with self._database.writing("cancel") as connection:
            turn = turn_row(connection, session_id, turn_id)
            if turn["state"] not in OVER:
                self._end(connection, turn, "cancelled", [DONE])
            return snapshot_of(connection, session_id, turn_id)

    # --- approvals ---

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
        """See TurnExecutionStore. The turn goes on under this ``run_id``; an interrupt keeps the
        one that it came from.

        Raises TurnNotFound, RequestReused, InterruptClosed, NotCanonical.
        """
        asked = approvals.resolution(
            turn_id=turn_id,
            run_id=run_id,
            request_id=request_id,
            actor=actor,
            decisions=decisions,
            context=context,
        )
        now = self._now()
        self._expire(session_id, turn_id, now)
        with self._database.writing("resolve") as connection:
            turn = turn_row(connection, session_id, turn_id)
            approvals.resolve(connection, turn, asked, now)
            return snapshot_of(connection, session_id, turn_id)

    # --- calls ---

    async def execute(
        self,
        session_id: str,
        turn_id: str,
        owner: str,
        call: PermissionRequest,
        effect: Callable[[], Awaitable[RecordedCallResult]],
    ) -> RecordedCallResult:
        """Run an effect once: ``executing`` is on disk before it begins, its result after.

        A call that is over gives its result again. An effect that raises has failed: that is its
        result, with the error's own sentence. One that is interrupted is uncertain.
        Raises LeaseLost, TurnOver, CallRefused (another input, not approved), CallUncertain.
        """
        shape = approvals.shape_of(call)
        with self._database.writing("executing") as connection:
            turn = self._held(connection, session_id, turn_id, owner)
            known = calls.begin(connection, turn, call, shape)
        if known is not None:
            return known
        try:
            result = await effect()
        except Exception as error:
            message = self._redact(calls.what_happened(error))
            result = calls.failure(call.id, message)
        except BaseException:
            with suppress(Exception):  # what interrupted it is told, not that the disk is full
                self._over(session_id, turn_id, owner, call.id, "uncertain", None)
            raise
        state, text = calls.outcome_text(call.id, result)
        self._over(session_id, turn_id, owner, call.id, state, text)
        return calls.read_result(text)

    def _over(
        self,
        session_id: str,
        turn_id: str,
        owner: str,
        call_id: str,
        state: str,
        text: str | None,
    ) -> None:
        with self._database.writing("over") as connection:
            self._held(connection, session_id, turn_id, owner)
            if not calls.end(connection, turn_id, call_id, state, text):
                raise CallUncertain(
                    f"call {call_id} of turn {turn_id} ended after it was given up",
                    hint="look at what it has done",
                    details={"sessionId": session_id, "turnId": turn_id, "callId": call_id},
                )

    def denied(
        self,
        session_id: str,
        turn_id: str,
        owner: str,
        call: PermissionRequest,
        outcome: RecordedCallResult,
    ) -> RecordedCallResult:
        """Record that a call was denied, and what its harness is told; once, then again the same.

        Raises LeaseLost, CallRefused for one that ran, CallUncertain, NotCanonical.
        """
        shape, text = approvals.shape_of(call), calls.result_text(call.id, outcome)
        with self._database.writing("denied") as connection:
            turn = self._held(connection, session_id, turn_id, owner)
            known = calls.deny(connection, turn, call, shape, text)
        return known or calls.read_result(text)


def _document(event: object) -> Mapping[str, Any]:
    if isinstance(event, Data):
        return document_of(event)
    if isinstance(event, Mapping):
        return event
    raise NotCanonical("$", f"is a {type(event).__name__}, which is no event")


def _event_row(event: object) -> tuple[str, bool]:
    found = _document(event)
    if found.get("type") == "done":
        raise TurnOver(
            "a turn's done is recorded by what ends it, not by itself",
            hint="finish the turn, and give the event with it",
        )
    return events.event_row(found)
