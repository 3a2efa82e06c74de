"""Data to stdout: text as it is, or one JSON document."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime


def write(text: str) -> None:
    """Text to stdout in one write."""
    sys.stdout.write(text)
    sys.stdout.flush()


def write_json(document: object) -> None:
    """One JSON document to stdout."""
    write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def ago(moment: str | None) -> str:
    """A recorded time as people say it."""
    if not moment:
        return "-"
    seconds = (datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds()
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
