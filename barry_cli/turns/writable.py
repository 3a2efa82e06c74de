"""What a harness says, in a form that every record can keep: no turn fails for one letter of it."""

from __future__ import annotations

import math
from typing import Any

from barry_cli.base.canonical import DEPTH, LIMIT

_EXPONENT = 1e21  # from here on a float is written with one, and stays a float
_ROOM = 10  # levels around a value in what it is recorded in


def writable(value: Any, depth: int = DEPTH - _ROOM) -> Any:
    """A value as a harness reads it from JSON, with what canonical JSON refuses made text.

    Half of a surrogate pair is U+FFFD; an integer beyond 2^53, NaN and infinities are their digits
    or names; what nests too deep is left out, and says so. For what is only told: what somebody
    approves must stay as it is.
    """
    kind = type(value)
    if kind is str:
        return whole(value)
    if kind is int and abs(value) > LIMIT:
        return str(value) if abs(value) < 10**4000 else "(a number of too many digits)"
    if kind is float and not (abs(value) <= LIMIT or _EXPONENT <= abs(value) < math.inf):
        return repr(value)
    if kind in (dict, list, tuple):
        if depth <= 0:
            return "(nests too deep to be recorded)"
        if kind is dict:
            return {
                whole(key) if type(key) is str else key: writable(inner, depth - 1)
                for key, inner in value.items()
            }
        return [writable(inner, depth - 1) for inner in value]
    return value


def whole(text: str) -> str:
    """The text, with U+FFFD for each half of a surrogate pair: programs cut texts in the middle."""
    if text.isascii():
        return text
    # As UTF-16 two halves that stand side by side are one letter again.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
