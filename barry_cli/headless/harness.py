"""The driver: one agent, one session, turn after turn (seed 002's CliHarness)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from barry_cli.base.problems import StoreProblem
from barry_cli.base.secrets import redact
from barry_cli.contract.abort import Abort
from barry_cli.contract.events import Failed, SessionEvent
from barry_cli.headless.agent_input import AgentInput
from barry_cli.headless.capabilities import PermissionPolicy, shortcomings
from barry_cli.headless.driven import Driven, Hooks
from barry_cli.headless.faults import AgentFault, as_fault
from barry_cli.headless.installing import program_in
from barry_cli.headless.placing import Placed, place
from barry_cli.headless.resuming import refuse_unresumable
from barry_cli.headless.session import TurnOutcome
from barry_cli.headless.surroundings import (
    environment,
    refuse_clashes,
    refuse_secrets_in,
    secrets_of,
)
from barry_cli.headless.turn import Turn
from barry_cli.headless.variables import Variables
from barry_cli.turns.one_done import one_done

if TYPE_CHECKING:
    from barry_cli.contract.data import JsonSchema
    from barry_cli.contract.execution import RunningProcess
    from barry_cli.contract.plan import Command
    from barry_cli.contract.session import Allowed, Denied
    from barry_cli.headless.agent_adapter import AgentAdapter
    from barry_cli.headless.agent_events import AgentEvent
    from barry_cli.headless.capabilities import CapabilitySettings
    from barry_cli.headless.session import HarnessSession
    from barry_cli.turns.one_done import TurnStream

_END_SECONDS = 8.0
"""What ending a process may take, above a session's own grace."""

_COUNTED = {
    "session": "counts its tokens once a turn is over: none are known before that",
    "unavailable": "does not say how many tokens it takes",
}


