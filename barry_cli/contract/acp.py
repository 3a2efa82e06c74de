"""What the generic ACP adapter is built from (seed 000: AcpHarness extends Mode)."""

from __future__ import annotations

from pydantic import Field

from barry_cli.contract.adapter import Mode


class AcpHarness(Mode):
    """An agent that speaks the Agent Client Protocol over its standard input and output."""

    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    ask_mode: str | None = None
    """The agent's own mode in which it asks before it acts, to be forced before the first prompt;
    None when it starts in one."""
    authenticate: str | None = None
    """The authentication method to name after ``initialize``, where the agent wants one."""
