"""One record of a session that a person drives, from all that tells of it; nothing twice.

The transcript is the record of what was said and done, where it works. Notices add what no
transcript has (questions, whether the agent is busy, the end of a turn), denials that it leaves
out, and everything while there is none; so does telemetry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from barry_cli.capture.hearsay import Hearsay
from barry_cli.capture.notices import Event, denied, events_of
from barry_cli.capture.transcript import QUIET, Seen, Transcripts

if TYPE_CHECKING:
    from barry_cli.contract.instrument import Notice

GRACE = 3.0
"""Seconds after which a conversation that nobody could find is taken to be kept nowhere."""

LATE = 10.0
"""Seconds that a transcript which works has to tell of what others told."""

_CALLS = frozenset({"ask", "ruled", "after-tool"})

_CONTENT = frozenset({"text", "tool_use", "tool_result", "result", "error"})

Mapped = Callable[[Mapping[str, Any]], Iterable[Mapping[str, Any]]]
"""A record of telemetry -> the events that it stands for."""


class Recording:
    """What is to be put on record, worked out in rounds.

    Used by one thread. ``transcripts``: None where the harness keeps none that Barry can read.
    """

    def __init__(self, transcripts: Transcripts | None, mapped: Mapped | None = None) -> None:
        self._transcripts = transcripts
        self._mapped = mapped
        self._hearsay = Hearsay()
        self._conversation: str | None = None
        self._announced: str | None = None
        self._said: str | None = None
        self._wanted_since: float | None = None
        self._open = False
        self._answered = False
        self._over_at: float | None = None
        # Turns that ended by what hooks say, less those by the record: more than none are to be
        # recorded before what the user says next.
        self._owed = 0
        self._status: str | None = None
        self._out: list[Event] = []
        self.sources: set[str] = set()
        """Which of them told anything: ``hooks``, ``transcript``, ``telemetry``."""
        self._progress = float("-inf")
        self.problem: str | None = None
        """Why the transcript could not be read when it was last looked at."""

    def switch(self, conversation: str, told: str | None = None) -> None:
        """The session goes on with this conversation; ``told``: where the harness says it is."""
        if self._transcripts is not None:
            self._transcripts.switch(conversation, told)
        if conversation != self._conversation:
            self._conversation = conversation
            self._said = self._wanted_since = None

    def round(
        self,
        notices: Sequence[Notice],
        records: Sequence[Mapping[str, Any]],
        now: float,
        *,
        final: bool = False,
    ) -> list[Event]:
        """What is to be recorded now, in order. ``now``: a clock that never goes back, seconds."""
        self._foresee(notices)
        called = any(each.kind in _CALLS for each in notices)
        seen = self._look(now, called=called)
        for each in notices:
            if self._leads(each):
                if self._conversation is not None:
                    self._close(now)
                self.switch(each.harness_session_id or "", each.transcript)
            elif each.transcript and each.harness_session_id == self._conversation is not None:
                self.switch(self._conversation, each.transcript)
            if each.kind == "prompt" and self._said is None:
                self._said = each.prompt
            self._notice(each, now)
        if notices or final:
            seen = self._look(now, called=called, final=final)
        for record in records:
            self._record_of(record, now)
        self._settle(now, final=final)
        self._end_turn(seen, now, final=final)
        out, self._out = self._out, []
        return out

    def _foresee(self, notices: Sequence[Notice]) -> None:
        """Count the turns that ended before the transcript is looked at: it may be ahead, and what
        the user says next belongs behind their ends.
        """
        over = self._over_at is not None
        for each in notices:
            if each.kind in ("stop", "end"):
                ends = each.harness_session_id in (None, self._conversation)
                self._owed += ends and not over
                over = over or ends
            elif each.kind == "prompt":
                over = False
            elif over and each.kind in ("after-tool", "ruled"):  # it was kept from stopping
                self._owed -= 1
                over = False

    @property
    def missed(self) -> bool:
        """Whether there is content on record that only notices or telemetry told of."""
        return self._hearsay.missed

    def _leads(self, notice: Notice) -> bool:
        """Whether a notice is of another conversation that the session goes on with: not of one
        that the agent holds with an agent of its own.
        """
        conversation = notice.harness_session_id
        if not conversation or conversation == self._conversation:
            return False
        return self._conversation is None or notice.kind in ("start", "prompt", "loaded")

    def _close(self, now: float) -> None:
        """This conversation is left for another one."""
        seen = self._look(now, final=True)
        self._settle(now, final=True)
        self._end_turn(seen, now, final=True)

    @property
    def _works(self) -> bool:
        return self._transcripts is not None and self._transcripts.works

    def _missing(self, now: float) -> bool:
        """Whether no transcript of this conversation is to be expected any more."""
        if self._transcripts is None:
            return True
        return self._wanted_since is not None and now - self._wanted_since >= GRACE

    # --- the transcript ---

    def _look(self, now: float, *, called: bool = False, final: bool = False) -> Seen:
        if self._transcripts is None:
            return Seen()
        seen = self._transcripts.look(now, said=self._said, called=called, final=final)
        self.problem = seen.problem
        for event in seen.events:
            self.sources.add("transcript")
            self._progress = now
            if event["type"] == "done":
                self._done(event)
            elif not self._hearsay.is_on_record(event):
                self._put(event, "transcript")
        return seen

    # --- the others ---

    def _notice(self, notice: Notice, now: float) -> None:
        if notice.kind in ("loaded", "own"):
            return
        self.sources.add("hooks")
        if notice.kind in ("stop", "end"):
            if notice.harness_session_id in (None, self._conversation):
                self._over_at = now
        elif notice.kind == "start":
            self._announce()
        elif notice.kind == "ask":
            for event in events_of(notice):
                self._ask(event)
        else:
            self._over_at = None
            self._change("active")
            if notice.kind == "prompt":
                self._hearsay.new_turn("hooks")
            if events := events_of(notice):
                self._tell(events, "hooks", now, denial=denied(notice))

    def _record_of(self, record: Mapping[str, Any], now: float) -> None:
        self.sources.add("telemetry")
        if self._mapped is None:
            return
        try:
            events = [dict(event) for event in self._mapped(record)]
        except (Exception, SystemExit):  # somebody else's code, and somebody else's record
            return
        for event in events:
            if event.get("type") in _CONTENT or event.get("type") == "usage":
                self._tell([event], "telemetry", now, denial=False)

    def _tell(self, events: list[Event], source: str, now: float, *, denial: bool) -> None:
        due = now + (LATE if self._works else GRACE)
        if not self._hearsay.tell(events, source, now, due=due, denial=denial):
            return
        if self._wanted_since is None:
            self._wanted_since = now

    def _settle(self, now: float, *, final: bool) -> None:
        """Record what no transcript told in time."""
        progress = self._progress if self._works else None
        at_once = final or (progress is None and self._missing(now))
        for event, source in self._hearsay.ripe(now, progress, at_once=at_once):
            self._put(event, source)

    # --- what goes on record ---

    def _end_turn(self, seen: Seen, now: float, *, final: bool) -> None:
        transcripts = self._transcripts
        told_end = transcripts is not None and seen.quiet and transcripts.told_end
        if not final and not told_end:
            if self._over_at is None:
                return
            waits = now - self._over_at < QUIET or not seen.quiet
            if waits if self._works else not self._missing(now) and self._hearsay:
                return
        self._settle(now, final=True)
        for event in transcripts.over() if transcripts is not None else ():
            if event["type"] == "done":
                self._done(event)
            else:
                self._put(event, "transcript")
        if final or self._over_at is not None:
            self._done({"type": "done"})
        if self._over_at is not None and self._status is not None:
            self._change("idle")
        self._over_at, self._owed = None, 0

    def _put(self, event: Event, source: str) -> None:
        self._announce()
        kind = event["type"]
        says = kind == "text" and event.get("role") == "user"
        if says and self._owed > 0 and self._answered:
            self._done({"type": "done"})
        if kind in _CONTENT:
            self._open = True
            self._answered = self._answered or not says
        self._hearsay.on_record(event, source)
        self._out.append(event)

    def _ask(self, event: Event) -> None:
        """Record a question before the call's result, which the transcript may have by now."""
        self._announce()
        known = event["id"] = event["id"] or self._hearsay.id_of(event)
        later = [
            at
            for at, other in enumerate(self._out)
            if known and other["type"] == "tool_result" and other.get("id") == known
        ]
        self._out.insert(later[0] if later else len(self._out), event)

    def _done(self, event: Event) -> None:
        """A turn ends once, and only one that began."""
        if self._open:
            self._out.append(event)
            self._owed -= 1
        self._open = self._answered = False

    def _announce(self) -> None:
        if self._conversation is not None and self._announced != self._conversation:
            self._announced = self._conversation
            self._out.append({"type": "init", "harnessSessionId": self._conversation})

    def _change(self, status: str) -> None:
        if status != self._status:
            self._status = status
            self._announce()
            self._out.append({"type": "status", "status": status})
