"""A session over a harness that runs one turn at a time and then ends (seed 001)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from barry_cli.base.ids import new_id
from barry_cli.base.problems import Refused
from barry_cli.contract.abort import Abort
from barry_cli.contract.data import JsonSchema
from barry_cli.contract.events import Done, Failed, Init, Result, SessionEvent
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.levels import ModeId
from barry_cli.contract.session import (
    Allowed,
    DeliveryOptions,
    DeliveryReceipt,
    Denied,
    PermissionRequest,
    Session,
)
from barry_cli.turns.event_queue import LIMIT, EventQueue
from barry_cli.turns.one_done import CLOSING, GRACE, INTERRUPTED, run_to_done
from barry_cli.turns.unsupported import NotSupportedInMode
from barry_cli.turns.waits import bounded

_MODE: ModeId = "hosted"


class RunTurn(Protocol):
    """Runs one turn to completion and yields its events; a ``done`` is not needed.

    ``harness_session_id`` is the conversation so far, None on the first turn of a new one.
    ``signal`` asks the turn to stop; one that doesn't is cancelled.
    """

    def __call__(
        self,
        content: str,
        *,
        harness_session_id: str | None,
        signal: Abort,
        output_schema: JsonSchema | None,
    ) -> AsyncIterable[SessionEvent]: ...


@dataclass(frozen=True, kw_only=True)
class PerTurnOptions:
    """What a session that starts its harness anew for each turn is made of."""

    id: str
    guarantees: Guarantees
    run_turn: RunTurn
    harness_session_id: str | None = None
    """The conversation to continue, when resuming one."""
    harness_version: str | None = None
    close: Callable[[], Awaitable[None]] | None = None
    """Releases what is held across turns."""
    warnings: Sequence[str] = ()
    secrets: Sequence[str] = ()
    """What no error may show."""
    limit: int = LIMIT
    """Bytes of events that wait for a reader."""
    grace: float = GRACE
    """Seconds that a turn has to end by itself, once it is asked to stop."""
    closing: float = CLOSING
    """Seconds that a turn's clean-up, and ``close``, may take."""


def per_turn_session(options: PerTurnOptions) -> Session:
    """A session whose every turn resumes the last, one after the other.

    A delivery to an idle session starts a turn; to a busy one it queues, whatever was asked for,
    and its receipt says so. ``interrupt`` stops the running turn, and queued ones go on. ``close``
    stops it too, and each queued message becomes an ``error`` event before its ``done``.
    """
    return _PerTurnSession(options)


class _Message(NamedTuple):
    id: str
    content: str
    output_schema: JsonSchema | None


class _Turn(NamedTuple):
    signal: Abort
    task: asyncio.Task[None]


class _PerTurnSession:
    attach = None
    detach = None
    compact = None
    external_turns = None
    mode: ModeId = _MODE

    def __init__(self, options: PerTurnOptions) -> None:
        self.id = options.id
        self.guarantees = options.guarantees
        self.harness_session_id = options.harness_session_id
        self.harness_version = options.harness_version
        self.warnings = tuple(options.warnings)
        self._options = options
        self._queue: EventQueue[SessionEvent] = EventQueue(options.limit)
        self._waiting: deque[_Message] = deque()
        self._turn: _Turn | None = None
        self._failed = False
        self._closing: asyncio.Task[None] | None = None

    def status(self) -> Literal["idle", "active", "error"]:
        """``error``: the last turn failed; the next may not."""
        if self._turn is not None:
            return "active"
        return "error" if self._failed else "idle"

    async def deliver(
        self, content: str, options: DeliveryOptions | None = None
    ) -> DeliveryReceipt:
        """Start a turn, or queue behind the running one. Raises Refused once closed."""
        if self._closing is not None:
            raise Refused(
                f"session {self.id} is closed: nothing more can be delivered to it",
                hint="resume its conversation in a new session",
                details={"sessionId": self.id},
            )
        message = _Message(new_id(), content, options.output_schema if options else None)
        if self._turn is not None:
            self._waiting.append(message)
            return DeliveryReceipt(message_id=message.id, status="queued")
        self._begin(message)
        return DeliveryReceipt(message_id=message.id, status="started")

    def events(self) -> AsyncIterator[SessionEvent]:
        """Every event, across turns, each once."""
        return aiter(self._queue)

    async def answer(self, request: PermissionRequest, decision: Allowed | Denied) -> None:
        """A turn of its own process asks nobody: ``SessionConfig.decide`` rules on its calls."""
        raise NotSupportedInMode("answer", _MODE)

    async def interrupt(self) -> None:
        """Stop the running turn and wait until it has ended; harmless when there is none."""
        if not self.guarantees.interrupt:
            raise NotSupportedInMode("interrupt", _MODE)
        await self._stop()

    async def close(self) -> None:
        """Stop, tell what is dropped, release. Any number of calls close it once."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        for message in self._waiting:
            self._queue.push(
                Failed(error=f"dropped: the session was closed before message {message.id} began")
            )
        self._waiting.clear()
        try:
            await self._stop()
            if self._options.close is not None:
                await bounded("closing a session", self._options.close(), self._options.closing)
        finally:
            self._queue.end()

    async def _stop(self) -> None:
        turn = self._turn
        if turn is not None:
            turn.signal.set()
            await asyncio.wait({turn.task})  # which is bounded itself

    def _begin(self, message: _Message) -> None:
        signal = Abort()
        self._failed = False
        self._turn = _Turn(signal, asyncio.create_task(self._run(message, signal)))

    async def _run(self, message: _Message, signal: Abort) -> None:
        def start() -> AsyncIterable[SessionEvent]:
            return self._options.run_turn(
                message.content,
                harness_session_id=self.harness_session_id,
                signal=signal,
                output_schema=message.output_schema,
            )

        async def emit(event: SessionEvent) -> None:
            self._note(event)
            self._queue.push(event)
            if self._queue.overflowed:
                signal.set()  # its reader was told that it is over

        await run_to_done(
            start,
            emit,
            signal=signal,
            secrets=self._options.secrets,
            grace=self._options.grace,
            closing=self._options.closing,
        )

    def _note(self, event: SessionEvent) -> None:
        """What an event changes here; the next message begins before anybody reads ``done``."""
        if isinstance(event, Init) and event.parent_tool_use_id is None:
            self.harness_session_id = event.harness_session_id
        elif isinstance(event, Failed | Result) and event.error not in (None, INTERRUPTED):
            self._failed = True
        elif isinstance(event, Done):
            self._turn = None
            if self._waiting:
                self._begin(self._waiting.popleft())
