"""A transcript is followed: each event once, in order, whatever becomes of its file."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barry_cli.capture.notices import Event
from barry_cli.capture.transcript import QUIET, Transcripts
from barry_cli.contract.events import SessionEvent, Text
from tests.unit.capture.notebook import DONE, Notebook, agent, result, use, user

pytestmark = pytest.mark.timeout(60)


class Follower:
    """Looks at a notebook with a clock of its own."""

    def __init__(self, notebook: Notebook, continued: str | None = None) -> None:
        self.transcripts = Transcripts(notebook, "/", {})
        self.now = 100.0
        self.found: list[Event] = []
        self.transcripts.begin(continued)

    def look(self, seconds: float = QUIET + 0.2, **how: Any) -> list[Event]:
        self.now += seconds
        seen = self.transcripts.look(self.now, **how)
        events = [event for event in seen.events if event["type"] != "done"]
        self.found += events
        return events


@pytest.fixture
def notebook(tmp_path: Path) -> Notebook:
    return Notebook(tmp_path)


def test_what_is_added_is_seen_once(notebook: Notebook) -> None:
    follower = Follower(notebook)
    follower.transcripts.switch("c")
    assert follower.look() == []
    notebook.write("c", user("hi"), agent("hello"))
    assert follower.look() == [user("hi")]  # the last one may still grow
    assert follower.look() == [agent("hello")]
    assert follower.look() == []
    notebook.write("c", user("hi"))
    assert follower.look() == []
    assert follower.look(final=True) == [user("hi")]
    assert follower.look(final=True) == []


def test_an_unchanged_file_is_not_read_again(notebook: Notebook) -> None:
    follower = Follower(notebook)
    follower.transcripts.switch("c")
    notebook.write("c", user("hi"))
    for _ in range(5):
        follower.look()
    assert notebook.reads == 1
    notebook.write("c", agent("hello"))
    follower.look()
    assert notebook.reads == 2


def test_a_text_that_grows_is_recorded_whole(notebook: Notebook) -> None:
    follower = Follower(notebook)
    follower.transcripts.switch("c")
    for said in ("Hel", "Hello, wor", "Hello, world"):
        notebook.replace("c", user("hi"), agent(said))
        follower.look(0.3)
    follower.look()
    assert follower.found == [user("hi"), agent("Hello, world")]


def test_a_result_that_comes_between_is_new(notebook: Notebook) -> None:
    follower = Follower(notebook)
    follower.transcripts.switch("c")
    notebook.replace("c", user("hi"), use("1"), use("2"))
    follower.look()
    follower.look()
    notebook.replace("c", user("hi"), use("1"), result("1"), use("2"), result("2"))
    follower.look()
    follower.look()
    assert follower.found == [user("hi"), use("1"), use("2"), result("1"), result("2")]


def test_what_a_resumed_conversation_holds_is_old(notebook: Notebook) -> None:
    notebook.write("c", user("before"), agent("then"), DONE)
    follower = Follower(notebook, "c")
    assert follower.look() == []
    notebook.write("c", user("before"), agent("now"))
    follower.look()
    follower.look()
    assert follower.found == [user("before"), agent("now")]


def test_a_conversation_that_is_picked_in_the_harness_is_old_up_to_what_is_said(
    notebook: Notebook,
) -> None:
    notebook.write("old", user("go on"), agent("then"))
    follower = Follower(notebook)
    notebook.write("old", user("go on"), agent("now"))
    follower.transcripts.switch("old")
    follower.look(said="go on")
    follower.look()
    assert follower.found == [user("go on"), agent("now")]


def test_one_that_came_up_with_the_session_is_new_from_its_top(notebook: Notebook) -> None:
    follower = Follower(notebook)
    notebook.write("new", user("a"), agent("b"))
    follower.transcripts.switch("new")
    follower.look()
    follower.look()
    assert follower.found == [user("a"), agent("b")]


def test_words_that_are_alike_in_two_conversations_are_both_there(notebook: Notebook) -> None:
    follower = Follower(notebook)
    follower.transcripts.switch("one")
    notebook.write("one", user("hello"), agent("hi"))
    follower.look(final=True)
    follower.transcripts.switch("two")
    notebook.write("two", user("hello"), agent("good day"))
    follower.look(final=True)
    assert follower.found == [user("hello"), agent("hi"), user("hello"), agent("good day")]


def test_a_rewound_conversation_goes_on(notebook: Notebook) -> None:
    follower = Follower(notebook)
    follower.transcripts.switch("c")
    first = [user("a"), use("1"), result("1")]
    notebook.replace("c", *first, user("again"), agent("no"))
    follower.look()
    follower.look()
    notebook.replace("c", *first)
    follower.look()
    follower.look()
    notebook.replace("c", *first, user("other"), agent("yes"))
    follower.look()
    follower.look()
    assert follower.found == [
        *first,
        user("again"),
        agent("no"),
        user("other"),
        agent("yes"),
    ]


def test_one_that_is_rewound_and_said_again_at_once(notebook: Notebook) -> None:
    """Half-written files aside, what is less than before counts once it stays so."""
    follower = Follower(notebook)
    follower.transcripts.switch("c")
    notebook.replace("c", user("a"), agent("b"), use("1"))
    follower.look()
    follower.look()
    notebook.replace("c", user("a"))  # being written anew, from the top
    follower.look(0.1)
    notebook.replace("c", user("a"), agent("b"), use("1"), result("1"))
    follower.look()
    follower.look()
    assert follower.found == [user("a"), agent("b"), use("1"), result("1")]


@pytest.mark.parametrize("error", [ValueError("odd"), SystemExit(3), RecursionError()])
def test_a_reading_that_fails_is_a_problem_and_no_end(
    notebook: Notebook, error: BaseException
) -> None:
    follower = Follower(notebook)
    follower.transcripts.switch("c")
    notebook.write("c", user("a"))
    notebook.broken = error
    seen = follower.transcripts.look(follower.now)
    assert seen.problem is not None
    assert not follower.transcripts.works
    notebook.broken = None
    follower.look(final=True)
    assert follower.found == [user("a")]
    assert follower.transcripts.works


def test_counts_and_ends_wait_for_the_end_of_the_turn(notebook: Notebook) -> None:
    follower = Follower(notebook)
    follower.transcripts.switch("c")
    count = {"type": "usage", "id": "m1", "input": 1, "output": 2}
    notebook.write("c", user("a"), agent("b"), count)
    follower.look()
    follower.look()
    assert follower.found == [user("a"), agent("b")]
    assert [event["type"] for event in follower.transcripts.over()] == ["usage", "done"]
    assert follower.transcripts.over() == []
    notebook.write("c", user("c"), agent("d"))
    follower.look()
    follower.look()
    assert follower.found == [user("a"), agent("b"), user("c"), agent("d")]


def test_only_an_end_that_the_harness_wrote_is_told(notebook: Notebook) -> None:
    follower = Follower(notebook)
    follower.transcripts.switch("c")
    notebook.write("c", user("a"), agent("b"))
    follower.look()
    assert not follower.transcripts.told_end
    notebook.write("c", DONE)
    follower.look()
    assert follower.transcripts.told_end


class _Rows:
    """Conversations in a database: a path below its file stands for one."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.writing = sqlite3.connect(file)
        self.writing.execute("PRAGMA journal_mode=WAL")
        self.writing.execute("CREATE TABLE said (text TEXT)")
        self.writing.commit()

    def say(self, text: str) -> None:
        self.writing.execute("INSERT INTO said VALUES (?)", (text,))
        self.writing.commit()

    def find(self, harness_session_id: str, cwd: str, env: Mapping[str, str]) -> Path | None:
        return self.file / harness_session_id

    def list(self, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
        yield from ()

    def read(self, path: Path) -> Iterator[SessionEvent]:
        looking = sqlite3.connect(path.parent)
        for (text,) in looking.execute("SELECT text FROM said ORDER BY rowid").fetchall():
            yield Text(text=text, role="user")
        looking.close()


def test_a_conversation_inside_a_database(tmp_path: Path) -> None:
    rows = _Rows(tmp_path / "all.db")
    transcripts = Transcripts(rows, "/", {})
    transcripts.switch("c")
    rows.say("one")
    transcripts.look(1.0)
    assert transcripts.look(2.0).events == [user("one")]
    rows.say("two")  # the file stays as it is: the log beside it grows
    transcripts.look(3.0)
    assert transcripts.look(4.0).events == [user("two")]
    rows.writing.close()


_EVENT = st.one_of(
    st.sampled_from([user("ok"), user("go on"), agent("ok"), agent("done it")]),
    st.just(None),  # a call, with a number of its own
)
_STEP = st.one_of(
    st.tuples(st.just("write"), st.lists(_EVENT, min_size=1, max_size=4), st.booleans()),
    st.tuples(st.just("look"), st.sampled_from([0.1, 0.5, 1.0])),
    st.tuples(st.just("cut"), st.floats(0, 1), st.lists(st.sampled_from([0.1, 1.0]), max_size=3)),
    st.tuples(st.just("gone"), st.integers(0, 2)),
    st.tuples(st.just("copy"), st.just(0)),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(_STEP, max_size=25))
def test_each_event_is_seen_once_and_in_order(steps: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _follow(Notebook(Path(folder)), steps)


def _follow(notebook: Notebook, steps: list[tuple[Any, ...]]) -> None:
    follower = Follower(notebook)
    # An answer, so that a copy of it is known for one.
    expected: list[Event] = [user("begin"), use("first")]
    name, copies, calls = "c0", 0, 0
    follower.transcripts.switch(name)
    notebook.write(name, *expected)
    for step in steps:
        if step[0] == "write":
            events = []
            for event in step[1]:
                calls += 1
                events.append(use(str(calls)) if event is None else event)
            if step[2]:  # the last line comes in two pieces
                *whole, last = events

                line = json.dumps(last) + "\n"
                notebook.write(name, *whole, half=line[: len(line) // 2])
                follower.look(0.1)
                notebook.write(name, half=line[len(line) // 2 :])
            else:
                notebook.write(name, *events)
            expected += events
        elif step[0] == "look":
            follower.look(step[1])
        elif step[0] == "cut":  # written anew from the top, and looked at meanwhile
            follower.look(0.1)
            left = expected[: int(len(expected) * step[1])]
            notebook.path(name).write_text("")
            notebook.write(name, *left)
            for seconds in step[2]:
                follower.look(seconds)
            notebook.replace(name, *expected)
        elif step[0] == "gone":
            notebook.path(name).unlink()
            for _ in range(step[1]):
                follower.look()
            notebook.write(name, *expected)
        else:  # the harness goes on in another file, which begins as the last one
            follower.look(final=True)
            copies += 1
            name = f"c{copies}"
            notebook.write(name, *expected)
            follower.transcripts.switch(name)
    follower.look(final=True)
    assert follower.found == expected


def test_one_whose_id_was_given_out_beforehand_is_new(notebook: Notebook) -> None:
    follower = Follower(notebook, "c")
    notebook.write("c", user("a"), agent("b"))
    follower.look(final=True)
    assert follower.found == [user("a"), agent("b")]


def test_one_that_goes_on_and_could_not_be_read_at_first(notebook: Notebook) -> None:
    notebook.write("c", user("before"), agent("then"))
    notebook.broken = OSError("busy")
    follower = Follower(notebook, "c")
    notebook.broken = None
    assert follower.look() == []
    notebook.write("c", user("now"))
    assert follower.look(final=True) == [user("now")]


def test_a_conversation_that_goes_on_in_another_file(notebook: Notebook) -> None:
    """Its harness says where it writes now; the id stays."""
    follower = Follower(notebook)
    follower.transcripts.switch("c")
    notebook.write("c", user("a"), agent("b"))
    follower.look()
    follower.look()
    notebook.write("elsewhere", user("c"), agent("d"))
    follower.transcripts.switch("c", str(notebook.path("elsewhere")))
    follower.look()
    follower.transcripts.switch("c", str(notebook.path("nowhere")))
    follower.look(final=True)
    assert follower.found == [user("a"), agent("b"), user("c"), agent("d")]
