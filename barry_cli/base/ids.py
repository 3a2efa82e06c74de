"""Ids: made at random, shortened by their users to a unique prefix."""

from __future__ import annotations

import os
from collections.abc import Iterable

# Crockford's alphabet: nothing that reads as something else.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id() -> str:
    """A new id: 12 characters, 60 random bits."""
    number = int.from_bytes(os.urandom(8))
    letters = []
    for _ in range(12):
        number, digit = divmod(number, 32)
        letters.append(_ALPHABET[digit])
    return "".join(letters)


def is_id(text: str) -> bool:
    """Whether a text has the form of an id."""
    return len(text) == 12 and all(letter in _ALPHABET for letter in text)


def matching(prefix: str, ids: Iterable[str]) -> list[str]:
    """The ids that a prefix could mean: the id itself alone when it is one."""
    found = [each for each in ids if each.startswith(prefix)]
    return [prefix] if prefix in found else found


def nearest(word: str, words: Iterable[str]) -> str | None:
    """The word that was probably meant, or None."""
    import difflib

    close = difflib.get_close_matches(word, list(words), n=1, cutoff=0.6)
    return close[0] if close else None
