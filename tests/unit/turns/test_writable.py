"""What a harness says can be recorded, and what could be stays as it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.canonical import NotCanonical, canonical_json
from barry_cli.turns.writable import whole, writable

letters = st.text(st.characters(codec=None) | st.sampled_from("\ud83d\ude00a"), max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | letters,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(letters, inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_anything_that_json_reads_is_writable(value: Any) -> None:
    written = canonical_json(writable(value))
    try:
        before = canonical_json(value)
    except NotCanonical:
        return
    assert written == before


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("\ud83d", "\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("\ude00\ud83d!", "\ufffd\ufffd!"),
        ({"\ud83d": 2**53 + 1}, {"\ufffd": "9007199254740993"}),
        ([float("nan"), float("-inf"), 1e17], ["nan", "-inf", "1e+17"]),
        ((1, 2.5), [1, 2.5]),
        (10**5000, "(a number of too many digits)"),
    ],
    ids=["half", "whole", "turned", "in an object", "numbers", "kept", "too long"],
)
def test_what_is_made_text(value: Any, kept: Any) -> None:
    assert writable(value) == kept


def test_what_nests_too_deep_is_left_out() -> None:
    value = json.loads("[" * 500 + "]" * 500)
    assert "too deep" in canonical_json({"result": [writable(value)]})
    with pytest.raises(NotCanonical):
        canonical_json(value)


@given(letters)
def test_a_whole_text_is_utf_8(text: str) -> None:
    whole(text).encode()
