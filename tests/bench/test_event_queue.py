"""What it costs that each event is delivered once, in order, within a bound."""

from __future__ import annotations

import asyncio
import gc
import time
from collections import deque
from collections.abc import AsyncIterator

from barry_cli.contract.events import Partial
from barry_cli.turns.event_queue import EventQueue
from tests.bench.measure import race, show

COUNT = 5_000  # so few that some rounds are disturbed by nobody
ROUNDS = 201
EVENTS = [Partial(text=f"word {number % 100} ") for number in range(COUNT)]
BARE = "a deque, read by async for"


def plain_deque() -> float:
    """No reader that could wait: what the interpreter's own loops take."""
    began, buffer = time.process_time(), deque[Partial]()
    for event in EVENTS:
        buffer.append(event)
    while buffer:
        buffer.popleft()
    return (time.process_time() - began) * 1000


async def drained(buffer: deque[Partial]) -> AsyncIterator[Partial]:
    while buffer:
        yield buffer.popleft()


def bare_deque() -> float:
    """The same loops as a session and its reader have, over a deque and nothing else."""

    async def run() -> float:
        began, buffer = time.process_time(), deque[Partial]()
        for event in EVENTS:
            buffer.append(event)
        async for _ in drained(buffer):
            pass
        return (time.process_time() - began) * 1000

    return asyncio.run(run())


def event_queue() -> float:
    async def run() -> float:
        began, queue = time.process_time(), EventQueue[Partial](1 << 30)
        for event in EVENTS:
            queue.push(event)
        queue.end()
        count = 0
        async for _ in queue:
            count += 1
        took = (time.process_time() - began) * 1000
        assert count == COUNT
        return took

    return asyncio.run(run())


def test_pushing_and_pulling() -> None:
    gc.collect()
    figures = race(
        {BARE: bare_deque, "a deque, in plain loops": plain_deque, "EventQueue": event_queue},
        rounds=ROUNDS,
    )
    show(f"{COUNT} events pushed, then pulled", figures, BARE)
    ratio = figures["EventQueue"].least / figures[BARE].least
    assert ratio < 4, f"{1 / ratio:.0%} of a bare deque"
