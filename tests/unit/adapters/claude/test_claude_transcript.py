"""Conversations as Claude Code keeps them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from barry_cli.contract.adapter import TranscriptSource
from barry_cli.contract.events import (
    Done,
    Failed,
    Init,
    Text,
    ToolResult,
    ToolUse,
    UsageReported,
)
from barry_cli.contract.models import TokenUsage

ID = "0d6f2b3c-1111-4222-8333-444455556666"
USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_read_input_tokens": 3,
    "cache_creation_input_tokens": 2,
}


def source() -> Any:
    from barry_adapter_claude.transcript import ClaudeTranscripts

    return ClaudeTranscripts()


def user(content: object, **more: object) -> dict[str, object]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def assistant(id: str, *content: object, **more: object) -> dict[str, object]:
    return {
        "type": "assistant",
        "message": {"id": id, "content": list(content), "usage": USAGE},
        **more,
    }


TURN = {"type": "system", "subtype": "turn_duration", "durationMs": 240}
USE = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "a b", "is_error": False}


def say(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def write(path: Path, *rows: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    path.write_bytes(b"\n".join(lines) + b"\n")
    return path


def read(tmp_path: Path, *rows: object) -> list[Any]:
    events = list(source().read(write(tmp_path / f"{ID}.jsonl", *rows)))
    assert events.pop(0) == Init(harness_session_id=ID)
    return events


def reported(id: str) -> UsageReported:
    return UsageReported(id=id, usage=TokenUsage(input=10, output=5, cached=3, cache_write=2))


def test_it_is_a_transcript_source() -> None:
    assert isinstance(source(), TranscriptSource)


def test_a_turn_with_a_call(tmp_path: Path) -> None:
    assert read(
        tmp_path,
        {"type": "mode", "mode": "normal", "sessionId": ID},
        user("list it"),
        {"type": "attachment", "attachment": {"type": "date"}},
        assistant("m1", {"type": "thinking", "thinking": "hm"}),
        assistant("m1", say("Looking."), USE),
        user([RESULT]),
        assistant("m2", say("a and b")),
        TURN,
    ) == [
        Text(text="list it", role="user"),
        Text(text="Looking.", role="assistant"),
        ToolUse(id="t1", tool="Bash", input={"command": "ls"}),
        ToolResult(id="t1", result="a b"),
        reported("m1"),
        Text(text="a and b", role="assistant"),
        reported("m2"),
        Done(duration_ms=240),
    ]


def test_every_turn_ends_once(tmp_path: Path) -> None:
    events = read(
        tmp_path,
        user("one"),
        assistant("m1", say("1")),
        user("two"),
        assistant("m2", say("2")),
        user([say("[Request interrupted by user for tool use]")]),
        user("three"),
        assistant("m3", say("3")),
    )
    kinds = [event.type for event in events if event.type in ("text", "done")]
    assert kinds == ["text", "text", "done"] * 3
    assert not any("interrupted" in getattr(event, "text", "") for event in events)


def test_a_failed_request_and_a_refused_call(tmp_path: Path) -> None:
    events = read(
        tmp_path,
        user("go"),
        assistant("m1", USE),
        user([{**RESULT, "is_error": True}]),
        assistant("m2", say("API Error: 500"), isApiErrorMessage=True),
    )
    assert ToolResult(id="t1", result="a b", error=True) in events
    assert Failed(error="API Error: 500") in events
    assert events[-1] == Done()


def test_what_is_nobodys_word_is_left_out(tmp_path: Path) -> None:
    assert (
        read(
            tmp_path,
            user("note", isMeta=True),
            user("summary", isCompactSummary=True),
            assistant("m9", say("of a subagent"), isSidechain=True),
        )
        == []
    )


PEER = {"origin": {"kind": "peer", "from": "barry:x"}, "isMeta": True}
FRAMED = (
    "Another Claude session sent a message:\n{}\n\nThis came from another Claude session \u2014."
)


def test_what_others_said_is_told_as_they_said_it(tmp_path: Path) -> None:
    said = "do it\n\n\tThis came from another Claude\n"
    joined = {"type": "queued_command", "prompt": "and that", "origin": {"kind": "peer"}}
    typed = {"type": "queued_command", "prompt": [say("and this")], "origin": {"kind": "human"}}
    task = {"type": "queued_command", "prompt": "<task>", "origin": {"kind": "task-notification"}}
    events = read(
        tmp_path,
        user(FRAMED.format(said), **PEER),
        assistant("m1", USE),
        user([RESULT]),
        *({"type": "attachment", "attachment": each} for each in (joined, typed, task)),
        assistant("m2", say("done")),
        TURN,
        user("worded in another way", **PEER),
    )
    texts = [event.text for event in events if isinstance(event, Text) and event.role == "user"]
    assert texts == [said, "and that", "and this", "worded in another way"]
    # What joined a turn began none.
    assert [event.type for event in events].count("done") == 2


def test_lines_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    assert read(
        tmp_path,
        b"{",
        b"[" * 100_000,
        b"\xff\xfe",
        b"",
        [1],
        {"type": "user", "message": "x"},
        {"type": "user", "message": {"content": 3}},
        {"type": "assistant", "message": {"id": 1, "content": [3, {"type": "image"}], "usage": 4}},
        user("hello"),
    ) == [Done(), Text(text="hello", role="user"), Done()]


def folder_of(home: Path, name: str) -> Path:
    return home / ".claude" / "projects" / name


def test_conversations_are_found_and_listed_by_folder(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path / "home")}
    cwd = tmp_path / "my.work \U0001f600ü"
    cwd.mkdir()
    name = re.sub("[^a-zA-Z0-9]", "-", str(tmp_path / "my.work --ü"))
    folder = folder_of(tmp_path / "home", name)
    old = write(folder / f"{ID}.jsonl", user("x"))
    new = write(folder / f"{ID[:-1]}9.jsonl", user("y"))
    write(folder / "agent-1.jsonl", user("z"))
    write(folder / "notes.txt", user("z"))
    os.utime(old, (1000, 1000))
    found = source()
    assert list(found.list(str(cwd), env)) == [new.stem, old.stem]
    assert found.find(ID, str(cwd), env) == old
    assert found.find("../../x", str(cwd), env) is None
    assert found.find(ID, str(tmp_path), env) is None
    assert list(found.list(str(tmp_path), env)) == []


def test_a_link_leads_to_the_folder_itself(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path / "own")}
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    name = re.sub("[^a-zA-Z0-9]", "-", str(real))
    path = write(tmp_path / "own" / "projects" / name / f"{ID}.jsonl", user("x"))
    assert source().find(ID, str(tmp_path / "link"), env) == path


def test_a_long_folders_name_is_cut(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path)}
    cwd = tmp_path / ("a" * 120) / ("b" * 120)
    cwd.mkdir(parents=True)
    name = re.sub("[^a-zA-Z0-9]", "-", str(cwd))[:200] + "-aee8nq"
    path = write(folder_of(tmp_path, name) / f"{ID}.jsonl", user("x"))
    assert source().find(ID, str(cwd), env) == path


@pytest.mark.parametrize("count", [2000])
def test_a_long_conversation_is_read_line_by_line(tmp_path: Path, count: int) -> None:
    events = read(tmp_path, *(user(str(number)) for number in range(count)))
    assert sum(isinstance(event, Done) for event in events) == count
