"""Runs whose answer is data: asked for, checked, asked for again, closed on every path."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from barry_cli.base.problems import HarnessNotFound, Refused
from barry_cli.contract.abort import Abort
from barry_cli.contract.events import (
    Done,
    Failed,
    Init,
    Partial,
    Result,
    SessionEvent,
    Text,
    ToolUse,
)
from barry_cli.contract.models import Endpoint
from barry_cli.contract.session import Session
from barry_cli.turns import structured
from barry_cli.turns.fences import extract_fence
from barry_cli.turns.per_turn import PerTurnOptions, per_turn_session
from barry_cli.turns.structured import (
    StructuredRun,
    StructuredRunFailed,
    StructuredRunStopped,
    run_structured,
    structured_output_for,
)
from tests.unit.turns.test_per_turn import PROMISED

SCHEMA = {
    "type": "object",
    "properties": {"age": {"type": "integer"}, "name": {"type": "string"}},
    "required": ["age"],
    "additionalProperties": False,
}
Reply = list[SessionEvent] | Exception
HANG = object()


def fence(value: object) -> str:
    return f"Here it is.\n\n````json\n{json.dumps(value)}\n````"


@dataclass
class Sessions:
    """Starts sessions that answer what they were made for, and remembers them."""

    replies: list[Any]
    prompts: list[str] = field(default_factory=list)
    schemas: list[Any] = field(default_factory=list)
    made: list[Session] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    delivered: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self) -> Session:
        name = str(len(self.made))
        reply = self.replies[len(self.made)]

        async def run_turn(
            content: str, *, harness_session_id: str | None, signal: Abort, output_schema: Any
        ) -> AsyncIterator[SessionEvent]:
            assert harness_session_id is None, "a conversation went on"
            self.prompts.append(content)
            self.schemas.append(output_schema)
            self.delivered.set()
            yield Init(harness_session_id=f"conversation-{name}")
            if reply is HANG:
                try:
                    await asyncio.Event().wait()
                finally:
                    self.stopped.append(name)
            for event in [Text(text=reply)] if isinstance(reply, str) else reply:
                yield event

        async def close() -> None:
            self.closed.append(name)

        options = PerTurnOptions(
            id=name, guarantees=PROMISED, run_turn=run_turn, close=close, grace=0.02
        )
        self.made.append(per_turn_session(options))
        return self.made[-1]

    def run(self, **changes: Any) -> StructuredRun:
        asked = {"prompt": "Who?", "schema": SCHEMA, "structured_output": "prompted"}
        return StructuredRun(**{**asked, "start": self.start, **changes})

    def all_closed(self) -> bool:
        return self.closed == [session.id for session in self.made]


# --- prompted ---


async def test_an_answer_that_fits_is_taken() -> None:
    sessions = Sessions([fence({"age": 3})])
    reply = await run_structured(sessions.run())
    assert reply.data == {"age": 3}
    assert reply.raw == fence({"age": 3})
    assert reply.harness_session_id == "conversation-0"
    (prompt,) = sessions.prompts
    assert prompt.startswith("Who?\n")
    assert json.loads(extract_fence(prompt, structured.LABEL) or "") == SCHEMA
    assert "four backticks" in prompt
    assert sessions.schemas == [None]
    assert sessions.all_closed()


@pytest.mark.parametrize(
    ("first", "error"),
    [
        ("I don't know", "no block"),
        (fence({"name": "x"}), "'age' is a required property"),
        (fence({"age": "3"}), "$.age: '3' is not of type 'integer'"),
        ("````json\n{age: 3}\n````", "can't be read"),
        ('````json\n{"age": 1, "age": 2}\n````', "twice"),
        ("````json\nNaN\n````", "can't be read"),
        ("", "no block"),
    ],
)
async def test_what_does_not_fit_is_asked_for_again(first: str, error: str) -> None:
    sessions = Sessions([first, fence({"age": 3})])
    reply = await run_structured(sessions.run())
    assert reply.data == {"age": 3}
    again = sessions.prompts[1]
    assert again.startswith("Who?\n")
    assert first in again
    assert error in again
    assert len({session.id for session in sessions.made}) == 2
    assert sessions.all_closed()


@pytest.mark.parametrize(("retries", "attempts"), [(None, 2), (0, 1), (3, 4), (-1, 1)])
async def test_it_gives_up_and_says_why(retries: int | None, attempts: int) -> None:
    sessions = Sessions([fence({"age": "3", "more": 1})] * 9)
    changes = {} if retries is None else {"max_retries": retries}
    with pytest.raises(StructuredRunFailed) as raised:
        await run_structured(sessions.run(**changes))
    problem = raised.value
    assert len(problem.errors) == 2
    assert all(error in problem.message for error in problem.errors)
    assert problem.exit_code == 1
    assert len(sessions.made) == attempts
    assert sessions.all_closed()


@pytest.mark.parametrize(
    "events",
    [
        [Text(text=fence({"age": 1})), Text(text=fence({"age": 3}))],
        [Text(text=fence({"age": 1})), Result(result=fence({"age": 3}))],
        [Text(text=fence({"age": 3})), Text(text="That is all.")],
        [Text(text="````json"), Text(text='{"age": 3}'), Text(text="````")],
        [Text(text=fence({"age": 3})), Text(text=fence({"age": 1}), role="user")],
        [Text(text=fence({"age": 3})), Text(text=fence({"age": 1}), parent_tool_use_id="1")],
        [Result(result=fence({"age": 1}), parent_tool_use_id="1"), Text(text=fence({"age": 3}))],
        [Text(text=fence({"age": 3})), Partial(text="x"), ToolUse(id="1", tool="sh", input={})],
        [Failed(error="a hiccup"), Text(text=fence({"age": 3}))],
    ],
)
async def test_the_answer_is_the_last_word_of_the_main_thread(events: list[SessionEvent]) -> None:
    assert (await run_structured(Sessions([events]).run())).data == {"age": 3}


@pytest.mark.parametrize(
    "events", [[Failed(error="no credit")], [Text(text="hm"), Result(error="no credit")]]
)
async def test_a_turn_that_failed_is_not_asked_again(events: list[SessionEvent]) -> None:
    sessions = Sessions([events, fence({"age": 3})])
    with pytest.raises(StructuredRunFailed, match="no credit"):
        await run_structured(sessions.run())
    assert len(sessions.made) == 1
    assert sessions.all_closed()


async def test_braces_in_what_is_asked_stay() -> None:
    sessions = Sessions(["{0} {x}", fence({"age": 3})])
    await run_structured(sessions.run(prompt="{prompt} {}"))
    assert sessions.prompts[1].startswith("{prompt} {}\n")
    assert "{0} {x}" in sessions.prompts[1]


async def test_a_long_answer_is_cut_when_it_is_shown_again() -> None:
    sessions = Sessions(["x" * 100_000, fence({"age": 3})])
    await run_structured(sessions.run())
    assert len(sessions.prompts[1]) < 30_000


# --- native ---


def native(value: Any) -> list[SessionEvent]:
    return [Result(result="text", structured=value)]


async def test_the_harness_enforces_the_schema() -> None:
    sessions = Sessions([native({"age": 3})])
    reply = await run_structured(sessions.run(structured_output="native"))
    assert (reply.data, reply.raw) == ({"age": 3}, "text")
    assert sessions.prompts == ["Who?"]
    assert sessions.schemas == [SCHEMA]
    assert sessions.all_closed()


async def test_null_is_an_answer_and_none_is_not() -> None:
    run = Sessions([native(None)]).run(structured_output="native", schema={"type": "null"})
    assert (await run_structured(run)).data is None
    for events in ([Result(result="text")], [Text(text="null")]):
        run = Sessions([events]).run(structured_output="native", schema={"type": "null"})
        with pytest.raises(StructuredRunFailed, match="no structured result"):
            await run_structured(run)


async def test_what_the_harness_enforced_is_checked_once() -> None:
    sessions = Sessions([native({"age": "3"}), native({"age": 3})])
    with pytest.raises(StructuredRunFailed, match="not of type 'integer'"):
        await run_structured(sessions.run(structured_output="native"))
    assert len(sessions.made) == 1


# --- the schema ---


@pytest.mark.parametrize(
    "schema", [{"type": "objekt"}, {"$ref": "#/$defs/none"}, {"$ref": "other.json"}]
)
async def test_a_schema_that_is_none_starts_nothing(schema: Any) -> None:
    sessions = Sessions([])
    with pytest.raises(Refused, match="schema"):
        await run_structured(sessions.run(schema=schema))
    assert sessions.made == []


async def test_true_takes_anything_and_false_nothing() -> None:
    assert (await run_structured(Sessions([fence([1])]).run(schema=True))).data == [1]
    with pytest.raises(StructuredRunFailed):
        await run_structured(Sessions([fence([1])] * 2).run(schema=False))


# --- ends ---


async def test_a_signal_stops_the_attempt_and_the_run() -> None:
    sessions, signal = Sessions([HANG, fence({"age": 3})]), Abort()
    running = asyncio.create_task(run_structured(sessions.run(signal=signal)))
    await sessions.delivered.wait()
    signal.set()
    with pytest.raises(StructuredRunStopped) as raised:
        await running
    assert raised.value.exit_code == 130
    assert sessions.stopped == ["0"]
    assert len(sessions.made) == 1
    assert sessions.all_closed()


async def test_a_run_that_was_stopped_before_does_not_start() -> None:
    sessions, signal = Sessions([]), Abort()
    signal.set()
    with pytest.raises(StructuredRunStopped):
        await run_structured(sessions.run(signal=signal))
    assert sessions.made == []


async def test_a_signal_between_attempts_starts_no_other() -> None:
    signal = Abort()
    sessions = Sessions(["bad", fence({"age": 3})])

    async def start() -> Session:
        session = await sessions.start()
        session_close = session.close

        async def close() -> None:
            await session_close()
            signal.set()

        session.close = close  # the last thing that happens to it
        return session

    with pytest.raises(StructuredRunStopped):
        await run_structured(sessions.run(signal=signal, start=start))
    assert len(sessions.made) == 1


async def test_a_run_that_is_cancelled_closes_its_session() -> None:
    sessions = Sessions([HANG])
    running = asyncio.create_task(run_structured(sessions.run()))
    await sessions.delivered.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert sessions.stopped == ["0"]
    assert sessions.all_closed()


async def test_a_session_that_starts_too_late_is_closed_unused() -> None:
    sessions, signal, starting = Sessions([fence({})]), Abort(), asyncio.Event()

    async def start() -> Session:
        try:
            starting.set()
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return await sessions.start()  # which it should not
        raise AssertionError("unreachable")

    running = asyncio.create_task(run_structured(sessions.run(signal=signal, start=start)))
    await starting.wait()
    signal.set()
    with pytest.raises(StructuredRunStopped):
        await running
    assert sessions.prompts == []
    assert sessions.all_closed()


async def test_what_keeps_a_session_from_starting_is_raised() -> None:
    async def start() -> Session:
        raise HarnessNotFound("it is not there")

    with pytest.raises(HarnessNotFound):
        await run_structured(Sessions([]).run(start=start))


class Broken:
    """A session of which one thing doesn't work."""

    harness_session_id = None

    def __init__(self, broken: str) -> None:
        self.broken = broken
        self.closed = 0
        self.interrupted = 0

    def _try(self, what: str) -> None:
        if self.broken == what:
            raise OSError(f"{what} is broken")

    async def deliver(self, content: str, options: object = None) -> None:
        self._try("deliver")

    async def events(self) -> AsyncIterator[SessionEvent]:
        self._try("events")
        if self.broken == "cancelled":
            raise asyncio.CancelledError
        yield Text(text=fence({"age": 3}))
        if self.broken != "end":
            yield Done()

    async def interrupt(self) -> None:
        self.interrupted += 1
        raise OSError("nothing to interrupt")

    async def close(self) -> None:
        self.closed += 1
        self._try("close")


