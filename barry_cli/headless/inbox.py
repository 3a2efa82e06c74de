"""What a turn waits for, in one queue: lines, rulings, the end."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Inbox(Generic[Item]):
    """Many put, one takes. It belongs to one event loop."""

    def __init__(self, room: int) -> None:
        """``room``: how many items may wait before ``put_when_room`` holds its caller."""
        self._items: deque[Item] = deque()
        self._limit = room
        self._there = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    def put(self, item: Item) -> None:
        """Add an item at once."""
        self._items.append(item)
        self._there.set()
        if len(self._items) >= self._limit:
            self._room.clear()

    async def put_when_room(self, item: Item) -> None:
        """Add an item once few enough wait."""
        await self._room.wait()
        self.put(item)

    def take(self) -> Item | None:
        """The next item, if one is there."""
        if not self._items:
            return None
        item = self._items.popleft()
        if len(self._items) < self._limit:
            self._room.set()
        return item

    async def get(self, seconds: float | None) -> Item | None:
        """The next item; None when there is none in time."""
        if not self._items:
            self._there.clear()
            try:
                async with asyncio.timeout(seconds):
                    await self._there.wait()
            except TimeoutError:
                return None
        return self.take()
