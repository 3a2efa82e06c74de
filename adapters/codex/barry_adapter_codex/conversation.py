"""Which conversation a launch started: Codex names it itself, and only with the first turn."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping

from barry_adapter_codex.places import changed_at, of_folder, rollouts


def discover(
    cwd: str, env: Mapping[str, str | None], *, resumed: bool
) -> Callable[[], Awaitable[str | None]]:
    """A function that gives the id of the conversation in this folder that the launch began, or
    took up again when ``resumed``. It answers None before there is one, and when there are two:
    another session may run in the same folder.
    """
    since = time.time()

    async def find() -> str | None:
        found: set[str] = set()
        for conversation, path in rollouts(env):
            begun = _begun_at(conversation)
            if (changed_at(path) if resumed else begun) < since:
                continue
            head = of_folder(path, cwd)
            if head is not None and head.source == "cli":
                found.add(conversation)
        return found.pop() if len(found) == 1 else None

    return find


def _begun_at(conversation: str) -> float:
    """The time in a conversation's id (UUID, version 7), in seconds of the clock."""
    digits = conversation.replace("-", "")
    # Two milliseconds of grace: the id's time is cut to whole ones.
    return int(digits[:12], 16) / 1000 + 0.002 if digits[12] == "7" else 0.0
