"""Sessions, from plain rows: no model is built to show one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from barry_cli.cli.render.columns import columns, facts
from barry_cli.cli.render.measures import call, time, tokens
from barry_cli.cli.render.output import ago
from barry_cli.groundwork.living import Living


def _session(found: Living) -> dict[str, Any]:
    row = found.row
    return {
        "id": row.id,
        "adapter": row.adapter,
        "mode": row.mode,
        "state": found.state,
        "handedOver": row.state == "handed_over",
        "cwd": row.cwd,
        "harnessSessionId": row.harness_session_id,
        "harnessVersion": row.harness_version,
        "guarantees": dict(row.guarantees),
        "guaranteesUnverified": row.unverified,
        "lowered": dict(row.lowered),
        "warnings": list(row.warnings),
        "resumedFrom": row.resumed_from,
        "pid": row.pid,
        "exitStatus": row.exit_status,
        "exitSignal": row.exit_signal,
        "createdAt": row.created_at,
        "endedAt": row.ended_at,
    }


def sessions_document(found: Sequence[Living]) -> dict[str, Any]:
    """``{"schema": 1, "sessions": [...]}``."""
    return {"schema": 1, "sessions": [_session(each) for each in found]}


def session_document(found: Living, turns: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """``{"schema": 1, "session": {...}, "turns": [...]}``."""
    return {"schema": 1, "session": _session(found), "turns": list(turns)}


def _ending(found: Living) -> str:
    row = found.row
    if row.exit_signal is not None:
        return f"{found.state} by signal {row.exit_signal}"
    if row.exit_status is not None:
        return f"{found.state} with {row.exit_status}"
    return found.state


def sessions(found: Sequence[Living]) -> str:
    """The sessions for a person."""
    if not found:
        return "no session yet; `barry session launch ID` starts one\n"
    rows = [
        (
            each.row.id,
            each.row.adapter,
            each.row.mode,
            _ending(each),
            ago(each.row.created_at),
            each.row.cwd,
        )
        for each in found
    ]
    return columns(("ID", "ADAPTER", "MODE", "STATE", "STARTED", "FOLDER"), rows)


def session(found: Living, turns: Sequence[dict[str, Any]]) -> str:
    """One session for a person, with its turns."""
    row = found.row
    promise = ", ".join(f"{name} {str(level).lower()}" for name, level in row.guarantees.items())
    pairs = [
        ("session", row.id),
        ("adapter", f"{row.adapter} ({row.mode})"),
        ("state", _ending(found)),
        ("folder", row.cwd),
        ("conversation", row.harness_session_id or "not known"),
        ("build", row.harness_version or "not known"),
        ("promised", promise + (" (unverified)" if row.unverified else "")),
        ("started", f"{row.created_at} ({ago(row.created_at)})"),
        ("ended", row.ended_at or "-"),
        ("process", str(row.pid) if row.pid is not None else "-"),
    ]
    if row.resumed_from:
        pairs.append(("goes on with", row.resumed_from))
    pairs += [(f"{name} lowered", because) for name, because in row.lowered.items()]
    pairs += [("warning", warning) for warning in row.warnings]
    for turn in turns:
        pairs.append(("turn", _turn(turn)))
        pairs += [("uncertain", call(each)) for each in turn["uncertainCalls"]]
    return facts(pairs)


def _turn(turn: dict[str, Any]) -> str:
    """A turn in one line: its state, how long it took, what it used, why it failed."""
    parts = [str(turn["state"]).replace("_", " ")]
    if turn["endedAt"] is not None and turn["state"] != "recovery_required":  # found out later
        began, ended = (datetime.fromisoformat(turn[name]) for name in ("createdAt", "endedAt"))
        took = (ended - began).total_seconds()
        if took >= 0:  # else the clock was set back meanwhile
            parts.append(time(took))
    if turn["usage"] is not None and (counted := tokens(turn["usage"])):
        parts.append(counted)
    error = f": {turn['error']}" if turn["error"] else ""
    return ", ".join(parts) + error
