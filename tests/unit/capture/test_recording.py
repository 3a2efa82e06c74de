"""Hooks, transcript and telemetry make one record, in which nothing stands twice."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barry_cli.capture.notices import Event
from barry_cli.capture.recording import GRACE, LATE, Mapped, Recording
from barry_cli.capture.transcript import Transcripts
from barry_cli.contract.instrument import Notice
from tests.unit.capture.notebook import DONE, Notebook, agent, result, use, user

ACTIVE = {"type": "status", "status": "active"}
IDLE = {"type": "status", "status": "idle"}
INIT = {"type": "init", "harnessSessionId": "c"}


class Desk:
    """Rounds with a clock of its own."""

    def __init__(self, notebook: Notebook | None, mapped: Mapped | None = None) -> None:
        transcripts = None
        if notebook is not None:
            transcripts = Transcripts(notebook, "/", {})
            transcripts.begin(None)
        self.recording = Recording(transcripts, mapped)
        self.now = 50.0
        self.all: list[Event] = []

    def round(self, *notices: Notice, seconds: float = 1.0, **how: Any) -> list[Event]:
        self.now += seconds
        out = self.recording.round(notices, how.pop("records", ()), self.now, **how)
        self.all += out
        return out


def notice(kind: Any, **parts: Any) -> Notice:
    return Notice(kind=kind, harness_session_id="c", **parts)


def denial(call: str | None = "1", tool: str = "run", input: object = None) -> Notice:
    document = {"outcome": "denied", "agent": "Not that.", "input": input}
    return Notice(kind="ruled", tool=tool, call=call, document=document)


REFUSED = {"type": "tool_result", "id": "1", "result": "Not that.", "error": True}


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


def test_a_turn_of_both_is_told_once(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("start"))
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), agent("I look"), use("1"))
    desk.round(notice("after-tool", tool="run", call="1"))
    notebook.write("c", result("1"), agent("it is so"))
    desk.round(notice("stop"))
    for _ in range(4):
        desk.round()
    assert desk.all == [
        INIT,
        ACTIVE,
        user("hi"),
        agent("I look"),
        use("1"),
        result("1"),
        agent("it is so"),
        DONE,
        IDLE,
    ]
    assert desk.recording.sources == {"hooks", "transcript"}
    assert not desk.recording.missed
    assert desk.round(final=True) == []


def test_two_turns_end_once_each(notebook: Notebook) -> None:
    desk = Desk(notebook)
    for said in ("one", "two", "three"):
        desk.round(notice("prompt", prompt=said))
        notebook.write("c", user(said))
        desk.round()
        notebook.write("c", agent("yes"))
        desk.round()
        desk.round(notice("stop"))
        desk.round()
        desk.round()
    kinds = [event["type"] for event in desk.all if event["type"] in ("text", "done")]
    assert kinds == ["text", "text", "done"] * 3


def test_turns_end_without_a_hook_that_says_so(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.recording.switch("c")
    for said in ("one", "two"):
        notebook.write("c", user(said), agent("yes"))
        for _ in range(3):
            desk.round()
    desk.round(final=True)
    assert [event["type"] for event in desk.all] == [
        "init", "text", "text", "done", "text", "text", "done",
    ]  # fmt: skip


def test_a_tool_that_takes_long_ends_no_turn(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), use("1"))
    for _ in range(30):
        desk.round()
    notebook.write("c", result("1"), agent("so"))
    desk.round(notice("stop"))
    desk.round()
    desk.round()
    kinds = [event["type"] for event in desk.all]
    assert kinds.count("done") == 1
    assert kinds.index("done") > kinds.index("tool_result")


def test_what_the_harness_writes_after_it_said_stop_is_before_the_end(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"))
    desk.round(notice("stop"), seconds=0.1)
    desk.round(seconds=0.1)
    notebook.write("c", agent("late"))
    for _ in range(4):
        desk.round()
    assert desk.all[-3:] == [agent("late"), DONE, IDLE]


@pytest.mark.parametrize("ends", [True, False])
def test_a_prompt_that_follows_at_once_begins_a_turn(notebook: Notebook, ends: bool) -> None:
    desk = Desk(notebook)
    notebook.ends = ends
    desk.round(notice("prompt", prompt="one"), seconds=0.1)
    notebook.write("c", user("one"), agent("first"))
    desk.round(notice("stop"), notice("prompt", prompt="two"), seconds=0.1)
    notebook.write("c", user("two"))
    desk.round(seconds=0.1)
    notebook.write("c", user("meanwhile"), agent("second"))
    desk.round(notice("stop"))
    for _ in range(3):
        desk.round()
    kinds = [event["type"] for event in desk.all if event["type"] in ("text", "done")]
    first = ["text", "text", "done", "text"]
    assert kinds == [*first, *(["done"] if ends else []), "text", "text", "done"]


def test_a_transcript_that_is_ahead_of_the_next_prompt(notebook: Notebook) -> None:
    desk = Desk(notebook)
    notebook.ends = False
    desk.round(notice("prompt", prompt="one"))
    notebook.write("c", user("one"), agent("first"), user("two"), agent("second"))
    desk.round(notice("stop"), seconds=0.1)
    desk.round(notice("prompt", prompt="two"), seconds=0.1)
    desk.round(notice("stop"), seconds=0.1)
    for _ in range(3):
        desk.round()
    kinds = [event["type"] for event in desk.all if event["type"] in ("text", "done")]
    assert kinds == ["text", "text", "done", "text", "text", "done"]


def test_a_transcript_that_is_ahead_of_the_stop(notebook: Notebook) -> None:
    """Its end of the turn is the one that the hook tells of afterwards."""
    desk = Desk(notebook)
    notebook.ends = False
    desk.round(notice("prompt", prompt="one"))
    notebook.write("c", user("one"), agent("first"), DONE, user("two"), use("1"))
    desk.round(seconds=0.1)
    desk.round(notice("stop"), notice("prompt", prompt="two"), seconds=0.1)
    notebook.write("c", result("1"), user("and that"), agent("second"))
    desk.round(final=True)
    kinds = [event["type"] for event in desk.all if event["type"] not in ("init", "status")]
    assert kinds == [
        "text", "text", "done", "text", "tool_use", "tool_result", "text", "text", "done",
    ]  # fmt: skip


def test_a_stop_that_the_agent_goes_on_from(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), agent("done"))
    desk.round(notice("stop"), seconds=0.1)
    notebook.write("c", use("1"))
    desk.round(notice("after-tool", tool="run", call="1"), seconds=0.1)
    for _ in range(3):
        desk.round()
    assert DONE not in desk.all
    desk.round(notice("stop"))
    desk.round()
    desk.round()
    assert desk.all.count(DONE) == 1


def test_without_a_transcript_all_comes_from_hooks() -> None:
    desk = Desk(None)
    desk.round(
        notice("start"),
        notice("prompt", prompt="hi"),
        notice("after-tool", tool="run", call="7", document={"input": {"a": 1}, "result": "r"}),
        denial(),
        notice("stop"),
    )
    desk.round()
    assert desk.all == [
        INIT,
        ACTIVE,
        user("hi"),
        use("7", input={"a": 1}),
        result("7", "r"),
        use("1"),
        REFUSED,
        DONE,
        IDLE,
    ]
    assert desk.recording.missed


def test_a_transcript_that_never_comes_is_not_waited_for(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    assert user("hi") not in desk.all
    desk.round(seconds=GRACE)
    assert desk.all == [INIT, ACTIVE, user("hi")] or desk.all == [ACTIVE, INIT, user("hi")]
    desk.round(notice("after-tool", tool="run", call="1"))
    assert desk.all[-2:] == [use("1"), result("1", None)]  # type: ignore[arg-type]
    assert desk.recording.missed


def test_a_transcript_that_comes_late_doubles_nothing(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    desk.round(seconds=GRACE)
    desk.round(notice("after-tool", tool="run", call="1"))
    notebook.write("c", user("hi"), agent("I look"), use("1"), result("1"))
    desk.round()
    desk.round()
    said = [event for event in desk.all if event["type"] in ("text", "tool_use", "tool_result")]
    assert len(said) == 4
    assert not desk.recording.missed


def test_a_transcript_that_is_not_written_to(notebook: Notebook) -> None:
    notebook.write("c", user("before"), agent("then"))
    transcripts = Transcripts(notebook, "/", {})
    transcripts.begin("c")
    desk = Desk(notebook)
    desk.recording = Recording(transcripts)
    desk.recording.switch("c")
    desk.round(notice("prompt", prompt="hi"))
    desk.round(seconds=LATE)
    assert user("hi") in desk.all
    assert desk.recording.missed


def test_a_denial_that_the_transcript_tells_too(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), use("1"))
    desk.round(denial())
    notebook.write("c", {**result("1", "Error: Not that."), "error": True})
    desk.round()
    desk.round(seconds=LATE + 1)
    kinds = [event["type"] for event in desk.all]
    assert kinds.count("tool_use") == kinds.count("tool_result") == 1


def test_a_denial_that_the_transcript_told_first(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), use("1"), result("1", "Not that."), agent("well"))
    desk.round()
    desk.round()
    desk.round(denial(call=None))  # a harness that gives its hooks no id
    desk.round(seconds=LATE + 1)
    kinds = [event["type"] for event in desk.all]
    assert kinds.count("tool_use") == kinds.count("tool_result") == 1


def test_a_denial_that_no_transcript_tells(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), agent("I try"))
    desk.round(denial())
    desk.round()
    assert REFUSED not in desk.all
    desk.round(seconds=LATE)
    assert desk.all[-2:] == [use("1"), REFUSED]
    assert not desk.recording.missed


def test_an_allowed_call_is_no_denial() -> None:
    desk = Desk(None)
    desk.round(notice("ruled", tool="run", call="1", document={"outcome": "allowed"}))
    assert desk.all == [INIT, ACTIVE] or desk.all == [ACTIVE]


def test_questions_are_told_as_they_come(notebook: Notebook) -> None:
    desk = Desk(notebook)
    asked = notice("ask", tool="run", call="3", document={"input": {"x": 1}})
    desk.round(asked)
    assert desk.all == [
        INIT,
        {"type": "permission_request", "id": "3", "tool": "run", "input": {"x": 1}},
    ]


def test_a_question_comes_behind_its_call(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), use("1"))
    desk.round(notice("ask", tool="run", call="1"), seconds=0.1)
    desk.round(seconds=0.1)
    notebook.write("c", use("2"))
    desk.round(seconds=0.1)
    desk.round(notice("ask", tool="run", call="2"), seconds=0.1)
    asked = [event["id"] for event in desk.all if event["type"] in _ABOUT_CALLS]
    assert asked == ["1", "1", "2", "2"]


def test_a_question_without_an_id_has_its_calls(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    first, second = use("1", input={"a": 1}), use("2", input={"a": 2})
    notebook.write("c", user("hi"), first, second, result("1"))
    desk.round(notice("ask", tool="run", document={"input": {"a": 1}}))
    desk.round(notice("ask", tool="run", document={"input": {"a": 3}}))
    asked = [event["id"] for event in desk.all if event["type"] == "permission_request"]
    assert asked == ["1", ""]


_ABOUT_CALLS = ("tool_use", "permission_request")


def test_the_agents_own_agents_do_not_end_the_turn(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), use("1", "helper"))
    desk.round(Notice(kind="after-tool", harness_session_id="inner", tool="run", call="9"))
    desk.round(Notice(kind="stop", harness_session_id="inner"))
    for _ in range(3):
        desk.round()
    assert DONE not in desk.all
    assert [event for event in desk.all if event["type"] == "init"] == [INIT]


def test_another_conversation_begins(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), agent("hello"))
    desk.round(Notice(kind="start", harness_session_id="d"))
    notebook.write("d", user("hi"), agent("again"))
    desk.round()
    desk.round(final=True)
    assert [event for event in desk.all if event["type"] != "status"] == [
        INIT,
        user("hi"),
        agent("hello"),
        DONE,
        {"type": "init", "harnessSessionId": "d"},
        user("hi"),
        agent("again"),
        DONE,
    ]


def test_what_nobody_found_of_one_conversation_is_recorded_before_the_next(
    notebook: Notebook,
) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    desk.round(Notice(kind="start", harness_session_id="d"), seconds=0.1)
    texts = [event for event in desk.all if event["type"] in ("text", "done", "init")]
    assert texts == [INIT, user("hi"), DONE, {"type": "init", "harnessSessionId": "d"}]


def test_telemetry_speaks_where_nothing_else_does(notebook: Notebook) -> None:
    def mapped(record: Mapping[str, Any]) -> list[dict[str, Any]]:
        if record["name"] == "broken":
            raise KeyError("no such attribute")
        return [dict(record["body"])]

    desk = Desk(notebook, mapped)
    desk.round(notice("prompt", prompt="hi"))
    heard = [{"name": "said", "body": each} for each in (user("hi"), agent("hello"))]
    desk.round(records=[*heard, {"name": "broken"}])
    desk.round(seconds=GRACE)
    assert desk.all[-2:] == [user("hi"), agent("hello")]

    notebook.write("c", user("hi"), agent("hello"))
    desk.round()
    desk.round()
    desk.round(records=[{"name": "said", "body": agent("only once")}])
    notebook.write("c", user("go on"), agent("only once"))
    desk.round()
    desk.round(seconds=GRACE * 2)
    said = [event["text"] for event in desk.all if event["type"] == "text"]
    assert said == ["hi", "hello", "go on", "only once"]
    assert desk.recording.sources == {"hooks", "telemetry", "transcript"}


def test_a_notice_that_says_nothing_is_nothing() -> None:
    desk = Desk(None)
    assert desk.round(notice("loaded"), notice("own", document={"kind": "x"})) == []
    assert desk.round(notice("prompt"), notice("prompt", prompt="")) == [INIT, ACTIVE]


def test_a_plugins_own_frame_does_not_lead_away(notebook: Notebook) -> None:
    desk = Desk(notebook)
    desk.round(notice("prompt", prompt="hi"))
    notebook.write("c", user("hi"), agent("ho"))
    desk.round(Notice(kind="own", harness_session_id="inner"))
    desk.round(final=True)
    assert [event for event in desk.all if event["type"] != "status"] == [
        INIT, user("hi"), agent("ho"), DONE,
    ]  # fmt: skip


_TURN = st.lists(st.sampled_from(["call", "denied", "said"]), max_size=3)
_WAIT = st.sampled_from([0.0, 0.1, 1.0, GRACE + 1, LATE + 1])


@settings(max_examples=150, deadline=None)
@given(st.lists(_TURN, min_size=1, max_size=3), st.data())
def test_whoever_is_first_each_thing_is_there_once(
    turns: list[list[str]], data: st.DataObject
) -> None:
    """A hook may be heard before or after the transcript has the same, or not at all."""
    with TemporaryDirectory() as folder:
        _mixed(Desk(Notebook(Path(folder))), turns, data, Notebook(Path(folder)))


def _mixed(desk: Desk, turns: list[list[str]], data: st.DataObject, notebook: Notebook) -> None:
    expected: list[Event] = []
    calls = 0

    def tell(told: Notice, *events: Event) -> None:
        """One thing, as the hook and as the transcript tell of it, in any order."""
        expected.extend(events)
        heard = data.draw(st.sampled_from(["before", "after", "never"]))
        if heard == "before":
            desk.round(told, seconds=data.draw(_WAIT))
        notebook.write("c", *events)
        desk.round(seconds=data.draw(_WAIT))
        if heard == "after":
            desk.round(told, seconds=data.draw(_WAIT))

    desk.recording.switch("c")
    for number, turn in enumerate(turns):
        tell(notice("prompt", prompt=f"prompt {number}"), user(f"prompt {number}"))
        for each in turn:
            calls += 1
            call = str(calls)
            if each == "said":
                tell(notice("own"), agent(f"said {call}"))
            elif each == "call":
                tell(notice("after-tool", tool="run", call=call), use(call), result(call))
            else:
                tell(denial(call), use(call), result(call, "Not that."))
        tell(notice("stop"), agent(f"answer {number}"))
    desk.round(seconds=LATE + 1)
    desk.round(final=True)
    found = [event for event in desk.all if event["type"] in ("text", "tool_use", "tool_result")]
    key = [(event["type"], event.get("id"), event.get("text")) for event in found]
    assert sorted(key, key=str) == sorted(
        [(event["type"], event.get("id"), event.get("text")) for event in expected], key=str
    )
    ends = [event["type"] for event in desk.all if event["type"] not in ("init", "status")]
    assert ends[-1] == "done"
    assert not any(pair == ("done", "done") for pair in pairwise(ends))
    assert desk.all.count(INIT) == 1
