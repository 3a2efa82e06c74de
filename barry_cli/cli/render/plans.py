"""A prepared launch, shown instead of started."""

from __future__ import annotations

import shlex
from typing import Any

from barry_cli.base.secrets import MASK, redact
from barry_cli.cli.render.columns import facts, printable
from barry_cli.contract.data import snapshot
from barry_cli.launch.prepare import Prepared


def _secrets(prepared: Prepared) -> list[str]:
    from barry_cli.base.secrets import looks_secret

    hidden = [value for name, value in prepared.env.items() if looks_secret(name)]
    return [*prepared.plan.secrets, *hidden]


def document(prepared: Prepared) -> dict[str, Any]:
    """The plan as JSON: secrets masked, values of variables always masked."""
    secrets = _secrets(prepared)
    return {
        "schema": 1,
        "plan": {
            "adapter": prepared.adapter.id,
            "mode": prepared.mode_id,
            "argv": [redact(word, secrets) for word in prepared.argv],
            "cwd": prepared.cwd,
            "environment": {
                "kept": dict.fromkeys(sorted(prepared.env), MASK),
                "dropped": list(prepared.dropped),
            },
            "binary": {
                "path": prepared.program,
                "why": prepared.chosen_because,
                "version": prepared.version,
            },
            "bound": {
                "sources": list(prepared.held.sources),
                "effective": prepared.held.bound,
                "switchedOff": list(prepared.held.off),
                "guarded": list(prepared.held.guarded),
            },
            "guarantees": snapshot(prepared.plan.guarantees),
            "guaranteesUnverified": prepared.unverified,
            "lowered": dict(prepared.plan.lowered),
            "warnings": [redact(warning, secrets) for warning in prepared.warnings],
            "notes": list(prepared.notes),
            "harnessSessionId": prepared.plan.harness_session_id,
            "start": "supervise" if prepared.needs_parent else "exec",
            "startReasons": prepared.needs_parent,
        },
    }


def text(prepared: Prepared) -> str:
    """The plan for a person."""
    plan = document(prepared)["plan"]
    promise = ", ".join(
        f"{name} {str(level).lower()}" for name, level in plan["guarantees"].items()
    )
    pairs = [
        ("adapter", f"{plan['adapter']} ({plan['mode']})"),
        ("command", shlex.join(plan["argv"])),
        ("folder", plan["cwd"]),
        (
            "binary",
            plan["binary"]["path"]
            + (f" {build}" if (build := plan["binary"]["version"]) else ", build not known")
            + f" ({plan['binary']['why']})",
        ),
        ("promises", promise + (" (unverified)" if plan["guaranteesUnverified"] else "")),
        ("conversation", plan["harnessSessionId"] or "named by the harness"),
        (
            "environment",
            f"{len(plan['environment']['kept'])} kept: {' '.join(plan['environment']['kept'])}",
        ),
        (
            "",
            f"{len(plan['environment']['dropped'])} dropped"
            + (
                f": {' '.join(plan['environment']['dropped'])}"
                if plan["environment"]["dropped"]
                else ""
            ),
        ),
        (
            "start",
            plan["start"]
            + (f" ({', '.join(plan['startReasons'])})" if plan["startReasons"] else ""),
        ),
    ]
    if plan["bound"]["sources"]:
        pairs.insert(3, ("bound", ", ".join(plan["bound"]["sources"])))
    if plan["bound"]["switchedOff"]:
        pairs.insert(4, ("switched off", ", ".join(plan["bound"]["switchedOff"])))
    if plan["bound"]["guarded"]:
        pairs.insert(5, ("in their place", f"barry: {', '.join(plan['bound']['guarded'])}"))
    said = "".join(f"warning: {printable(warning)}\n" for warning in plan["warnings"])
    said += "".join(f"note: {printable(note)}\n" for note in plan["notes"])
    return facts(pairs) + said
