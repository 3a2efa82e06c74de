"""Who holds a turn. A lease is an owner and a fence, and it ends by its owner or their death."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from barry_cli.turns.store.events import drop_passing
from barry_cli.turns.store.problems import LeaseLost, OwnerLives
from barry_cli.turns.store.turn_rows import ACTIVE, OVER, change, turn_row

IsGone = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Lease:
    """What a store object got when it claimed a turn. Each later claim has a higher fence."""

    owner: str
    fence: int

    def holds(self, turn: sqlite3.Row) -> bool:
        """Whether this is the turn's present lease."""
        return (turn["owner"], turn["fence"]) == (self.owner, self.fence)


@dataclass(frozen=True, slots=True)
class Orphan:
    """A turn that is held by an owner who is gone.

    ``put_down``: nothing was done since its last checkpoint, or it is over. Such a turn is freed;
    another is lost.
    """

    session_id: str
    turn_id: str
    state: str
    put_down: bool


def to_be_had(turn: sqlite3.Row, owner: str, held: Lease | None) -> bool:
    """Whether a turn runs, and is held by nobody or at rest by who asks."""
    again = held is not None and held.owner == owner and held.holds(turn) and turn["put_down"]
    return turn["state"] == "running" and (turn["owner"] is None or bool(again))


def take(
    connection: sqlite3.Connection,
    turn: sqlite3.Row,
    owner: str,
    held: Lease | None,
    *,
    at_rest: bool = False,
) -> Lease | None:
    """Claim a turn, in one compare-and-set; None where it isn't to be had.

    ``at_rest``: nothing is done yet, until it is taken up by a claim without this.
    """
    if not to_be_had(turn, owner, held):
        return None
    fence = turn["fence"] + 1
    rests = at_rest and (turn["fence"] == 0 or turn["put_down"])
    change(connection, turn, owner=owner, fence=fence, put_down=int(rests))
    return Lease(owner, fence)


def held_turn(
    connection: sqlite3.Connection,
    session_id: str,
    turn_id: str,
    owner: str | None,
    lease: Lease | None,
) -> sqlite3.Row:
    """The turn, if the lease is its present one (and its owner the one named). Raises LeaseLost."""
    turn = turn_row(connection, session_id, turn_id)
    if lease is None or not lease.holds(turn) or owner not in (None, lease.owner):
        refuse(turn)
    return turn


def refuse(turn: sqlite3.Row) -> NoReturn:
    """Raise LeaseLost for a turn that somebody else holds, or nobody."""
    now = "nobody holds it" if turn["owner"] is None else "another claim holds it"
    raise LeaseLost(
        f"turn {turn['id']} can't be written to in this claim: {now} now",
        hint="stop working on this turn here; whoever holds it goes on",
        details={"sessionId": turn["session_id"], "turnId": turn["id"]},
    )


def require_gone(turn: sqlite3.Row, is_gone: IsGone) -> None:
    """Raise OwnerLives unless nobody holds the turn, or one who is gone."""
    if turn["owner"] is not None and not is_gone(turn["owner"]):
        pid = turn["owner"].partition(" ")[0]
        raise OwnerLives(
            f"turn {turn['id']} is held by process {pid}, which lives or can't be seen from here",
            hint="wait for it, cancel the turn, or end that process",
            details={"sessionId": turn["session_id"], "turnId": turn["id"]},
        )


def clear(connection: sqlite3.Connection, turn: sqlite3.Row) -> None:
    """Take the owner off a turn. What they began and did not end is uncertain from then on."""
    unsettle(connection, turn["id"])
    if turn["state"] in OVER:
        drop_passing(connection, turn)
    change(connection, turn, owner=None)


def unsettle(connection: sqlite3.Connection, turn_id: str) -> None:
    """Whatever call of the turn is executing is uncertain."""
    connection.execute(
        "UPDATE call SET state = 'uncertain' WHERE turn_id = ? AND state = 'executing'", (turn_id,)
    )


def executes(connection: sqlite3.Connection, turn_id: str) -> str | None:
    """The id of a call that executes in this turn, if one does."""
    row = connection.execute(
        "SELECT id FROM call WHERE turn_id = ? AND state = 'executing'", (turn_id,)
    ).fetchone()
    return None if row is None else str(row[0])


def may_be_freed(connection: sqlite3.Connection, turn: sqlite3.Row) -> bool:
    """Whether nothing of this turn is lost with its owner."""
    if turn["state"] in OVER:
        return True
    at_rest = turn["state"] in ACTIVE and turn["put_down"]
    return bool(at_rest) and executes(connection, turn["id"]) is None


def free_over(connection: sqlite3.Connection, session_id: str, is_gone: IsGone) -> bool:
    """Whether nobody holds a turn of the session; the lease of a gone owner of one that is over
    is cleared on the way.
    """
    row = connection.execute(
        "SELECT id FROM turn WHERE session_id = ? AND owner IS NOT NULL", (session_id,)
    ).fetchone()
    if row is None:
        return True
    turn = turn_row(connection, session_id, row["id"])
    if turn["state"] in OVER and is_gone(turn["owner"]):
        clear(connection, turn)
        return True
    return False


def find_orphans(connection: sqlite3.Connection, is_gone: IsGone) -> list[Orphan]:
    """The turns whose owners are gone."""
    rows = connection.execute(
        "SELECT number, session_id, id, owner FROM turn WHERE owner IS NOT NULL"
    ).fetchall()
    found = []
    for row in sorted(rows, key=lambda each: each["number"]):
        if is_gone(row["owner"]):
            turn = turn_row(connection, row["session_id"], row["id"])
            at_rest = may_be_freed(connection, turn)
            found.append(Orphan(turn["session_id"], turn["id"], turn["state"], at_rest))
    return found