@pytest.mark.parametrize(
    ("broken", "error"),
    [
        ("deliver", OSError),
        ("events", OSError),
        ("cancelled", StructuredRunFailed),
        ("close", None),
        ("end", None),
        ("", None),
    ],
)
async def test_a_session_is_closed_once_whatever_breaks(
    broken: str, error: type[Exception] | None
) -> None:
    session = Broken(broken)

    async def start() -> Any:
        return session

    run = Sessions([]).run(start=start)
    if error is None:
        assert (await run_structured(run)).data == {"age": 3}
    else:
        with pytest.raises(error):
            await run_structured(run)
    assert session.closed == 1
    assert session.interrupted == (error is not None)


# --- who enforces it ---


@dataclass(frozen=True)
class Hosted:
    structured_output: Any


@dataclass(frozen=True)
class Known:
    """Where models are reached."""

    found: Callable[[str], Endpoint | None]

    def endpoint(self, model: str) -> Endpoint | None:
        return self.found(model)


def at(structured_output: Any) -> Known:
    endpoint = Endpoint(url="u", api="a", structured_output=structured_output)
    return Known(lambda model: endpoint)


@pytest.mark.parametrize("mode", ["native", "prompted"])
@pytest.mark.parametrize(
    ("vendor", "model", "models", "expected"),
    [
        (None, None, at("native"), "mode"),
        ("acme", None, at("native"), "mode"),
        ("acme", "acme/large", at("native"), "mode"),
        ("acme", "other/large", at("native"), "native"),
        ("acme", "other/large", at("prompted"), "prompted"),
        ("acme", "other/large", at(None), "prompted"),
        ("acme", "other/large", Known(lambda model: None), "mode"),
        (None, "other/large", at("prompted"), "prompted"),
    ],
)
def test_the_endpoint_of_another_vendor_has_the_last_word(
    mode: Any, vendor: str | None, model: str | None, models: Known, expected: str
) -> None:
    found = structured_output_for(Hosted(mode), harness_vendor=vendor, model=model, models=models)
    assert found == (mode if expected == "mode" else expected)


def test_a_model_has_a_vendor() -> None:
    with pytest.raises(ValueError, match="vendor/model"):
        structured_output_for(
            Hosted("native"), harness_vendor=None, model="large", models=at("native")
        )
