"""Which conversation a launch began or took up: Codex names it, and tells nobody outside.

Each time a TUI opens a conversation it touches a file of the conversation's id. The conversation
itself is written from its first turn on, and says which folder it belongs to.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from barry_adapter_codex.places import codex_home, is_id, of_folder, rollouts

OPENED = "tui-thread-reference-capabilities"
"""The folder of those files, below Codex's own."""

_WINDOW_SECONDS = 60.0
"""How long after its start a TUI may take to open its conversation."""


def discover(
    cwd: str, env: Mapping[str, str | None], kind: Literal["new", "last", "picked"]
) -> Callable[[], Awaitable[str | None]]:
    """A function that gives the id of the launch's conversation once it is certain.

    It answers None before the first turn, and wherever the conversation may be another session's
    that was started in this folder at about the same time.
    """
    since = time.time()
    until = since + _WINDOW_SECONDS if kind != "picked" else float("inf")
    known: list[str] = []

    async def find() -> str | None:
        if not known:
            opened = {
                conversation
                for conversation, at in _opened(env)
                if since <= at <= until and _may_be(kind, _begun_at(conversation), since)
            }
            ours = _in_folder(opened, cwd, env) if opened else None
            if ours is not None:
                known.append(ours)
        return known[0] if known else None

    return find


def _opened(env: Mapping[str, str | None]) -> list[tuple[str, float]]:
    """Every conversation that a TUI opened, and when it last did, in seconds of the clock."""
    try:
        with os.scandir(codex_home(env) / OPENED) as entries:
            return [(each.name, each.stat().st_mtime) for each in entries if is_id(each.name)]
    except OSError:
        return []


def _in_folder(opened: set[str], cwd: str, env: Mapping[str, str | None]) -> str | None:
    """The only one of these that can be of this folder, else None.

    One that has no record yet can be of any folder.
    """
    unknown = set(opened)
    found = []
    for conversation, path in rollouts(env):
        if conversation in opened:
            unknown.discard(conversation)
            if of_folder(path, cwd):
                found.append(conversation)
    return found[0] if len(found) == 1 and not unknown else None


def _may_be(kind: str, begun: float, since: float) -> bool:
    return {"new": begun >= since, "picked": begun < since}.get(kind, True)


def _begun_at(conversation: str) -> float:
    """The time in a conversation's id (UUID, version 7), in seconds of the clock."""
    digits = conversation.replace("-", "")
    # A millisecond of grace: the id's time is cut to whole ones.
    return int(digits[:12], 16) / 1000 + 0.001 if digits[12] == "7" else 0.0
