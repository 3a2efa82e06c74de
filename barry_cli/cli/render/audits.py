"""What an audit came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from barry_cli.cli.render.columns import columns, printable
from barry_cli.policy.ruling.wording import plain

if TYPE_CHECKING:
    from barry_cli.cli.bound_audit import Audit, Row

WIDTH = 72
"""Characters of an example."""


def _rows(found: Audit) -> list[Row]:
    return sorted(found.rows.values(), key=lambda row: (-row.count, row.field, row.rule))


def text(found: Audit) -> str:
    """A table of what would have been denied, and the sums."""
    lines = [f"note: {printable(note)}\n" for note in found.notes]
    if found.rows:
        lines.append(
            columns(
                ("COUNT", "OUTCOME", "RULE", "FIELD", "FOR EXAMPLE"),
                [
                    (
                        str(row.count),
                        row.outcome,
                        _rule(row),
                        row.field,
                        _shortened(row.examples[0]),
                    )
                    for row in _rows(found)
                ],
            )
        )
    where = f" of {found.conversations} conversations" if found.conversations else ""
    lines.append(
        f"{found.calls} calls{where}: {found.allowed} allowed, {found.denied} denied, "
        f"{found.undecidable} undecidable"
        + (f"; {found.unread} lines passed over" if found.unread else "")
        + "\n"
    )
    return "".join(lines)


def _rule(row: Row) -> str:
    return plain(row.field, row.rule)


def _shortened(example: str) -> str:
    line = " ".join(example.split())
    return line if len(line) <= WIDTH else line[: WIDTH - 3] + "..."


def document(found: Audit) -> dict[str, Any]:
    """``{"schema": 1, "audit": {...}}``."""
    return {
        "schema": 1,
        "audit": {
            "calls": found.calls,
            "conversations": found.conversations,
            "allowed": found.allowed,
            "denied": found.denied,
            "undecidable": found.undecidable,
            "unread": found.unread,
            "rules": [
                {
                    "outcome": row.outcome,
                    "field": row.field or None,
                    "rule": _rule(row) or None,
                    "count": row.count,
                    "examples": row.examples,
                }
                for row in _rows(found)
            ],
            "notes": found.notes,
        },
    }
