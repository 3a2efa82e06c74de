"""A driven agent as a Session: what an adapter's hosted mode starts (seed 001)."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from barry_cli.base.ids import new_id
from barry_cli.base.local_executor import LocalExecutor
from barry_cli.contract.session import DeliveryOptions, DeliveryReceipt
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.harness import CliHarness
from barry_cli.headless.session import HarnessSession
from barry_cli.turns.per_turn import PerTurnOptions, per_turn_session
from barry_cli.turns.unsupported import NotSupportedInMode

if TYPE_CHECKING:
    from barry_cli.contract.abort import Abort
    from barry_cli.contract.data import JsonSchema
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.guarantees import Guarantees
    from barry_cli.contract.levels import ModeId
    from barry_cli.contract.session import Allowed, Denied, PermissionRequest, SessionConfig
    from barry_cli.headless.agent_adapter import AgentAdapter
    from barry_cli.headless.agent_events import Usage
    from barry_cli.headless.capabilities import PermissionPolicy
    from barry_cli.headless.session import TurnOutcome
    from barry_cli.headless.variables import Grant

_CLOSING_SECONDS = 12.0
"""What a turn's clean-up may take, above its grace: the end of a tree is bounded by less."""


async def agent_session(
    adapter: AgentAdapter,
    config: SessionConfig,
    *,
    guarantees: Guarantees,
    warnings: Sequence[str] = (),
    fork: bool = False,
    history: Sequence[SessionEvent] = (),
    grants: Sequence[Grant] = (),
    policy: PermissionPolicy | None = None,
    review: bool = False,
    keep_process: bool = True,
    idle_seconds: float | None = 1800,
    retry_seconds: float | None = 300,
    deadline_seconds: float | None = None,
    usage_before: Usage | None = None,
    captures: Path | None = None,
) -> AgentSession:
    """Start a session of an agent; nothing of it runs before the first delivery.

    ``config.executor`` says where, ``config.resume`` what to go on with. The rest is as in
    ``HarnessSession``. Raises AgentFault for what can't work, or isn't there.
    """
    resume = config.resume
    if resume is not None and resume.harness_session_id is None:
        raise AgentFault(
            "session",
            f"{adapter.name} is driven without a person: the conversation to resume must be named",
            hint="`barry session list` shows the conversations",
        )
    harness = CliHarness(adapter)
    if policy is not None:
        harness.apply_permission_policy(policy)
    session = HarnessSession(
        config=config,
        executor=config.executor if config.executor is not None else LocalExecutor(),
        resume_session_id=resume.harness_session_id if resume is not None else None,
        fork=fork or bool(resume is not None and resume.fork),
        history=history,
        grants=grants,
        review=review,
        keep_process=keep_process,
        idle_seconds=idle_seconds,
        retry_seconds=retry_seconds,
        deadline_seconds=deadline_seconds,
        usage_before=usage_before,
        captures=captures,
    )
    await harness.start_session(session)
    return AgentSession(harness, session, guarantees, warnings)


class AgentSession:
    """See ``contract.session.Session``. The next delivery resumes what the last turn left."""

    attach = None
    detach = None
    compact = None
    external_turns = None
    mode: ModeId = "hosted"

    def __init__(
        self,
        harness: CliHarness,
        session: HarnessSession,
        guarantees: Guarantees,
        warnings: Sequence[str],
    ) -> None:
        self.id = session.config.session_id
        self.guarantees = guarantees
        self.harness = harness
        self.warnings: Sequence[str] = (*warnings, *harness.warnings)
        self._review = session.review
        bound = session.grace_seconds + _CLOSING_SECONDS
        self._turns = per_turn_session(
            PerTurnOptions(
                id=self.id,
                guarantees=guarantees,
                run_turn=self._run_turn,
                harness_session_id=session.resume_session_id,
                close=harness.close,
                warnings=self.warnings,
                secrets=harness.secrets,
                grace=bound,
                closing=bound,
            )
        )

    def _run_turn(
        self,
        content: str,
        *,
        harness_session_id: str | None,
        signal: Abort,
        output_schema: JsonSchema | None,
    ) -> AsyncIterable[SessionEvent]:
        return self.harness.run_turn(content, output_schema=output_schema, signal=signal)

    @property
    def harness_session_id(self) -> str | None:
        """The conversation's id: the harness's word, before that the one asked for."""
        return self.harness.session_id or self._turns.harness_session_id

    @property
    def harness_version(self) -> str | None:
        """The build that the harness said it is."""
        return self.harness.observed_version

    @property
    def last_turn(self) -> TurnOutcome | None:
        """What the last turn came to, its fault included."""
        return self.harness.last_turn

    async def deliver(
        self, content: str, options: DeliveryOptions | None = None
    ) -> DeliveryReceipt:
        """Start a turn, fold the message into the running one, or queue it. Raises Refused."""
        steer = options is not None and options.if_active == "steer" and self.guarantees.steer
        if steer and self._turns.status() == "active" and await self.harness.steer(content):
            return DeliveryReceipt(message_id=new_id(), status="steered")
        return await self._turns.deliver(content, options)

    def events(self) -> AsyncIterator[SessionEvent]:
        """Every event, across turns, each once."""
        return self._turns.events()

    async def answer(self, request: PermissionRequest, decision: Allowed | Denied) -> None:
        """Answer a ``permission_request``; nothing for one that isn't pending any more.

        Raises NotSupportedInMode where ``config.decide`` rules alone.
        """
        if not self._review:
            raise NotSupportedInMode("answer", self.mode)
        await self.harness.respond_to_permission(request.id, decision)

    async def interrupt(self) -> None:
        """Cut the running turn short and wait until it has ended; harmless when there is none."""
        await self._turns.interrupt()

    def status(self) -> Literal["idle", "active", "error"]:
        """``error``: the last turn failed; the next may not."""
        return self._turns.status()

    async def close(self) -> None:
        """Stop what runs and let go of everything. Idempotent."""
        await self._turns.close()
