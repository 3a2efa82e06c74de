"""A session whose every delivery is a turn on record: admitted, claimed, written down, finished."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ConfigDict, TypeAdapter

from barry_cli.base.ids import new_id
from barry_cli.contract.events import Done, SessionEvent
from barry_cli.contract.session import DeliveryReceipt
from barry_cli.contract.turns import AutomaticReview
from barry_cli.host.calls import Calls
from barry_cli.host.handle import Opened
from barry_cli.turns.execution import TurnExecution, TurnExecutionDependencies
from barry_cli.turns.unsupported import NotSupportedInMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from barry_cli.contract.guarantees import Guarantees
    from barry_cli.contract.levels import ModeId
    from barry_cli.contract.session import (
        Allowed,
        DeliveryOptions,
        Denied,
        PermissionRequest,
    )
    from barry_cli.host.prepare import PreparedRun
    from barry_cli.host.watcher import Watcher
    from barry_cli.turns.store.turns import SqliteTurnStore

_EVENTS: TypeAdapter[SessionEvent] = TypeAdapter(SessionEvent, config=ConfigDict(defer_build=True))
_PAGE = 500


class RecordedSession:
    """See ``contract.session.Session``. What is read back is what is on record."""

    attach = None
    detach = None
    compact = None
    external_turns = None
    mode: ModeId = "hosted"
    warnings: Sequence[str] = ()

    def __init__(
        self,
        prepared: PreparedRun,
        store: SqliteTurnStore,
        watcher: Watcher,
        on_conversation: Callable[[str], None],
    ) -> None:
        """``on_conversation`` gets the harness's id of it, as soon as the harness says it."""
        self.id = prepared.session_id
        self.guarantees: Guarantees = prepared.mode.guarantees
        self.turn_id: str | None = None
        """The last turn."""
        self._store = store
        self._ruler = prepared.ruler
        self._mask = prepared.mask
        self.opened = Opened(prepared, self._calls)
        self._watcher = watcher
        self._on_conversation = on_conversation
        self._said = asyncio.Event()
        self._read = store.last_sequence(self.id)
        self._warned = False

        async def authorize(session_id: str, call: PermissionRequest) -> Allowed | Denied:
            return await prepared.ruler(call)

        self._execution = TurnExecution(
            TurnExecutionDependencies(
                store=store,
                authorize=authorize,
                open_harness=self.opened.open,
                committed=self._committed,
            )
        )

    def _calls(self) -> Calls:
        assert self.turn_id is not None
        owner = self._execution.owner
        return Calls(self._store, self.id, self.turn_id, owner, self._ruler, self._mask)

    def _committed(self, session_id: str, sequence: int) -> None:
        self._said.set()

    @property
    def harness_session_id(self) -> str | None:
        session = self.opened.session
        return session.harness_session_id if session is not None and self.opened.keeps else None

    @property
    def harness_version(self) -> str | None:
        session = self.opened.session
        return None if session is None else session.harness_version

    async def deliver(
        self, content: str, options: DeliveryOptions | None = None
    ) -> DeliveryReceipt:
        """Admit a turn, which begins at once."""
        self.opened.schema = None if options is None else options.output_schema
        self.opened.refused = None
        turn = self._execution.admit(
            session_id=self.id,
            request_id=new_id(),
            run_id=new_id(),
            actor=f"uid:{os.getuid()}",
            content=content,
            policy=AutomaticReview(),
        )
        self.turn_id = turn.id
        return DeliveryReceipt(message_id=turn.id, status="started")

    async def events(self) -> AsyncIterator[SessionEvent]:
        """The last turn's events, up to its ``done``; the watcher gets each one first."""
        assert self.turn_id is not None
        settled = asyncio.create_task(self._execution.settled(self.turn_id))
        try:
            while True:
                over = settled.done()  # looked at before the record: what came before is in it
                for body in self._new():
                    event = _EVENTS.validate_python(body, by_alias=True, by_name=False)
                    yield event
                    if isinstance(event, Done) and event.parent_tool_use_id is None:
                        await settled
                        return
                if over:
                    return
                self._said.clear()
                said = asyncio.create_task(self._said.wait())
                await asyncio.wait({settled, said}, return_when=asyncio.FIRST_COMPLETED)
                said.cancel()
        finally:
            settled.cancel()

    def _new(self) -> list[Mapping[str, Any]]:
        """The events that nobody saw yet."""
        session = self.opened.session
        if session is not None and not self._warned:
            self._warned = True
            self._watcher.warned(session.warnings)
        found = []
        while page := self._store.events(self.id, self._read, _PAGE):
            for stored in page:
                self._read = stored.sequence
                if stored.event.get("type") == "init" and self.opened.keeps:
                    self._on_conversation(str(stored.event["harnessSessionId"]))
                self._watcher.event(stored.event)
                found.append(stored.event)
        return found

    async def answer(self, request: PermissionRequest, decision: Allowed | Denied) -> None:
        """Nobody is asked: the bound rules. Raises NotSupportedInMode."""
        raise NotSupportedInMode("answer", self.mode)

    async def interrupt(self) -> None:
        """Cancel the running turn and wait until it has ended."""
        if self.turn_id is not None:
            await self._execution.cancel(self.id, self.turn_id)

    def status(self) -> Literal["idle", "active", "error"]:
        """What the record says of the last turn."""
        if self.turn_id is None:
            return "idle"
        state = self._store.snapshot(self.id, self.turn_id).state
        if state in ("running", "queued", "waiting_for_input"):
            return "active"
        return "idle" if state == "completed" else "error"

    async def close(self) -> None:
        """Nothing outlasts a turn; see ``end``."""

    async def end(self) -> None:
        """Stop whatever runs. Idempotent."""
        await self._execution.close()
