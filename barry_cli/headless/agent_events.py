"""What one line of a harness's output can mean (seed 004's AgentEvent)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from barry_cli.contract.events import Done, SessionEvent
from barry_cli.contract.models import TokenUsage

if TYPE_CHECKING:
    from typing import TypeAlias

StopReason = Literal[
    "completion",
    "idle-timeout",
    "deadline",
    "aborted",
    "oversized-event",
    "steered",
    "stuck",
]

# 1 January 2020 and 2100: a time outside is no reset time.
_RESET_SECONDS = (1_577_836_800, 4_102_444_800)


class Usage(TokenUsage):
    """Tokens as a harness counts them. Not complete: a lower bound."""

    cumulative: bool = False
    """Counted since the conversation began, not since this turn or message did."""


@dataclass(frozen=True, slots=True)
class Quota:
    """A usage limit was reached, as the harness said in a form made for programs."""

    text: str = ""
    reset_at: str | None = None
    """When it ends, ISO 8601 in UTC; only where a machine-readable time was given."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The turn is over before its work was done, and that is no failure."""

    reason: StopReason


@dataclass(frozen=True, slots=True)
class Retrying:
    """A passing trouble: the harness tries again by itself. It never ends a turn."""

    text: str
    cause: Literal["quota", "unavailable"] | None = None
    """Of what kind it is, where the harness said so in a form made for programs."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What the harness says of itself."""

    model: str | None = None
    """The model that it really uses."""
    version: str | None = None
    """Its own build."""


@dataclass(frozen=True, slots=True)
class Raw:
    """A line that means nothing to Barry, or that nobody knows."""

    line: str


AgentEvent: TypeAlias = SessionEvent | Quota | Stopped | Retrying | Observed | Raw
"""A ``Done`` among them is the harness's own final event: the driver takes its usage, turns and
duration, and ends the turn with a ``done`` of its own once the process agrees. A ``Failed`` of the
main thread fails the turn, whatever the exit code."""


def is_final(event: object) -> bool:
    """Whether the harness itself says with this that its turn, not a subagent's, is over."""
    if isinstance(event, Done):
        return event.parent_tool_use_id is None
    return isinstance(event, Stopped)


def reset_time(seconds: object) -> str | None:
    """Seconds since 1970 as a reset time; None for what is none."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    low, high = _RESET_SECONDS
    if not math.isfinite(seconds) or not low <= seconds < high:
        return None
    return datetime.fromtimestamp(int(seconds), UTC).isoformat().replace("+00:00", "Z")
