"""What Gemini CLI says over its protocol (build 0.61.0, ``--acp``), and how its failures read."""

from __future__ import annotations

import re

from barry_cli.agents import AgentEvent, Raw, Usage, read_count, read_line, read_object

_QUOTA = re.compile(
    r"^429 |rate limit exceeded|resource.exhausted|quota exceeded|exceeded your current quota"
    r"|exhausted your (daily |capacity|quota)",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    r"^5\d\d |overloaded|service unavailable|fetch failed|socket hang up|premature close"
    r"|connection (refused|reset|closed|error)|network error"
    r"|\bE(CONN[A-Z]+|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE)\b",
    re.IGNORECASE,
)
_LOST = re.compile(
    r"no previous sessions found|invalid session identifier|failed to (find|load) session"
    r"|session not found",
    re.IGNORECASE,
)


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


def usage(line: str) -> Usage | None:
    """The tokens in the answer to a prompt.

    A lower bound: input counts what was cached as if it were new, and an answer's thoughts are
    left out.
    """
    told = read_object(read_object(read_line(line), "result"), "_meta")
    counts = read_object(read_object(told, "quota"), "token_count")
    if counts is None:
        return None
    return Usage(
        input=read_count(counts, "input_tokens") or 0,
        output=read_count(counts, "output_tokens") or 0,
        complete=False,
    )
