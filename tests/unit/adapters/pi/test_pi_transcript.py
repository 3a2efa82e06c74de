"""pi's session files, read as events."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from barry_adapter_pi.transcript import PiTranscripts
from barry_cli.sessions import (
    Done,
    Failed,
    Init,
    Text,
    TokenUsage,
    ToolResult,
    ToolUse,
    UsageReported,
)

USAGE = {"input": 10, "output": 2, "cacheRead": 3, "cacheWrite": 4}


def line(role: str, entry: str = "e1", **more: object) -> str:
    return json.dumps({"type": "message", "id": entry, "message": {"role": role, **more}})


def written(path: Path, *lines: str) -> Path:
    path.write_bytes(("\n".join(lines) + "\n").encode())
    return path


def test_a_conversation_is_told_in_order(tmp_path: Path) -> None:
    call = {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}
    file = written(
        tmp_path / "s.jsonl",
        '{"type":"session","version":3,"id":"01","cwd":"/w"}',
        '{"type":"model_change","id":"m","provider":"x","modelId":"y"}',
        line("user", content=[{"type": "text", "text": "go"}]),
        line("assistant", "a1", content=[call], usage=USAGE, stopReason="toolUse"),
        line("toolResult", toolCallId="c1", content=[{"type": "text", "text": "out\u2028put"}]),
        line("assistant", "a2", content=[{"type": "text", "text": "did"}], stopReason="stop"),
    )
    usage = TokenUsage(input=10, output=2, cached=3, cache_write=4)
    assert list(PiTranscripts().read(file)) == [
        Init(harness_session_id="01"),
        Text(text="go", role="user"),
        ToolUse(id="c1", tool="bash", input={"command": "ls"}),
        UsageReported(id="a1", usage=usage),
        ToolResult(id="c1", result="out\u2028put", error=False),
        Text(text="did", role="assistant"),
        Done(),
    ]


def test_each_turn_is_done_once_even_when_an_answer_was_tried_again(tmp_path: Path) -> None:
    file = written(
        tmp_path / "s.jsonl",
        line("user", content="one"),
        line("assistant", content=[], stopReason="error", errorMessage="429"),
        line("assistant", content=[{"type": "text", "text": "1"}], stopReason="stop"),
        line("user", content="two"),
        line("assistant", content=[{"type": "text", "text": "2"}], stopReason="stop"),
        line("user", content="three"),
    )
    events = list(PiTranscripts().read(file))
    assert events == [
        Text(text="one", role="user"),
        Failed(error="429"),
        Text(text="1", role="assistant"),
        Done(),
        Text(text="two", role="user"),
        Text(text="2", role="assistant"),
        Done(),
        Text(text="three", role="user"),
    ]


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "{",
        "[]",
        "[" * 100_000,
        '{"type":"message"}',
        '{"type":"message","message":{"role":"assistant","content":{"x":1},"usage":{"input":-1}}}',
        '{"type":"message","message":{"role":"user","content":[1,{"type":"text","text":2}]}}',
    ],
)
def test_lines_that_can_not_be_read_are_passed_over(tmp_path: Path, bad: str) -> None:
    file = written(tmp_path / "s.jsonl", bad, line("user", content="still here"))
    assert list(PiTranscripts().read(file)) == [Text(text="still here", role="user")]


def test_a_file_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    assert list(PiTranscripts().read(tmp_path / "gone.jsonl")) == []


def test_conversations_are_found_by_folder(home: Path, tmp_path: Path) -> None:
    env = {"HOME": str(home)}
    # pi gives these two folders one folder of sessions.
    mine, other = tmp_path / "a" / "b", tmp_path / "a-b"
    mine.mkdir(parents=True)
    other.mkdir()
    safe = str(mine).lstrip("/").replace("/", "-")
    folder = home / ".pi" / "agent" / "sessions" / f"--{safe}--"
    folder.mkdir(parents=True)
    for number, (session, cwd) in enumerate([("one", mine), ("two", mine), ("not", other)]):
        header = json.dumps({"type": "session", "id": session, "cwd": str(cwd)})
        written(folder / f"{number}.jsonl", header)
    written(folder / "torn.jsonl", '{"type":"sess')
    transcripts = PiTranscripts()
    assert sorted(transcripts.list(str(mine), env)) == ["one", "two"]
    assert transcripts.find("one", str(mine), env) == folder / "0.jsonl"
    assert transcripts.find("not", str(mine), env) is None
    assert list(transcripts.list(str(other), env)) == ["not"]
    (tmp_path / "link").symlink_to(mine)
    assert transcripts.find("one", str(tmp_path / "link"), env) == folder / "0.jsonl"
