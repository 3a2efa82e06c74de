"""What a command prints, kept within bounds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from barry_cli.guard.output import MOST, Kept


def kept(*chunks: bytes) -> Kept:
    made = Kept()
    for chunk in chunks:
        made.add(chunk)
    return made


@given(st.text(max_size=200), st.integers(1, 7))
def test_what_fits_is_whole_however_it_is_cut(text: str, step: int) -> None:
    data = text.encode()
    chunks = [data[at : at + step] for at in range(0, len(data), step)]
    assert kept(*chunks).text() == text


def test_a_character_across_the_seam_is_whole() -> None:
    # Characters of four bytes: so many that the seam lies within the answer.
    for before in ("", "a", "ab", "abc"):
        text = before + "\U0001f389" * 16_000
        found = kept(text.encode()).text()
        assert "\ufffd" not in found
        assert found.startswith(before + "\U0001f389")
    text = "abc" + "\U0001f389" * 14_999 + "\u20ac" * 2
    assert kept(text.encode()).text() == text


@settings(deadline=None)  # a byte at a time is slow on a busy machine
@given(st.integers(MOST + 1, 400_000), st.integers(1, 100_000))
def test_of_much_the_two_ends_are_kept(size: int, step: int) -> None:
    data = bytes(ord("a") + n % 26 for n in range(size))
    made = kept(*(data[at : at + step] for at in range(0, size, step)))
    text = made.text()
    assert len(text) < MOST + 200
    assert text.startswith(data[:15_000].decode() + "\n[left out")
    assert text.endswith("]\n" + data[-15_000:].decode())
    assert f"{size:,} bytes" in text


def test_memory_does_not_grow() -> None:
    made = kept(*(b"x" * 65536 for _ in range(2_000)))
    assert made.count == 2_000 * 65536
    assert len(made._head) + len(made._tail) <= 3 * 60_000 + 65536
