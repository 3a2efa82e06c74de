"""The handle through which one turn of a prepared session is executed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NoReturn

from barry_cli.base.problems import Refused
from barry_cli.contract.continuation import SegmentCompleted
from barry_cli.contract.session import DeliveryOptions
from barry_cli.groundwork.surroundings import as_found
from barry_cli.headless.continuation import fingerprint
from barry_cli.turns.live_continuation import LiveContinuation, Outcome, Start

if TYPE_CHECKING:
    from barry_cli.contract.continuation import ContinuationDescriptor, Emit
    from barry_cli.contract.data import JsonSchema
    from barry_cli.contract.engine import EngineSpec
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.levels import ApprovalContinuation
    from barry_cli.contract.session import DeliveryReceipt, Session, SessionConfig
    from barry_cli.host.calls import Calls
    from barry_cli.host.masking import Mask
    from barry_cli.host.prepare import PreparedRun


class Opened:
    """Opens the handles of one session's turns, and remembers what came of it."""

    def __init__(self, prepared: PreparedRun, calls: Callable[[], Calls]) -> None:
        """``calls`` gives the calls of the turn that is about to run."""
        self._prepared = prepared
        self._calls = calls
        self.schema: JsonSchema | None = None
        """What the next turn's answer must fit, where the harness sees to that itself."""
        self.alone = False
        """Each turn is an attempt: it knows nothing of the one before."""
        self.session: Session | None = None
        """The session of the last turn."""
        self.refused: BaseException | None = None
        """Why the last turn's session did not start."""

    @property
    def keeps(self) -> bool:
        """Whether the conversation of a turn is still there after it."""
        return not self.alone or self._prepared.config.resume is not None

    async def open(self, session_id: str) -> DrivenTurn:
        """A handle for one turn. Raises what starting the session raises."""
        prepared, calls = self._prepared, self._calls()
        config = replace(
            prepared.config, decide=calls.decide, ephemeral=None if self.keeps else True
        )
        self.session = None
        handle = DrivenTurn(
            prepared.adapter.id, config, self._start, calls, prepared.mask, alone=self.alone
        )
        try:
            await handle.begin_session()
        except BaseException as error:
            self.refused = error
            raise
        return handle

    async def _start(self, config: SessionConfig) -> Session:
        with as_found():
            session = await self._prepared.mode.start(config, _no_engine)
        self.session = session
        return session if self.schema is None else _Schemed(session, self.schema)

    def of_last_turn(self, name: str) -> Any:
        """What the last turn came to, as far as its session tells: ``fault``, ``usage`` ..."""
        return getattr(getattr(self.session, "last_turn", None), name, None)


class DrivenTurn(LiveContinuation):
    """A turn whose calls are ruled on at once: nobody is waited for, so nothing is put down."""

    def __init__(
        self,
        adapter_id: str,
        config: SessionConfig,
        start: Start,
        calls: Calls,
        mask: Mask,
        *,
        alone: bool,
    ) -> None:
        """``alone``: it goes on with nothing that was before it."""
        super().__init__(adapter_id, fingerprint(adapter_id, config), config, start)
        self._config = config
        self._own_calls = calls
        self._mask = mask
        self._alone = alone

    @property
    def approval_continuation(self) -> ApprovalContinuation:
        return "unsupported"

    async def begin_session(self) -> None:
        """Start the session. Raises what that raises."""
        await self._begin_session(self._config)

    async def begin(
        self, content: str, emit: Emit, conversation: ContinuationDescriptor | None = None
    ) -> Outcome:
        """See ContinuationHarness. Every call is closed in the record when this returns."""

        async def seen(event: SessionEvent) -> None:
            await emit(self._mask.event(event))
            self._own_calls.see(event)

        over = False
        try:
            outcome = await super().begin(content, seen, None if self._alone else conversation)
            if isinstance(outcome, SegmentCompleted):
                over = True
                return outcome.model_copy(update={"result": self._mask.value(outcome.result)})
            return outcome
        finally:
            await self._own_calls.settle(over=over)


class _Schemed:
    """A session whose deliveries carry a schema."""

    def __init__(self, session: Session, schema: JsonSchema) -> None:
        self._session = session
        self._schema = schema

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    async def deliver(
        self, content: str, options: DeliveryOptions | None = None
    ) -> DeliveryReceipt:
        return await self._session.deliver(
            content, replace(options or DeliveryOptions(), output_schema=self._schema)
        )


async def _no_engine(spec: EngineSpec) -> NoReturn:
    raise Refused(
        f"the adapter asks for an engine of the kind {spec.kind}, and a headless turn has none",
        hint="an update of the adapter or of Barry may mend it",
    )
