"""What Qwen Code says over its protocol (build 0.15.10, ``--acp``), and how its failures read."""

from __future__ import annotations

import re
from typing import Any

from barry_cli.agents import AgentEvent, Raw, Usage, read_count, read_object

_QUOTA = re.compile(
    r"^429 |\b429\b.*|rate limit exceeded|too many requests|insufficient.quota|quota exceeded"
    r"|exceeded your current quota|free tier has been discontinued",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    r"(^|: |\[|status )5\d\d\b|overloaded|service unavailable|connection error|fetch failed"
    r"|socket hang up|premature close|connection (refused|reset|closed)|request timed out"
    r"|\bE(CONN[A-Z]+|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE)\b",
    re.IGNORECASE,
)
_LOST = re.compile(r"no saved session found|session not found", re.IGNORECASE)


def quota(text: str) -> bool:
    """Whether a failure's text says that a limit is reached."""
    return _QUOTA.search(text) is not None


def unavailable(text: str) -> bool:
    """Whether a failure's text says that the service is out or can't be reached."""
    return _UNAVAILABLE.search(text) is not None


def lost(text: str) -> bool:
    """Whether a failure's text says that the conversation to go on with isn't there."""
    return _LOST.search(text) is not None


def events(line: str) -> tuple[AgentEvent, ...]:
    """What a line means that is none of the protocol's: nothing."""
    return (Raw(line),)


def usage(update: dict[str, Any]) -> Usage | None:
    """The tokens of one call to the model, which come with an empty piece of its answer."""
    counts = read_object(read_object(update, "_meta"), "usage")
    if counts is None:
        return None
    cached = read_count(counts, "cachedReadTokens") or 0
    return Usage(
        input=max(0, (read_count(counts, "inputTokens") or 0) - cached),
        output=read_count(counts, "outputTokens") or 0,
        cached=cached,
        reasoning=read_count(counts, "thoughtTokens"),
    )
