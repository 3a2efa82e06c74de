"""A turn's tokens, out of counts over a whole conversation."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from barry_adapter_codex.tokens import Tokens


def counts(input: int, output: int, cached: int = 0) -> dict[str, int]:
    return {"inputTokens": input, "outputTokens": output, "cachedInputTokens": cached}


def told(total: dict[str, int], last: dict[str, int] | None = None) -> dict[str, object]:
    return {"total": total, "last": last or total}


def test_a_fresh_conversation_begins_with_nothing() -> None:
    tokens = Tokens(fresh=True)
    tokens.begin()
    assert tokens.spent(whole=True) is None
    tokens.take(told(counts(100, 5, 40)), of_the_turn=True)
    usage = tokens.spent(whole=True)
    assert usage is not None
    assert (usage.input, usage.output, usage.cached, usage.complete) == (60, 5, 40, True)
    assert usage.cumulative is False


def test_the_next_turn_counts_its_own() -> None:
    tokens = Tokens(fresh=True)
    tokens.begin()
    tokens.take(told(counts(100, 5)), of_the_turn=True)
    tokens.begin()
    tokens.take(told(counts(100, 5)), of_the_turn=True)  # told again, when a turn is cut
    assert tokens.spent(whole=False) is None
    tokens.take(told(counts(130, 7)), of_the_turn=True)
    usage = tokens.spent(whole=False)
    assert usage is not None
    assert (usage.input, usage.output, usage.complete) == (30, 2, False)


def test_a_conversation_that_goes_on_is_told_its_count_first() -> None:
    for before_the_turn in (True, False):
        tokens = Tokens(fresh=False)
        if before_the_turn:
            tokens.take(told(counts(1000, 50)), of_the_turn=False)
        tokens.begin()
        if not before_the_turn:
            tokens.take(told(counts(1000, 50)), of_the_turn=False)
        tokens.take(told(counts(1010, 51), counts(10, 1)), of_the_turn=True)
        usage = tokens.spent(whole=True)
        assert usage is not None
        assert (usage.input, usage.output) == (10, 1)


def test_a_copy_is_not_told_its_count() -> None:
    tokens = Tokens(fresh=False)
    tokens.begin()
    tokens.take(told(counts(1010, 51), counts(10, 1)), of_the_turn=True)
    tokens.take(told(counts(1030, 53), counts(20, 2)), of_the_turn=True)
    usage = tokens.spent(whole=True)
    assert usage is not None
    assert (usage.input, usage.output) == (30, 3)


@given(st.lists(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 9)), max_size=4), max_size=4))
def test_turns_add_up_to_the_whole(turns: list[list[tuple[int, int]]]) -> None:
    tokens, read, said, found = Tokens(fresh=True), 0, 0, [0, 0]
    for requests in turns:
        tokens.begin()
        for more in requests:
            read, said = read + more[0], said + more[1]
            tokens.take(told(counts(read, said), counts(*more)), of_the_turn=True)
        usage = tokens.spent(whole=True)
        found[0] += usage.input if usage else 0
        found[1] += usage.output if usage else 0
    assert found == [read, said]
