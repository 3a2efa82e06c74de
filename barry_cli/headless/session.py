"""What a driven session is given, and what one turn of it came to (seed 002)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barry_cli.contract.models import TokenUsage
from barry_cli.contract.session import SessionConfig

if TYPE_CHECKING:
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.execution import Executor
    from barry_cli.headless.agent_events import AgentEvent, StopReason, Usage
    from barry_cli.headless.faults import AgentFault
    from barry_cli.headless.variables import Grant

LINE_LIMIT = 1024 * 1024
"""Bytes of one line of a harness's output."""


@dataclass(frozen=True, kw_only=True)
class HarnessSession:
    """One session of a harness. ``config.env`` is the environment that its processes get."""

    config: SessionConfig
    executor: Executor
    resume_session_id: str | None = None
    fork: bool = False
    """Go on with a copy of the conversation to resume."""
    history: Sequence[SessionEvent] = ()
    """What was said before, for a harness that can't resume: it is told again, in words."""
    grants: Sequence[Grant] = ()
    """The secrets that it may use; none: those of ``config.env``."""
    review: bool = False
    """A call that ``config.decide`` doesn't deny is put to the caller, as ``permission_request``,
    and waits for ``respond_to_permission``. Else the ruling of ``config.decide`` is the answer."""
    keep_process: bool = False
    """Where the dialogue is persistent, one process serves turn after turn."""
    idle_seconds: float | None = 1800
    """How long a turn may be silent; the time that a ruling takes doesn't count."""
    retry_seconds: float | None = 300
    """How long a turn may go on with nothing but new tries of what failed."""
    deadline_seconds: float | None = None
    """How long a turn may take, rulings not counted."""
    grace_seconds: float = 3
    """How long a turn that was cut, and a process whose turn is over, may take to go."""
    line_limit: int = LINE_LIMIT
    usage_before: Usage | None = None
    """The cumulative count when the conversation to resume was left, where that is known."""
    captures: Path | None = None
    """The folder that conversations are captured into after each turn."""
    observe: Callable[[AgentEvent], None] | None = field(default=None, repr=False)
    """Gets every event, also what no session event stands for; what it raises is logged."""


@dataclass(frozen=True, kw_only=True)
class TurnOutcome:
    """What one turn came to."""

    text: str | None = None
    """Its final answer: what the harness called its result, else all that it said."""
    structured: Any = None
    usage: TokenUsage | None = None
    fault: AgentFault | None = None
    stopped: StopReason | None = None
    """Why it ended before its time; None when it didn't."""
    exit_code: int | None = None
    """The process's, where it ended by itself."""
    raw: str = ""
    """The end of what it said that nobody understood."""
