"""The calls of one turn that wait for a ruling."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from barry_cli.contract.events import PermissionRequested
from barry_cli.contract.session import Allowed, Decide, Denied, PermissionRequest
from barry_cli.headless.agent_process import Ruled

log = logging.getLogger(__name__)

NOBODY = "Barry refuses this call: nobody is there to allow it"
UNRULED = "Barry refuses this call: it could not be ruled on"
DENIED = "Barry refuses this call"
OVER = "Barry refuses this call: its turn is over"


class Rulings:
    """Asks whoever rules, side by side for calls that come so, and a person where that is wanted.

    A ruling that is made goes to ``put``, and comes back to ``settle`` in the turn's own order.
    """

    def __init__(
        self, decide: Decide | None, *, review: bool, put: Callable[[Ruled], None]
    ) -> None:
        """``review``: what ``decide`` does not deny is put to a person."""
        self._decide = decide
        self._review = review
        self._put = put
        self._open: dict[str, PermissionRequest] = {}
        self._asked: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._since = 0.0

    def __bool__(self) -> bool:
        """Whether any call waits."""
        return bool(self._open)

    def begin(self, event: PermissionRequested) -> None:
        """A call waits; the same id again is the same call."""
        if event.id in self._open:
            return
        if not self._open:
            self._since = time.monotonic()
        request = PermissionRequest(
            id=event.id, tool=event.tool, input=event.input, description=event.description
        )
        self._open[event.id] = request
        task = asyncio.ensure_future(self._rule(request))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def respond(self, id: str, decision: Allowed | Denied) -> bool:
        """A person's ruling; False when no such call waits for a person."""
        if id not in self._asked:
            return False
        self._asked.discard(id)
        self._put(Ruled(self._open[id], decision, final=True))
        return True

    def settle(self, ruled: Ruled) -> PermissionRequested | Allowed | Denied | None:
        """What a ruling comes to: a question to a person, or the answer to give.

        None for a call that waits no more.
        """
        request, decision = ruled.request, ruled.decision
        if request.id not in self._open:
            return None
        if not ruled.final:
            self._asked.add(request.id)
            return PermissionRequested(**request.model_dump())
        del self._open[request.id]
        if isinstance(decision, Denied):
            return Denied(reason=decision.reason or DENIED)
        return Allowed()  # for this call alone, whatever was kept

    def waited(self) -> float:
        """Seconds since calls began to wait; what is rulings' time and not the harness's."""
        return time.monotonic() - self._since

    def drop(self) -> None:
        """Nothing waits any more: the harness was told otherwise."""
        self._open.clear()
        self._asked.clear()

    def cancel(self) -> tuple[str, ...]:
        """Ask nobody any more. Returns the calls that still wait, to be denied."""
        for task in self._tasks:
            task.cancel()
        left = tuple(self._open)
        self.drop()
        return left

    async def _rule(self, request: PermissionRequest) -> None:
        decision: Allowed | Denied
        if self._decide is None:
            decision = Allowed() if self._review else Denied(reason=NOBODY)
        else:
            try:
                decision = await self._decide(request)
            except Exception as error:
                log.warning("a call could not be ruled on (%s)", type(error).__name__)
                decision = Denied(reason=UNRULED)
        final = isinstance(decision, Denied) or not self._review
        self._put(Ruled(request, decision, final))