class CliHarness:
    """Drives one agent. Order: ``apply_permission_policy``, ``start_session``, turns, ``close``.

    Nothing is thrown out of a turn's stream: what goes wrong there is an ``error`` event before
    its one ``done``, and ``last_turn.fault``. A driver of a special kind overrides
    ``build_turn_args``, ``map_event`` or ``start_turn_process``.
    """

    def __init__(self, adapter: AgentAdapter, *, executable: str | None = None) -> None:
        """``executable`` takes the place of the program that the adapter names."""
        self.adapter = adapter
        self.warnings: list[str] = []
        """What the caller should know before the first turn, in sentences."""
        self.last_turn: TurnOutcome | None = None
        self._executable = executable
        self._policy = PermissionPolicy()
        self._system_prompt: str | None = None
        self._placed = Placed(None, {})
        self._driven: Driven | None = None
        self._turn: Turn | None = None
        self._closed = False
        self._idle = asyncio.Event()
        self._idle.set()

    # --- what it is ---

    @property
    def capabilities(self) -> CapabilitySettings:
        """What the adapter wires."""
        return self.adapter.capabilities

    @property
    def executable(self) -> str:
        """The program: a path or a bare name. Before a session starts, the agent's name."""
        known = self._driven.executable if self._driven is not None else self._executable
        return known or self.adapter.name

    @property
    def session_id(self) -> str | None:
        """The harness's id of the conversation, once known."""
        return self._driven.conversation if self._driven is not None else None

    @property
    def resumed_session(self) -> bool:
        """Whether the session really goes on with the conversation that it was asked to resume.

        True once the harness has named the very id that it was asked for or, for a copy that it
        makes itself, another one.
        """
        return self._driven is not None and self._driven.resumed

    @property
    def observed_model(self) -> str | None:
        """The model that the harness said it uses; None while it has not."""
        return self._driven.model if self._driven is not None else None

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every value that nothing of Barry's may show."""
        return self._driven.secrets if self._driven is not None else ()

    @property
    def observed_version(self) -> str | None:
        """The build that the harness said it is; None while it has not."""
        return self._driven.version if self._driven is not None else None

    # --- the session ---

    def apply_permission_policy(self, policy: PermissionPolicy) -> tuple[str, ...]:
        """Take a policy, to be handed to the harness; before ``start_session``.

        Returns what of it is not enforced, in sentences; they are among ``warnings`` as well.
        """
        self._policy = policy
        found = shortcomings(
            policy, self.capabilities, self.adapter.partial_policy, self.adapter.name
        )
        self.warnings += [sentence for sentence in found if sentence not in self.warnings]
        return found

    def set_system_prompt(self, text: str | None) -> None:
        """What is added to the harness's own system prompt, from the next turn on."""
        self._system_prompt = text
        if self._driven is not None:
            self._driven.system_prompt = text

    async def start_session(self, session: HarnessSession) -> None:
        """Put everything in place and check it; of the agent nothing runs but a log-in elsewhere.

        Raises AgentFault, or StoreProblem for Barry's own folders; nothing is left behind then.
        """
        if self._driven is not None or self._closed:
            raise AgentFault(
                "configuration",
                f"the session of {self.adapter.name} was started or closed before",
                hint="make a new one",
            )
        try:
            self._placed, self._driven = await self._prepared(session)
        except StoreProblem:
            raise
        except Exception as error:
            raise as_fault(error, driven=self.adapter.name) from None
        if (said := _COUNTED.get(self.adapter.usage or "")) is not None:
            self.warnings.append(f"{self.adapter.name} {said}")

    async def _prepared(self, session: HarnessSession) -> tuple[Placed, Driven]:
        adapter, config, executor = self.adapter, session.config, session.executor
        refuse_unresumable(adapter, session)
        variables = Variables(config.env, session.grants)
        credentials = adapter.credentials(variables) if adapter.credentials else None
        configuration = adapter.configuration(variables) if adapter.configuration else None
        refuse_clashes(
            (f"the adapter of {adapter.name}", adapter.variables or {}),
            ("its credentials", credentials.variables if credentials is not None else {}),
            ("the place where it runs", executor.variables),
        )
        placed = place(
            credentials, configuration, local=executor.local, user_home=config.env.get("HOME")
        )
        try:
            driven = Driven(
                adapter=adapter,
                session=session,
                hooks=Hooks(self.build_turn_args, self.map_event, self.start_turn_process),
                policy=self._policy,
                env=environment(config.env, adapter.variables or {}, placed.variables),
                secrets=secrets_of(config, placed.variables),
                home=placed.home,
                executable=self._executable,
                system_prompt=self._system_prompt,
            )
            # Pure: what can't work is refused before anything runs.
            command = driven.command(driven.input_for("", None))
            if not executor.local:
                await _log_in(driven, credentials.commands if credentials is not None else ())
                driven.executable = self._executable or await program_in(
                    executor, command.command, adapter.bootstrap, env=driven.env, cwd=config.cwd
                )
            driven.executable = driven.executable or command.command
        except BaseException:
            placed.remove()
            raise
        return placed, driven

    # --- one turn ---

    def build_turn_args(self, input: AgentInput) -> Command:
        """The command of a turn: the adapter's ``request``. Pure."""
        return self.adapter.request(input)

    def map_event(self, line: str) -> Sequence[AgentEvent]:
        """What a line of stdout means: the adapter's ``events``."""
        return self.adapter.events(line)

    async def start_turn_process(self, command: Command) -> RunningProcess:
        """Start a turn's process where the executor puts it. Raises OSError."""
        assert self._driven is not None
        return await self._driven.start(command)

    def run_turn(
        self, text: str, *, output_schema: JsonSchema | None = None, signal: Abort | None = None
    ) -> TurnStream:
        """One turn as a stream of events that never raises; its last, and only that, is ``done``.

        ``signal`` interrupts it. Closing the stream, or dropping it, ends its process.
        """
        driven = self._driven
        grace = driven.session.grace_seconds if driven is not None else 0.0
        return one_done(
            self._events(text, output_schema, signal),
            secrets=driven.secrets if driven is not None else (),
            closing=grace + _END_SECONDS,
        )

    async def _events(
        self, text: str, schema: JsonSchema | None, signal: Abort | None
    ) -> AsyncIterator[SessionEvent]:
        if self._driven is None or self._closed or self._turn is not None:
            state = "closed" if self._closed else "in the midst of a turn"
            state = "not started" if self._driven is None and not self._closed else state
            refused = AgentFault("configuration", f"the session of {self.adapter.name} is {state}")
            if self._turn is None:
                self.last_turn = TurnOutcome(fault=refused)
            yield Failed(error=str(refused))
            return
        turn = self._turn = Turn(self._driven, text, schema)
        self.last_turn = None
        self._idle.clear()
        watch = asyncio.ensure_future(_interrupt_on(signal, turn)) if signal is not None else None
        try:
            async for event in turn.run():
                yield event
        finally:
            if watch is not None:
                watch.cancel()
            try:
                await turn.end()
            finally:
                self.last_turn = turn.outcome
                self._turn = None
                self._idle.set()

    async def steer(self, text: str) -> bool:
        """Give the running turn one more message; False when it can't take one."""
        return self._turn is not None and self._turn.steer(text)

    async def respond_to_permission(
        self, id: str, decision: Allowed | Denied, note: str | None = None
    ) -> bool:
        """Answer a ``permission_request`` of the running turn; False for one that isn't pending.

        ``note`` is the reason of a denial that has none.
        """
        return self._turn is not None and self._turn.respond(id, decision, note)

    async def interrupt(self) -> None:
        """Cut the running turn short and wait until it is over; harmless when there is none.

        Somebody must be reading the turn's stream meanwhile.
        """
        if self._turn is not None:
            self._turn.interrupt()
            await self._idle.wait()

    async def close(self) -> None:
        """End what runs and remove what was put in place. Idempotent, safe on every way out."""
        self._closed = True
        try:
            if self._turn is not None:
                self._turn.interrupt()
                await self._turn.end()
            if self._driven is not None and (kept := self._driven.kept) is not None:
                self._driven.kept = None
                await kept.process.end()
        finally:
            self._placed.remove()


async def _interrupt_on(signal: Abort, turn: Turn) -> None:
    await signal.wait()
    turn.interrupt()


async def _log_in(driven: Driven, commands: Sequence[Command]) -> None:
    for command in commands:
        refuse_secrets_in(command.args, driven.secrets, driven.name)
        result = await driven.invoke(command)
        if result.status != 0:
            raise AgentFault(
                "configuration",
                f"{driven.name} could not be logged in: {command.command} gave the status "
                f"{result.status}",
                hint="check the credentials that the session was granted",
                details={"stderr": redact(result.stderr[-2000:], driven.secrets)},
            )
