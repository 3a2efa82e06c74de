"""Sessions, from plain rows: no model is built to show one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from barry_cli.cli.render import messages
from barry_cli.cli.render.columns import columns, facts
from barry_cli.cli.render.events import recorded
from barry_cli.cli.render.measures import call, time, tokens
from barry_cli.cli.render.output import ago
from barry_cli.groundwork.living import Living

if TYPE_CHECKING:
    from barry_cli.inbox.record import Listed


def _session(found: Living) -> dict[str, Any]:
    row = found.row
    return {
        "id": row.id,
        "adapter": row.adapter,
        "mode": row.mode,
        "state": found.state,
        "activity": _activity(found),
        "handedOver": row.state == "handed_over",
        "cwd": row.cwd,
        "harnessSessionId": row.harness_session_id,
        "harnessVersion": row.harness_version,
        "bound": _bound(found),
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


def session_document(
    found: Living, turns: Sequence[dict[str, Any]], sent: Sequence[Listed]
) -> dict[str, Any]:
    """``{"schema": 1, "session": {...}, "turns": [...], "messages": [...]}``."""
    return {
        "schema": 1,
        "session": _session(found),
        "turns": list(turns),
        "messages": messages.documents(sent),
    }


def _activity(found: Living) -> str | None:
    """What the harness does, by its own signals, while it lives."""
    return found.row.activity if found.lives else None


def _bound(found: Living) -> list[str]:
    """The names of what a session is held to."""
    asked = found.row.asked
    named = asked.get("boundSources")
    if isinstance(named, list) and named:
        return [str(each) for each in named]
    return [] if asked.get("bound") is None else ["unnamed"]  # by a Barry that kept no names


def _short(label: str) -> str:
    """A bound's name; of a project's own, the name of its folder."""
    return label.removesuffix("/.barry/bound.toml").rpartition("/")[2] or label


def _ending(found: Living) -> str:
    row = found.row
    if (activity := _activity(found)) is not None and activity != found.state:
        return f"{found.state}, {activity}"
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
            ", ".join(_short(bound) for bound in _bound(each)) or "-",
            _promise(each),
            each.row.cwd,
        )
        for each in found
    ]
    head = ("ID", "ADAPTER", "MODE", "STATE", "STARTED", "BOUND", "PROMISED", "FOLDER")
    return columns(head, rows) + _legend(found)


_LISTED = ("gating", "delivery")
"""The guarantees that a list has room for."""


def _promise(found: Living) -> str:
    """The guarantees that matter most, marked where they are less, or were never shown."""
    row = found.row
    marked = [
        f"{name} {row.guarantees[name]}{'*' if name in row.lowered else ''}"
        for name in _LISTED
        if row.guarantees.get(name) not in (None, "none") or name in row.lowered
    ]
    return (", ".join(marked) or "-") + ("?" if row.unverified and marked else "")


def _legend(found: Sequence[Living]) -> str:
    """What the marks in the list mean, where there are some."""
    told = "".join(_promise(each) for each in found)
    said = []
    if "*" in told:
        said.append("* less than its mode: `barry session show ID` says why")
    if "?" in told:
        said.append("? never shown on this build or platform")
    return "".join(f"{line}\n" for line in said)


def session(
    found: Living,
    turns: Sequence[dict[str, Any]],
    sent: Sequence[Listed],
    captured: Mapping[str, Any] | None,
) -> str:
    """One session for a person, with its turns, or what is on record of it without any, and the
    messages to it.
    """
    row = found.row
    promise = ", ".join(f"{name} {str(level).lower()}" for name, level in row.guarantees.items())
    pairs = [
        ("session", row.id),
        ("adapter", f"{row.adapter} ({row.mode})"),
        ("state", _ending(found)),
        ("folder", row.cwd),
        ("conversation", row.harness_session_id or "not known"),
        ("build", row.harness_version or "not known"),
        ("bound", ", ".join(_bound(found)) or "-"),
        ("promised", promise + (" (unverified)" if row.unverified else "")),
        ("started", f"{row.created_at} ({ago(row.created_at)})"),
        ("ended", row.ended_at or "-"),
        ("process", str(row.pid) if row.pid is not None else "-"),
    ]
    if row.resumed_from:
        pairs.append(("goes on with", row.resumed_from))
    pairs += [(f"{name} lowered", because) for name, because in row.lowered.items()]
    pairs += [("warning", warning) for warning in row.warnings]
    if captured is not None:
        pairs.append(("recorded", recorded(captured)))
    for turn in turns:
        pairs.append(("turn", _turn(turn)))
        pairs += [("uncertain", call(each)) for each in turn["uncertainCalls"]]
    return facts(pairs + messages.pairs(sent))


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
