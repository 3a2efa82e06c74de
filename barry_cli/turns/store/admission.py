"""How turns come in: once per request, one at a time per session, the others in a queue."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from barry_cli.base.canonical import canonical_hash, canonical_json
from barry_cli.base.ids import new_id
from barry_cli.contract.data import snapshot
from barry_cli.contract.turns import AutomaticReview, RequiredReview
from barry_cli.turns.store.events import last_sequence
from barry_cli.turns.store.leases import IsGone, free_over
from barry_cli.turns.store.problems import RequestReused, TurnActive
from barry_cli.turns.store.stored import microseconds
from barry_cli.turns.store.turn_rows import change, turn_row


@dataclass(frozen=True, kw_only=True, slots=True)
class Admission:
    """A turn that is asked for, in the form in which it is kept. Raises NotCanonical when made."""

    session_id: str
    request_id: str
    run_id: str
    actor: str
    content: str
    policy: str
    expires_at: int | None
    queue: bool
    hash: str


def admission(
    *,
    session_id: str,
    request_id: str,
    run_id: str,
    actor: str,
    content: Any,
    policy: AutomaticReview | RequiredReview,
    queue: bool,
) -> Admission:
    """What a request asks for. Raises NotCanonical."""
    rules = snapshot(policy)
    body = {
        "admit": {"runId": run_id, "actor": actor, "content": content, "policy": rules},
        "queue": queue,
    }
    until = policy.expires_at if isinstance(policy, RequiredReview) else None
    return Admission(
        session_id=session_id,
        request_id=request_id,
        run_id=run_id,
        actor=actor,
        content=canonical_json(content),
        policy=canonical_json(rules),
        expires_at=None if until is None else microseconds(until),
        queue=queue,
        hash=canonical_hash(body),
    )


def admit(connection: sqlite3.Connection, asked: Admission, is_gone: IsGone, now: int) -> str:
    """The id of the turn that a request gets. Raises SessionNotFound, RequestReused, TurnActive."""
    after = last_sequence(connection, asked.session_id)
    known = receipt(connection, asked.session_id, asked.request_id, asked.hash)
    if known is not None:
        return known
    held = not free_over(connection, asked.session_id, is_gone)
    other = _active(connection, asked.session_id) or _queued(connection, asked.session_id)
    if other is not None and not asked.queue:
        raise TurnActive(
            f"session {asked.session_id} works on turn {other}, which is not over",
            hint="wait for it, cancel it, or ask to be queued behind it",
            details={"sessionId": asked.session_id, "turnId": other},
        )
    turn_id = new_id()
    connection.execute(
        "INSERT INTO turn (id, session_id, run_id, state, revision, expires_at, after_event, "
        "created_at, actor, policy, content) VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?)",
        (
            turn_id,
            asked.session_id,
            asked.run_id,
            "queued" if held or other is not None else "running",
            asked.expires_at,
            after,
            now,
            asked.actor,
            asked.policy,
            asked.content,
        ),
    )
    keep_receipt(connection, asked.session_id, asked.request_id, asked.hash, turn_id)
    return turn_id


def promote(connection: sqlite3.Connection, session_id: str, is_gone: IsGone) -> str | None:
    """Let the next queued turn run; its id, or None while the session has another to deal with."""
    last_sequence(connection, session_id)  # there is such a session
    if not free_over(connection, session_id, is_gone) or _active(connection, session_id):
        return None
    turn_id = _queued(connection, session_id)
    if turn_id is not None:
        change(connection, turn_row(connection, session_id, turn_id), state="running")
    return turn_id


def receipt(
    connection: sqlite3.Connection, session_id: str, request_id: str, hash: str
) -> str | None:
    """The turn of a request that came before. Raises RequestReused when it had another body."""
    row = connection.execute(
        "SELECT hash, turn_id FROM receipt WHERE session_id = ? AND request_id = ?",
        (session_id, request_id),
    ).fetchone()
    if row is None:
        return None
    if row["hash"] != hash:
        raise RequestReused(
            f"request {request_id} of session {session_id} came before, and asked something else",
            hint="give a new request an id of its own",
            details={"sessionId": session_id, "requestId": request_id, "turnId": row["turn_id"]},
        )
    return str(row["turn_id"])


def keep_receipt(
    connection: sqlite3.Connection, session_id: str, request_id: str, hash: str, turn_id: str
) -> None:
    """Remember that a request was carried out."""
    connection.execute(
        "INSERT INTO receipt VALUES (?, ?, ?, ?)", (session_id, request_id, hash, turn_id)
    )


def runnable(connection: sqlite3.Connection, session_id: str | None) -> list[Mapping[str, Any]]:
    """The turns that run and that nobody holds, with their input; ``restoring``: from a
    checkpoint.
    """
    return connection.execute(
        "SELECT turn.session_id, id, content, checkpoint.turn_id IS NOT NULL AS restoring "
        "FROM turn LEFT JOIN checkpoint ON checkpoint.turn_id = turn.id "
        "WHERE state IN ('running', 'waiting_for_input') AND state = 'running' "
        "AND owner IS NULL AND (?1 IS NULL OR turn.session_id = ?1)",
        (session_id,),
    ).fetchall()


def queued_sessions(connection: sqlite3.Connection) -> list[str]:
    """The sessions that have queued turns and none that is active."""
    rows = connection.execute(
        "SELECT DISTINCT session_id FROM turn AS waiting WHERE state = 'queued' AND NOT EXISTS "
        "(SELECT 1 FROM turn WHERE session_id = waiting.session_id "
        "AND state IN ('running', 'waiting_for_input'))"
    )
    return [row["session_id"] for row in rows]


def _active(connection: sqlite3.Connection, session_id: str) -> str | None:
    return _first(
        connection,
        "SELECT id FROM turn WHERE session_id = ? AND state IN ('running', 'waiting_for_input')",
        session_id,
    )


def _queued(connection: sqlite3.Connection, session_id: str) -> str | None:
    return _first(
        connection,
        "SELECT id FROM turn WHERE session_id = ? AND state = 'queued' ORDER BY number LIMIT 1",
        session_id,
    )


def _first(connection: sqlite3.Connection, question: str, session_id: str) -> str | None:
    row = connection.execute(question, (session_id,)).fetchone()
    return None if row is None else str(row[0])
