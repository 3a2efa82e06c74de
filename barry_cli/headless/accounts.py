"""The tokens of one turn, whatever way its harness counts them."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from barry_cli.contract.events import UsageReported
from barry_cli.headless.agent_events import Usage
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.usage import NOTHING_KNOWN, NOTHING_YET, Meter, plain, since

if TYPE_CHECKING:
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.models import TokenUsage
    from barry_cli.headless.agent_input import Continuation
    from barry_cli.headless.driven import Driven

log = logging.getLogger(__name__)


class Accounts:
    """Opened before the turn, settled after it."""

    def __init__(self, driven: Driven) -> None:
        self._driven = driven
        self._meter = Meter(None)
        self._reported: dict[str, TokenUsage] = {}

    async def open(self, asked: Continuation | None) -> None:
        """Find out what was counted before the turn."""
        driven = self._driven
        before: Usage | None = None
        if asked is None and driven.conversation is None:
            before = NOTHING_YET
        elif driven.adapter.usage == "session" and asked is not None and asked.fork:
            before = NOTHING_YET  # a copy counts anew
        else:
            before = driven.usage_seen or driven.session.usage_before
            if before is None and asked is not None:
                before = await self._session(asked.id) or self._transcript(asked.id)
        self._meter = Meter(before)

    def message(self, event: UsageReported) -> list[SessionEvent]:
        """A message's count; a cumulative one is no message's, and is not passed on."""
        self._meter.message(event.id, event.usage)
        usage = plain(event.usage)
        if isinstance(event.usage, Usage) and event.usage.cumulative:
            return []
        if self._reported.get(event.id) == usage:
            return []
        self._reported[event.id] = usage
        return [event.model_copy(update={"usage": usage})]

    def turn(self, usage: TokenUsage) -> None:
        """A count of the whole turn."""
        self._meter.turn(usage)

    async def settle(self, conversation: str | None) -> TokenUsage | None:
        """What the turn took. None only where nothing is known and nothing was promised."""
        driven, meter = self._driven, self._meter
        known = conversation or driven.conversation
        usage = meter.result()
        if driven.adapter.usage == "session":
            now = await self._session(known)
            usage = NOTHING_KNOWN if now is None else since(now, meter.before)
            driven.usage_seen = now or driven.usage_seen
        elif driven.adapter.usage == "unavailable":
            usage = NOTHING_KNOWN
        elif meter.cumulative is not None:
            driven.usage_seen = meter.cumulative
        read = self._transcript(known)
        if read is not None:
            usage = since(read, meter.before) if read.cumulative else plain(read)
            driven.usage_seen = read if read.cumulative else driven.usage_seen
        if usage is None and driven.adapter.usage is not None:
            usage = NOTHING_KNOWN
        return usage

    async def _session(self, id: str | None) -> Usage | None:
        """The totals of a conversation, asked of the harness; None when it doesn't say."""
        adapter = self._driven.adapter
        if id is None or adapter.usage_command is None or adapter.usage_result is None:
            return None
        found: Usage | None = None
        try:
            command = adapter.usage_command(id)
            if command is None:
                return None
            result = await self._driven.invoke(command)
            if result.status == 0:
                found = adapter.usage_result(result.stdout)
        except AgentFault:
            pass  # it can't be run: the count is not known
        except Exception as error:  # the adapter's reading of what it got
            log.warning("a count of tokens could not be read (%s)", type(error).__name__)
        if found is None:
            log.warning("%s did not say how many tokens it took", adapter.name)
        return found

    def _transcript(self, id: str | None) -> Usage | None:
        """The tokens that the transcript tells of; None when it doesn't."""
        adapter = self._driven.adapter
        if id is None or adapter.transcript_usage is None or adapter.storage is None:
            return None
        try:
            path = adapter.storage.locate(id, self._driven.place())
            return None if path is None else adapter.transcript_usage(path.read_text("utf-8"))
        except Exception as error:
            log.warning("a transcript's tokens could not be read (%s)", type(error).__name__)
            return None
