"""The list of adapters, from plain rows: no model is built to show one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from barry_cli.cli.render.columns import columns

Row = Mapping[str, Any]


def _modes(row: Row) -> list[str]:
    modes = row.get("modes")
    return [name for name, mode in modes.items() if mode] if isinstance(modes, dict) else []


def adapters_document(found: Sequence[tuple[Row, str]]) -> dict[str, Any]:
    """``{"schema": 1, "adapters": [...]}``: each record with its state."""
    return {"schema": 1, "adapters": [{**row, "state": state} for row, state in found]}


def adapters(found: Sequence[tuple[Row, str]]) -> str:
    """The adapters for a person."""
    if not found:
        return "no adapter is installed; `barry adapter add claude` adds one that Barry ships\n"
    rows = [
        (
            str(row["id"]),
            str(row.get("label", "")),
            str(row.get("version", "")),
            ",".join(_modes(row)),
            "experimental" if row.get("experimental") else "",
            "" if state == "ok" else state,
        )
        for row, state in found
    ]
    table = columns(("ID", "HARNESS", "VERSION", "MODES", "", "STATE"), rows)
    troubled = [str(row["id"]) for row, state in found if state != "ok"]
    if troubled:
        table += f"`barry adapter doctor {troubled[0]}` says what to do\n"
    return table
