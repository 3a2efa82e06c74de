"""A session while it is driven: what its turns share."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from barry_cli.contract.plan import Command
from barry_cli.headless.agent_input import AgentInput, Continuation
from barry_cli.headless.commands import run_command
from barry_cli.headless.conversations import Place
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.surroundings import environment, refuse_secrets_in

if TYPE_CHECKING:
    from barry_cli.contract.data import JsonSchema
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.execution import RunningProcess
    from barry_cli.headless.agent_adapter import AgentAdapter, CommandResult
    from barry_cli.headless.agent_events import AgentEvent, Usage
    from barry_cli.headless.agent_process import AgentProcess
    from barry_cli.headless.capabilities import PermissionPolicy
    from barry_cli.headless.live import LiveDialogue
    from barry_cli.headless.session import HarnessSession


@dataclass(frozen=True)
class Hooks:
    """What a driver of a special kind may do in its own way."""

    build: Callable[[AgentInput], Command]
    map_line: Callable[[str], Sequence[AgentEvent]]
    start: Callable[[Command], Awaitable[RunningProcess]]


@dataclass(frozen=True)
class KeptProcess:
    """A process that waits for the next turn."""

    process: AgentProcess
    dialogue: LiveDialogue
    system_prompt: str | None


@dataclass(kw_only=True)
class Driven:
    """One session. Its turns run one after the other, and write down here what they learn."""

    adapter: AgentAdapter
    session: HarnessSession
    hooks: Hooks
    policy: PermissionPolicy
    env: Mapping[str, str] = field(repr=False)
    secrets: tuple[str, ...] = field(repr=False)
    home: Path | None
    executable: str | None
    system_prompt: str | None = None
    conversation: str | None = None
    """The harness's id of it, once known."""
    resumed: bool = False
    model: str | None = None
    version: str | None = None
    """The harness's own build, where it tells."""
    usage_seen: Usage | None = None
    """The last cumulative count of the conversation, where the harness counts so."""
    history: list[SessionEvent] = field(default_factory=list)
    """What a harness without memory must be told again."""
    kept: KeptProcess | None = None

    @property
    def name(self) -> str:
        return self.adapter.name

    @property
    def line_limit(self) -> int:
        """Bytes of one line that a turn takes."""
        return self.adapter.line_limit or self.session.line_limit

    @property
    def can_resume(self) -> bool:
        """Unless the adapter says that it can't, going on is tried."""
        return self.adapter.resumable is not False

    def input_for(
        self, text: str, continuation: Continuation | None, schema: JsonSchema | None = None
    ) -> AgentInput:
        """What a turn asks of the adapter."""
        config = self.session.config
        if self.system_prompt is not None:
            config = dataclasses.replace(config, system_prompt=self.system_prompt)
        return AgentInput(
            text=text,
            config=config,
            continuation=continuation,
            live=self.adapter.live_input is not None,
            output_schema=schema,
            policy=self.policy,
            home=None if self.home is None else str(self.home),
        )

    def command(self, input: AgentInput) -> Command:
        """The command of a turn, checked. Raises AgentFault (``configuration``)."""
        command = self.hooks.build(input)
        refuse_secrets_in([command.command, *command.args], self.secrets, self.name)
        return command

    async def start(self, command: Command) -> RunningProcess:
        """Start a turn's process where the executor puts it. Raises OSError."""
        return await self.session.executor.start(
            [self.executable or command.command, *command.args],
            env=environment(self.env, command.env),
            cwd=command.cwd or self.session.config.cwd,
            open_input=self.adapter.live_input is not None or command.stdin is not None,
        )

    async def invoke(self, command: Command) -> CommandResult:
        """Run a short command where the agent runs, bounded. Raises AgentFault (``process``)."""
        try:
            return await run_command(
                self.session.executor, command, env=self.env, cwd=self.session.config.cwd
            )
        except OSError as error:
            raise AgentFault(
                "process",
                f"{command.command} can't be run: {error.strerror or error}",
                hint=f"check the installation of {self.name}",
            ) from None

    def place(self) -> Place:
        """Where the agent runs, for its conversation store."""
        return Place(cwd=self.session.config.cwd, env=self.env, secrets=self.secrets)
