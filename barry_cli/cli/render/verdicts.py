"""Verdicts as lines of NDJSON."""

from __future__ import annotations

import json
from typing import Any

from barry_cli.policy.ruling import told
from barry_cli.policy.ruling.verdict import UNDECIDABLE, Verdict


def facts(verdict: Verdict) -> dict[str, Any]:
    """A verdict's keys, as ``bound check --json`` has them."""
    return {name: json.loads(value) for name, value in told.facts(verdict)}


def line(number: int, id: Any, verdict: Verdict) -> str:
    """The answer to one line of input; ``id`` is the asker's own."""
    return _line({"line": number, "id": id, "error": None, **facts(verdict)})


def unreadable_line(number: int, why: str, id: Any = None) -> str:
    """The answer to a line that asks nothing, or nothing that can be told: it is not allowed."""
    verdict = Verdict(UNDECIDABLE, human=why, agent=why)
    return _line({"line": number, "id": id, "error": why, **facts(verdict)})


def _line(document: dict[str, Any]) -> str:
    return json.dumps(document) + "\n"
