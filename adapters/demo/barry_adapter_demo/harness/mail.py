"""Messages from outside: lines of JSON in a named pipe, read while the program runs.

``{"text": "..."}`` is taken as the next message of the conversation, at once when the person is at
the prompt, else when the turn is over. A question to the person is never answered by one.
"""

import os
import threading
from collections import deque
from contextlib import suppress

from .problems import Refused, reason
from .wire import LINE_LIMIT, parsed


class Mail:
    """The pipe, and what came through it. ``wakes`` is readable while a message waits."""

    def __init__(self, path: str, *, deaf: bool = False) -> None:
        """Open the pipe. Raises Refused when there is none. ``deaf``: bent for tests."""
        try:
            # For writing as well: the pipe then has no end while nobody else writes into it.
            self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError as error:
            raise Refused(f"cannot open the pipe {path}: {reason(error)}") from None
        self._waiting: deque[str] = deque()
        self.wakes, self._wake = os.pipe()
        os.set_blocking(self.wakes, False)
        if not deaf:
            threading.Thread(target=self._listen, daemon=True).start()

    def take(self) -> str | None:
        """The oldest message that waits."""
        if not self._waiting:
            return None
        with suppress(BlockingIOError):
            os.read(self.wakes, 1)
        return self._waiting.popleft()

    def _listen(self) -> None:
        rest = b""
        while True:
            try:
                data = os.read(self._file, 65536)
            except OSError:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._put(line)
            if len(rest) > LINE_LIMIT:
                rest = b""

    def _put(self, line: bytes) -> None:
        try:
            said = parsed(line)
        except ValueError:
            return
        text = said.get("text") if isinstance(said, dict) else None
        if isinstance(text, str) and text:
            self._waiting.append(text)
            os.write(self._wake, b"x")
