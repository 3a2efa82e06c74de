"""A command, and the plan of a launch (seed 000)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from barry_cli.contract.guarantees import Guarantees
    from barry_cli.contract.levels import DeliveryLevel


class LaunchInbox(Protocol):
    """A way into a running TUI for Barry's messages, kept for as long as the TUI runs.

    The adapter owns the how; the launcher owns the loop, which is the same for every harness.
    """

    @property
    def guarantee(self) -> DeliveryLevel:
        """What a sender can be promised while the TUI runs."""
        ...

    async def deliver(self, message: Mapping[str, str]) -> bool:
        """Put one message (``content``, ``id``, and perhaps ``from``) in front of the agent.

        False when nothing received it: it is then held, and offered again later. Raises Refused for
        one that can never be delivered, before anything of it was: it has failed then.
        """
        ...


@runtime_checkable
class EvidentInbox(LaunchInbox, Protocol):
    """An inbox whose harness shows which messages it has taken in.

    Without one a message stays ``written``: that it arrived is not observable.
    """

    @property
    def evidence(self) -> str:
        """What shows it, for a person: "its transcript", "its prompt hook"."""
        ...

    def consumed(self) -> AsyncIterator[str]:
        """The ids of messages as the harness's own evidence shows them taken in, each once."""
        ...


@dataclass(frozen=True, kw_only=True)
class Command:
    """A process to start."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict)
    """Added to the environment; None unsets a name."""
    cwd: str | None = None
    """Absent means the session's folder."""
    stdin: str | None = None
    """What the process reads; absent means nothing at all."""


@dataclass(frozen=True, kw_only=True)
class LaunchPlan(Command):
    """What a launch will start, and what it can promise."""

    guarantees: Guarantees
    """What this launch actually arranged: the mode's, or less."""
    lowered: Mapping[str, str] = field(default_factory=dict)
    """Why each guarantee that is less than the mode's is less: field name -> reason."""
    warnings: tuple[str, ...] = ()
    """Things the user should know that are not failures."""
    servers_left_out: tuple[str, ...] = ()
    """MCP servers that were asked for and that the harness won't have; a warning says why."""
    tmp_dirs: tuple[str, ...] = ()
    """Folders that the adapter created; the caller removes them on exit, spawned or not."""
    harness_session_id: str | None = None
    """A conversation id reserved before spawning."""
    inbox: LaunchInbox | None = None
    reports_loaded: bool = False
    """A plugin of this plan rules on the calls, and says so (``loaded``) once it holds its line."""
    discover_harness_session_id: Callable[[], Awaitable[str | None]] | None = None
    """Finds the conversation once the TUI has started one; None means not yet, or not knowable."""
    secrets: tuple[str, ...] = ()
    """Values that a rendering of this plan must mask wherever they occur."""
