"""What a store of turns tells: nothing here changes a turn, but for what has expired."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from barry_cli.contract.continuation import ContinuationDescriptor, RecordedCallResult
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.contract.turns import TurnSnapshot
from barry_cli.turns.store import admission, approvals, calls, events, leases, turn_rows
from barry_cli.turns.store.documents import datum_of
from barry_cli.turns.store.events import StoredEvent
from barry_cli.turns.store.leases import IsGone, Orphan
from barry_cli.turns.store.opened import OpenDatabase
from barry_cli.turns.store.problems import TurnOver
from barry_cli.turns.store.stored import microseconds, value_of
from barry_cli.turns.store.turn_rows import turn_row


@dataclass(frozen=True, kw_only=True, slots=True)
class Runnable:
    """A turn that runs and that nobody holds. ``restoring``: it goes on from a checkpoint."""

    turn: TurnSnapshot
    input: Any
    restoring: bool


def utc_now() -> datetime:
    """This moment."""
    return datetime.now(UTC)


class TurnReader:
    """The half of a store that looks."""

    def __init__(
        self, database: OpenDatabase, clock: Callable[[], datetime], is_gone: IsGone
    ) -> None:
        self._database = database
        self._clock = clock
        self._is_gone = is_gone

    def expire_due(self) -> list[TurnSnapshot]:
        """The turns that go on because nobody decided in time; recorded with this."""
        now = self._now()
        with self._database.reading() as connection:
            due = connection.execute(
                "SELECT session_id, id FROM turn WHERE state IN ('running', 'waiting_for_input') "
                "AND state = 'waiting_for_input' AND expires_at <= ?",
                (now,),
            ).fetchall()
        gone = [row for row in due if self._expire(row["session_id"], row["id"], now)]
        return [self.snapshot(row["session_id"], row["id"]) for row in gone]

    def _expire(self, session_id: str, turn_id: str, now: int) -> bool:
        """Record what has expired: seen once, it stays so. Whether the turn goes on."""
        with self._database.reading() as connection:
            if not approvals.is_due(turn_row(connection, session_id, turn_id), now):
                return False
        with self._database.writing("expire") as connection:
            return approvals.expire(connection, turn_row(connection, session_id, turn_id), now)

    def decisions(self, session_id: str, turn_id: str) -> Mapping[str, Allowed | Denied]:
        """The decisions of the turn's last pause: call id -> decision."""
        self._expire(session_id, turn_id, self._now())
        with self._database.reading() as connection:
            return approvals.decided(connection, turn_row(connection, session_id, turn_id))

    def recorded(
        self, session_id: str, turn_id: str, call: PermissionRequest
    ) -> RecordedCallResult | None:
        """What a call gave, when it is over. Raises CallRefused for another input."""
        shape = approvals.shape_of(call)
        with self._database.reading() as connection:
            turn = turn_row(connection, session_id, turn_id)
            return calls.recorded(connection, turn, call, shape)

    def continuation(self, session_id: str, turn_id: str) -> ContinuationDescriptor:
        """The turn's last checkpoint. Raises TurnOver where it never made one."""
        with self._database.reading() as connection:
            turn_row(connection, session_id, turn_id)
            row = connection.execute(
                "SELECT descriptor FROM checkpoint WHERE turn_id = ?", (turn_id,)
            ).fetchone()
            if row is None:
                raise TurnOver(
                    f"turn {turn_id} has no checkpoint: it was never put down",
                    details={"sessionId": session_id, "turnId": turn_id},
                )
            return datum_of(ContinuationDescriptor, value_of(row["descriptor"]))

    def conversation(self, session_id: str) -> ContinuationDescriptor | None:
        """The conversation that the session's last finished turn left."""
        with self._database.reading() as connection:
            turn_rows.require_session(connection, session_id)
            row = connection.execute(
                "SELECT descriptor FROM conversation WHERE session_id = ?", (session_id,)
            ).fetchone()
            if row is None:
                return None
            return datum_of(ContinuationDescriptor, value_of(row["descriptor"]))

    def snapshot(self, session_id: str, turn_id: str) -> TurnSnapshot:
        """The turn as it is now; what has expired by now is recorded. Raises TurnNotFound."""
        self._expire(session_id, turn_id, self._now())
        with self._database.reading() as connection:
            return snapshot_of(connection, session_id, turn_id)

    def list_turns(self, session_id: str) -> list[TurnSnapshot]:
        """The session's turns, first to last, as they are recorded. Raises SessionNotFound."""
        with self._database.reading() as connection:
            found = turn_rows.turn_documents(connection, session_id)
            return [datum_of(TurnSnapshot, each) for each in found]

    def input(self, session_id: str, turn_id: str) -> Any:
        """What the turn was admitted with."""
        with self._database.reading() as connection:
            turn_row(connection, session_id, turn_id)
            return input_of(connection, turn_id)

    def events(self, session_id: str, after: int = 0, limit: int = 1000) -> list[StoredEvent]:
        """The session's events behind a number, in order, at most ``limit``.

        Partial ones are gone once their turn is over. Raises SessionNotFound.
        """
        with self._database.reading() as connection:
            return events.read_events(connection, session_id, after, limit)

    def last_sequence(self, session_id: str) -> int:
        """The number of the session's last event; 0 while there is none. Raises SessionNotFound."""
        with self._database.reading() as connection:
            return events.last_sequence(connection, session_id)

    def runnable(self, session_id: str | None = None) -> list[Runnable]:
        """The turns that run and that nobody holds, of one session or of all."""
        with self._database.reading() as connection:
            return [
                Runnable(
                    turn=snapshot_of(connection, row["session_id"], row["id"]),
                    input=value_of(row["content"]),
                    restoring=bool(row["restoring"]),
                )
                for row in admission.runnable(connection, session_id)
            ]

    def orphans(self) -> list[Orphan]:
        """The turns whose owners are gone: to be freed where put down, else lost."""
        with self._database.reading() as connection:
            return leases.find_orphans(connection, self._is_gone)

    def queued_sessions(self) -> list[str]:
        """The sessions that have a queued turn and none that is active: to be promoted."""
        with self._database.reading() as connection:
            return admission.queued_sessions(connection)

    def _now(self) -> int:
        return microseconds(self._clock())


def snapshot_of(connection: sqlite3.Connection, session_id: str, turn_id: str) -> TurnSnapshot:
    """A turn as an app gets to see it. Raises TurnNotFound."""
    found = turn_rows.turn_document(connection, session_id, turn_id)
    return datum_of(TurnSnapshot, found)


def input_of(connection: sqlite3.Connection, turn_id: str) -> Any:
    """What a turn was admitted with."""
    row = connection.execute("SELECT content FROM turn WHERE id = ?", (turn_id,)).fetchone()
    return value_of(row["content"])
