"""Spans of time as people write them: ``90s``, ``30m``, ``12h``, ``30d``, ``8w``."""

from __future__ import annotations

from datetime import timedelta

FORM = "a number and s, m, h, d or w, such as 30d"

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def duration(text: str) -> timedelta:
    """The span that a text means. Raises ValueError for another form, or one beyond a lifetime."""
    number, unit = text[:-1], text[-1:]
    if not (number.isascii() and number.isdecimal() and len(number) <= 9 and unit in _SECONDS):
        raise ValueError(f"{text!r} is not {FORM}")
    span = timedelta(seconds=int(number) * _SECONDS[unit])
    if span > timedelta(days=36500):
        raise ValueError(f"{text!r} is longer than a hundred years")
    return span
