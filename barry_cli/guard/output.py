"""What a command prints, kept within bounds however much it is: its beginning and its end."""

from __future__ import annotations

MOST = 30_000
"""Characters that an answer holds."""

_HALF = MOST // 2
_BYTES = 4 * _HALF  # no character takes more


class Kept:
    """The first and the last bytes of a stream."""

    def __init__(self) -> None:
        self.count = 0
        """The bytes that came."""
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        """Take what came; what is in the middle is dropped."""
        self.count += len(data)
        room = _BYTES - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        if len(self._tail) > 2 * _BYTES:
            del self._tail[:-_BYTES]

    def text(self) -> str:
        """All of it, or its two ends, and how much there was."""
        seamless = self.count == len(self._head) + len(self._tail)
        # Joined first: a character may lie across the seam.
        parts = [self._head + self._tail] if seamless else [self._head, self._tail]
        whole = "".join(bytes(each).decode("utf-8", "replace") for each in parts)
        if seamless and len(whole) <= MOST:
            return whole
        said = f"[left out: the middle of {self.count:,} bytes; {_HALF:,} characters of each end]"
        return f"{whole[:_HALF]}\n{said}\n{whole[-_HALF:]}"
