"""Events on their way to the log: in order, in few commits, and never lost without a word."""

from __future__ import annotations

import asyncio

import pytest

from barry_cli.base.problems import Refused, StoreProblem
from barry_cli.contract.events import Done, Failed, Partial, SessionEvent, Text, ToolProgress
from barry_cli.contract.models import TokenUsage
from barry_cli.turns.recorder import Recorder, WakeUp


class Log:
    """A store that only takes events."""

    def __init__(self) -> None:
        self.commits: list[list[SessionEvent]] = []
        self.broken = False

    def append(self, session_id: str, turn_id: str, event: SessionEvent) -> int:
        return self.append_many(session_id, turn_id, [event])

    def append_many(self, session_id: str, turn_id: str, events: list[SessionEvent]) -> int:
        if self.broken:
            raise StoreProblem("the disk is full")
        self.commits.append(list(events))
        return sum(map(len, self.commits))

    def last_sequence(self, session_id: str) -> int:
        return sum(map(len, self.commits))

    @property
    def texts(self) -> list[str]:
        return [getattr(event, "text", event.type) for each in self.commits for event in each]


def recorder(log: Log, woken: list[int] | None = None) -> Recorder:
    wake_up = WakeUp(log, lambda session_id, number: (woken or []).append(number))  # type: ignore[arg-type] - as much of a store as this needs
    return Recorder(log, wake_up, "s", "t")  # type: ignore[arg-type] - as above


async def test_passing_events_are_recorded_together() -> None:
    log, woken = Log(), [0]
    recording = recorder(log, woken)
    for number in range(200):
        await recording.emit(Partial(text=str(number)))
    await recording.emit(ToolProgress(id="c", tool="Shell", elapsed_seconds=1))
    await recording.emit(Text(text="whole"))
    assert log.texts == [*map(str, range(200)), "tool_progress", "whole"]
    assert [len(each) for each in log.commits] == [64, 64, 64, 9, 1]
    assert woken == [0, 64, 128, 192, 201, 202]


async def test_they_do_not_wait_for_long() -> None:
    log = Log()
    recording = recorder(log)
    await recording.emit(Partial(text="a"))
    await recording.emit(Partial(text="b"))
    assert log.commits == []
    for _ in range(500):
        if log.commits:
            break
        await asyncio.sleep(0.01)
    assert log.texts == ["a", "b"]
    recording.close()
    assert len(log.commits) == 1


async def test_none_is_left_when_the_segment_is_over() -> None:
    log = Log()
    recording = recorder(log)
    await recording.emit(Partial(text="a"))
    await recording.emit(Done(usage=TokenUsage(input=1, output=1)))
    recording.close()
    recording.close()
    assert log.texts == ["a", "usage"]
    with pytest.raises(Refused):
        await recording.emit(Partial(text="late"))


@pytest.mark.parametrize("event", [Partial(text="a"), Text(text="a")], ids=["partial", "text"])
async def test_a_failure_is_kept(event: SessionEvent, caplog: pytest.LogCaptureFixture) -> None:
    log = Log()
    log.broken = True
    recording = recorder(log)
    if isinstance(event, Text):
        with pytest.raises(StoreProblem):
            await recording.emit(event)
    else:
        await recording.emit(event)
        recording.close()
        assert "the disk is full" in caplog.text
    assert isinstance(recording.failure, StoreProblem)


async def test_an_error_that_stands_in_the_log_is_not_said_again() -> None:
    recording = recorder(Log())
    await recording.emit(Failed(error="one"))
    assert recording.last_events("one") == (Done(),)
    assert recording.last_events("two") == (Failed(error="two"), Done())
    assert recording.last_events(None) == (Done(),)
