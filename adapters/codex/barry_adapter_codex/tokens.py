"""A turn's tokens: Codex counts over the whole conversation."""

from __future__ import annotations

from typing import Any

from barry_cli.agents import Usage, read_count, read_object

_NAMES = ("inputTokens", "outputTokens", "cachedInputTokens", "cacheWriteInputTokens")
_REASONING = "reasoningOutputTokens"


class Tokens:
    """Takes every count of one conversation, and tells what a turn added."""

    def __init__(self, *, fresh: bool) -> None:
        """``fresh``: the conversation has just begun, so it began with nothing."""
        self._now = dict.fromkeys((*_NAMES, _REASONING), 0) if fresh else None
        self._before = self._now

    def begin(self) -> None:
        """A turn begins."""
        self._before = self._now

    def take(self, usage: dict[str, Any], *, of_the_turn: bool) -> None:
        """A count. A conversation that goes on is told of its count before it takes a turn."""
        total, last = read_object(usage, "total"), read_object(usage, "last")
        if total is None:
            return
        now = _counts(total)
        if not of_the_turn:
            self._before = now
        elif self._before is None:
            # A copy is not told: what its first request took is known, so is the rest.
            took = _counts(last or {})
            self._before = {name: now[name] - took[name] for name in now}
        self._now = now

    def spent(self, *, whole: bool) -> Usage | None:
        """What the turn took; None when nothing was told. ``whole``: it came to its end."""
        before, now = self._before, self._now
        if before is None or now is None or now == before:
            return None
        more = {name: max(0, now[name] - before[name]) for name in now}
        cached, written = more["cachedInputTokens"], more["cacheWriteInputTokens"]
        return Usage(
            input=max(0, more["inputTokens"] - cached - written),
            output=more["outputTokens"],
            cached=cached,
            cache_write=written,
            reasoning=more[_REASONING],
            complete=whole,
        )


def _counts(row: dict[str, Any]) -> dict[str, int]:
    return {name: read_count(row, name) or 0 for name in (*_NAMES, _REASONING)}
