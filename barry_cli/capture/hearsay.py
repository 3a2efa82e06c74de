"""What other sources than the transcript told, until the transcript tells it or is late."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from barry_cli.capture.notices import Event, call_key

AHEAD = 1.0
"""Seconds by which a transcript may be ahead of a notice of the same thing."""

_REMEMBERED = 500


class Trace(NamedTuple):
    """What is remembered of an event, to know it again when another source tells of it."""

    kind: str
    id: str
    said: bytes


@dataclass
class _Told:
    """What one source told at once."""

    events: dict[Trace, Event]
    """What of it the transcript did not tell yet."""
    at: float
    due: float
    denial: bool
    source: str
    recorded: bool = False


class Hearsay:
    """Keeps what was told and is not on record yet, and knows what is: nothing goes in twice."""

    def __init__(self) -> None:
        self._told: deque[_Told] = deque()
        self._recent: deque[tuple[str, Trace]] = deque(maxlen=_REMEMBERED)
        self._missed = False

    def __bool__(self) -> bool:
        """Whether something was told that is not on record."""
        return any(not told.recorded for told in self._told)

    @property
    def missed(self) -> bool:
        """Whether there is something on record, denials aside, that no transcript told."""
        return self._missed or any(
            told.recorded and not told.denial and told.events for told in self._told
        )

    def new_turn(self, source: str) -> None:
        """A harness may count its calls from one in each turn."""
        others = [each for each in self._recent if each[0] != source]
        self._recent = deque(others, _REMEMBERED)

    def on_record(self, event: Event, source: str) -> None:
        """This went on record, told by that source."""
        if event["type"] in ("text", "tool_use", "tool_result"):
            self._recent.append((source, _trace(event)))

    def id_of(self, call: Event) -> str:
        """The id of the last call on record with this tool and input; "" for none."""
        said = _digest(call_key(call))
        found = (known for _, known in reversed(self._recent) if known.kind == "tool_use")
        return next((known.id for known in found if known.said == said), "")

    def is_on_record(self, event: Event) -> bool:
        """The transcript tells this now: whether another source did, and it is on record."""
        trace = _trace(event)
        for told in self._told:
            for known in told.events:
                if not _same(known, trace):
                    continue
                del told.events[known]
                _lend_id(told.events, trace)
                if not told.events:
                    self._told.remove(told)
                return told.recorded
        return False

    def tell(
        self, events: list[Event], source: str, now: float, *, due: float, denial: bool
    ) -> bool:
        """Take in what a source says; False when all of it is known.

        ``due``: when it goes on record, if the transcript doesn't tell it before.
        """
        left: dict[Trace, Event] = {}
        for event in events:
            trace = _trace(event)
            known = self._recently(trace, source)
            if known is None and not self._waits(trace, source):
                left[trace] = event
            elif known is not None and known.kind == "tool_use":  # its result has the same id
                for other in events:
                    other["id"] = other["id"] or known.id
        if left:
            self._told.append(_Told(left, now, due, denial, source))
        return bool(left)

    def ripe(self, now: float, progress: float | None, *, at_once: bool) -> list[tuple[Event, str]]:
        """What goes on record now, with who told it.

        ``progress``: when the transcript last told anything, None where it does not work; it tells
        all that isn't a denial. ``at_once``: nothing is waited for.
        """
        found: list[tuple[Event, str]] = []
        waiting: deque[_Told] = deque()
        for told in self._told:
            if not told.recorded:
                if progress is not None and not told.denial and progress >= told.at - AHEAD:
                    continue
                if at_once or told.due <= now:
                    told.recorded = True
                    found += [(event, told.source) for event in told.events.values()]
            waiting.append(told)
        while len(waiting) > _REMEMBERED:
            dropped = waiting.popleft()
            self._missed = self._missed or not dropped.denial
        self._told = waiting
        return found

    def _recently(self, trace: Trace, source: str) -> Trace | None:
        """What is on record already of this."""
        for at, (other, known) in enumerate(self._recent):
            if other != source and _same(trace, known):
                del self._recent[at]
                return known
            if other == source and trace.id and trace[:2] == known[:2]:
                return known  # ruled on, and told of again when it was over
        return None

    def _waits(self, trace: Trace, source: str) -> bool:
        """Whether somebody else told this, and it is not on record yet."""
        others = (told for told in self._told if told.source != source and not told.recorded)
        return any(_same(trace, known) for told in others for known in told.events)


def _trace(event: Event) -> Trace:
    kind = str(event["type"])
    said = ""
    if kind == "text":
        said = f"{event.get('role')}\0{event['text'].strip()}"
    elif kind == "tool_use":
        said = call_key(event)
    return Trace(kind, str(event.get("id") or ""), _digest(said))


def _digest(said: str) -> bytes:
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _same(one: Trace, other: Trace) -> bool:
    """Whether two sources tell of the same thing."""
    if one.kind != other.kind:
        return False
    if one.kind == "text":
        return one.said == other.said
    if one.id and other.id:
        return one.id == other.id
    return one.kind == "tool_use" and one.said == other.said


def _lend_id(events: dict[Trace, Event], known: Trace) -> None:
    """The result of a call without an id has the one under which the call is known."""
    if known.kind != "tool_use" or not known.id:
        return
    for trace, event in list(events.items()):
        if not trace.id and trace.kind == "tool_result":
            del events[trace]
            event["id"] = known.id
            events[trace._replace(id=known.id)] = event
