"""What a doctor found, line by line as it comes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from barry_cli.cli.render.columns import printable
from barry_cli.cli.render.talk import style

if TYPE_CHECKING:
    from barry_cli.registry.doctor import Finding

_SIGNS = {"ok": ("ok    ", "green"), "warn": ("warn  ", "yellow"), "broken": ("BROKEN", "red")}


class View:
    """Turns findings into lines; a new group gets its heading."""

    def __init__(self) -> None:
        self._group: str | None = None

    def line(self, finding: Finding) -> str:
        """The lines of one finding."""
        head = ""
        if finding.group != self._group:
            head = (
                ("" if self._group is None else "\n")
                + style(printable(finding.group), "bold", sys.stdout)
                + "\n"
            )
            self._group = finding.group
        sign, colour = _SIGNS[finding.status]
        said = f"{printable(finding.name)}: {printable(finding.text)}"
        text = f"{head}  {style(sign, colour, sys.stdout)}  {said}\n"
        if finding.fix:
            text += f"          fix: {printable(finding.fix)}\n"
        return text


def summary(seen: Sequence[Finding]) -> str:
    """The last line."""
    broken = sum(finding.status == "broken" for finding in seen)
    warned = sum(finding.status == "warn" for finding in seen)
    return f"\n{len(seen)} things looked at, {broken} broken, {warned} to look at\n"


def document(seen: Sequence[Finding]) -> dict[str, Any]:
    """``{"schema": 1, "findings": [...]}``."""
    return {
        "schema": 1,
        "findings": [
            {
                "group": finding.group,
                "name": finding.name,
                "status": finding.status,
                "text": finding.text,
                "fix": finding.fix,
            }
            for finding in seen
        ],
    }
