"""How one who waits is told to stop (the seeds' AbortSignal)."""

from __future__ import annotations

import asyncio


class Abort:
    """Set once and for good. It belongs to one event loop."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def set(self) -> None:
        """Ask everyone who holds this to stop."""
        self._event.set()

    def is_set(self) -> bool:
        """Whether it was asked for."""
        return self._event.is_set()

    async def wait(self) -> None:
        """Return once it is asked for."""
        await self._event.wait()
