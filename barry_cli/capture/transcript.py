"""A harness's own record of its conversations, followed while it is written.

An adapter reads a conversation from its beginning each time. What of it is new is told by what was
there before, however the file changed meanwhile: grown, with half a line at its end, written anew
from the top, cut, replaced, gone for a while, or copied into another conversation's.
"""

from __future__ import annotations

import os
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from barry_cli.capture.marks import Mark, documents, is_said, mark_of, signature_of, together
from barry_cli.capture.notices import Event

if TYPE_CHECKING:
    from barry_cli.contract.adapter import TranscriptSource

QUIET = 0.8
"""Seconds without a change after which what stands last in a conversation is taken as whole."""

_LISTING = 0.3  # seconds that finding out which conversations there are may take
_FORMER = 8  # earlier forms of a conversation that are remembered


@dataclass(kw_only=True)
class Seen:
    """What one look at the conversation brought."""

    events: list[Event] = field(default_factory=list)
    """What is new, in order; ``done`` where a turn is over for certain."""
    there: bool = False
    """The conversation is kept somewhere, and could be read."""
    quiet: bool = False
    """Nothing was written for a while."""
    problem: str | None = None
    """Why it could not be read."""


@dataclass
class _Followed:
    """What is known of one conversation."""

    path: Path | None = None
    known: list[Mark] = field(default_factory=list)
    former: deque[list[Mark]] = field(default_factory=lambda: deque(maxlen=_FORMER))
    held: list[tuple[Mark, Event]] = field(default_factory=list)
    """What stands last, and may not be whole."""
    tail: list[tuple[Mark | None, Event]] = field(default_factory=list)
    """The counts and the end of a turn that may still go on."""
    cut: list[Mark] | None = None
    """What is left, where less is left than was there: true once it stays so."""
    signature: object = None
    read_at: float = 0
    read: bool = False
    """It could be read when it was last looked at."""
    placed: bool = False
    """Where it stood when this session came to it is known."""


