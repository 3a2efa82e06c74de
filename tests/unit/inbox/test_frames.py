"""Frames and lines: what goes in comes out, however it is cut; of garbage comes a refusal."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barry_cli.inbox.frames import NoFrame, frame_of, line_of
from barry_cli.inbox.incoming import Lines, TooLong

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(kind=TEXTS, more=st.dictionaries(TEXTS, VALUES, max_size=4))
def test_a_frame_is_one_line_and_comes_back(kind: str, more: dict[str, Any]) -> None:
    frame = {**more, "type": kind}
    line = line_of(frame)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert frame_of(line[:-1]) == frame


@given(st.binary())
def test_any_bytes_are_a_frame_or_none(line: bytes) -> None:
    try:
        found = frame_of(line)
    except NoFrame:
        return
    assert isinstance(found["type"], str)


def test_half_a_letter_is_escaped() -> None:
    assert frame_of(line_of({"type": "x", "content": "\ud800"})[:-1])["content"] == "\ud800"


@settings(deadline=None)
@given(
    lines=st.lists(st.binary(max_size=30).filter(lambda each: b"\n" not in each), max_size=8),
    rest=st.binary(max_size=10).filter(lambda each: b"\n" not in each),
    cuts=st.lists(st.integers(0, 200), max_size=8),
)
def test_lines_are_the_same_however_they_come(
    lines: list[bytes], rest: bytes, cuts: list[int]
) -> None:
    whole = b"".join(each + b"\n" for each in lines) + rest
    places = sorted({0, len(whole), *(cut % (len(whole) + 1) for cut in cuts)})

    async def read() -> list[bytes]:
        reader = asyncio.StreamReader()
        incoming = Lines(reader, 31)

        async def feed() -> None:
            for start, end in pairwise(places):
                reader.feed_data(whole[start:end])
                await asyncio.sleep(0)
            reader.feed_eof()

        feeding = asyncio.create_task(feed())
        found = []
        while (line := await incoming.next(10, patient=lambda: False)) is not None:
            found.append(line)
        await feeding
        return found

    assert asyncio.run(read()) == lines


@pytest.mark.parametrize(("size", "fits"), [(30, True), (31, False), (500, False)])
async def test_a_line_may_be_so_long(size: int, fits: bool) -> None:
    reader = asyncio.StreamReader()
    incoming = Lines(reader, 31)
    reader.feed_data(b"x" * size + b"\n")
    reader.feed_eof()
    if fits:
        assert await incoming.next(10, patient=lambda: False) == b"x" * size
        return
    with pytest.raises(TooLong):
        await incoming.next(10, patient=lambda: False)
