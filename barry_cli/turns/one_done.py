"""One turn, read from its harness to its end: exactly one ``done``, whatever happens (seed 001).

``run_to_done`` pushes a turn into a function; ``one_done`` is the same as a stream.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from functools import partial
from typing import cast

from barry_cli.base.secrets import redact
from barry_cli.contract.abort import Abort
from barry_cli.contract.continuation import Emit
from barry_cli.contract.data import Data
from barry_cli.contract.events import Done, Failed, Result, SessionEvent, UsageReported
from barry_cli.contract.models import TokenUsage
from barry_cli.turns.told import told
from barry_cli.turns.usage import total
from barry_cli.turns.waits import stopped

GRACE = 5.0
"""Seconds that a turn has to end by itself, once it is asked to stop."""

CLOSING = 5.0
"""Seconds that a turn's own clean-up may take."""

INTERRUPTED = "interrupted"
"""What an ``error`` says when a turn was stopped from outside."""

_AHEAD = 64  # events that are read before their reader asks
_IN_A_ROW = 64  # events that are read before others get their turn of the loop

log = logging.getLogger(__name__)


async def run_to_done(
    start: Callable[[], AsyncIterable[SessionEvent]],
    emit: Emit,
    *,
    signal: Abort | None = None,
    secrets: Sequence[str] = (),
    grace: float = GRACE,
    closing: float = CLOSING,
) -> None:
    """Emit the events of the turn that ``start`` begins, and exactly one ``done`` as the last.

    The turn is over at its first ``done`` of the main thread; what comes after that is not read.
    Its own clean-up is over, or given up, before ``done`` is emitted. An error of the turn becomes
    an ``error`` event, without ``secrets``, and so does a stop from outside: by ``signal``, which
    leaves the turn ``grace`` seconds to end by itself, or by cancelling this, which doesn't.
    ``done`` gets the time that the turn took and the sum of its ``usage`` events where it doesn't
    say these itself; the usage that it says is also emitted before it, unless events did that.

    Raises CancelledError when cancelled, and what ``emit`` raised: both after the turn has ended.
    """
    turn = _Turn(emit, secrets)
    cancelled = False
    if signal is not None and signal.is_set():
        turn.stopped = True
    else:
        cancelled = await _read_bounded(turn, start, signal, grace, closing)
    finishing = asyncio.create_task(turn.finish())
    try:
        await asyncio.wait({finishing})
    except asyncio.CancelledError:
        cancelled = True
        await asyncio.wait({finishing}, timeout=closing)
    if cancelled:
        raise asyncio.CancelledError
    if turn.broken is not None:
        raise turn.broken


def one_done(
    events: AsyncIterable[SessionEvent],
    *,
    signal: Abort | None = None,
    secrets: Sequence[str] = (),
    grace: float = GRACE,
    closing: float = CLOSING,
) -> TurnStream:
    """The same turn as a stream that never raises and ends with exactly one ``done``.

    A reader that is cancelled stops the turn; who goes on reading after that gets the rest of it:
    an ``error`` and its ``done``. ``aclose``, or dropping the stream, stops the turn as well.
    """
    return TurnStream(events, signal=signal, secrets=secrets, grace=grace, closing=closing)


class TurnStream(AsyncIterator[SessionEvent]):
    """What ``one_done`` gives."""

    def __init__(
        self,
        events: AsyncIterable[SessionEvent],
        *,
        signal: Abort | None,
        secrets: Sequence[str],
        grace: float,
        closing: float,
    ) -> None:
        self._events = events
        self._hand = hand = _Hand()
        self._run = partial(
            run_to_done,
            lambda: events,
            hand.put,
            signal=signal,
            secrets=secrets,
            grace=grace,
            closing=closing,
        )
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __anext__(self) -> SessionEvent:
        if self._task is None and not self._hand.closed:
            self._loop = asyncio.get_running_loop()
            self._task = asyncio.create_task(self._run())
            self._task.add_done_callback(self._hand.finish)
        try:
            return await self._hand.get()
        except asyncio.CancelledError:
            if self._task is not None:
                self._task.cancel()
            raise

    async def aclose(self) -> None:
        """Stop the turn, if it runs, and drop what wasn't read."""
        self._hand.drop()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        elif not self._hand.closed:
            self._hand.closed = True
            await _close(self._events)

    def __del__(self) -> None:  # dropped by its reader
        task, loop = self._task, self._loop
        if task is not None and loop is not None and not task.done() and not loop.is_closed():
            self._hand.drop()
            loop.call_soon_threadsafe(task.cancel)


