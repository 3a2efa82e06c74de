"""Keeping secrets out of what people and logs get to see."""

from __future__ import annotations

from collections.abc import Iterable

MASK = "********"

_MARKS = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "AUTH")


def looks_secret(name: str) -> bool:
    """Whether a variable of this name usually holds a secret."""
    upper = name.upper()
    return any(mark in upper for mark in _MARKS)


def redact(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret of four characters or more replaced by a mask."""
    for secret in sorted({each for each in secrets if len(each) >= 4}, key=len, reverse=True):
        text = text.replace(secret, MASK)
    return text
