"""Lines out of bytes, and fields out of lines."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.headless.reading import (
    Kept,
    Lines,
    OversizedLine,
    read_count,
    read_line,
    read_list,
    read_number,
    read_object,
    read_string,
)
from barry_cli.headless.signals import first_match, is_retry

LINE = st.text(max_size=20).map(lambda text: text.replace("\n", "").rstrip("\r"))


@given(lines=st.lists(LINE), last=LINE, cuts=st.lists(st.integers(0, 400)), crlf=st.booleans())
def test_lines_are_the_same_however_they_come(
    lines: list[str], last: str, cuts: list[int], crlf: bool
) -> None:
    end = "\r\n" if crlf else "\n"
    data = ("".join(line + end for line in lines) + last).encode()
    places = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    reader = Lines(1000)
    found = [line for a, b in pairwise(places) for line in reader.feed(data[a:b])]
    assert found == lines
    assert reader.flush() == ([last] if last else [])
    assert reader.flush() == []


@given(
    before=st.sampled_from([b"", b"\n"]),
    size=st.integers(1, 50),
    limit=st.integers(1, 50),
    ended=st.booleans(),
    step=st.integers(1, 60),
)
def test_a_line_is_as_long_as_the_limit_at_most(
    before: bytes, size: int, limit: int, ended: bool, step: int
) -> None:
    data = before + b"x" * size + (b"\n" if ended else b"")
    reader = Lines(limit)

    def feed() -> None:
        for at in range(0, len(data), step):
            reader.feed(data[at : at + step])

    if size > limit:
        with pytest.raises(OversizedLine):
            feed()
    else:
        feed()


@given(pieces=st.lists(st.binary(max_size=30)), head=st.integers(0, 40), tail=st.integers(1, 40))
def test_both_ends_are_kept(pieces: list[bytes], head: int, tail: int) -> None:
    data = b"".join(pieces).replace(b"\xff", b"-").decode("latin-1").encode("ascii", "replace")
    kept = Kept(head, tail)
    for at in range(0, len(data), 7):
        kept.feed(data[at : at + 7])
    text = kept.text()
    assert len(text) <= head + tail + 1
    if len(data) <= head + tail:
        assert text == data.decode()
    else:
        assert text == data[:head].decode() + "\n" + data[-tail:].decode()


@given(st.text())
def test_a_line_is_an_object_or_none(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        expected = None
    assert read_line(text) == (expected if isinstance(expected, dict) else None)


def test_a_deep_line_is_none() -> None:
    assert read_line('{"a":' * 100_000) is None


VALUES: list[Any] = ["text", 1, 1.5, True, None, [1], {"a": 1}]
READERS: dict[Any, tuple[Any, ...]] = {
    read_string: ("text",),
    read_number: (1, 1.5),
    read_count: (1,),
    read_object: ({"a": 1},),
    read_list: ([1],),
}


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_a_reader_gives_its_kind_and_nothing_else(reader: Any) -> None:
    for value in VALUES:
        right = any(
            value is each or (value == each and value is not True) for each in READERS[reader]
        )
        assert reader({"k": value}, "k") == (value if right else None)
    for holder in (None, [], "k", 5, {}, {"other": 1}):
        assert reader(holder, "k") is None


@pytest.mark.parametrize("value", [-1, 0.5, float("inf"), float("nan")])
def test_what_counts_nothing(value: float) -> None:
    assert read_count({"k": value}, "k") is None


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("429, retrying in 2 s", True),
        ("Reconnecting... 1/5", True),
        ("the client will retry", True),
        ("exceeded retry limit, last status: 429", False),
        ("no retries left", False),
    ],
)
def test_a_notice_of_another_try(text: str, again: bool) -> None:
    assert is_retry(text) is again
    assert first_match(lambda said: True, [text]) == (None if again else text)
