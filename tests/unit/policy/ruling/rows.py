"""The rows under tests/data/bounds: what is asked, what the answer must be, and why."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[3] / "data" / "bounds"


def rows(name: str, **where: str) -> list[dict[str, Any]]:
    """The rows of a file, those alone whose keys have these values."""
    text = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8")
    found = [json.loads(line) for line in text.splitlines()]
    return [row for row in found if all(row.get(key) == value for key, value in where.items())]


def names(listed: list[dict[str, Any]]) -> Iterator[str]:
    """A short id for each row."""
    for number, row in enumerate(listed, 1):
        said = next(row[key] for key in ("command", "path", "host") if key in row)
        yield f"{number}-{said[:40]!a}"
