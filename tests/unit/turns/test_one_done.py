"""However a turn misbehaves, it ends once."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barry_cli.base.problems import Refused
from barry_cli.contract.abort import Abort
from barry_cli.contract.events import (
    Done,
    Failed,
    Init,
    Partial,
    Result,
    SessionEvent,
    Text,
    UsageReported,
)
from barry_cli.contract.models import TokenUsage
from barry_cli.turns.one_done import INTERRUPTED, one_done, run_to_done

SOON = {"grace": 0.05, "closing": 0.05}
SECRET = "sk-very-secret-thing"


async def of(*events: object) -> AsyncIterator[Any]:
    for event in events:
        yield event


async def whole(stream: AsyncIterator[SessionEvent]) -> list[SessionEvent]:
    return [event async for event in stream]


async def kinds(stream: AsyncIterator[SessionEvent]) -> list[str]:
    return [event.type for event in await whole(stream)]


def error_of(events: list[SessionEvent]) -> str:
    (failed,) = (event for event in events if isinstance(event, Failed))
    return failed.error


def done_of(events: list[SessionEvent]) -> Done:
    *before, last = events
    assert isinstance(last, Done)
    assert not any(isinstance(event, Done) for event in before)
    return last


# --- ways to end ---


async def test_a_turn_that_just_ends_gets_its_done() -> None:
    assert await kinds(one_done(of(Init(harness_session_id="a"), Text(text="hi")))) == [
        "init",
        "text",
        "done",
    ]
    assert await kinds(one_done(of())) == ["done"]


async def test_what_follows_the_first_done_is_not_read() -> None:
    after: list[str] = []

    async def turn() -> AsyncIterator[SessionEvent]:
        yield Done(turns=2, duration_ms=7)
        after.append("read on")
        yield Done(turns=9)
        yield Text(text="late")

    events = await whole(one_done(turn()))
    assert events == [Done(turns=2, duration_ms=7)]
    assert after == []


async def test_the_end_of_a_subagent_is_not_that_of_the_turn() -> None:
    events = await whole(one_done(of(Done(parent_tool_use_id="1", turns=1), Text(text="on"))))
    assert [event.type for event in events] == ["text", "done"]
    assert done_of(events).turns is None


async def test_an_exception_is_an_event_without_secrets() -> None:
    async def turn() -> AsyncIterator[SessionEvent]:
        yield Text(text="hi")
        raise ValueError(f"the key {SECRET} is wrong")

    events = await whole(one_done(turn(), secrets=[SECRET]))
    assert [event.type for event in events] == ["text", "error", "done"]
    assert error_of(events).startswith("ValueError: the key ")
    assert SECRET not in str(events)


async def test_a_problem_of_ours_says_its_sentence_alone() -> None:
    async def turn() -> AsyncIterator[SessionEvent]:
        raise Refused("the harness is out")
        yield

    assert error_of(await whole(one_done(turn()))) == "the harness is out"


async def test_an_error_that_the_harness_tells_holds_no_secret_either() -> None:
    told = of(Failed(error=f"no {SECRET}"), Result(error=f"bad {SECRET}"), Text(text="fine"))
    events = await whole(one_done(told, secrets=[SECRET]))
    assert [event.type for event in events] == ["error", "result", "text", "done"]
    assert SECRET not in str(events)


@pytest.mark.parametrize("what", [None, {"type": "text"}, "text", 3, Text])
async def test_what_is_no_event_ends_the_turn(what: object) -> None:
    events = await whole(one_done(of(Text(text="hi"), what, Text(text="more"))))
    assert [event.type for event in events] == ["text", "error", "done"]
    assert "where an event belongs" in error_of(events)


@pytest.mark.parametrize(
    "error", [SystemExit(3), GeneratorExit(), asyncio.CancelledError(), RecursionError("deep")]
)
async def test_what_ends_programs_only_ends_the_turn(error: BaseException) -> None:
    async def turn() -> AsyncIterator[SessionEvent]:
        yield Text(text="hi")
        raise error

    assert await kinds(one_done(turn())) == ["text", "error", "done"]


async def test_what_cannot_be_read_at_all_is_an_error() -> None:
    nothing: Any = 3
    assert await kinds(one_done(nothing)) == ["error", "done"]


async def test_a_crash_in_the_clean_up_changes_nothing() -> None:
    async def turn() -> AsyncIterator[SessionEvent]:
        try:
            yield Text(text="hi")
            yield Done()
        finally:
            raise RuntimeError("in the clean-up")

    assert await kinds(one_done(turn())) == ["text", "done"]


async def test_a_clean_up_that_hangs_is_left_behind() -> None:
    async def turn() -> AsyncIterator[SessionEvent]:
        try:
            yield Done()
        finally:
            await asyncio.Event().wait()

    assert await kinds(one_done(turn(), **SOON)) == ["done"]


async def test_a_clean_up_is_over_before_done_is_seen() -> None:
    seen: list[str] = []

    async def turn() -> AsyncIterator[SessionEvent]:
        try:
            yield Done()
        finally:
            await asyncio.sleep(0.01)
            seen.append("cleaned")

    seen += [event.type async for event in one_done(turn())]
    assert seen == ["cleaned", "done"]


async def test_a_clean_up_that_yields_is_no_second_end() -> None:
    async def turn() -> AsyncIterator[SessionEvent]:
        try:
            yield Done()
        finally:
            yield Done()

    assert await kinds(one_done(turn())) == ["done"]


# --- stopped from outside ---


async def hanging(started: asyncio.Event, ended: list[str]) -> AsyncIterator[SessionEvent]:
    try:
        yield Text(text="hi")
        started.set()
        await asyncio.Event().wait()
    finally:
        ended.append("ended")


async def test_a_signal_stops_a_turn_that_hangs() -> None:
    signal, started, ended = Abort(), asyncio.Event(), list[str]()
    reading = asyncio.create_task(whole(one_done(hanging(started, ended), signal=signal, **SOON)))
    await started.wait()
    signal.set()
    events = await reading
    assert [event.type for event in events] == ["text", "error", "done"]
    assert error_of(events) == INTERRUPTED
    assert ended == ["ended"]


async def test_a_signal_stops_a_turn_that_never_waits() -> None:
    signal = Abort()
    ended: list[str] = []

    async def turn() -> AsyncIterator[SessionEvent]:
        try:
            while len(ended) < 2:
                yield Partial(text="x")
        finally:
            ended.append("ended")

    events: list[SessionEvent] = []
    asyncio.get_running_loop().call_soon(signal.set)
    await run_to_done(turn, collect(events), signal=signal, **SOON)
    assert [event.type for event in events[-2:]] == ["error", "done"]
    assert error_of(events) == INTERRUPTED
    assert ended == ["ended"]


async def test_a_turn_may_end_itself_when_it_is_asked_to() -> None:
    signal = Abort()

    async def turn() -> AsyncIterator[SessionEvent]:
        yield Text(text="hi")
        await signal.wait()
        await asyncio.sleep(0.02)
        yield Text(text="half")
        yield Done(turns=1)

    stream = one_done(turn(), signal=signal)
    assert (await anext(stream)).type == "text"
    signal.set()
    assert await kinds(stream) == ["text", "done"]


async def test_a_turn_that_ends_before_the_signal_was_not_interrupted() -> None:
    signal = Abort()

    async def turn() -> AsyncIterator[SessionEvent]:
        try:
            yield Text(text="all")
        finally:
            signal.set()

    assert await kinds(one_done(turn(), signal=signal)) == ["text", "done"]


async def test_a_turn_that_was_stopped_before_it_began_does_not_begin() -> None:
    signal = Abort()
    signal.set()
    events: list[SessionEvent] = []

    def start() -> AsyncIterator[SessionEvent]:
        raise AssertionError("it began")

    await run_to_done(start, collect(events), signal=signal)
    assert [event.type for event in events] == ["error", "done"]


async def test_a_turn_that_ignores_everything_is_left_behind() -> None:
    signal, started, let_go = Abort(), asyncio.Event(), asyncio.Event()

    async def turn() -> AsyncIterator[SessionEvent]:
        yield Text(text="hi")
        while not let_go.is_set():
            try:
                started.set()
                await let_go.wait()
            except asyncio.CancelledError:
                continue
        yield Text(text="late")

    events: list[SessionEvent] = []
    run = asyncio.create_task(run_to_done(turn, collect(events), signal=signal, **SOON))
    await started.wait()
    signal.set()
    await run
    assert [event.type for event in events] == ["text", "error", "done"]
    let_go.set()
    await asyncio.sleep(0.01)
    assert len(events) == 3


async def test_a_reader_that_is_cancelled_stops_the_turn_and_may_read_its_end() -> None:
    started, ended = asyncio.Event(), list[str]()
    stream = one_done(hanging(started, ended), **SOON)
    reading = asyncio.create_task(whole(stream))
    await started.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    events = await whole(stream)
    assert [event.type for event in events] == ["error", "done"]
    assert ended == ["ended"]
    assert await whole(stream) == []


async def test_closing_a_stream_stops_its_turn() -> None:
    started, ended = asyncio.Event(), list[str]()
    stream = one_done(hanging(started, ended))
    assert (await anext(stream)).type == "text"
    await started.wait()
    await stream.aclose()
    await stream.aclose()
    assert ended == ["ended"]
    assert await whole(stream) == []


async def test_closing_a_stream_that_never_began() -> None:
    stream = one_done(of(Text(text="hi")))
    await stream.aclose()
    assert await whole(stream) == []
    await stream.aclose()


async def test_a_reader_that_is_cancelled_at_once_may_read_the_end_too() -> None:
    stream = one_done(of(Text(text="hi")))
    step = stream.__anext__()
    step.send(None)  # it waits for a turn whose task has not begun
    with pytest.raises(asyncio.CancelledError):
        step.throw(asyncio.CancelledError())
    assert await kinds(stream) == ["error", "done"]


async def test_dropping_a_stream_stops_its_turn() -> None:
    started, ended = asyncio.Event(), list[str]()
    stream = one_done(hanging(started, ended))
    assert (await anext(stream)).type == "text"
    await started.wait()
    del stream
    gc.collect()
    for _ in range(10):
        await asyncio.sleep(0)
    assert ended == ["ended"]


async def test_nothing_is_left_of_a_stream_that_was_dropped_when_full() -> None:
    stream = one_done(of(*[Partial(text="x")] * 1000), **SOON)
    await anext(stream)
    await asyncio.sleep(0.01)  # it has read ahead as far as it may
    del stream
    gc.collect()
    await asyncio.sleep(0.01)
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_turn_does_not_run_far_ahead_of_its_reader() -> None:
    made: list[int] = []

    async def turn() -> AsyncIterator[SessionEvent]:
        for number in range(1000):
            made.append(number)
            yield Partial(text=str(number))

    stream = one_done(turn())
    assert await anext(stream) == Partial(text="0")
    await asyncio.sleep(0.01)
    assert len(made) < 100
    assert len(await whole(stream)) == 1000


# --- into a function ---


def collect(events: list[SessionEvent]) -> Callable[[SessionEvent], Awaitable[None]]:
    async def emit(event: SessionEvent) -> None:
        events.append(event)

    return emit


async def test_a_run_that_is_cancelled_still_emits_its_done() -> None:
    started, ended, events = asyncio.Event(), list[str](), list[SessionEvent]()
    run = asyncio.create_task(run_to_done(lambda: hanging(started, ended), collect(events), **SOON))
    await started.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert [event.type for event in events] == ["text", "error", "done"]
    assert ended == ["ended"]


async def test_a_run_that_is_cancelled_while_its_turn_cleans_up_was_not_interrupted() -> None:
    cleaning, events = asyncio.Event(), list[SessionEvent]()

    class Turn:
        def __aiter__(self) -> AsyncIterator[SessionEvent]:
            return self

        async def __anext__(self) -> SessionEvent:
            if events:
                raise StopAsyncIteration
            return Text(text="all")

        async def aclose(self) -> None:
            cleaning.set()
            await asyncio.Event().wait()

    run = asyncio.create_task(run_to_done(Turn, collect(events), grace=0.05, closing=1))
    await cleaning.wait()
    for _ in range(3):
        await asyncio.sleep(0)
    run.cancel()
    await asyncio.wait({run})
    assert run.cancelled()
    assert [event.type for event in events] == ["text", "done"]


async def test_who_cannot_take_an_event_hears_of_it() -> None:
    ended: list[str] = []

    async def emit(event: SessionEvent) -> None:
        raise OSError("disk full")

    async def turn() -> AsyncIterator[SessionEvent]:
        try:
            yield Text(text="hi")
            yield Text(text="more")
        finally:
            ended.append("ended")

    with pytest.raises(OSError, match="disk full"):
        await run_to_done(turn, emit)
    assert ended == ["ended"]


# --- what done says ---


def used(number: int, *, complete: bool = True) -> TokenUsage:
    return TokenUsage(input=number, output=number, complete=complete)


async def test_usage_is_summed_by_message_and_comes_before_done() -> None:
    events = await whole(
        one_done(
            of(
                UsageReported(id="1", usage=used(1)),
                UsageReported(id="2", usage=used(10, complete=False)),
                UsageReported(id="1", usage=used(5)),  # the same message, said again
            )
        )
    )
    assert done_of(events).usage == used(15, complete=False)


async def test_what_done_says_itself_stands() -> None:
    told = of(UsageReported(id="1", usage=used(1)), Done(usage=used(3), turns=2, duration_ms=9))
    events = await whole(one_done(told))
    assert events[-1] == Done(usage=used(3), turns=2, duration_ms=9)


async def test_usage_that_only_done_says_is_an_event_before_it() -> None:
    *before, last = await whole(one_done(of(Done(usage=used(3)))))
    assert [event.type for event in before] == ["usage"]
    assert isinstance(last, Done)
    assert last.usage == used(3)


async def test_a_turn_takes_the_time_that_it_takes() -> None:
    async def turn() -> AsyncIterator[SessionEvent]:
        await asyncio.sleep(0.02)
        yield Text(text="hi")

    done = done_of(await whole(one_done(turn())))
    assert done.duration_ms is not None
    assert done.duration_ms >= 19
    assert done.usage is None


# --- all of it at once ---

STEP = st.sampled_from(
    "text usage done subagent garbage error exit cancelled raise-generator-exit wait hang".split()
)
END = st.sampled_from("return crash yield hang-a-while".split())
STOP = st.sampled_from("none signal cancel close".split())


EVENTS: dict[str, Any] = {
    "text": Text(text="hi"),
    "usage": UsageReported(id="1", usage=used(1)),
    "done": Done(),
    "subagent": Done(parent_tool_use_id="1"),
    "garbage": {"type": "text"},
}
ERRORS: dict[str, BaseException] = {
    "error": ValueError(SECRET),
    "exit": SystemExit(SECRET),
    "cancelled": asyncio.CancelledError(),
    "raise-generator-exit": GeneratorExit(),
}


async def misbehave(steps: list[str], end: str) -> AsyncIterator[Any]:
    try:
        for step in steps:
            if step in EVENTS:
                yield EVENTS[step]
            elif step in ERRORS:
                raise ERRORS[step]
            elif step == "wait":
                await asyncio.sleep(0)
            else:
                await asyncio.Event().wait()
    finally:
        if end == "crash":
            raise RuntimeError(SECRET)
        if end == "yield":
            yield Done()
        if end == "hang-a-while":
            await asyncio.sleep(0.01)


@given(steps=st.lists(STEP, max_size=6), end=END, stop=STOP, after=st.integers(0, 4))
@settings(deadline=None, max_examples=150)
def test_every_turn_ends_with_exactly_one_done(
    steps: list[str], end: str, stop: str, after: int
) -> None:
    if "hang" in steps and stop == "none":
        stop = "signal"

    async def run() -> None:
        signal = Abort()
        stream = one_done(
            misbehave(steps, end), signal=signal, secrets=[SECRET], grace=0.001, closing=0.001
        )
        events: list[SessionEvent] = []

        async def read() -> None:
            while (event := await anext(stream, None)) is not None:
                events.append(event)

        reading = asyncio.create_task(read())
        for _ in range(after + 1):  # it reads, at least
            await asyncio.sleep(0)
        if stop == "signal":
            signal.set()
        elif stop == "cancel":
            reading.cancel()
            await asyncio.wait({reading})
            await read()  # another reader takes it up
        elif stop == "close":
            await stream.aclose()
        await asyncio.wait({reading}, timeout=5)
        assert reading.done()
        assert reading.cancelled() or reading.exception() is None
        if stop != "close":
            done_of(events)
        assert sum(isinstance(event, Done) for event in events) <= 1
        assert SECRET not in str(events)

    asyncio.run(run())
