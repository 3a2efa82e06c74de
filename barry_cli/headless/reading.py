"""Lines of a harness's output, and fields of what they hold."""

from __future__ import annotations

import json
from typing import Any


class OversizedLine(Exception):
    """A line is longer than a turn takes."""


class Lines:
    """Cuts a stream of bytes into lines; what has no end yet waits for it.

    Lines end with LF alone: other separators may stand inside JSON.
    """

    def __init__(self, limit: int) -> None:
        """``limit`` is the longest line, in bytes."""
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[str]:
        """The lines that these bytes complete. Raises OversizedLine, at the latest at the limit."""
        head, *rest = data.split(b"\n")
        self._parts.append(head)
        self._size += len(head)
        if not rest:
            if self._size > self._limit:
                raise OversizedLine
            return []
        whole = [b"".join(self._parts), *rest[:-1]]
        self._parts, self._size = [rest[-1]], len(rest[-1])
        if self._size > self._limit or max(map(len, whole)) > self._limit:
            raise OversizedLine
        return [_text(line) for line in whole]

    def flush(self) -> list[str]:
        """The last line, when nothing ended it."""
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        return [_text(line)] if line else []


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


class Kept:
    """The beginning and the end of a text that may be endless."""

    def __init__(self, head: int, tail: int) -> None:
        """So many bytes of each are kept."""
        self._head_limit, self._tail_limit = head, tail
        self._head, self._tail = bytearray(), bytearray()
        self._gap = False

    def feed(self, data: bytes) -> None:
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[max(0, room) :]
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: -self._tail_limit]
            self._gap = True

    def text(self) -> str:
        """What was kept, the gap (if any) as a line of its own."""
        tail = bytes(self._tail[-self._tail_limit :])
        gap = b"\n" if self._gap or len(self._tail) > self._tail_limit else b""
        return (bytes(self._head) + gap + tail).decode("utf-8", "replace")


def read_line(line: str) -> dict[str, Any] | None:
    """The object that a line is, or None when it is none."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_string(holder: object, key: str) -> str | None:
    """A text field; None when it is absent or no text."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else None


def read_number(holder: object, key: str) -> int | float | None:
    """A number field; None when it is absent or no number. True and false are none."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def read_count(holder: object, key: str) -> int | None:
    """A number field that counts something: whole and not below 0."""
    value = read_number(holder, key)
    if value is None or value < 0 or (isinstance(value, float) and not value.is_integer()):
        return None  # infinity, which a JSON text may hold, is not whole either
    return int(value)


def read_object(holder: object, key: str) -> dict[str, Any] | None:
    """A field that is an object; None when it is absent or none."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else None


def read_list(holder: object, key: str) -> list[Any] | None:
    """A field that is a list; None when it is absent or none."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, list) else None
