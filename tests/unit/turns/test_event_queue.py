"""Events between who pushes and who reads: each once, in order, bounded."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barry_cli.contract.events import (
    Done,
    Failed,
    Partial,
    SessionEvent,
    Text,
    ToolProgress,
    ToolResult,
    ToolUse,
)
from barry_cli.turns.event_queue import EventQueue, SecondReader, weight


async def read(reader: AsyncIterator[Any], number: int) -> list[Any]:
    return [await anext(reader) for _ in range(number)]


def filled(events: Iterable[Any], limit: int = 1 << 20) -> EventQueue[Any]:
    queue: EventQueue[Any] = EventQueue(limit)
    for event in events:
        queue.push(event)
    return queue


async def drained(queue: EventQueue[Any]) -> list[Any]:
    queue.end()
    return [event async for event in queue]


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


ONE, TWO, THREE, FOUR = SHORT = [Partial(text=str(number)) for number in range(4)]
kinds = pytest.mark.parametrize(
    "items", [[1, 2, 3, 4], SHORT, [Text(text=f"{number}" * 2000) for number in range(4)]],
    ids=["any", "short", "long"],
)  # fmt: skip


@kinds
async def test_what_is_pushed_while_nobody_reads_waits(items: list[Any]) -> None:
    queue = filled(items[:3])
    assert await read(aiter(queue), 2) == items[:2]
    queue.push(items[3])
    assert await drained(queue) == items[2:]
    assert await drained(queue) == []


@kinds
async def test_a_reader_that_waits_is_woken(items: list[Any]) -> None:
    queue: EventQueue[Any] = EventQueue()
    waiting = asyncio.create_task(read(aiter(queue), 3))
    await settle()
    queue.push(items[0])
    queue.push(items[1])
    await settle()
    assert not waiting.done()
    queue.push(items[2])
    assert await waiting == items[:3]


async def test_the_end_reaches_a_reader_that_waits() -> None:
    queue: EventQueue[int] = EventQueue()
    reader = aiter(queue)
    waiting = asyncio.create_task(anext(reader, "over"))
    await settle()
    queue.end()
    queue.end()
    assert await waiting == "over"


@kinds
async def test_after_the_end_nothing_is_taken(items: list[Any]) -> None:
    queue = filled(items[:1])
    queue.end()
    queue.push(items[1])
    assert await drained(queue) == items[:1]


async def test_a_reader_may_stop_and_another_begin() -> None:
    queue = filled(range(6))
    async for item in queue:
        if item == 1:
            break
    assert await read(aiter(queue), 2) == [2, 3]
    assert await drained(queue) == [4, 5]


async def test_a_reader_that_is_cancelled_loses_nothing() -> None:
    queue: EventQueue[int] = EventQueue()
    reader = aiter(queue)
    waiting = asyncio.create_task(read(reader, 1))
    await settle()
    queue.push(1)  # wakes it, and it is cancelled before it runs
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    queue.push(2)
    assert await read(reader, 2) == [1, 2]


async def test_a_second_reader_is_an_error_while_the_first_waits() -> None:
    queue: EventQueue[int] = EventQueue()
    first = aiter(queue)
    waiting = asyncio.create_task(read(first, 1))
    await settle()
    with pytest.raises(SecondReader):
        await anext(aiter(queue))
    with pytest.raises(SecondReader):
        await anext(first)  # the same reader, twice at a time
    queue.push(1)
    assert await waiting == [1]
    queue.push(2)
    assert await read(first, 1) == [2]  # nothing happened to the first
    queue.push(3)
    assert await read(aiter(queue), 1) == [3]  # and a later one is none


async def test_a_reader_that_was_replaced_is_told() -> None:
    queue = filled([1, 2, 3])
    first = aiter(queue)
    assert await read(first, 1) == [1]
    assert await read(aiter(queue), 1) == [2]
    with pytest.raises(SecondReader, match="replaced"):
        await anext(first)
    assert await drained(queue) == [3]


def test_pushes_of_other_threads_arrive_in_their_order() -> None:
    count, threads = 500, 4

    async def run() -> list[tuple[int, int]]:
        queue: EventQueue[tuple[int, int]] = EventQueue()

        def push(thread: int) -> None:
            for number in range(count):
                queue.push((thread, number))

        workers = [threading.Thread(target=push, args=(number,)) for number in range(threads)]
        waiting = asyncio.create_task(read(aiter(queue), count * threads))
        for worker in workers:
            worker.start()
        found = await waiting
        await asyncio.to_thread(lambda: [worker.join() for worker in workers])
        await asyncio.to_thread(queue.end)
        assert await drained(queue) == []
        return found

    found = asyncio.run(run())
    assert len(set(found)) == count * threads
    for thread in range(threads):
        assert [number for each, number in found if each == thread] == list(range(count))


@kinds
async def test_what_another_thread_pushes_goes_through_the_loop(items: list[Any]) -> None:
    queue: EventQueue[Any] = EventQueue()
    for number, push in enumerate((lambda: queue.push(items[0]), queue.end)):
        thread = threading.Thread(target=push)
        thread.start()
        thread.join()
        assert (len(queue._buffer), queue._ended) == (number, False)
        await asyncio.sleep(0)
    assert (len(queue._buffer), queue._ended) == (1, True)


def test_a_push_when_the_loop_is_gone_is_no_error() -> None:
    async def make() -> EventQueue[int]:
        return EventQueue()

    queue = asyncio.run(make())
    thread = threading.Thread(target=queue.push, args=(1,))
    thread.start()
    thread.join()


def test_a_queue_may_be_made_and_filled_before_its_loop_runs() -> None:
    queue = filled([1, 2])
    thread = threading.Thread(target=queue.push, args=(3,))
    thread.start()
    thread.join()
    assert asyncio.run(drained(queue)) == [1, 2, 3]


# --- the bound ---

LONG = "x" * 4_000


async def test_partial_texts_and_progress_are_dropped_first() -> None:
    loose = [Partial(text=LONG), ToolProgress(id="1", tool="sh", elapsed_seconds=1.0)]
    kept = [ToolUse(id="1", tool="sh", input={"command": LONG}), Text(text=LONG)]
    queue = filled([*loose, kept[0]], limit=12_000)
    queue.push(Partial(text=LONG))  # doesn't fit: dropped itself
    queue.push(kept[1])  # doesn't fit: takes the place of what can be spared
    assert not queue.overflowed
    assert await drained(queue) == kept


async def test_anything_else_ends_its_turn_and_the_next_one_is_whole() -> None:
    queue = filled([Text(text=LONG), Text(text=LONG), Text(text="last")], limit=10_500)
    assert not queue.overflowed
    queue.push(Text(text=LONG))
    assert queue.overflowed
    queue.push(Text(text="more of that turn"))
    queue.push(ONE)
    queue.push(Failed(error="and its end"))
    queue.push(Done(turns=3))
    assert not queue.overflowed
    first: list[SessionEvent] = await read(aiter(queue), 5)
    assert [event.type for event in first] == ["text", "text", "text", "error", "done"]
    failed = first[3]
    assert isinstance(failed, Failed)
    assert failed.error.startswith("overflow: ")
    queue.push(Text(text=LONG))
    queue.push(Done())
    assert [event.type for event in await drained(queue)] == ["text", "done"]


async def test_one_event_that_is_too_big_ends_its_turn() -> None:
    queue = filled([ToolResult(result=[{"deep": LONG * 5}]), ONE, ONE], limit=10_000)
    assert [event.type for event in await drained(queue)] == ["error", "done"]


async def test_a_done_always_fits() -> None:
    queue = filled([Text(text=LONG), Done(), Done()], limit=5_500)
    assert [event.type for event in await drained(queue)] == ["text", "done", "done"]


async def test_a_subagents_done_ends_no_turn() -> None:
    queue: EventQueue[Any] = EventQueue(5_500)
    queue.push(Text(text=LONG * 5))
    queue.push(Done(parent_tool_use_id="call"))
    queue.push(Text(text="of the turn that was ended"))
    queue.push(Done())
    queue.push(Text(text="next"))
    assert [event.type for event in await drained(queue)] == ["error", "done", "text"]


async def test_an_overflow_wakes_who_waits() -> None:
    queue: EventQueue[SessionEvent] = EventQueue(100)
    waiting = asyncio.create_task(read(aiter(queue), 2))
    await settle()
    queue.push(Text(text=LONG))
    assert [event.type for event in await waiting] == ["error", "done"]


async def test_an_ended_queue_stays_ended_after_an_overflow() -> None:
    queue = filled([Text(text=LONG)], limit=100)
    queue.end()
    queue.push(Done())
    queue.push(Text(text="late"))
    assert [event.type for event in await drained(queue)] == ["error", "done"]


def test_every_text_of_an_event_weighs() -> None:
    for event in (
        Text(text=LONG),
        ToolUse(id="1", tool="sh", input={"a": [{"b": LONG}]}),
        ToolUse(id="1", tool="sh", input={LONG: 1}),
        ToolResult(result=(LONG,)),
        LONG.encode(),
    ):
        assert len(LONG) < weight(event) < len(LONG) + 4_000
    assert weight(Text(text="\N{PILE OF POO}" * 1000)) > 4_000


EVENTS = st.one_of(
    st.integers(0, 3_000).map(lambda size: Partial(text="p" * size)),
    st.integers(0, 3_000).map(lambda size: Text(text="t" * size)),
    st.just(ToolProgress(id="1", tool="sh", elapsed_seconds=0.5)),
    st.just(Done()),
)
STEPS = st.lists(EVENTS | st.just("read"), max_size=60)


@given(steps=STEPS, limit=st.integers(500, 20_000))
@settings(deadline=None)
def test_what_is_held_stays_within_the_bound(steps: list[Any], limit: int) -> None:
    """Whatever is pushed and read: bounded, in order, and each turn with its one done."""

    async def run() -> None:
        queue: EventQueue[Any] = EventQueue(limit)
        pushed, got, done = [], [], 0
        for step in steps:
            if step == "read":
                if queue._buffer:
                    got += await read(aiter(queue), 1)
                continue
            pushed.append(step)
            done += isinstance(step, Done)
            queue.push(step)
            sizes = [max(1024, weight(event)) for event in queue._buffer]
            ends = sum(isinstance(event, Done | Failed) for event in queue._buffer)
            assert queue._held() == sum(sizes)
            assert queue._held() - 1024 * ends <= limit
        open_end = queue.overflowed
        got += await drained(queue)
        assert sum(isinstance(event, Done) for event in got) == done + open_end
        kept = [event for event in got if event in pushed and not isinstance(event, Done)]
        rest = iter(pushed)
        assert all(event in rest for event in kept)  # in order, none twice
        if not any(isinstance(event, Failed) for event in got):
            assert [event for event in pushed if isinstance(event, Text)] == [
                event for event in got if isinstance(event, Text)
            ]

    asyncio.run(run())
