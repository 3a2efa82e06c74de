"""The calls of a live session that wait for somebody's decision, held in memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barry_cli.contract.session import Allowed, Denied, PermissionRequest

if TYPE_CHECKING:
    from barry_cli.contract.events import PermissionRequested
    from barry_cli.contract.session import Decide, Session

Decision = Allowed | Denied


@dataclass
class _Held:
    """A call that waits. A session may call back about it, or show it as an event, or both."""

    request: PermissionRequest
    answer: asyncio.Future[Decision] | None = None
    shown: bool = False


class RetainedCalls:
    """The two ways in which a session asks, as one list of calls.

    ``floor``, where there is one, can only deny. A decision counts for the very call that it was
    made about: the same id with another tool or input is another call.
    """

    def __init__(self, floor: Decide | None) -> None:
        self.asked = asyncio.Event()
        """Set when a call begins to wait."""
        self._floor = floor
        self._held: dict[str, _Held] = {}
        self._called_back: dict[str, PermissionRequest] = {}  # their events may come yet
        self._answered: dict[str, tuple[PermissionRequest, Decision]] = {}  # their callbacks may
        self._closed: str | None = None

    def __bool__(self) -> bool:
        return bool(self._held)

    @property
    def requests(self) -> tuple[PermissionRequest, ...]:
        """What waits, in the order in which it was asked."""
        return tuple(each.request for each in self._held.values())

    async def decide(self, request: PermissionRequest) -> Decision:
        """The callback that the harness waits in. Raises what the floor raises."""
        if self._floor is not None:
            verdict = await self._floor(request)
            if isinstance(verdict, Denied):
                self._take(request)
                return verdict
        if self._closed is not None:
            return Denied(reason=self._closed)
        before = self._answered.pop(request.id, None)
        if before is not None and _same(before[0], request):
            return before[1]
        held = self._held.setdefault(request.id, _Held(request))
        if held.answer is not None or not _same(held.request, request):
            return Denied(reason=f"another call waits under the same id ({request.id})")
        answer = asyncio.get_running_loop().create_future()
        held.answer = answer
        self.asked.set()
        try:
            decision: Decision = await answer
        finally:  # its harness may have given up
            if self._held.get(request.id) is held:
                del self._held[request.id]
        return decision

    def show(self, event: PermissionRequested) -> None:
        """Note a request that the session shows; it may call back about it as well."""
        request = PermissionRequest(
            id=event.id, tool=event.tool, input=event.input, description=event.description
        )
        before = self._called_back.pop(event.id, None)
        if before is None or not _same(before, request):
            self._held.setdefault(event.id, _Held(request)).shown = True

    async def answer(self, session: Session, call_id: str, decision: Decision) -> None:
        """Pass a decision on, in the way that the call was asked. Raises what the session raises.

        A call that doesn't wait any more needs none.
        """
        held = self._held.get(call_id)
        if held is None:
            return
        if held.answer is None:
            del self._held[call_id]
            self._answered[call_id] = (held.request, decision)
            await session.answer(held.request, decision)
            return
        self._take(held.request)
        if not held.answer.done():
            held.answer.set_result(decision)

    def deny_all(self, why: str, *, close: bool = False) -> None:
        """Let no callback wait for ever. What a session only shows ends with its turn."""
        if close:
            self._closed = why
        for held in self._held.values():
            if held.answer is not None and not held.answer.done():
                held.answer.set_result(Denied(reason=why))
        self._held.clear()

    def _take(self, request: PermissionRequest) -> None:
        """A call waits no more; its event, if it comes yet, says nothing new."""
        held = self._held.pop(request.id, None)
        if held is None or not held.shown:
            self._called_back[request.id] = request


def _same(one: PermissionRequest, other: PermissionRequest) -> bool:
    return (one.tool, one.input) == (other.tool, other.input)
