"""Where Codex keeps its conversations, and what the head of each says. Read-only."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROVIDER = "barry"
"""The name under which a launch tells Codex about an endpoint of Barry's."""

_ROLLOUT = re.compile(
    r"rollout-.+-([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl"
)
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEAD_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Head:
    """What the first line of a conversation's file says."""

    id: str
    cwd: str
    source: object
    """``cli`` in the TUI, other words elsewhere, and a table for a subagent."""
    provider: str | None


def codex_home(env: Mapping[str, str | None]) -> Path:
    """Codex's own folder in this environment."""
    return Path(env.get("CODEX_HOME") or Path(env.get("HOME") or Path.home()) / ".codex")


def is_id(text: str) -> bool:
    """Whether this is written as a conversation's id."""
    return _ID.fullmatch(text) is not None


def rollouts(env: Mapping[str, str | None]) -> Iterator[tuple[str, Path]]:
    """Every conversation's id and file, in no order. What can't be listed isn't there."""
    for folder, _, names in os.walk(codex_home(env) / "sessions"):
        for name in names:
            match = _ROLLOUT.fullmatch(name)
            if match:
                yield match[1], Path(folder, name)


def head(path: Path) -> Head | None:
    """What a conversation's file says of it, or None when its first line can't be read."""
    try:
        with path.open("rb") as lines:
            line = json.loads(lines.readline(_HEAD_BYTES))
        payload = line["payload"]
        if line["type"] != "session_meta":
            return None
        named = payload.get("model_provider")
        return Head(
            id=str(payload["id"]),
            cwd=str(payload["cwd"]),
            source=payload.get("source"),
            provider=named if isinstance(named, str) else None,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def of_folder(path: Path, cwd: str) -> Head | None:
    """The head of a conversation that a person began in this folder, else None."""
    found = head(path)
    if found is None or not isinstance(found.source, str):
        return None
    return found if os.path.realpath(found.cwd) == os.path.realpath(cwd) else None


def changed_at(path: Path) -> float:
    """When a file was last written, in seconds of the clock; long ago when it is gone."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
