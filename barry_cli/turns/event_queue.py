"""Events between the session that pushes them and its one reader (seed 001)."""

# ruff: noqa: SLF001 - a queue and its reader are two halves of one thing
from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable
from sys import getsizeof
from threading import get_ident
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from barry_cli.contract.events import Done, Failed, Partial, ToolProgress

T = TypeVar("T")

LIMIT = 16 * 1024 * 1024
"""How many bytes of events wait for a reader, when nothing else is said."""

_EVENT = 512  # what an event takes beside its texts
_LEAST = (
    1024  # what every event is taken for: its length alone says what a queue of small ones holds
)
_SHORT = 128  # letters of a partial text that surely take no more than that


class SecondReader(RuntimeError):
    """Somebody reads a queue that somebody else is reading: each event is delivered once."""


class EventQueue(AsyncIterable[T], Generic[T]):
    """Events pushed by a session and pulled by its reader, each delivered once, in order.

    It buffers while nobody reads, because a reader usually begins just after a delivery, when the
    harness may already have answered. A reader may stop and another begin. Two at a time are a
    SecondReader: raised at the later one while the earlier waits, else at the one that the other
    replaced.

    What is buffered is bounded by ``limit``, in bytes of memory, at least a KiB for each event.
    Above it ``partial`` and ``tool_progress`` events are dropped; any other event ends its turn: an
    ``error`` that begins with "overflow:" and a ``done`` take its place, and what the turn still
    pushes, up to its own ``done``, is ignored.

    ``push`` and ``end`` may be called in any thread once a loop runs: they pass through it.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._buffer: deque[T] = deque()
        self._large: deque[tuple[T, int]] = deque()
        """The events of the buffer that take more than the least, and how much more, in order."""
        self._more = 0  # the sum of that
        self._ended = False
        self._overflowed = False
        self._waiter: asyncio.Future[None] | None = None
        self._reading = self._readers = 0
        self._thread = get_ident()
        self._room = 0
        """How many events the buffer may hold, as long as a push needs no second look."""
        try:
            self._loop: asyncio.AbstractEventLoop | None = asyncio.get_running_loop()
        except RuntimeError:
            self._loop = None
        self._measure_room()

    @property
    def overflowed(self) -> bool:
        """Whether the running turn was ended here: what it still pushes is ignored."""
        return self._overflowed

    def push(self, item: T) -> None:
        """Add an event for the reader; after ``end`` it is ignored."""
        event: Any = item
        if (
            len(self._buffer) < self._room
            and type(event) is Partial  # of these there are many
            and len(event.text) < _SHORT
            and get_ident() == self._thread
        ):
            self._buffer.append(item)
        elif self._loop is not None and get_ident() != self._thread:
            self._pass_to_loop(self.push, item)
        elif self._overflowed and _ends_turn(item):
            self._overflowed = False
            self._measure_room()
        elif not (self._ended or self._overflowed):
            self._add(item)

    def end(self) -> None:
        """Say that nothing more comes: readers drain what is buffered, then stop."""
        if self._loop is not None and get_ident() != self._thread:
            self._pass_to_loop(self.end)
            return
        self._ended = True
        self._wake()

    def __aiter__(self) -> AsyncIterator[T]:
        """A reader of its own; it takes its place when it asks for its first event."""
        self._readers += 1
        return _Reader(self, self._readers)

    def _pass_to_loop(self, call: Callable[..., None], *args: T) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(call, *args)
        except RuntimeError:
            if not self._loop.is_closed():  # else whoever would have read it is gone
                raise

    # --- the reader ---

    def _take_place(self, reader: int) -> None:
        if self._waiter is not None:
            raise SecondReader("this session is being read: it has one reader at a time")
        if reader < self._reading:
            raise SecondReader("somebody else began to read this session, and replaced this reader")
        self._reading = reader

    async def _filled(self) -> None:
        """Wait until there is an event, or until there will be none."""
        if self._waiter is not None:
            raise SecondReader("this session is being read: it has one reader at a time")
        self._loop, self._thread = asyncio.get_running_loop(), get_ident()
        self._waiter = self._loop.create_future()
        self._measure_room()
        try:
            await self._waiter
        finally:
            self._waiter = None
            self._measure_room()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
        self._measure_room()

    def _took_large(self) -> None:
        """The reader took the first of the large events."""
        self._more -= self._large.popleft()[1]
        self._measure_room()

    # --- the bound ---

    def _measure_room(self) -> None:
        if self._ended or self._overflowed or self._waiter is not None:
            self._room = 0
        else:
            self._room = (self._limit - self._more) // _LEAST

    def _held(self) -> int:
        return len(self._buffer) * _LEAST + self._more

    def _add(self, item: T) -> None:
        size = max(_LEAST, weight(item))
        fits = self._held() + size <= self._limit or _ends_turn(item)
        if not fits and not _droppable(item):
            self._drop()
            fits = self._held() + size <= self._limit
        if fits:
            self._keep(item, size)
        elif not _droppable(item):
            text = f"overflow: more than {self._limit} bytes of events wait for a reader"
            ends: tuple[Any, ...] = (Failed(error=text), Done())
            for event in ends:
                self._keep(event, _LEAST)
            self._overflowed = True
        self._wake()

    def _keep(self, item: T, size: int) -> None:
        self._buffer.append(item)
        if size > _LEAST:
            self._large.append((item, size - _LEAST))
            self._more += size - _LEAST

    def _drop(self) -> None:
        """Take out what can be spared."""
        kept = [item for item in self._buffer if not _droppable(item)]
        if len(kept) < len(self._buffer):
            self._buffer = deque(kept)
            self._large = deque(each for each in self._large if not _droppable(each[0]))
            self._more = sum(more for _, more in self._large)


class _Reader(AsyncIterator[T]):
    """Who reads. Between two events it holds nothing: it can be dropped, or cancelled, at will."""

    __slots__ = ("_number", "_queue")

    def __init__(self, queue: EventQueue[T], number: int) -> None:
        self._queue = queue
        self._number = number

    async def __anext__(self) -> T:  # the other half of the queue
        queue = self._queue
        if self._number != queue._reading:
            queue._take_place(self._number)
        while not queue._buffer:
            if queue._ended:
                raise StopAsyncIteration
            await queue._filled()
        item = queue._buffer.popleft()
        if queue._large and queue._large[0][0] is item:
            queue._took_large()
        return item


def weight(item: object) -> int:
    """About how many bytes of memory an event takes; exact for its texts."""
    total = _EVENT
    rest = [item]
    while rest:
        value = rest.pop()
        if isinstance(value, str | bytes):
            total += getsizeof(value)
        elif isinstance(value, BaseModel):
            rest.extend(value.__dict__.values())
        elif isinstance(value, dict):
            total += getsizeof(value)
            rest.extend(value)
            rest.extend(value.values())
        elif isinstance(value, list | tuple):
            total += getsizeof(value)
            rest.extend(value)
    return total


def _ends_turn(item: object) -> bool:
    return isinstance(item, Done) and item.parent_tool_use_id is None  # a subagent's end is not


def _droppable(item: object) -> bool:
    return isinstance(item, Partial | ToolProgress)
