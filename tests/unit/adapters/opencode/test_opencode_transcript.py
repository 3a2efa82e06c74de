"""opencode's database, read as events and never written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from barry_adapter_opencode.transcript import OpencodeTranscripts
from barry_cli.sessions import (
    Done,
    Failed,
    Init,
    SessionEvent,
    Text,
    TokenUsage,
    ToolResult,
    ToolUse,
    UsageReported,
)

TOKENS = {"input": 10, "output": 2, "reasoning": 1, "cache": {"read": 3, "write": 4}}


class Store:
    """A small database in opencode's shape."""

    def __init__(self, home: Path) -> None:
        folder = home / ".local" / "share" / "opencode"
        folder.mkdir(parents=True)
        self.path = folder / "opencode.db"
        self.connection = sqlite3.connect(self.path)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.executescript(
            "CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT, "
            "time_created INTEGER, time_updated INTEGER);"
            "CREATE TABLE message (id TEXT, session_id TEXT, time_created INTEGER, data TEXT);"
            "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);"
        )
        self._number = 0

    def session(self, session: str, cwd: str, *, when: int = 1, parent: str | None = None) -> None:
        row = (session, parent, cwd, when, when)
        self.connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
        self.connection.commit()

    def change(self, message: str, data: object, *parts: object) -> None:
        """Write a message anew, as opencode does while it goes on."""
        rows = self.connection
        rows.execute("UPDATE message SET data = ? WHERE id = ?", (_text(data), message))
        rows.execute("DELETE FROM part WHERE message_id = ?", (message,))
        (session,) = rows.execute(
            "SELECT session_id FROM message WHERE id = ?", (message,)
        ).fetchone()
        for number, part in enumerate(parts):
            entry = (f"prt_{message}_{number}", message, session, _text(part))
            rows.execute("INSERT INTO part VALUES (?, ?, ?, ?)", entry)
        rows.commit()

    def message(self, data: object, *parts: object, session: str = "ses_1") -> str:
        self._number += 1
        name = f"msg_{self._number}"
        row = (name, session, self._number, _text(data))
        self.connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
        for number, part in enumerate(parts):
            entry = (f"prt_{self._number}_{number}", name, session, _text(part))
            self.connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", entry)
        self.connection.commit()
        return name


def _text(data: object) -> str:
    return data if isinstance(data, str) else json.dumps(data)


def text(said: str, **more: object) -> dict[str, Any]:
    return {"type": "text", "text": said, **more}


@pytest.fixture
def store(home: Path) -> Iterator[Store]:
    made = Store(home)
    yield made
    made.connection.close()


def test_a_conversation_is_told_in_order(store: Store) -> None:
    store.message({"role": "user"}, text("go"), text("a file's words", synthetic=True))
    tool = {
        "type": "tool",
        "tool": "bash",
        "callID": "c1",
        "state": {"status": "completed", "input": {"command": "ls"}, "output": "out"},
    }
    answer = {"role": "assistant", "finish": "tool-calls", "tokens": TOKENS}
    first = store.message(answer, {"type": "step-start"}, tool)
    refused = {
        "type": "tool",
        "tool": "edit",
        "callID": "c2",
        "state": {"status": "error", "input": {}, "error": "no"},
    }
    store.message({"role": "assistant", "finish": "stop"}, refused, text("did"))
    assert list(OpencodeTranscripts().read(store.path / "ses_1")) == [
        Init(harness_session_id="ses_1"),
        Text(text="go", role="user"),
        ToolUse(id="c1", tool="bash", input={"command": "ls"}),
        ToolResult(id="c1", result="out", error=False),
        UsageReported(
            id=first,
            usage=TokenUsage(input=10, output=2, reasoning=1, cached=3, cache_write=4),
        ),
        ToolUse(id="c2", tool="edit", input={}),
        ToolResult(id="c2", result="no", error=True),
        Text(text="did", role="assistant"),
        Done(),
    ]


def test_a_failed_turn_ends_with_its_reason(store: Store) -> None:
    error = {"name": "APIError", "data": {"message": "401 no"}}
    store.message({"role": "assistant", "error": error})
    store.message({"role": "assistant", "error": {"name": "MessageAbortedError"}})
    assert list(OpencodeTranscripts().read(store.path / "ses_1"))[1:] == [
        Failed(error="401 no"),
        Done(),
        Failed(error="MessageAbortedError"),
        Done(),
    ]


