"""The boundary that every call of a restored turn passes (seed 001's ContinuationEffects).

The current authority is asked first, each time: neither an approval nor a kept answer stands in
for it. Then the store runs the effect once, or gives back what it gave.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from barry_cli.base.problems import Refused
from barry_cli.contract.continuation import RecordedCallResult
from barry_cli.contract.session import Allowed, Denied

if TYPE_CHECKING:
    from barry_cli.contract.session import PermissionRequest
    from barry_cli.contract.turns import TurnExecutionStore

Authorize = Callable[[str, "PermissionRequest"], Awaitable["Allowed | Denied"]]
"""(session, call) -> what the authority in force says now."""

Decision = Allowed | Denied


class Authority:
    """Who is asked before anything runs. An error of it is remembered: the turn has failed."""

    def __init__(self, authorize: Authorize, session_id: str) -> None:
        self._authorize = authorize
        self._session_id = session_id
        self.failure: BaseException | None = None

    async def __call__(self, call: PermissionRequest) -> Decision:
        """The answer of this moment, never one to keep. Raises what the authority raises."""
        try:
            verdict: object = await self._authorize(self._session_id, call)  # somebody else's code
        except Exception as error:
            self.failure = self.failure or error
            raise
        if isinstance(verdict, Denied):
            return verdict
        if isinstance(verdict, Allowed):
            return Allowed()
        self.failure = self.failure or Refused(
            f"the authority gave no decision about {call.tool}, so that call does not run",
            hint="it must answer with Allowed or Denied",
        )
        raise self.failure


class PersistedEffects:
    """The effects of one segment. After ``close`` nothing begins any more."""

    def __init__(
        self,
        store: TurnExecutionStore,
        authority: Authority,
        session_id: str,
        turn_id: str,
        owner: str,
        decisions: Mapping[str, Decision],
    ) -> None:
        self._store = store
        self._authority = authority
        self._turn = (session_id, turn_id)
        self._owner = owner
        self._decisions = decisions
        self._open = True

    def close(self) -> None:
        """Let what runs end; begin nothing."""
        self._open = False

    def _check_open(self, call: PermissionRequest) -> None:
        if not self._open:
            raise Refused(f"the turn is being stopped, so {call.tool} does not run")

    async def authorize(self, call: PermissionRequest) -> Decision:
        """Denied by the person who was asked, or else what the authority says now."""
        self._check_open(call)
        decided = self._decisions.get(call.id)
        if isinstance(decided, Denied):
            return decided
        verdict = await self._authority(call)
        self._check_open(call)
        return verdict

    async def execute(
        self, call: PermissionRequest, effect: Callable[[], Awaitable[RecordedCallResult]]
    ) -> RecordedCallResult:
        """What the call gave: now, or when it ran before. A denied one gives an error result."""
        verdict = await self.authorize(call)
        if isinstance(verdict, Denied):
            before = await self.recorded(call)
            return before or await self.denied(call, denial(call, verdict))
        return await self._store.execute(*self._turn, self._owner, call, effect)

    async def denied(
        self, call: PermissionRequest, result: RecordedCallResult
    ) -> RecordedCallResult:
        """Record the denial, and what the harness is told."""
        self._check_open(call)
        return self._store.denied(*self._turn, self._owner, call, result)

    async def recorded(self, call: PermissionRequest) -> RecordedCallResult | None:
        """What the call gave, when it is over."""
        return self._store.recorded(*self._turn, call)


def denial(call: PermissionRequest, verdict: Denied) -> RecordedCallResult:
    """What a harness is told about a call that doesn't run."""
    reason = verdict.reason or "it is not allowed"
    return RecordedCallResult(id=call.id, result=f"denied: {reason}", error=True)
