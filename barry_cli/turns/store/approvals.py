"""How a turn is put down for somebody to decide, and how it goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from barry_cli.base.canonical import canonical_hash, canonical_json
from barry_cli.base.ids import new_id
from barry_cli.contract.continuation import ContinuationDescriptor
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.contract.turns import ApprovalDecision
from barry_cli.turns.store.admission import keep_receipt, receipt
from barry_cli.turns.store.documents import datum_of, document_of, text_of
from barry_cli.turns.store.events import add_events, event_row
from barry_cli.turns.store.leases import executes
from barry_cli.turns.store.problems import CallRefused, InterruptClosed, TurnOver
from barry_cli.turns.store.stored import value_of
from barry_cli.turns.store.turn_rows import change, turn_row

EXPIRED = Denied(reason="expired: nobody decided in time")
"""What a call gets that waited too long."""


def shape_of(call: PermissionRequest) -> str:
    """What a decision or a result about a call is bound to. Raises NotCanonical."""
    return canonical_hash({"tool": call.tool, "input": call.input})


def pause(
    connection: sqlite3.Connection,
    turn: sqlite3.Row,
    continuation: ContinuationDescriptor,
    calls: Sequence[PermissionRequest],
    now: int,
) -> None:
    """Write the checkpoint, an interrupt per call, and a ``permission_request`` event for each
    that is pending. Raises TurnOver and CallRefused.
    """
    if turn["state"] != "running":
        raise TurnOver(
            f"turn {turn['id']} is {turn['state']}, so it can't be put down",
            details={"turnId": turn["id"], "state": turn["state"]},
        )
    busy = executes(connection, turn["id"])
    if busy is not None:
        raise CallRefused(
            f"call {busy} of turn {turn['id']} still runs, so the turn can't be put down",
            hint="end the segment before it is paused",
            details={"turnId": turn["id"], "callId": busy},
        )
    if len({call.id for call in calls}) < len(calls):
        raise CallRefused(
            f"turn {turn['id']} asks about two calls of the same id",
            details={"turnId": turn["id"]},
        )
    connection.execute(
        "INSERT INTO checkpoint VALUES (?, ?) "
        "ON CONFLICT (turn_id) DO UPDATE SET descriptor = excluded.descriptor",
        (turn["id"], text_of(continuation)),
    )
    asked = []
    for call in calls:
        shape = shape_of(call)
        _expect(connection, turn, call, shape)
        if not _interrupt(connection, turn, call, shape):
            asked.append(event_row({"type": "permission_request", **document_of(call)}))
    if asked:
        add_events(connection, turn["session_id"], turn["id"], asked, now)
    change(
        connection,
        turn,
        state="waiting_for_input" if asked else "running",
        put_down=1,
        pauses=turn["pauses"] + 1,
    )
    expire(connection, turn_row(connection, turn["session_id"], turn["id"]), now)


def _expect(
    connection: sqlite3.Connection, turn: sqlite3.Row, call: PermissionRequest, shape: str
) -> None:
    """Bind the call's id to its input: what is approved is what may run."""
    connection.execute(
        "INSERT INTO call VALUES (?, ?, ?, 'not_started', NULL) ON CONFLICT DO NOTHING",
        (turn["id"], call.id, shape),
    )
    require_same_input(connection, turn["id"], call.id, shape)


def require_same_input(
    connection: sqlite3.Connection, turn_id: str, call_id: str, shape: str
) -> sqlite3.Row | None:
    """The call's row, if there is one. Raises CallRefused where it came with another input."""
    row: sqlite3.Row | None = connection.execute(
        "SELECT * FROM call WHERE turn_id = ? AND id = ?", (turn_id, call_id)
    ).fetchone()
    if row is not None and row["shape"] != shape:
        raise CallRefused(
            f"call {call_id} of turn {turn_id} came before, with another tool or input",
            hint="a call that is another one needs an id of its own",
            details={"turnId": turn_id, "callId": call_id},
        )
    return row


def _interrupt(
    connection: sqlite3.Connection, turn: sqlite3.Row, call: PermissionRequest, shape: str
) -> bool:
    """Write one interrupt; whether a kept answer decides it."""
    kept = connection.execute(
        "SELECT * FROM answer WHERE session_id = ? AND shape = ?", (turn["session_id"], shape)
    ).fetchone()
    decided = ("pending", None, None, None)
    if kept is not None:
        decided = ("approved", kept["decision"], kept["decided_by"], kept["decided_at"])
    connection.execute(
        "INSERT INTO interrupt (id, turn_id, run_id, pause, call_id, call, shape, status, decision,"
        " decided_by, decided_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            new_id(),
            turn["id"],
            turn["run_id"],
            turn["pauses"] + 1,
            call.id,
            text_of(call),
            shape,
            *decided,
        ),
    )
    return kept is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """Decisions that somebody made, in the form in which they are kept."""

    run_id: str
    request_id: str
    actor: str
    decisions: Sequence[ApprovalDecision]
    context: str | None
    hash: str


