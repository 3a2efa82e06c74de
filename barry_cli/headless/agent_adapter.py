"""An agent as the driver knows it: two functions, and what else it can do (seed 004)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from barry_cli.contract.plan import Command
from barry_cli.headless.agent_events import AgentEvent, Usage
from barry_cli.headless.agent_input import AgentInput
from barry_cli.headless.bootstrap import recipe
from barry_cli.headless.capabilities import CapabilitySettings
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.live import AgentLiveInput

if TYPE_CHECKING:
    from barry_cli.headless.conversations import ConversationStore
    from barry_cli.headless.plans import AgentConfiguration, CredentialPlan
    from barry_cli.headless.variables import Variables

UsageKind = Literal["events", "session", "unavailable"]


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a short command came to."""

    status: int | None
    """Its exit code, minus a signal's number, None when it was out of time."""
    stdout: str
    stderr: str = ""


Invoke = Callable[[Command], Awaitable[CommandResult]]
"""Runs a command where the agent runs, bounded in time and output."""


@dataclass(frozen=True, kw_only=True)
class AgentFeatures:
    """What an agent is and has, apart from what it does."""

    name: str
    """In diagnostics and error texts."""
    bootstrap: str | None = None
    """What an executor elsewhere installs when the program is missing there:
    ``npm:PACKAGE@VERSION``. Never installed on this machine."""
    requires_finished_event: bool | None = None
    """Without a ``Done`` or ``Stopped`` the turn failed, even when the process exits with 0. A
    live dialogue always requires one."""
    line_limit: int | None = None
    """The longest line in bytes, for a harness whose own lines (images) pass the session's."""
    usage: UsageKind | None = None
    """How tokens are counted. None: what events report is taken, and nothing is said about the
    rest."""
    variables: Mapping[str, str] | None = None
    """Added to every command's environment; a name that the executor sets itself is refused."""
    storage: ConversationStore | None = None
    capture: bool | None = None
    """False: a turn's conversation is not captured, although there is a storage."""
    resumable: bool | None = None
    """False: a conversation can't go on. It is then replayed, in words, into the next turn."""
    forkable: bool | None = None
    """False: it can't be copied, and a fork is refused before anything starts."""
    transcript_usage: Callable[[str], Usage | None] | None = None
    """The tokens in a transcript's text; what it returns wins over what events reported."""
    capabilities: CapabilitySettings = field(default_factory=CapabilitySettings)
    partial_policy: str | None = None
    """The exact sentence on what of a permission policy the harness enforces, when not all."""


@dataclass(frozen=True, kw_only=True)
class AgentAdapter(AgentFeatures):
    """One agent. It is checked when it is made: raises AgentFault (``configuration``)."""

    request: Callable[[AgentInput], Command]
    """The program, arguments, environment and stdin of one turn. Pure. The prompt goes to stdin,
    or after ``--``; never where it could be read as an option."""
    events: Callable[[str], Sequence[AgentEvent]]
    """What one line of stdout means. Pure, and total: an unknown line is ``Raw``."""
    live_input: AgentLiveInput | None = None
    """Where there is one, every turn is talked to over it."""
    fork: Callable[[str, Invoke], Awaitable[str]] | None = None
    """Prepares a copy of a conversation and returns its id, for a program without a flag for it."""
    credentials: Callable[[Variables], CredentialPlan] | None = None
    configuration: Callable[[Variables], AgentConfiguration] | None = None
    quota: Callable[[str], bool] | None = None
    """Whether a failure's text, or a line of stderr, says that a usage limit is reached. It is
    never asked about a retry's notice, and only once a process has failed."""
    unavailable: Callable[[str], bool] | None = None
    """Whether it says that the service is out or can't be reached; asked like ``quota``."""
    lost: Callable[[str], bool] | None = None
    """Whether it says that the conversation to go on with isn't there; asked like ``quota``."""
    usage_command: Callable[[str], Command | None] | None = None
    usage_result: Callable[[str], Usage | None] | None = None

    def __post_init__(self) -> None:
        if self.bootstrap is not None:
            recipe(self.bootstrap)
        for wrong, sentence in self._conflicts():
            if wrong:
                raise AgentFault(
                    "configuration",
                    f"the agent {self.name or '(without a name)'} can't be made: {sentence}",
                    hint="correct the adapter",
                )

    def _conflicts(self) -> list[tuple[bool, str]]:
        can, live = self.capabilities, self.live_input
        return [
            (not self.name, "it has no name"),
            (
                self.resumable is False and bool(self.forkable),
                "it is forkable and not resumable, and a fork is gone on with",
            ),
            (
                self.fork is not None and self.forkable is False,
                "it has a way to fork and says that it is not forkable",
            ),
            (
                (self.usage_command is None) != (self.usage_result is None),
                "usage_command and usage_result need each other",
            ),
            (
                (self.usage == "session") != (self.usage_command is not None),
                'usage "session" and a usage_command need each other',
            ),
            (
                self.transcript_usage is not None and self.storage is None,
                "it reads usage from transcripts and has no storage",
            ),
            (self.capture is True and self.storage is None, "it captures and has no storage"),
            (
                can.session_resume != (self.resumable is True),
                "the capability session_resume is true exactly when it is resumable",
            ),
            (
                can.permission_hooks != (live is not None and live.asks),
                "the capability permission_hooks is true exactly when its live input asks",
            ),
            (
                can.usage_reporting and self.usage == "unavailable",
                'it reports usage and its usage is "unavailable"',
            ),
            (
                can.permission_policy and self.partial_policy is not None,
                "it enforces the whole policy and has a sentence on what it does not",
            ),
            (
                live is not None and self.requires_finished_event is False,
                "a live dialogue ends with a final event",
            ),
        ]
