"""How a turn is held, and let go: by its owner, or for one who is gone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from barry_cli.contract.turns import TurnSnapshot
from barry_cli.turns.store import approvals, events, leases
from barry_cli.turns.store.leases import IsGone, Lease
from barry_cli.turns.store.opened import OpenDatabase
from barry_cli.turns.store.problems import LeaseLost, TurnOver
from barry_cli.turns.store.reading import TurnReader, snapshot_of
from barry_cli.turns.store.turn_rows import OVER, change, turn_row

DONE = {"type": "done"}


class TurnHolder(TurnReader):
    """The part of a store that claims turns; it remembers the fence of each claim that it made."""

    def __init__(
        self, database: OpenDatabase, clock: Callable[[], datetime], is_gone: IsGone
    ) -> None:
        super().__init__(database, clock, is_gone)
        self._leases: dict[str, Lease] = {}

    def claim(self, session_id: str, turn_id: str, owner: str, *, at_rest: bool = False) -> bool:
        """Take an unclaimed running turn; False when it isn't one. Never steals.

        Who holds a turn that rests (paused by it and running again, or claimed ``at_rest``) takes
        it up by another claim. A turn that rests isn't lost with its owner.
        Raises SessionNotFound or TurnNotFound.
        """
        held = self._leases.get(turn_id)
        with self._database.reading() as connection:  # who comes late does not wait for the disk
            if not leases.to_be_had(turn_row(connection, session_id, turn_id), owner, held):
                return False
        with self._database.writing("claim") as connection:
            turn = turn_row(connection, session_id, turn_id)
            lease = leases.take(connection, turn, owner, held, at_rest=at_rest)
        if lease is not None:
            self._leases[turn_id] = lease
        return lease is not None

    def released(self, session_id: str, turn_id: str, owner: str) -> None:
        """Give the lease back, once the handle is closed. Calls still executing are uncertain.

        Raises LeaseLost.
        """
        try:
            with self._database.writing("released", durable=False) as connection:
                leases.clear(connection, self._held(connection, session_id, turn_id, owner))
        except LeaseLost:
            self._leases.pop(turn_id, None)
            raise
        self._leases.pop(turn_id, None)

    def free(self, session_id: str, turn_id: str) -> TurnSnapshot:
        """Take a gone owner off a turn of which nothing is lost: put down, or over.

        Raises OwnerLives, and TurnOver for a turn that is lost with its owner.
        """
        with self._database.writing("free") as connection:
            turn = turn_row(connection, session_id, turn_id)
            leases.require_gone(turn, self._is_gone)
            if turn["owner"] is not None:
                if not leases.may_be_freed(connection, turn):
                    raise TurnOver(
                        f"turn {turn_id} was at work when its owner went: it can't just go on",
                        hint="record it as lost, and let somebody look",
                        details={"sessionId": session_id, "turnId": turn_id},
                    )
                leases.clear(connection, turn)
            return snapshot_of(connection, session_id, turn_id)

    def lost(self, session_id: str, turn_id: str, error: str) -> TurnSnapshot:
        """The turn's owner is gone: ``recovery_required``, with an ``error`` and a ``done``.

        Executing calls are uncertain, pending interrupts cancelled. A turn that is over stays as it
        is. Raises OwnerLives, and TurnOver for a turn that nobody has begun.
        """
        with self._database.writing("lost") as connection:
            turn = turn_row(connection, session_id, turn_id)
            leases.require_gone(turn, self._is_gone)
            if turn["fence"] == 0 and turn["state"] not in OVER:
                raise TurnOver(
                    f"turn {turn_id} is not lost: nobody has begun it",
                    details={"sessionId": session_id, "turnId": turn_id},
                )
            if turn["state"] not in OVER:
                last = [{"type": "error", "error": error}, DONE]
                self._end(connection, turn, "recovery_required", last, error=error)
            if turn["owner"] is not None:
                leases.clear(connection, turn_row(connection, session_id, turn_id))
            return snapshot_of(connection, session_id, turn_id)

    def _held(
        self, connection: sqlite3.Connection, session_id: str, turn_id: str, owner: str
    ) -> sqlite3.Row:
        lease = self._leases.get(turn_id)
        return leases.held_turn(connection, session_id, turn_id, owner, lease)

    def _end(
        self,
        connection: sqlite3.Connection,
        turn: sqlite3.Row,
        state: str,
        last: Sequence[Mapping[str, Any]],
        *,
        error: str | None = None,
        result: str | None = None,
    ) -> None:
        now = self._now()
        approvals.cancel_pending(connection, turn["id"])
        if last:
            rows = [events.event_row(event) for event in last]
            events.add_events(connection, turn["session_id"], turn["id"], rows, now)
        events.drop_passing(connection, turn)
        change(connection, turn, state=state, error=error, result=result, ended_at=now)