def resolution(
    *,
    turn_id: str,
    run_id: str,
    request_id: str,
    actor: str,
    decisions: Sequence[ApprovalDecision],
    context: Any,
) -> Resolution:
    """What a request decides. Raises NotCanonical, and InterruptClosed for one that decides
    nothing or one thing twice.
    """
    named = [each.interrupt_id for each in decisions]
    if not named or len(set(named)) < len(named):
        raise InterruptClosed(
            f"request {request_id} names no interrupt"
            if not named
            else f"request {request_id} names an interrupt twice",
            hint="give one decision for each interrupt that is meant",
            details={"turnId": turn_id},
        )
    body = {
        "resolve": turn_id,
        "runId": run_id,
        "actor": actor,
        "decisions": [document_of(each) for each in decisions],
        "context": context,
    }
    return Resolution(
        run_id=run_id,
        request_id=request_id,
        actor=actor,
        decisions=decisions,
        context=None if context is None else canonical_json(context),
        hash=canonical_hash(body),
    )


def resolve(connection: sqlite3.Connection, turn: sqlite3.Row, asked: Resolution, now: int) -> None:
    """Record decisions; the turn runs again when none is pending. Raises RequestReused and
    InterruptClosed.
    """
    session_id, turn_id = turn["session_id"], turn["id"]
    if receipt(connection, session_id, asked.request_id, asked.hash) is not None:
        return
    for each in asked.decisions:
        row = connection.execute(
            "SELECT * FROM interrupt WHERE id = ? AND turn_id = ?", (each.interrupt_id, turn_id)
        ).fetchone()
        if row is None:
            raise InterruptClosed(
                f"turn {turn_id} has no interrupt {each.interrupt_id}",
                hint=f"`barry session show {session_id}` shows what waits",
                details={"turnId": turn_id, "interruptId": each.interrupt_id},
            )
        if row["status"] == "pending":
            _decide(connection, row, each.decision, asked, now)
        elif not _as_before(row, each.decision):
            raise InterruptClosed(
                f"interrupt {row['id']} was {row['status']} before"
                + (f", by {row['decided_by']}" if row["decided_by"] else ""),
                hint="what was decided stays",
                details={"turnId": turn_id, "interruptId": row["id"], "status": row["status"]},
            )
        if isinstance(each.decision, Allowed) and each.decision.persist:
            connection.execute(
                "INSERT INTO answer VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (session_id, row["shape"], text_of(each.decision), asked.actor, now),
            )
    keep_receipt(connection, session_id, asked.request_id, asked.hash, turn_id)
    if turn["state"] == "waiting_for_input":
        state = "waiting_for_input" if _pending(connection, turn_id) else "running"
        change(connection, turn, state=state, run_id=asked.run_id)


def _decide(
    connection: sqlite3.Connection,
    row: sqlite3.Row,
    decision: Allowed | Denied,
    asked: Resolution,
    now: int,
) -> None:
    connection.execute(
        "UPDATE interrupt SET status = ?, decision = ?, decided_by = ?, decided_at = ?, "
        "context = ? WHERE number = ?",
        (
            "approved" if decision.allow else "denied",
            text_of(decision),
            asked.actor,
            now,
            asked.context,
            row["number"],
        ),
    )


def _as_before(row: sqlite3.Row, decision: Allowed | Denied) -> bool:
    """Whether a decision says what was decided already; a denial may give other reasons."""
    if row["status"] not in ("approved", "denied"):
        return False
    known = _decision(row)
    persist = [isinstance(each, Allowed) and bool(each.persist) for each in (known, decision)]
    return known.allow is decision.allow and persist[0] is persist[1]


def _decision(row: sqlite3.Row) -> Allowed | Denied:
    stored = value_of(row["decision"])
    allows = isinstance(stored, dict) and stored.get("allow") is True
    return datum_of(Allowed, stored) if allows else datum_of(Denied, stored)


def expire(connection: sqlite3.Connection, turn: sqlite3.Row, now: int) -> bool:
    """Deny what is pending longer than it may; whether there was any.

    Recorded, it stays so whatever the clock says later.
    """
    if not is_due(turn, now):
        return False
    done = connection.execute(
        "UPDATE interrupt SET status = 'expired', decision = ?, decided_at = ? "
        "WHERE turn_id = ? AND status = 'pending'",
        (text_of(EXPIRED), now, turn["id"]),
    )
    if done.rowcount == 0:
        return False
    change(connection, turn, state="running")
    return True


def is_due(turn: sqlite3.Row, now: int) -> bool:
    """Whether a turn waits longer than its policy lets it."""
    until = turn["expires_at"]
    return turn["state"] == "waiting_for_input" and until is not None and until <= now


def cancel_pending(connection: sqlite3.Connection, turn_id: str) -> None:
    """Close what waits for a decision that nobody needs any more."""
    connection.execute(
        "UPDATE interrupt SET status = 'cancelled' WHERE turn_id = ? AND status = 'pending'",
        (turn_id,),
    )


def decided(connection: sqlite3.Connection, turn: sqlite3.Row) -> dict[str, Allowed | Denied]:
    """Call id -> decision, of the turn's last pause."""
    rows = connection.execute(
        "SELECT call_id, decision FROM interrupt WHERE turn_id = ? AND pause = ? "
        "AND decision IS NOT NULL ORDER BY number",
        (turn["id"], turn["pauses"]),
    )
    return {row["call_id"]: _decision(row) for row in rows}


def _pending(connection: sqlite3.Connection, turn_id: str) -> bool:
    return (
        connection.execute(
            "SELECT 1 FROM interrupt WHERE turn_id = ? AND status = 'pending'", (turn_id,)
        ).fetchone()
        is not None
    )
