"""What a harness says during one turn: what of it goes on, and what it means for the turn."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from barry_cli.contract.events import Done, Failed, Init, Result, SessionEvent, Text, UsageReported
from barry_cli.headless.agent_events import Observed, Quota, Raw, Retrying, Stopped
from barry_cli.headless.reading import Kept
from barry_cli.headless.verdict import lost_conversation

if TYPE_CHECKING:
    from barry_cli.headless.accounts import Accounts
    from barry_cli.headless.agent_events import AgentEvent
    from barry_cli.headless.agent_input import Continuation
    from barry_cli.headless.driven import Driven

log = logging.getLogger(__name__)

_RAW_BYTES = 8192


class Heard:
    """Every event of a turn passes through ``take``."""

    def __init__(self, driven: Driven, accounts: Accounts) -> None:
        self.asked: Continuation | None = None
        """The conversation that the harness was asked to go on with."""
        self.named: str | None = None
        """The conversation that it said it is in."""
        self.said: list[SessionEvent] = []
        self.result: Result | None = None
        self.quota: Quota | None = None
        self.retrying: Retrying | None = None
        self.turns: int | None = None
        self.duration_ms: int | None = None
        self._driven = driven
        self._accounts = accounts
        self._raw = Kept(0, _RAW_BYTES)

    @property
    def raw(self) -> str:
        """The end of what nobody understood."""
        return self._raw.text()

    @property
    def answer(self) -> str | None:
        """What the harness called its result, else all that its main thread said."""
        if self.result is not None and self.result.result is not None:
            return self.result.result
        said = "".join(event.text for event in self.said if isinstance(event, Text))
        return said or None

    def take(self, event: AgentEvent) -> list[SessionEvent]:
        """Take notice of an event; what of it goes to those who follow the session.

        Raises AgentFault (``session``) when the harness is in another conversation than asked.
        """
        self._observe(event)
        if not isinstance(event, Retrying | Raw):
            self.retrying = None  # it was a passing trouble indeed
        match event:
            case Observed():
                self._driven.model = event.model or self._driven.model
                self._driven.version = event.version or self._driven.version
            case Quota():
                self.quota = event
            case Retrying():
                self.retrying = event
            case Raw():
                self._raw.feed(event.line.encode("utf-8", "replace") + b"\n")
            case Init():
                return self._begun(event)
            case UsageReported():
                return self._accounts.message(event)
            case Done():
                self._finished(event)
            case Failed() if event.parent_tool_use_id is None:
                pass  # the turn's own, told once it is clear what it came to
            case Stopped():
                pass
            case _:
                self._listen(event)
                return [event]
        return []

    def _finished(self, done: Done) -> None:
        if done.parent_tool_use_id is not None:
            return  # a subagent's end is not the turn's
        if done.usage is not None:
            self._accounts.turn(done.usage)
        self.turns = done.turns if done.turns is not None else self.turns
        if done.duration_ms is not None:
            self.duration_ms = (self.duration_ms or 0) + done.duration_ms

    def _listen(self, event: SessionEvent) -> None:
        if event.parent_tool_use_id is not None:
            return
        if isinstance(event, Result):
            self.result = event
        elif isinstance(event, Text) and event.role != "user":
            self.said.append(event)

    def _begun(self, event: Init) -> list[SessionEvent]:
        """The harness named its conversation: is it the one that it was asked for?"""
        driven, named, asked = self._driven, event.harness_session_id, self.asked
        if event.parent_tool_use_id is not None or named == self.named:
            return []
        if asked is not None and (named == asked.id) == asked.fork:
            raise lost_conversation(
                f"{driven.name} was to copy {asked.id}, and went on with it"
                if asked.fork
                else f"{driven.name} was to go on with {asked.id}, and began {named}"
            )
        self.named = driven.conversation = named
        if asked is not None and driven.session.resume_session_id is not None:
            driven.resumed = True
        return [event]

    def _observe(self, event: AgentEvent) -> None:
        observe = self._driven.session.observe
        if observe is None:
            return
        try:
            observe(event)
        except Exception as error:
            log.warning("an observer of a turn failed (%s)", type(error).__name__)
