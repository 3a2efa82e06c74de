"""Values as the database holds them: JSON texts, and moments as microseconds since 1970."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from typing import Any

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Damaged(sqlite3.DatabaseError):
    """A row that is not as it was written. Its content is in no message: it may be private."""


def value_of(text: str | None) -> Any:
    """The value of a stored text; None for none. Raises Damaged."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise Damaged("a value in it can't be read") from None


def microseconds(moment: datetime) -> int:
    """A moment, whatever its zone."""
    return (moment - _EPOCH) // _MICROSECOND


def iso(stored: int | None) -> str | None:
    """A stored moment as ISO 8601 in UTC, to the millisecond."""
    if stored is None:
        return None
    moment = _EPOCH + timedelta(microseconds=stored)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
