"""Sums of tokens."""

from __future__ import annotations

from barry_cli.contract.models import TokenUsage
from barry_cli.turns.usage import total


def test_parts_add_up() -> None:
    one = TokenUsage(input=1, output=2, cached=3, cache_write=4)
    two = TokenUsage(input=10, output=20, cached=30, cache_write=40, reasoning=50)
    assert total([one, two]) == TokenUsage(
        input=11, output=22, cached=33, cache_write=44, reasoning=50
    )
    assert total([one]) == one


def test_a_sum_is_as_complete_as_its_parts() -> None:
    whole, part = TokenUsage(input=1, output=1), TokenUsage(input=1, output=1, complete=False)
    assert total([whole, part]) == TokenUsage(input=2, output=2, complete=False)


def test_nothing_adds_up_to_nothing() -> None:
    assert total([]) is None
