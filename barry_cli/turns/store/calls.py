"""The boundary that an effect passes once: on disk before it begins, and when it is over."""

from __future__ import annotations

import sqlite3
from typing import Any

from barry_cli.base.canonical import NotCanonical, canonical_json
from barry_cli.base.problems import BarryError
from barry_cli.contract.continuation import RecordedCallResult
from barry_cli.contract.session import PermissionRequest
from barry_cli.turns.store.approvals import require_same_input
from barry_cli.turns.store.documents import datum_of
from barry_cli.turns.store.problems import CallRefused, CallUncertain, TurnOver
from barry_cli.turns.store.stored import value_of
from barry_cli.turns.store.turn_rows import change

LONGEST_MESSAGE = 500


def begin(
    connection: sqlite3.Connection, turn: sqlite3.Row, call: PermissionRequest, shape: str
) -> RecordedCallResult | None:
    """Write that a call executes; or give what it gave, when it is over.

    Raises CallUncertain for one that was begun, CallRefused for one with another input or without
    approval, TurnOver when the turn doesn't run.
    """
    row = require_same_input(connection, turn["id"], call.id, shape)
    if row is not None and row["state"] != "not_started":
        return _over(row, turn)
    if turn["state"] != "running":
        raise TurnOver(
            f"turn {turn['id']} is {turn['state']}, so call {call.id} does not run",
            details={"turnId": turn["id"], "callId": call.id, "state": turn["state"]},
        )
    _require_approval(connection, turn["id"], call.id)
    connection.execute(
        "INSERT INTO call VALUES (?, ?, ?, 'executing', NULL) "
        "ON CONFLICT (turn_id, id) DO UPDATE SET state = 'executing'",
        (turn["id"], call.id, shape),
    )
    if turn["put_down"]:  # something is done again since the last checkpoint
        change(connection, turn, put_down=0)
    return None


def end(
    connection: sqlite3.Connection, turn_id: str, call_id: str, state: str, result: str | None
) -> bool:
    """Write how a call that executes ended; False when it doesn't execute any more."""
    done = connection.execute(
        "UPDATE call SET state = ?, result = ? WHERE turn_id = ? AND id = ? "
        "AND state = 'executing'",
        (state, result, turn_id, call_id),
    )
    return done.rowcount == 1


def deny(
    connection: sqlite3.Connection,
    turn: sqlite3.Row,
    call: PermissionRequest,
    shape: str,
    result: str,
) -> RecordedCallResult | None:
    """Write that a call was denied; or give what it was told before.

    Raises CallRefused for one that ran or was asked with another input, and CallUncertain.
    """
    row = require_same_input(connection, turn["id"], call.id, shape)
    if row is not None and row["state"] != "not_started":
        known = _over(row, turn)
        if row["state"] != "denied":
            raise CallRefused(
                f"call {call.id} of turn {turn['id']} has run, so it can't be denied any more",
                details={"turnId": turn["id"], "callId": call.id},
            )
        return known
    connection.execute(
        "INSERT INTO call VALUES (?, ?, ?, 'denied', ?) "
        "ON CONFLICT (turn_id, id) DO UPDATE SET state = 'denied', result = excluded.result",
        (turn["id"], call.id, shape, result),
    )
    if turn["put_down"]:
        change(connection, turn, put_down=0)
    return None


def recorded(
    connection: sqlite3.Connection, turn: sqlite3.Row, call: PermissionRequest, shape: str
) -> RecordedCallResult | None:
    """What a call gave, when it is over. Raises CallRefused for another input."""
    row = require_same_input(connection, turn["id"], call.id, shape)
    if row is None or row["result"] is None:
        return None
    return _read(row)


def result_text(call_id: str, result: RecordedCallResult) -> str:
    """A result as it is kept, under the call's own id. Raises NotCanonical."""
    kept: dict[str, Any] = {"id": call_id, "result": result.result}
    if result.error is not None:
        kept["error"] = result.error
    return canonical_json(kept)


def read_result(text: str) -> RecordedCallResult:
    """A result as it was kept."""
    return datum_of(RecordedCallResult, value_of(text))


def failure(call_id: str, message: str) -> RecordedCallResult:
    """The result of an effect that failed, short enough to be shown."""
    short = message if len(message) <= LONGEST_MESSAGE else message[: LONGEST_MESSAGE - 3] + "..."
    # What no text can carry is replaced: the record must not fail after the effect.
    return RecordedCallResult(
        id=call_id, result=short.encode(errors="replace").decode(), error=True
    )


def outcome_text(call_id: str, result: RecordedCallResult) -> tuple[str, str]:
    """The state and the text for a result; one that can't be kept is a failure that says so."""
    try:
        if not isinstance(result, RecordedCallResult):  # somebody else's code
            raise NotCanonical("$", f"is a {type(result).__name__}, which is no result of a call")
        text = result_text(call_id, result)
    except NotCanonical as problem:
        result = failure(call_id, f"it ran, but its result can't be recorded: {problem}")
        text = result_text(call_id, result)
    return ("failed" if result.error else "completed"), text


def what_happened(error: Exception) -> str:
    """The first line of an error, for who reads the record."""
    lines = str(error).splitlines()
    said = lines[0] if lines else ""
    if isinstance(error, BarryError):
        return said
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _over(row: sqlite3.Row, turn: sqlite3.Row) -> RecordedCallResult:
    if row["result"] is not None:
        return _read(row)
    if row["state"] == "executing":
        raise CallUncertain(
            f"call {row['id']} of turn {turn['id']} was begun, and its end isn't recorded",
            hint="if it still runs, wait for it; it does not run twice",
            details={"turnId": turn["id"], "callId": row["id"]},
        )
    raise CallUncertain(
        f"call {row['id']} of turn {turn['id']} was begun, and nobody knows how it went",
        hint="look at what it would have done; then ask for what is missing in a new turn",
        details={"turnId": turn["id"], "callId": row["id"]},
    )


def _read(row: sqlite3.Row) -> RecordedCallResult:
    return read_result(row["result"])


def _require_approval(connection: sqlite3.Connection, turn_id: str, call_id: str) -> None:
    """Where somebody was asked about a call, their last word has to be yes."""
    row = connection.execute(
        "SELECT status FROM interrupt WHERE turn_id = ? AND call_id = ? "
        "ORDER BY pause DESC LIMIT 1",
        (turn_id, call_id),
    ).fetchone()
    if row is not None and row["status"] != "approved":
        raise CallRefused(
            f"call {call_id} of turn {turn_id} is {row['status']}, so it does not run",
            hint="only a call that was approved runs",
            details={"turnId": turn_id, "callId": call_id, "status": row["status"]},
        )
