"""A live session whose harness is a function: it says things and asks, as the real ones do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Literal

from barry_cli.contract.events import Done, PermissionRequested, SessionEvent, Text
from barry_cli.contract.session import (
    Allowed,
    DeliveryReceipt,
    Denied,
    PermissionRequest,
    SessionConfig,
)
from barry_cli.turns.event_queue import EventQueue

Decision = Allowed | Denied


class Live:
    """Implements Session. ``work`` is what the harness does with a delivery."""

    mode: Any = "hosted"
    guarantees: Any = None
    harness_version = "9.9"
    warnings = ()
    attach = detach = compact = external_turns = None

    def __init__(
        self,
        config: SessionConfig,
        work: Callable[[Live, str], Awaitable[Any]],
        *,
        asks: str = "callback",
        receipt: str = "started",
    ) -> None:
        self.id = config.session_id
        self.config = config
        self.queue: EventQueue[SessionEvent] = EventQueue()
        self.answers: list[tuple[str, Decision]] = []
        self.closed = 0
        self.interrupts = 0
        self.harness_session_id: str | None = (
            config.resume.harness_session_id if config.resume else "conversation-1"
        )
        self._work = work
        self._asks = asks
        self._receipt = receipt
        self._waiting: dict[str, asyncio.Future[Decision]] = {}
        self.task: asyncio.Task[Any] | None = None

    async def deliver(self, content: str, options: Any = None) -> DeliveryReceipt:
        if self._receipt == "broken":
            raise RuntimeError("nobody takes it")
        self.task = asyncio.create_task(self._turn(content))
        return DeliveryReceipt(message_id="m", status=self._receipt)  # type: ignore[arg-type] - a test's word

    async def _turn(self, content: str) -> None:
        try:
            await self._work(self, content)
        finally:
            self.queue.push(Done(turns=1))

    def say(self, text: str) -> None:
        self.queue.push(Text(text=text))

    async def ask(self, id: str, command: str | None = None) -> Decision:
        """As its harness does: by callback, by event, or by both in either order."""
        request = PermissionRequest(id=id, tool="Shell", input={"command": command or f"run {id}"})
        event = PermissionRequested(id=id, tool=request.tool, input=request.input)
        decide = self.config.decide
        assert decide is not None
        if self._asks == "callback":
            return await decide(request)
        if self._asks == "event then callback":
            self.queue.push(event)
            await asyncio.sleep(0)
            return await decide(request)
        if self._asks == "callback then event":
            asking = asyncio.ensure_future(decide(request))
            await asyncio.sleep(0)
            self.queue.push(event)
            return await asking
        if self._asks == "event, and a late callback":
            self._waiting[id] = asyncio.get_running_loop().create_future()
            self.queue.push(event)
            await self._waiting[id]
            return await decide(request)
        self._waiting[id] = asyncio.get_running_loop().create_future()
        self.queue.push(event)
        return await self._waiting[id]

    async def answer(self, request: PermissionRequest, decision: Decision) -> None:
        self.answers.append((request.id, decision))
        waiting = self._waiting.pop(request.id)
        if not waiting.done():
            waiting.set_result(decision)

    def events(self) -> AsyncIterator[SessionEvent]:
        return aiter(self.queue)

    async def interrupt(self) -> None:
        self.interrupts += 1
        if self.task is not None:
            self.task.cancel()

    def status(self) -> Literal["idle", "active", "error"]:
        return "idle"

    async def close(self) -> None:
        self.closed += 1
        if self.task is not None:
            self.task.cancel()
        self.queue.end()


class Starts:
    """Starts sessions, and keeps them."""

    def __init__(self, work: Callable[[Live, str], Awaitable[Any]], **more: Any) -> None:
        self.work = work
        self.more = more
        self.sessions: list[Live] = []

    async def __call__(self, config: SessionConfig) -> Any:
        self.sessions.append(Live(config, self.work, **self.more))
        return self.sessions[-1]
