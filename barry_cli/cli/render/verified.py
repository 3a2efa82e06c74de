"""What an adapter's checks came to."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from barry_cli.cli.render.columns import printable

if TYPE_CHECKING:
    from barry_cli.verify.installed import Verified


def document(found: Sequence[Verified]) -> dict[str, Any]:
    """``{"schema": 1, "checks": [...]}``."""
    return {
        "schema": 1,
        "checks": [
            {
                "adapter": each.proven.adapter,
                "mode": each.proven.mode,
                "check": each.check,
                "proves": each.proven.proves,
                "shown": each.proven.shown,
                "reason": each.proven.reason or None,
                "build": each.build,
                "verifiedOn": each.verified_on,
                "platform": sys.platform,
                "modelRequests": each.proven.model_requests,
            }
            for each in found
        ],
    }


def text(found: Sequence[Verified]) -> str:
    """The same for a person: a line a mode, and why where it was not shown."""
    lines = []
    for each in found:
        build = each.build or "a build that can't be told"
        word = "shown" if each.proven.shown else "not shown"
        lines.append(f"{each.proven.adapter} {each.proven.mode}: {word} on {build}")
        if each.proven.reason:
            lines.append(f"  {printable(each.proven.reason)}")
    return "".join(f"{line}\n" for line in lines)
