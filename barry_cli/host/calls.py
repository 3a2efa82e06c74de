"""The calls of a driven turn: ruled on, on record as executing before they run, closed after.

The harness runs its own tools, so what Barry knows of a call's end is the result that it reports.
A call that was let through and whose result never came is ``uncertain`` in the record.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from barry_cli.base.problems import BarryError
from barry_cli.contract.continuation import RecordedCallResult
from barry_cli.contract.session import Allowed, Denied, PermissionRequest

if TYPE_CHECKING:
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.session import Decide
    from barry_cli.host.masking import Mask
    from barry_cli.turns.store.turns import SqliteTurnStore

log = logging.getLogger(__name__)

NOT_RECORDED = "this call could not be put on record, so it does not run"


class Calls:
    """The calls of one turn."""

    def __init__(
        self,
        store: SqliteTurnStore,
        session_id: str,
        turn_id: str,
        owner: str,
        ruling: Decide,
        mask: Mask,
    ) -> None:
        self._store = store
        self._turn = (session_id, turn_id, owner)
        self._ruling = ruling
        self._mask = mask
        self._running: dict[str, _Running] = {}
        self._asked: Counter[str] = Counter()
        self._used: dict[str, tuple[str, Any]] = {}
        """What the harness says that it uses: id -> (tool, input)."""

    async def decide(self, request: PermissionRequest) -> Allowed | Denied:
        """The ruling, once it is on record; a call that can't be recorded doesn't run."""
        decision = await self._ruling(request)
        told_of_as = request.id
        self._asked[told_of_as] += 1
        if self._asked[told_of_as] > 1:
            # Some harnesses number their calls anew each round: to the record each is its own.
            again = f"{told_of_as}~{self._asked[told_of_as]}"
            request = request.model_copy(update={"id": again})
        try:
            if isinstance(decision, Denied):
                told = RecordedCallResult(
                    id=request.id, result=self._mask.value(decision.reason), error=True
                )
                self._store.denied(*self._turn, request, told)
                return decision
            running = _Running(request, told_of_as)
            self._running[request.id] = running
            running.record = asyncio.create_task(
                self._store.execute(*self._turn, request, running.effect)
            )
            await running.begun(running.record)
        except BarryError as problem:
            log.warning("a call of %s is not recorded: %s", request.tool, problem)
            self._running.pop(request.id, None)
            return Denied(reason=f"{NOT_RECORDED}: {problem}")
        return decision

    def see(self, event: SessionEvent) -> None:
        """Take in what the harness reports, as it says it."""
        if event.type == "tool_use":
            self._used[event.id] = (event.tool, event.input)
        elif event.type == "tool_result" and event.id is not None:
            used = self._used.pop(event.id, None)
            found = next(
                (each for each in self._running.values() if each.is_of(event.id, used)), None
            )
            if found is not None:
                found.end(self._mask.value(event.result), error=bool(event.error))

    async def settle(self, *, over: bool) -> None:
        """Close what is open. ``over``: the turn came to its own end, and with it every call of it.

        Otherwise nobody knows how far an open call came.
        """
        for each in self._running.values():
            if over:
                each.end(None, error=False)
            elif each.record is not None:
                each.record.cancel()
        records = [each.record for each in self._running.values() if each.record is not None]
        await asyncio.gather(*records, return_exceptions=True)
        self._running.clear()


class _Running:
    """A call that was let through."""

    def __init__(self, request: PermissionRequest, told_of_as: str) -> None:
        """``told_of_as``: its id in the harness's own words."""
        self.record: asyncio.Task[RecordedCallResult] | None = None
        self._request = request
        self._told_of_as = told_of_as
        self._started = asyncio.Event()
        self._result: asyncio.Future[RecordedCallResult] = (
            asyncio.get_running_loop().create_future()
        )

    async def effect(self) -> RecordedCallResult:
        """What the boundary waits for: it is on record as executing when this is called."""
        self._started.set()
        return await self._result

    async def begun(self, record: asyncio.Task[RecordedCallResult]) -> None:
        """Return once it is on record. Raises what recording it raises."""
        started = asyncio.create_task(self._started.wait())
        await asyncio.wait({started, record}, return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        if record.done():
            record.result()

    def is_of(self, id: str, used: tuple[str, Any] | None) -> bool:
        """Whether a reported result is this call's."""
        if self._result.done():
            return False
        same = used == (self._request.tool, self._request.input)
        return id == self._told_of_as or same

    def end(self, result: Any, *, error: bool) -> None:
        """Its end, as it was reported."""
        if not self._result.done():
            self._result.set_result(
                RecordedCallResult(id=self._request.id, result=result, error=error or None)
            )
