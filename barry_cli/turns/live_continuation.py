"""A live session as a harness that can wait for an approval, in this process alone (seed 001).

What waits is a callback of the harness: it is retained in memory, never written as a checkpoint
that somebody could restore. Its descriptor only names it, so that nobody else takes it for theirs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from barry_cli.base.ids import new_id
from barry_cli.base.problems import Refused
from barry_cli.base.secrets import looks_secret
from barry_cli.contract.continuation import (
    ContinuationDescriptor,
    SegmentCompleted,
    SegmentFailed,
    SegmentInterrupted,
)
from barry_cli.contract.session import Allowed, Denied, Resume
from barry_cli.turns.retained import RetainedCalls
from barry_cli.turns.told import told

if TYPE_CHECKING:
    from barry_cli.contract.continuation import ContinuationEffects, Emit
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.levels import ApprovalContinuation
    from barry_cli.contract.session import PermissionRequest, Session, SessionConfig

Start = Callable[["SessionConfig"], Awaitable["Session"]]
Outcome = SegmentCompleted | SegmentFailed | SegmentInterrupted

VERSION = 1
LIVE = "live"
"""The format of a descriptor that names a retained callback."""
CONVERSATION = "conversation"
"""The format of a descriptor from which a later session resumes; it is durable."""

_TURNS_OF_THE_LOOP = 3  # for an event and its callback, which come together, to both be seen


class LiveContinuation:
    """Drives one turn of a Session. ``approval_continuation`` is ``live``.

    Each call that the harness asks about interrupts the segment. ``config.decide``, where there is
    one, can only deny: it is a floor below whoever answers for the turn.
    """

    def __init__(
        self, adapter_id: str, fingerprint: str, config: SessionConfig, start: Start
    ) -> None:
        self._adapter_id = adapter_id
        self._fingerprint = fingerprint
        self._calls = RetainedCalls(config.decide)
        self._config = replace(config, decide=self._calls.decide)
        self._secrets = _secrets(config)
        self._start = start
        self._session: Session | None = None
        self._events: AsyncIterator[SessionEvent] | None = None
        self._next: asyncio.Task[SessionEvent] | None = None
        self._retained: str | None = None
        self._asked_about: tuple[PermissionRequest, ...] = ()
        self._text: str | None = None
        self._result: object = None
        self._error: str | None = None
        self._closed = False

    @classmethod
    async def open(
        cls, adapter_id: str, fingerprint: str, config: SessionConfig, start: Start
    ) -> Self:
        """Start a session and hold it. ``fingerprint``: of all that a conversation depends on.

        Raises what ``start`` raises.
        """
        live = cls(adapter_id, fingerprint, config, start)
        await live._begin_session(live._config)
        return live

    @property
    def approval_continuation(self) -> ApprovalContinuation:
        return "live"

    # --- one turn, in segments ---

    async def begin(
        self, content: str, emit: Emit, conversation: ContinuationDescriptor | None = None
    ) -> Outcome:
        """Deliver the content and read until the turn is over or somebody has to decide.

        A conversation goes on: where the session was started without it, it is started again.
        """
        try:
            session = await self._session_of(conversation)
            receipt = await session.deliver(content)
            if receipt.status != "started":
                return SegmentFailed(
                    error="the session was at work when the turn began, so what it does can't be "
                    f"told apart from the turn (it answered: {receipt.status})"
                )
        except Exception as error:
            return SegmentFailed(error=told(error, self._secrets))
        return await self._read(session, emit)

    async def restore(
        self,
        continuation: ContinuationDescriptor,
        decisions: Mapping[str, Allowed | Denied],
        effects: ContinuationEffects,
        emit: Emit,
    ) -> Outcome:
        """Answer what was decided and read on. The authority in force is asked once more.

        Raises Refused as ``validate`` does, and what the authority raises.
        """
        self.validate(continuation)
        session = self._live_session()
        for request in self._calls.requests:
            # Decided is what was asked about, not what may wait under its id by now.
            decision = decisions.get(request.id) if request in self._asked_about else None
            if isinstance(decision, Allowed):
                # An answer for good stays ours: who would keep it asks nobody any more.
                verdict = await effects.authorize(request)
                decision = verdict if isinstance(verdict, Denied) else Allowed()
            if decision is not None:
                await self._calls.answer(session, request.id, decision)
        self._retained = None
        return await self._read(session, emit)

    def validate(self, continuation: ContinuationDescriptor) -> None:
        """Raise Refused unless it names the callback that is retained here, now."""
        self._check(continuation, LIVE)
        if continuation.config_fingerprint != self._fingerprint:
            raise Refused("the session was configured otherwise when its turn was put down")
        if self._closed or self._retained is None or continuation.payload != self._retained:
            raise Refused(
                "the turn waited in a process that is gone, and its harness can't go on in another",
                hint="ask again in a new turn",
            )

    def _check(self, descriptor: ContinuationDescriptor, format: str) -> None:
        for what, found, expected in (
            ("adapter", descriptor.adapter_id, self._adapter_id),
            ("format", descriptor.format, format),
            ("format's version", str(descriptor.version), str(VERSION)),
        ):
            if found != expected:
                raise Refused(f"what was kept is of another {what}: {found}, not {expected}")

    async def interrupt(self) -> None:
        """Stop the turn. What waits for a decision is denied. Raises what the session raises."""
        self._calls.deny_all("the turn was interrupted")
        if self._session is not None:
            await self._session.interrupt()

    async def close(self) -> None:
        """Let the session go; what waits is denied first. Idempotent."""
        self._closed = True
        self._calls.deny_all("the session was closed", close=True)
        await self._end_session()

    # --- the session ---

    async def _begin_session(self, config: SessionConfig) -> Session:
        self._session = await self._start(config)
        self._events = aiter(self._session.events())
        return self._session

    async def _end_session(self) -> None:
        session, self._session = self._session, None
        upcoming, self._next = self._next, None
        if upcoming is not None:
            upcoming.cancel()
            await asyncio.gather(upcoming, return_exceptions=True)
        if session is not None:
            await session.close()

    def _live_session(self) -> Session:
        if self._session is None:
            raise Refused("the session is closed")
        return self._session

    async def _session_of(self, conversation: ContinuationDescriptor | None) -> Session:
        session = self._live_session()
        if conversation is None:
            return session
        self._check(conversation, CONVERSATION)
        wanted = str(conversation.payload)
        asked = self._config.resume.harness_session_id if self._config.resume else None
        if wanted in (session.harness_session_id, asked):
            return session
        await self._end_session()
        return await self._begin_session(
            replace(self._config, resume=Resume(harness_session_id=wanted))
        )

    # --- reading ---

    async def _read(self, session: Session, emit: Emit) -> Outcome:
        while True:
            event = await self._event()
            if event is None:
                return self._interrupted(session)
            if isinstance(event, str):
                self._calls.deny_all("the turn is over")
                return SegmentFailed(error=event)
            if event.type == "permission_request":
                self._calls.show(event)
                continue
            await emit(event)
            self._note(event)
            if event.type == "done" and event.parent_tool_use_id is None:
                self._calls.deny_all("the turn is over")
                return self._over(session)

    async def _event(self) -> SessionEvent | str | None:
        """The next event; None once a call waits and nothing more is said; a text for an end."""
        while True:
            upcoming = self._upcoming()
            if self._calls:
                for _ in range(_TURNS_OF_THE_LOOP):
                    await asyncio.sleep(0)
                if self._calls and not upcoming.done():
                    return None
            asked = asyncio.create_task(self._calls.asked.wait())
            await asyncio.wait({upcoming, asked}, return_when=asyncio.FIRST_COMPLETED)
            asked.cancel()
            self._calls.asked.clear()
            if upcoming.done():
                break
        self._next = None
        try:
            return upcoming.result()
        except StopAsyncIteration:
            return "the session's events ended before its turn did"
        except Exception as error:
            return told(error, self._secrets)

    def _upcoming(self) -> asyncio.Task[SessionEvent]:
        """The one read that is under way: it outlasts a segment, so that no event is lost."""
        if self._next is None:
            assert self._events is not None
            self._next = asyncio.create_task(_read_one(self._events))
        return self._next

    def _note(self, event: SessionEvent) -> None:
        if event.parent_tool_use_id is not None:
            return
        if event.type == "result":
            self._result = event.result if event.structured is None else event.structured
            self._error = event.error or self._error
        elif event.type == "error":
            self._error = event.error
        elif event.type == "text" and event.role != "user" and self._result is None:
            self._text = event.text

    def _over(self, session: Session) -> Outcome:
        if self._error is not None:
            return SegmentFailed(error=told(self._error, self._secrets))
        conversation = None
        if session.harness_session_id is not None:
            conversation = self._descriptor(session, CONVERSATION, session.harness_session_id)
        result = self._text if self._result is None else self._result
        return SegmentCompleted(conversation=conversation, result=result)

    def _interrupted(self, session: Session) -> SegmentInterrupted:
        self._retained = new_id()
        self._asked_about = self._calls.requests
        return SegmentInterrupted(
            calls=self._asked_about,
            continuation=self._descriptor(session, LIVE, self._retained),
        )

    def _descriptor(self, session: Session, format: str, payload: str) -> ContinuationDescriptor:
        return ContinuationDescriptor(
            adapter_id=self._adapter_id,
            adapter_version="",  # the fingerprint covers it
            config_fingerprint=self._fingerprint,
            format=format,
            harness_version=session.harness_version or "",
            payload=payload,
            version=VERSION,
        )


async def _read_one(events: AsyncIterator[SessionEvent]) -> SessionEvent:
    return await anext(events)


def _secrets(config: SessionConfig) -> list[str]:
    """What of a configuration may stand in no error's text."""
    found = [
        value for name, value in config.env.items() if value is not None and looks_secret(name)
    ]
    if config.endpoint is not None and config.endpoint.key is not None:
        found.append(config.endpoint.key.get_secret_value())
    found.extend((config.telemetry_headers or {}).values())
    for server in config.mcp_servers.values():
        values = server.env if server.type == "stdio" else server.headers
        found.extend(values.values())
    return found
