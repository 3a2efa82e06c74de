"""Lines from whoever connects: bounded in length, and in the time that one may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

_CHUNK = 64 * 1024
_THROWN_AWAY = 16 * 1024 * 1024
_THROWING_SECONDS = 1.0


class TooLong(Exception):
    """A line that is longer than a line may be: where it ends is not looked for."""


class Lines:
    """The lines that come over one connection."""

    def __init__(self, reader: asyncio.StreamReader, longest: int) -> None:
        """``longest``: bytes of a line, its end included."""
        self._reader = reader
        self._longest = longest
        self._rest = bytearray()
        self._looked = 0  # no line ends before here

    async def next(self, seconds: float, *, patient: Callable[[], bool]) -> bytes | None:
        """The next line without its end; None once there are no more whole ones.

        Raises TimeoutError when none is whole within the time; one that is ``patient`` may take
        that long from its first byte on. Raises TooLong, and OSError of the connection.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while True:
            end = self._rest.find(b"\n", self._looked)
            if end >= self._longest or (end < 0 and len(self._rest) >= self._longest):
                raise TooLong
            if end >= 0:
                line = bytes(self._rest[:end])
                del self._rest[: end + 1]
                self._looked = 0
                return line
            self._looked = len(self._rest)
            began = bool(self._rest)
            async with asyncio.timeout_at(until if began or not patient() else None):
                chunk = await self._reader.read(_CHUNK)
            if not chunk:
                return None
            if not began and patient():
                until = loop.time() + seconds
            self._rest += chunk

    async def discard(self) -> None:
        """Read on for a moment without keeping it: who still writes would else lose the answer."""
        left = _THROWN_AWAY
        try:
            async with asyncio.timeout(_THROWING_SECONDS):
                while left > 0 and (chunk := await self._reader.read(_CHUNK)):
                    left -= len(chunk)
        except (OSError, TimeoutError):
            pass
