"""Bytes of a terminal as keys, however they are cut."""

import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

# The program's package, as the program itself finds it.
sys.path.insert(0, str(Path(__file__).parents[4] / "adapters" / "demo" / "barry_adapter_demo"))

from harness.keys import Keys

sys.path.pop(0)


def fed(*parts):
    keys = Keys()
    return [key for part in parts for key in keys.feed(part)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"hi\r", [("text", "hi"), ("enter", "")]),
        (b"a\tb\n", [("text", "a\tb"), ("enter", "")]),
        (b"\x7f\x08\x15\x17\x04", [(name, "") for name in (
            "erase", "erase", "erase-line", "erase-word", "end")]),
        (b"\x1b[A\x1b[1;5C\x1bOPx", [("text", "x")]),
        (b"\x1bxy", [("text", "y")]),
        (b"\x1b\x1b[Ay", [("text", "y")]),
        (b"\x00\x01a\xc2\x9bb", [("text", "a"), ("text", "b")]),
        (b"\xff", [("text", "\ufffd")]),
        (b"\x1b[200~a\rb\r\nc\n\x1b[201~\r", [("paste", "a\nb\nc\n"), ("enter", "")]),
        (b"\x1b[200~x\x1b[31m\x03\x1b[201~", [("paste", "x[31m")]),
        (b"\x1b[200~\x1b[200~\x1b[201~", [("paste", "[200~")]),
    ],
)  # fmt: skip
def test_keys(data, expected):
    assert fed(data) == expected


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.data())
def test_a_paste_arrives_whole_however_it_is_cut(text, data):
    sent = f"\x1b[200~{text}\x1b[201~\r".encode()
    at = data.draw(st.integers(0, len(sent)))
    assert fed(sent[:at], sent[at:]) == [("paste", text), ("enter", "")]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=12), max_size=12))
def test_no_bytes_break_it_and_nothing_dangerous_comes_out(parts):
    for name, text in fed(*parts):
        if name == "text":
            assert not any(each < " " and each != "\t" for each in text)


def test_escape_alone():
    keys = Keys()
    assert keys.feed(b"\x1b") == []
    assert keys.escape_pending
    keys.drop_escape()
    assert keys.feed(b"x") == [("text", "x")]
    assert not keys.escape_pending
