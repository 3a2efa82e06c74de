"""Adding up what turns and messages used."""

from __future__ import annotations

from collections.abc import Iterable

from barry_cli.contract.models import TokenUsage


def total(parts: Iterable[TokenUsage]) -> TokenUsage | None:
    """The sum; complete when every part is. None for no parts."""
    found = list(parts)
    if not found:
        return None
    thought = [each.reasoning for each in found if each.reasoning is not None]
    return TokenUsage(
        input=sum(each.input for each in found),
        output=sum(each.output for each in found),
        cached=sum(each.cached for each in found),
        cache_write=sum(each.cache_write for each in found),
        reasoning=sum(thought) if thought else None,
        complete=all(each.complete for each in found),
    )
