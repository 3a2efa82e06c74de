"""Bytes in and out: whole lines, JSON lines, writes that an ending process does not hang in."""

import json
import os
import select
from collections import deque
from contextlib import suppress

from .cancel import Cancel

LINE_LIMIT = 8 * 1024 * 1024


def json_line(value: object) -> bytes:
    """One JSON text and a newline. Half surrogates become ``?``: strict readers refuse them."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace") + b"\n"


def parsed(text: str | bytes) -> object:
    """The value of a JSON text. Raises ValueError for whatever is wrong with it."""
    try:
        value: object = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def write(file: int, data: bytes, cancel: Cancel) -> None:
    """Write everything. What a stuck reader leaves unread is dropped once the flag is set."""
    view = memoryview(data)
    while view and cancel.writable(file):
        view = view[os.write(file, view[: select.PIPE_BUF]) :]


def say(message: str) -> None:
    """One sentence on stderr, with our name."""
    _print(2, f"demo: {message}\n")


def show(text: str) -> None:
    """Plain text on stdout, before any end has started."""
    _print(1, text)


def _print(file: int, text: str) -> None:
    with suppress(OSError):  # Nobody reads it.
        os.write(file, text.encode("utf-8", "replace"))


class Lines:
    """The lines of a file descriptor, without their newline."""

    def __init__(self, file: int, cancel: Cancel) -> None:
        self._file = file
        self._cancel = cancel
        self._whole: deque[bytes] = deque()
        self._tail: list[bytes] = []
        self._size = 0
        self._ended = False

    def next(self) -> bytes | None:
        """The next line; None at the end of the file, or once the flag is set.

        Raises ValueError when a line passes the limit.
        """
        while not self._whole:
            if self._ended or not self._cancel.wait(None, self._file):
                return None
            data = os.read(self._file, 65536)
            if data:
                self._add(data)
                continue
            self._ended = True
            if self._size:
                self._whole.append(b"".join(self._tail))
        return self._whole.popleft()

    def _add(self, data: bytes) -> None:
        *whole, rest = data.split(b"\n")
        if whole:
            self._whole.append(b"".join([*self._tail, whole[0]]))
            self._whole.extend(whole[1:])
            self._tail, self._size = [], 0
        self._tail.append(rest)
        self._size += len(rest)
        if self._size > LINE_LIMIT:
            raise ValueError(f"a line is longer than {LINE_LIMIT} bytes")
