"""What the row of a launched session says while it runs: activity, conversation, promise."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from barry_cli.base.problems import StoreProblem
from barry_cli.contract.data import snapshot
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.instrument import Notice, NoticeKind
from barry_cli.contract.levels import stronger
from barry_cli.turns.store.sessions import Sessions

_ACTIVITY: Mapping[NoticeKind, str] = {
    "start": "idle",
    "prompt": "active",
    "ruled": "active",
    "after-tool": "active",
    "ask": "waiting",
    "stop": "idle",
}


class Standing:
    """Keeps one row true. What can't be recorded is told to ``failed``; the session goes on."""

    def __init__(
        self,
        sessions: Sessions,
        session_id: str,
        guarantees: Guarantees,
        lowered: Mapping[str, str],
        *,
        conversation: str | None = None,
        failed: Callable[[BaseException], None],
    ) -> None:
        self._sessions = sessions
        self._session = session_id
        self._planned = guarantees
        self._failed = failed
        self._activity: str | None = None
        self._conversation = conversation
        self.guarantees = guarantees
        """What this session really has."""
        self.lowered = dict(lowered)
        self._reasons = dict(lowered)
        self._unrecorded: dict[str, object] = {}

    def notice(self, notice: Notice) -> None:
        """What a notice says of the session."""
        activity = _ACTIVITY.get(notice.kind)
        if activity is not None and activity != self._activity:
            self._activity = activity
            self._change(activity=activity)
        # Agents that the agent starts may have conversations of their own: only what begins one
        # says which is the session's.
        begins = notice.kind in ("start", "prompt", "loaded")
        if notice.harness_session_id and (begins or self._conversation is None):
            self.conversation(notice.harness_session_id)

    def conversation(self, found: str) -> bool:
        """The harness's id of the conversation; whether that is news."""
        if found == self._conversation:
            return False
        self._conversation = found
        self._change(harness_session_id=found)
        return True

    def holds(self, kind: str, level: str, because: str) -> None:
        """A guarantee is this level: the plan's, or less with its reason; never more."""
        planned = getattr(self._planned, kind)
        if stronger(kind, level, planned):
            level = planned
        if level == getattr(self.guarantees, kind):
            return
        self._put(kind, level, planned, because)
        if kind == "delivery":
            # What comes only when a turn is over can't join one.
            joins = self._planned.steer and not stronger(kind, "tool-call", level)
            self._put("steer", joins, self._planned.steer, because)
        self._change(guarantees=snapshot(self.guarantees), lowered=self.lowered)

    def _put(self, kind: str, level: object, planned: object, because: str) -> None:
        self.guarantees = self.guarantees.model_copy(update={kind: level})
        self.lowered.pop(kind, None)
        if level != planned:
            self.lowered[kind] = because
        elif kind in self._reasons:
            self.lowered[kind] = self._reasons[kind]

    def _change(self, **values: object) -> None:
        self._unrecorded |= values
        try:
            self._sessions.change(self._session, **self._unrecorded)
        except StoreProblem as problem:
            self._failed(problem)  # the next change takes it along
        else:
            self._unrecorded.clear()
