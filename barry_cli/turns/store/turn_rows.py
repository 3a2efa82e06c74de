"""Turns as rows, and as what an app gets to see of them. Nothing private leaves here."""

from __future__ import annotations

import sqlite3
from typing import Any

from barry_cli.base.problems import SessionNotFound
from barry_cli.turns.store.problems import TurnNotFound
from barry_cli.turns.store.stored import Damaged, iso, value_of

ACTIVE = frozenset({"running", "waiting_for_input"})
OVER = frozenset({"completed", "failed", "cancelled", "recovery_required"})

_COLUMNS = (
    "number, id, session_id, run_id, state, revision, owner, fence, put_down, pauses, "
    "expires_at, after_event"
)
_SHOWN = "id, session_id, run_id, state, revision, policy, error, result"


def require_session(connection: sqlite3.Connection, session_id: str) -> None:
    """Raise SessionNotFound unless there is this very session."""
    if connection.execute("SELECT 1 FROM session WHERE id = ?", (session_id,)).fetchone() is None:
        raise SessionNotFound(
            f"there is no session {session_id}",
            hint="`barry session list` shows what there is",
            details={"sessionId": session_id},
        )


def turn_row(connection: sqlite3.Connection, session_id: str, turn_id: str) -> sqlite3.Row:
    """A turn of a session, without what is big. Raises SessionNotFound or TurnNotFound."""
    row: sqlite3.Row | None = connection.execute(
        f"SELECT {_COLUMNS} FROM turn WHERE id = ? AND session_id = ?",  # noqa: S608 - our names
        (turn_id, session_id),
    ).fetchone()
    if row is None:
        raise no_turn(connection, session_id, turn_id)
    return row


def turn_in_log(connection: sqlite3.Connection, session_id: str, turn_id: str) -> sqlite3.Row:
    """What an event needs: who holds its turn, and the session's last number as ``last``.

    One question for both, since this is asked for each event. Raises like ``turn_row``.
    """
    row: sqlite3.Row | None = connection.execute(
        "SELECT number, id, session_id, state, owner, fence, put_down, "
        "(SELECT max(sequence) FROM event WHERE session_id = ?2) AS last "
        "FROM turn WHERE id = ?1 AND session_id = ?2",
        (turn_id, session_id),
    ).fetchone()
    if row is None:
        raise no_turn(connection, session_id, turn_id)
    return row


def no_turn(connection: sqlite3.Connection, session_id: str, turn_id: str) -> TurnNotFound:
    """What is raised for a turn that isn't there. Raises SessionNotFound itself."""
    require_session(connection, session_id)
    return TurnNotFound(
        f"session {session_id} has no turn {turn_id}",
        hint=f"`barry session show {session_id}` shows its turns",
        details={"sessionId": session_id, "turnId": turn_id},
    )


def change(connection: sqlite3.Connection, row: sqlite3.Row, **values: object) -> None:
    """Set columns of a turn; its revision grows."""
    settings = ", ".join(f"{name} = :{name}" for name in (*values,))
    connection.execute(
        f"UPDATE turn SET {settings}, revision = revision + 1 "  # noqa: S608 - names of our own
        "WHERE number = :_number",
        {**values, "_number": row["number"]},
    )


def turn_document(connection: sqlite3.Connection, session_id: str, turn_id: str) -> dict[str, Any]:
    """A turn's snapshot, camelCase. Raises SessionNotFound or TurnNotFound."""
    row = connection.execute(
        f"SELECT {_SHOWN} FROM turn WHERE id = ? AND session_id = ?",  # noqa: S608 - our names
        (turn_id, session_id),
    ).fetchone()
    if row is None:
        raise no_turn(connection, session_id, turn_id)
    return _shown(connection, row)


def turn_documents(connection: sqlite3.Connection, session_id: str) -> list[dict[str, Any]]:
    """A session's turns, first to last. Raises SessionNotFound."""
    require_session(connection, session_id)
    rows = connection.execute(
        f"SELECT {_SHOWN} FROM turn WHERE session_id = ? ORDER BY number",  # noqa: S608 - ours
        (session_id,),
    ).fetchall()
    return [_shown(connection, row) for row in rows]


def turn_times(connection: sqlite3.Connection, session_id: str) -> dict[str, dict[str, Any]]:
    """For each turn of a session: who asked for it, when, and when it was over."""
    rows = connection.execute(
        "SELECT id, actor, created_at, ended_at FROM turn WHERE session_id = ?", (session_id,)
    )
    return {
        row["id"]: {
            "actor": row["actor"],
            "createdAt": iso(row["created_at"]),
            **({} if row["ended_at"] is None else {"endedAt": iso(row["ended_at"])}),
        }
        for row in rows
    }


def uncertain_calls(connection: sqlite3.Connection, session_id: str) -> dict[str, list[str]]:
    """For each turn of a session that has some: the ids of its uncertain calls."""
    found: dict[str, list[str]] = {}
    for row in connection.execute(
        "SELECT call.turn_id, call.id FROM call JOIN turn ON turn.id = call.turn_id "
        "WHERE turn.session_id = ? AND call.state = 'uncertain' ORDER BY turn.number, call.id",
        (session_id,),
    ):
        found.setdefault(row["turn_id"], []).append(row["id"])
    return found


def _shown(connection: sqlite3.Connection, row: sqlite3.Row) -> dict[str, Any]:
    policy = value_of(row["policy"])
    if not isinstance(policy, dict):
        raise Damaged("a turn's policy in it has lost its form")
    shown: dict[str, Any] = {
        "id": row["id"],
        "sessionId": row["session_id"],
        "runId": row["run_id"],
        "state": row["state"],
        "revision": row["revision"],
        "reviewPolicy": policy,
        "interrupts": _interrupts(connection, row["id"], policy.get("expiresAt")),
    }
    if row["result"] is not None:
        shown["result"] = value_of(row["result"])
    if row["error"] is not None:
        shown["error"] = row["error"]
    return shown


def _interrupts(
    connection: sqlite3.Connection, turn_id: str, expires_at: str | None
) -> list[dict[str, Any]]:
    rows = connection.execute(
        "SELECT id, run_id, call, status FROM interrupt WHERE turn_id = ? ORDER BY number",
        (turn_id,),
    )
    until = {} if expires_at is None else {"expiresAt": expires_at}
    return [
        {
            "id": row["id"],
            "runId": row["run_id"],
            "call": value_of(row["call"]),
            "status": row["status"],
            **until,
        }
        for row in rows
    ]
