"""Whatever is passed as a setting arrives as it was, whoever wrote it."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_adapter_codex.toml import toml

# All of Unicode but lone surrogates, which no text file can hold.
TEXT = st.text(st.characters(codec="utf-8"))
VALUES = st.recursive(
    TEXT | st.booleans() | st.integers(-(2**63), 2**63 - 1),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_a_toml_reader_gives_back_what_was_written(value: Any) -> None:
    assert tomllib.loads(f"it = {toml(value)}")["it"] == value


@given(VALUES)
def test_it_is_one_line_that_a_command_line_can_hold(value: Any) -> None:
    written = toml(value)
    assert len(written.splitlines()) == 1
    assert "\0" not in written
    written.encode()


@pytest.mark.parametrize("text", ["\ud800", "a\udcffb"])
def test_bytes_that_are_no_text_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no text"):
        toml(text)


def test_a_tuple_is_a_list() -> None:
    assert toml(("a", ["b"])) == '["a", ["b"]]'