class Transcripts:
    """The conversations of one session: one at a time, each from where it stood when it began."""

    def __init__(self, source: TranscriptSource, cwd: str, env: Mapping[str, str | None]) -> None:
        self._source = source
        self._cwd = cwd
        self._env = {name: value for name, value in env.items() if value is not None}
        self._before: set[str] = set()
        self._all: dict[str, _Followed] = {}
        self.current: str | None = None

    def begin(self, known: str | None) -> None:
        """Before the harness starts: remember what there is, above all in the conversation that is
        known to go on.

        Raises nothing: what can't be read is found out when it is looked at.
        """
        until = time.monotonic() + _LISTING
        with suppress(Exception, SystemExit):  # somebody else's code; the looks will tell
            for each in self._source.list(self._cwd, self._env):
                self._before.add(each)
                if time.monotonic() > until:
                    break
        if known is not None:
            self._before.add(known)
            self.switch(known)
            seen = self.look(time.monotonic())
            if not seen.there and seen.problem is None:  # an id for one that is yet to begin
                self._before.discard(known)

    def switch(self, conversation: str, told: str | None = None) -> None:
        """Follow this conversation from now on; ``told``: where its harness says that it is."""
        self.current = conversation
        followed = self._all.setdefault(conversation, _Followed())
        if told and told != str(followed.path) and os.path.isfile(told):
            followed.path = Path(told)

    @property
    def works(self) -> bool:
        """Whether the conversation is found and read."""
        followed = self._all.get(self.current or "")
        return followed is not None and followed.read and bool(followed.known or followed.held)

    def look(
        self,
        now: float,
        *,
        said: str | None = None,
        called: bool = False,
        final: bool = False,
    ) -> Seen:
        """What is new since the last look.

        ``said``: what the user said first since the conversation was switched to; in one that was
        there before, all above it is old. ``called``: the harness told of a call meanwhile, so
        that one that stands last is whole. ``final``: nothing will change any more.
        """
        if self.current is None:
            return Seen()
        followed = self._all[self.current]
        try:
            path = followed.path = self._place(followed)
            signature = None if path is None else signature_of(path)
            if path is None or signature is None:
                followed.path, followed.read = None, False
                return Seen()
            if signature == followed.signature and not final:
                return self._unchanged(followed, now, called=called)
            found = list(documents(self._source.read(path)))
        except (Exception, SystemExit) as error:  # somebody else's code, and somebody else's file
            followed.signature, followed.read = None, False
            return Seen(problem=f"{type(error).__name__}: {error}")
        # Changed while it was read: to be read again, whatever this showed.
        followed.signature = signature if signature == signature_of(path) else None
        followed.read_at, followed.read = now, True
        if not followed.placed and self.current in self._before:
            self._skip(followed, found, said)
        followed.placed = True
        return Seen(there=True, events=self._new(followed, found, called=called, final=final))

    def over(self) -> list[Event]:
        """The turn is over: its last counts, and its ``done`` where the transcript has one."""
        followed = self._all.get(self.current or "")
        if followed is None:
            return []
        tail, followed.tail = followed.tail, []
        followed.known += [mark for mark, _ in tail if mark is not None]
        return [event for _, event in tail]

    @property
    def told_end(self) -> bool:
        """Whether the harness itself wrote that the turn is over, not only nothing more."""
        followed = self._all.get(self.current or "")
        return followed is not None and any(
            mark is None and len(event) > 1 for mark, event in followed.tail
        )

    def _place(self, followed: _Followed) -> Path | None:
        if followed.path is not None:
            return followed.path
        return self._source.find(self.current or "", self._cwd, self._env)

    def _unchanged(self, followed: _Followed, now: float, *, called: bool) -> Seen:
        quiet = now - followed.read_at >= QUIET
        if not quiet and not (called and any(mark[0] == "tool_use" for mark, _ in followed.held)):
            return Seen(there=True)
        held, followed.held = followed.held, []
        followed.known += [mark for mark, _ in held]
        if followed.cut is not None and quiet:
            followed.former.append(followed.known)
            followed.known, followed.cut = followed.cut, None
        return Seen(there=True, quiet=quiet, events=[event for _, event in held])

    def _skip(self, followed: _Followed, found: Sequence[Event], said: str | None) -> None:
        """Take what a conversation held before this session as known."""
        items = [event for event in found if event["type"] != "done"]
        end = len(items)
        if said is not None:
            same = [at for at, event in enumerate(items) if is_said(event, said)]
            end = same[-1] if same else end
        followed.known = [mark_of(event) for event in items[:end]]

    def _new(
        self, followed: _Followed, found: Sequence[Event], *, called: bool, final: bool
    ) -> list[Event]:
        marks = [None if event["type"] == "done" else mark_of(event) for event in found]
        known = self._known(followed, [mark for mark in marks if mark is not None])
        tail_at = len(found)
        while tail_at and found[tail_at - 1]["type"] in ("done", "usage"):
            tail_at -= 1
        last_old = -1
        fresh: list[int] = []
        for at, mark in enumerate(marks):
            if mark is None:
                continue
            if known[mark]:
                known[mark] -= 1
                last_old = at
            else:
                fresh.append(at)
        fresh_at = set(fresh)
        # The last one may still be written to: it waits until something follows, or all is quiet.
        waits = {tail_at - 1} & fresh_at
        if final or (called and any(found[at]["type"] == "tool_use" for at in waits)):
            waits = set()
        events: list[Event] = []
        accepted: list[Mark] = []
        for at, event in enumerate(found[:tail_at]):
            mark = marks[at]
            if at in waits:
                continue
            if mark is None:
                if at > last_old:
                    events.append(event)
                continue
            accepted.append(mark)
            if at in fresh_at:
                events.append(event)
        followed.held = [(mark, found[at]) for at in waits if (mark := marks[at]) is not None]
        followed.tail = [
            (marks[at], found[at])
            for at in range(tail_at, len(found))
            if at in fresh_at or marks[at] is None
        ]
        tail_known = [
            mark
            for at in range(tail_at, len(found))
            if at not in fresh_at and (mark := marks[at]) is not None
        ]
        accepted += tail_known
        if known.total():
            followed.cut = accepted
            followed.known += [
                mark
                for at in fresh
                if at < tail_at and at not in waits
                if (mark := marks[at]) is not None
            ]
        else:
            followed.cut = None
            followed.known = accepted
        return events

    def _known(self, followed: _Followed, marks: Sequence[Mark]) -> Counter[Mark]:
        """How often each event was told already."""
        known = Counter(followed.known)
        best = together(followed.known, marks)
        for former in followed.former:
            same = together(former, marks)
            if same > best:  # what had gone is there again
                best = same
                known |= Counter(former[:same])
        if not followed.known and not followed.former:
            for other in self._all.values():
                same = together(other.known, marks)
                # Two conversations may begin with the same words; not with the same answer.
                if other is not followed and any(m[0] != "user" for m in marks[:same]):
                    known |= Counter(marks[:same])
        return known
