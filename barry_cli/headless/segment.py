"""One piece of a turn: a process is told one text, and read until it has said its last."""

from __future__ import annotations

import json
import logging
import signal
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from barry_cli.contract.events import Failed, PermissionRequested, Result
from barry_cli.contract.session import Denied
from barry_cli.headless.agent_events import AgentEvent, Raw, Retrying, Stopped, is_final
from barry_cli.headless.agent_process import Batch, Cut, Over, Ruled, TooLong
from barry_cli.headless.rulings import OVER, Rulings

if TYPE_CHECKING:
    from barry_cli.contract.session import Allowed, Decide
    from barry_cli.headless.agent_events import StopReason
    from barry_cli.headless.agent_process import AgentProcess, Item
    from barry_cli.headless.live import LiveDialogue, LiveStep

log = logging.getLogger(__name__)

MapLine: TypeAlias = Callable[[str], Sequence[AgentEvent]]

_UNTAKEN_GRACES = 10
_UNREAD_LOGGED = 10  # of one piece: a harness may say what nobody can read, and say it fast


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How long things may take, in seconds, and how much a line may hold."""

    idle: float | None
    deadline: float | None
    """A moment of ``time.monotonic``. What rulings take is added to it."""
    retry: float | None
    """Of nothing but new tries."""
    grace: float
    """For a cut turn to say its last, and for a process to go once its turn is over."""


class Segment:
    """The driver's loop. Read ``run``; what it came to is in the attributes afterwards."""

    def __init__(
        self,
        process: AgentProcess,
        dialogue: LiveDialogue | None,
        map_line: MapLine,
        *,
        decide: Decide | None,
        review: bool,
        keep: bool,
        limits: Limits,
    ) -> None:
        """``keep``: the process stays when its turn is over, for the next one."""
        self.process = process
        self.dialogue = dialogue
        self._map_line = map_line
        self._keep = keep
        self._limits = limits
        self._written = 0
        self._consumed = 0
        self._unread = 0
        self._rulings = Rulings(decide, review=review, put=process.inbox.put)
        self._idle_at: float | None = None
        self._stuck_at: float | None = None
        self.deadline = limits.deadline
        """A moment of ``time.monotonic``: later than at first by as long as rulings took."""
        self._leave_at: float | None = None
        self._untaken_at: float | None = None
        self.final = False
        """The harness said that its turn is over."""
        self.untaken = False
        """It did not take in all that it was sent."""
        self.failures: list[str] = []
        self.stopped: StopReason | None = None
        self.exit_code: int | None = None
        self.exited = False
        """It ended by itself."""

    # --- what the harness's owner calls meanwhile ---

    def say(self, text: str) -> None:
        """A user's message: the turn's own, or one more while it runs."""
        assert self.dialogue is not None
        self._written += 1
        self.process.send(text)

    def say_more(self, text: str) -> bool:
        """One more message of the user's while the turn runs; False when it can't be put."""
        said = self._ask(lambda live: live.encode(text))
        if said is not None:
            self.say(said)
        return said is not None

    def respond(self, id: str, decision: Allowed | Denied) -> bool:
        """A person's ruling on a call that was put to the caller; False for no such call."""
        return self._rulings.respond(id, decision)

    def cut(self, *, steered: bool = False) -> None:
        """End the turn before its time."""
        self.process.inbox.put(Cut(steered))

    def stale(self) -> list[AgentEvent]:
        """What a kept process said since its last turn. The ends of turns among it are old."""
        found: list[AgentEvent] = []
        while not self.process.over and (item := self.process.inbox.take()) is not None:
            found += self._take(item)
        self.final, self._leave_at, self.stopped = False, None, None
        self.failures.clear()
        self._consumed = self._written = 0
        return [event for event in found if not is_final(event) and not _fails(event)]

    # --- the loop ---

    async def run(self) -> AsyncGenerator[AgentEvent]:
        """What the harness says until its turn is over and, unless it is kept, its process gone.

        A call that a person must rule on comes as ``PermissionRequested``; no other does.
        """
        self._alive()
        try:
            while not self._finished():
                item = await self.process.inbox.get(self._seconds())
                if item is None:
                    if self._late():
                        break
                    continue
                for event in self._take(item):
                    yield event
        finally:
            for left in self._rulings.cancel():
                self._answer(left, Denied(reason=OVER))

    def _finished(self) -> bool:
        if self.exited or self.stopped == "oversized-event":
            return True
        return self._keep and self.final and not self.failures and self._all_taken()

    def _all_taken(self) -> bool:
        # A dialogue that can't see what was taken in is believed about its one prompt.
        return self._consumed >= self._written or (self._consumed == 0 and self._written <= 1)

    def _take(self, item: Item) -> list[AgentEvent]:
        found: list[AgentEvent] = []
        match item:
            case Batch(lines):
                self._alive()
                for line in lines:
                    found += self._line(line)
                if self.final or self.failures:
                    self._leave()
            case Ruled():
                found += self._ruled(item)
            case Cut(steered):
                self._begin_cut(steered=steered)
            case TooLong():
                self.stopped = "oversized-event"
            case Over(code):
                self.exited, self.exit_code = True, code
        return found

    def _leave(self) -> None:
        """The turn is over: nothing more is said to the process, and it is to go."""
        if not self.failures and not self._all_taken():
            # A message that came too late for the turn begins another one by itself, or none.
            self._untaken_at = time.monotonic() + _UNTAKEN_GRACES * self._limits.grace
            return
        self._untaken_at = None
        if self._keep and not self.failures:
            return
        self.process.close_input()
        if self._leave_at is None:
            self._leave_at = time.monotonic() + self._limits.grace

    # --- time ---

    def _alive(self) -> None:
        if self._limits.idle is not None:
            self._idle_at = time.monotonic() + self._limits.idle

    def _seconds(self) -> float | None:
        moments = [self._leave_at, self._untaken_at]
        if not self._rulings:  # whoever rules may think: the harness waits for that
            moments += [self._idle_at, self._stuck_at, self.deadline]
        known = [moment for moment in moments if moment is not None]
        return max(0.0, min(known) - time.monotonic()) if known else None

    def _late(self) -> bool:
        """Whether the segment's time is up, and why."""
        now = time.monotonic()
        if self._leave_at is not None and now >= self._leave_at:
            return True  # said its last, or was cut, and lingers
        if self._untaken_at is not None and now >= self._untaken_at:
            self.untaken = True
            return True
        if self.deadline is not None and now >= self.deadline:
            self.stopped = "deadline"
            return True
        if self._idle_at is not None and now >= self._idle_at:
            self.stopped = "idle-timeout"
            return True
        if self._stuck_at is not None and now >= self._stuck_at:
            self.stopped = "stuck"
            return True
        return False

    def _begin_cut(self, *, steered: bool) -> None:
        if self._leave_at is not None:
            return
        self._leave_at = time.monotonic() + self._limits.grace
        if self.final:  # all that was waited for is what it did not take in
            return
        if self.stopped is None:
            self.stopped = "steered" if steered else "aborted"
        self._rulings.drop()
        said = self._ask(lambda live: live.interrupt()) if self.dialogue is not None else None
        if said is None:
            self.process.signal(signal.SIGINT)
        else:
            self.process.send(said)

    # --- lines ---

    def _line(self, line: str) -> list[AgentEvent]:
        if not line.lstrip().startswith("{"):
            return [Raw(line)] if line.strip() else []
        try:
            step = self.dialogue.read(line) if self.dialogue is not None else None
            events = self._map_line(line) if step is None else self._step(step)
        except json.JSONDecodeError:
            return [Raw(line)]
        except Exception as error:  # what the line held may be secret: only the kind is logged
            self._unread += 1
            if self._unread <= _UNREAD_LOGGED:
                log.warning("a line of a harness could not be read (%s)", type(error).__name__)
            return []
        return [event for event in events if self._note(event)]

    def _step(self, step: LiveStep) -> Sequence[AgentEvent]:
        if step.consumed:
            self._consumed += step.consumed
            if self.final and self._leave_at is None:
                self.stopped = None  # that end was another's
            self.final = False  # a message that is taken in after an end begins another turn
            self._untaken_at = None
        for reply in step.replies:
            self.process.send(reply)
        return step.events

    def _note(self, event: AgentEvent) -> bool:
        """Take notice of an event; False when it is not for those who follow the turn."""
        if isinstance(event, Retrying):
            if self._stuck_at is None and self._limits.retry is not None:
                self._stuck_at = time.monotonic() + self._limits.retry
            return True
        if not isinstance(event, Raw):
            self._stuck_at = None
        if isinstance(event, PermissionRequested):
            if self.dialogue is not None and self.stopped is None:
                self._rulings.begin(event)
            return False
        if is_final(event):
            self.final = True
            if isinstance(event, Stopped) and self.stopped is None:
                self.stopped = None if event.reason == "completion" else event.reason
        elif (error := _fails(event)) is not None:
            self.failures.append(error)
        return True

    # --- rulings ---

    def _ruled(self, ruled: Ruled) -> list[AgentEvent]:
        found = self._rulings.settle(ruled)
        if isinstance(found, PermissionRequested):
            return [found]
        if found is not None:
            self._alive()
            if not self._rulings and self.deadline is not None:
                self.deadline += self._rulings.waited()
            self._answer(ruled.request.id, found)
        return []

    def _answer(self, id: str, decision: Allowed | Denied) -> None:
        self.process.send(self._ask(lambda live: live.answer(id, decision)) or "")

    def _ask(self, what: Callable[[LiveDialogue], str | None]) -> str | None:
        assert self.dialogue is not None
        try:
            return what(self.dialogue)
        except Exception as error:
            log.warning("a dialogue with a harness failed (%s)", type(error).__name__)
            self.failures.append("what it asked could not be answered")
            self._leave()
            return None


def _fails(event: object) -> str | None:
    """What a failure of the main thread says; a subagent's is not the turn's."""
    if isinstance(event, Failed | Result) and event.parent_tool_use_id is None:
        return event.error
    return None
