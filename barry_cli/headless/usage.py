"""How many tokens a turn took, from counters of different kinds."""

from __future__ import annotations

from barry_cli.contract.models import TokenUsage
from barry_cli.headless.agent_events import Usage
from barry_cli.turns.usage import total

NOTHING_KNOWN = TokenUsage(input=0, output=0, complete=False)
NOTHING_YET = Usage(input=0, output=0, reasoning=0, cumulative=True)
_COUNTERS = ("input", "output", "cached", "cache_write")


def plain(usage: TokenUsage) -> TokenUsage:
    """The tokens alone, as an event carries them."""
    return TokenUsage(**{name: getattr(usage, name) for name in TokenUsage.model_fields})


def since(now: TokenUsage, before: TokenUsage | None) -> TokenUsage:
    """What was added to a cumulative count. Without knowing where it began, nothing is known.

    A counter that went back was begun anew: what it shows now is then a lower bound.
    """
    if before is None:
        return NOTHING_KNOWN
    counts = {name: getattr(now, name) - getattr(before, name) for name in _COUNTERS}
    restarted = min(counts.values()) < 0
    if restarted:
        counts = {name: getattr(now, name) for name in _COUNTERS}
    reasoning = now.reasoning if restarted else None
    if not restarted and now.reasoning is not None and before.reasoning is not None:
        reasoning = max(0, now.reasoning - before.reasoning)
    complete = now.complete and before.complete and not restarted
    return TokenUsage(**counts, reasoning=reasoning, complete=complete)


class Meter:
    """Collects what the events of one turn report."""

    def __init__(self, before: Usage | None) -> None:
        """``before``: the cumulative count when the turn began; None when it isn't known."""
        self.before = before
        self.cumulative: Usage | None = None
        """The last cumulative count that was seen."""
        self._messages: dict[str, TokenUsage] = {}
        self._totals: list[TokenUsage] = []

    def message(self, id: str, usage: TokenUsage) -> None:
        """A message's count; the same id again corrects it."""
        if not self._cumulative(usage):
            self._messages[id] = plain(usage)

    def turn(self, usage: TokenUsage) -> None:
        """A count of the whole turn, or of one of its parts that ended by itself."""
        if not self._cumulative(usage):
            self._totals.append(plain(usage))

    def _cumulative(self, usage: TokenUsage) -> bool:
        if not (isinstance(usage, Usage) and usage.cumulative):
            return False
        self.cumulative = usage
        return True

    def result(self) -> TokenUsage | None:
        """The turn's tokens, or None when nothing reported any."""
        if self._totals:
            return total(self._totals)
        if self.cumulative is not None:
            return since(self.cumulative, self.before)
        return total(self._messages.values())
