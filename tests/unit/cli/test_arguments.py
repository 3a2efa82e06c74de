"""A command line before it is parsed, and what its flags carry."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.problems import UsageProblem
from barry_cli.cli.arguments import Tail, no_tail, options, requirements, split, wants_json

WORDS = st.lists(
    st.one_of(st.sampled_from(["--", "--resume", "--json", "toy", "-x", ""]), st.text(max_size=4)),
    max_size=8,
)


@given(WORDS)
def test_the_first_two_dashes_cut_and_nothing_is_lost(words: list[str]) -> None:
    before = list(words)
    own, tail = split(words)
    assert words == before
    assert "--" not in own
    if "--" in words:
        assert words == [*words[: words.index("--")], "--", *tail]
        assert len(own) == words.index("--")
    else:
        assert tail == ()
        assert len(own) == len(words)
    for place, word in enumerate(own):
        if word != words[place]:
            assert (word, words[place]) == ("--resume=", "--resume")


@pytest.mark.parametrize(
    ("words", "own"),
    [
        (["a", "--resume"], ["a", "--resume="]),
        (["--resume", "--last"], ["--resume=", "--last"]),
        (["--resume", "--", "x"], ["--resume="]),
        (["--resume", "abc"], ["--resume", "abc"]),
        (["--resume", ""], ["--resume", ""]),
        (["--resume=abc"], ["--resume=abc"]),
    ],
)
def test_resume_alone_is_made_whole(words: list[str], own: list[str]) -> None:
    assert split(words)[0] == own


@given(st.dictionaries(st.text("abc_", min_size=1), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
), max_size=4))  # fmt: skip
def test_options_come_back_as_they_were_written(values: dict[str, object]) -> None:
    assert options([f"{key}={json.dumps(value)}" for key, value in values.items()]) == values


@pytest.mark.parametrize(
    "pair", ["", "a", "=1", "a=", "a=x", "a=NaN", "a=Infinity", "a=-Infinity", "a=" + "[" * 10**5]
)
def test_what_is_no_option(pair: str) -> None:
    with pytest.raises(UsageProblem) as problem:
        options([pair])
    assert problem.value.hint


def test_a_value_that_is_no_json_is_not_repeated() -> None:
    """It may be a secret that somebody forgot to quote."""
    with pytest.raises(UsageProblem) as problem:
        options(["token=made-up-token"])
    assert "made-up-token" not in f"{problem.value}{problem.value.hint}"


def test_requirements() -> None:
    assert requirements(["gating=static", "steer=true"]) == {"gating": "static", "steer": "true"}
    for pair in ("", "gating", "gating=", "=static"):
        with pytest.raises(UsageProblem):
            requirements([pair])


def test_a_tail_that_nobody_takes() -> None:
    no_tail(None)
    no_tail(Tail())
    with pytest.raises(UsageProblem):
        no_tail(Tail(("x",)))


def test_json_is_asked_for_before_the_dashes_only() -> None:
    assert wants_json(split(["a", "--json"])[0])
    assert not wants_json(split(["a", "--", "--json"])[0])