class _Hand:
    """Events passed from one task to another, a few of them ahead."""

    def __init__(self) -> None:
        self.closed = False
        self._done = False
        self._dropped = False
        self._events: deque[SessionEvent] = deque()
        self._moved = asyncio.Event()

    async def put(self, event: SessionEvent) -> None:
        while len(self._events) >= _AHEAD and not self._dropped:
            self._moved.clear()
            await self._moved.wait()
        self._done = self._done or isinstance(event, Done)
        if not self._dropped:
            self._events.append(event)
            self._moved.set()

    async def get(self) -> SessionEvent:
        while not self._events:
            if self.closed:
                raise StopAsyncIteration
            self._moved.clear()
            await self._moved.wait()
        self._moved.set()
        return self._events.popleft()

    def drop(self) -> None:
        self._dropped = True
        self._events.clear()
        self._moved.set()

    def finish(self, task: asyncio.Task[None]) -> None:
        """The task that put events in has ended."""
        if not task.cancelled():
            task.exception()  # seen: to put an event in never fails
        elif not (self._done or self._dropped):  # it was cancelled before it began
            self._events += (Failed(error=INTERRUPTED), Done())
        self.closed = True
        self._moved.set()


class _Turn:
    """What a turn has said so far."""

    def __init__(self, emit: Emit, secrets: Sequence[str]) -> None:
        self.broken: Exception | None = None
        """What ``emit`` raised."""
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Set once nothing more is read of it; its clean-up may still run."""
        self.stopped = False
        """Whether it was stopped from outside before it ended."""
        self._emit = emit
        self._secrets = secrets
        self._began = time.monotonic()
        self._over = False
        self._done: Done | None = None
        self._error: str | None = None
        self._usage: dict[str, TokenUsage] = {}

    async def read(self, start: Callable[[], AsyncIterable[SessionEvent]]) -> None:
        """Read it to its end and close it; never raises what it raises."""
        stream: AsyncIterator[SessionEvent] | None = None
        try:
            stream = aiter(start())
            read = 0
            async for event in stream:
                if self._over or not await self._take(event):
                    break
                read += 1
                if read % _IN_A_ROW == 0:  # a stream that never waits would keep the loop
                    await asyncio.sleep(0)
        except (Exception, SystemExit, GeneratorExit, asyncio.CancelledError) as error:
            self._error = self._sentence(error)
        finally:
            if not self.ended.done():
                self.ended.set_result(None)
            await _close(stream)

    async def finish(self) -> None:
        """Emit its end."""
        self._over = True
        if self.stopped and self._done is None:
            self._error = INTERRUPTED
        said = self._done or Done()
        try:
            if self._error is not None:
                await self._emit(Failed(error=self._error))
            if said.usage is not None and not self._usage:
                await self._emit(UsageReported(id="turn", usage=said.usage))
            took = round((time.monotonic() - self._began) * 1000)
            await self._emit(
                Done(
                    usage=said.usage or total(self._usage.values()),
                    turns=said.turns,
                    duration_ms=took if said.duration_ms is None else said.duration_ms,
                )
            )
        except Exception as error:
            self.broken = self.broken or error

    async def _take(self, event: object) -> bool:
        """Emit one event of it; False when it was the last."""
        if isinstance(event, Done):
            if event.parent_tool_use_id is None:
                self._done = event
            return event.parent_tool_use_id is not None  # a subagent's end is not the turn's
        if not isinstance(event, Data) or not hasattr(event, "parent_tool_use_id"):
            self._error = f"the harness gave a {type(event).__name__} where an event belongs"
            return False
        if isinstance(event, UsageReported):
            self._usage[event.id] = event.usage
        elif isinstance(event, Failed | Result) and event.error is not None and self._secrets:
            event = event.model_copy(update={"error": redact(event.error, self._secrets)})
        try:
            await self._emit(cast(SessionEvent, event))
        except Exception as error:
            self.broken = error
            return False
        return True

    def _sentence(self, error: BaseException) -> str:
        if isinstance(error, asyncio.CancelledError):
            return "the turn was cancelled from within"
        return told(error, list(self._secrets))


async def _read_bounded(
    turn: _Turn,
    start: Callable[[], AsyncIterable[SessionEvent]],
    signal: Abort | None,
    grace: float,
    closing: float,
) -> bool:
    """Read a turn in a task of its own, so that one that doesn't stop is left behind.

    Gives whether this was cancelled meanwhile.
    """
    reading = asyncio.create_task(turn.read(start))
    asked = asyncio.create_task(signal.wait()) if signal is not None else None
    cancelled = False
    try:
        await asyncio.wait(
            {turn.ended, asked} if asked else {turn.ended}, return_when=asyncio.FIRST_COMPLETED
        )
        if not turn.ended.done():
            turn.stopped = True
            await asyncio.wait({turn.ended}, timeout=grace)
        if turn.ended.done():
            await asyncio.wait({reading}, timeout=closing)
    except asyncio.CancelledError:
        cancelled = True
        turn.stopped = turn.stopped or not turn.ended.done()
    if asked is not None:
        asked.cancel()
    try:
        await stopped("a turn", reading, closing)
    except asyncio.CancelledError:
        cancelled = True
    return cancelled


async def _close(stream: object) -> None:
    """Close a generator; how that fails is nobody's concern any more."""
    close = getattr(stream, "aclose", None)
    if close is None:
        return
    try:
        await close()
    except (Exception, SystemExit, GeneratorExit, asyncio.CancelledError) as error:
        log.debug("the clean-up of a turn failed: %s", type(error).__name__)