def test_what_was_read_once_stays_while_opencode_goes_on(store: Store) -> None:
    """A subagent's doings stand between its call and the result, from the first look on."""

    def call(status: str, **more: object) -> dict[str, Any]:
        state = {"status": status, "input": {"prompt": "inner"}, **more}
        return {"type": "tool", "tool": "task", "callID": "c1", "state": state}

    def state(begun: int, ended: int | None = None) -> dict[str, Any]:
        time = {"start": begun} if ended is None else {"start": begun, "end": ended}
        return {"metadata": {"sessionId": "ses_2"}, "time": time}

    looks: list[list[SessionEvent]] = []

    def look() -> None:
        looks.append(list(OpencodeTranscripts().read(store.path / "ses_1")))

    goes_on = {"role": "assistant", "time": {"created": 20}, "tokens": TOKENS}
    over = {**goes_on, "time": {"created": 20, "completed": 90}, "finish": "stop"}
    store.message({"role": "user", "time": {"created": 10}}, text("go"))
    answer = store.message(goes_on)
    look()
    store.change(answer, goes_on, text("half", time={"start": 21}))
    look()
    said = text("half and half", time={"start": 21, "end": 22})
    store.change(answer, goes_on, said, call("pending"))
    look()
    store.change(answer, goes_on, said, call("running", **state(30)), call("running"))
    look()
    # Another call went on with the same subagent before: that is not this one's doing.
    store.message({"role": "user", "time": {"created": 5}}, text("earlier"), session="ses_2")
    store.message({"role": "user", "time": {"created": 31}}, text("inner"), session="ses_2")
    inner = store.message(
        {"role": "assistant", "time": {"created": 32}}, text("i", time={}), session="ses_2"
    )
    look()
    store.message({"role": "user", "time": {"created": 35}}, text("beside"))
    look()
    done = {"role": "assistant", "time": {"created": 32, "completed": 40}, "finish": "stop"}
    store.change(inner, done, text("inner answer", time={"start": 33, "end": 39}))
    look()
    store.change(answer, goes_on, said, call("completed", output="out", **state(30, 41)))
    look()
    store.change(answer, over, said, call("completed", output="out", **state(30, 41)))
    look()
    for before, after in pairwise(looks):
        assert after[: len(before)] == before
    usage = TokenUsage(input=10, output=2, reasoning=1, cached=3, cache_write=4)
    assert looks[-1] == [
        Init(harness_session_id="ses_1"),
        Text(text="go", role="user"),
        Text(text="half and half", role="assistant"),
        ToolUse(id="c1", tool="task", input={"prompt": "inner"}),
        Text(text="inner", role="user", parent_tool_use_id="c1"),
        Text(text="inner answer", role="assistant", parent_tool_use_id="c1"),
        ToolResult(id="c1", result="out", error=False),
        UsageReported(id=answer, usage=usage),
        Done(),
        Text(text="beside", role="user"),
    ]


@pytest.mark.parametrize("bad", ["", "{", "[]", "[" * 100_000, '{"role": "assistant"}', "{}"])
def test_rows_that_can_not_be_read_are_passed_over(store: Store, bad: str) -> None:
    store.message(bad, bad)
    store.message({"role": "user"}, bad, text("still here"))
    events = list(OpencodeTranscripts().read(store.path / "ses_1"))
    assert events[1:] == [Text(text="still here", role="user")]


def test_conversations_are_found_by_folder(store: Store, home: Path, tmp_path: Path) -> None:
    env = {"HOME": str(home)}
    here = str(tmp_path)
    store.session("ses_old", here, when=1)
    store.session("ses_new", here, when=2)
    store.session("ses_child", here, when=3, parent="ses_new")
    store.session("ses_elsewhere", "/elsewhere")
    transcripts = OpencodeTranscripts()
    assert list(transcripts.list(here, env)) == ["ses_new", "ses_old"]
    assert transcripts.find("ses_old", here, env) == store.path / "ses_old"
    assert transcripts.find("ses_elsewhere", here, env) is None
    (tmp_path / "link").symlink_to(tmp_path)
    assert transcripts.find("ses_old", str(tmp_path / "link"), env) is not None
    assert list(transcripts.list(here, {**env, "OPENCODE_DB": ":memory:"})) == []
    assert list(transcripts.list(here, {**env, "OPENCODE_DB": str(store.path)}))
    assert list(transcripts.list(here, {"HOME": "/x", "XDG_DATA_HOME": f"{home}/.local/share"}))


@pytest.mark.parametrize("lives", [True, False])
def test_reading_leaves_the_database_as_it_is(store: Store, home: Path, lives: bool) -> None:
    """While opencode runs its log is read too; afterwards no file may appear beside it."""
    store.session("ses_1", "/w")
    store.message({"role": "user"}, text("hi"))
    if not lives:
        store.connection.close()
    folder = store.path.parent
    before = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".db"}
    names = {path.name for path in folder.iterdir()}
    assert len(list(OpencodeTranscripts().read(store.path / "ses_1"))) == 2
    assert {path.name for path in folder.iterdir()} == names
    assert {name: (folder / name).read_bytes() for name in before} == before


@pytest.mark.parametrize("content", [None, b"", b"no database", b"SQLite format 3\0 torn"])
def test_what_is_no_database_of_opencode_holds_nothing(home: Path, content: bytes | None) -> None:
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    if content is not None:
        path.write_bytes(content)
    transcripts = OpencodeTranscripts()
    env = {"HOME": str(home)}
    assert list(transcripts.list("/w", env)) == []
    assert transcripts.find("ses_1", "/w", env) is None
    assert list(transcripts.read(path / "ses_1")) == []
