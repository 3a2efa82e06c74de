"""Codex's record of a conversation: found, listed, and read as events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from codex_samples import ID, Record, id_of

from barry_adapter_codex.transcript import Rollouts
from barry_cli.contract.adapter import TranscriptSource
from barry_cli.contract.events import Done, Init, Result, Text, ToolResult, ToolUse
from barry_cli.contract.models import TokenUsage

SOURCE = Rollouts()


def item(**payload: Any) -> dict[str, Any]:
    return {"type": "response_item", "payload": payload}


def told(**payload: Any) -> dict[str, Any]:
    return {"type": "event_msg", "payload": payload}


def used(count: int) -> dict[str, Any]:
    usage = {
        "input_tokens": count,
        "cached_input_tokens": 4,
        "cache_write_input_tokens": 0,
        "output_tokens": 2,
        "reasoning_output_tokens": 1,
    }
    return {"type": "token_usage_record", "payload": {"usage": usage}}


def said_by_user(text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return told(type="item_completed", item={"type": "UserMessage", "content": content})


def said_by_model(text: str) -> dict[str, Any]:
    return item(type="message", role="assistant", content=[{"type": "output_text", "text": text}])


TURNS = (
    told(type="task_started"),
    item(type="message", role="user", content=[{"type": "input_text", "text": "<environment>"}]),
    said_by_user("do it"),
    item(type="function_call", name="exec_command", arguments='{"cmd": "ls"}', call_id="c1"),
    used(10),
    item(type="function_call_output", call_id="c1", output="a file"),
    item(type="custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c2"),
    item(
        type="custom_tool_call_output", call_id="c2", output=[{"type": "input_text", "text": "y"}]
    ),
    item(
        type="function_call",
        name="ping",
        namespace="mcp__files",
        arguments="not json",
        call_id="c3",
    ),
    item(type="function_call", name="spawn_agent", namespace="x", arguments="{}", call_id="c4"),
    said_by_model("done"),
    used(20),
    told(type="task_complete", last_agent_message="done", duration_ms=262),
    said_by_user("again"),
    told(type="turn_aborted", reason="interrupted", duration_ms=5),
    told(type="task_complete", last_agent_message=None, error={"message": "refused"}),
)


def test_it_is_a_transcript_source() -> None:
    assert isinstance(SOURCE, TranscriptSource)


def test_a_conversation_as_events(record: Record) -> None:
    path = record(more=TURNS)
    usage = TokenUsage(input=22, output=4, cached=8, cache_write=0, reasoning=2)
    assert list(SOURCE.read(path)) == [
        Init(harness_session_id=ID),
        Text(text="do it", role="user"),
        ToolUse(id="c1", tool="exec_command", input={"cmd": "ls"}),
        ToolResult(id="c1", result="a file"),
        ToolUse(id="c2", tool="apply_patch", input="*** Begin Patch"),
        ToolResult(id="c2", result="y"),
        ToolUse(id="c3", tool="mcp__files__ping", input="not json"),
        ToolUse(id="c4", tool="spawn_agent", input={}),
        Text(text="done", role="assistant"),
        Result(result="done"),
        Done(usage=usage, turns=1, duration_ms=262),
        Text(text="again", role="user"),
        Result(error="interrupted"),
        Done(turns=1, duration_ms=5),
        Result(error="refused"),
        Done(turns=1),
    ]


def test_lines_that_can_not_be_read_are_passed_over(record: Record) -> None:
    path = record()
    good = json.dumps(said_by_model("still here")).encode()
    bad = (
        b"",
        b"not json",
        b"\xff\xfe",
        b"[1]",
        b"3",
        b'{"type": "response_item"}',
        b'{"type": "response_item", "payload": []}',
        b'{"type": "response_item", "payload": {"type": "message", "role": "assistant"}}',
        b'{"type": "event_msg", "payload": {"type": "item_completed", "item": null}}',
        b'{"type": "token_usage_record", "payload": {"usage": {"input_tokens": "x"}}}',
        b'{"type": "unheard_of", "payload": {}}',
        b"[" * 100_000,
    )
    with path.open("ab") as out:
        out.write(b"\n".join((*bad, good, good[:-5])))
    assert list(SOURCE.read(path)) == [
        Init(harness_session_id=ID),
        Text(text="still here", role="assistant"),
    ]


def test_a_fork_is_named_by_its_own_head(record: Record) -> None:
    other = {"type": "session_meta", "payload": {"id": "another"}}
    assert list(SOURCE.read(record(more=(other,)))) == [Init(harness_session_id=ID)]


def test_finding_one(record: Record, home: Path, tmp_path: Path) -> None:
    env = {"HOME": str(home)}
    assert SOURCE.find(ID, str(home), env) is None
    path = record()
    assert SOURCE.find(ID, str(home), env) == path
    assert SOURCE.find(ID, str(tmp_path), env) is None
    assert SOURCE.find("../../etc/passwd", str(home), env) is None
    link = tmp_path / "link"
    link.symlink_to(home)
    assert SOURCE.find(ID, str(link), env) == path


def test_codex_home_decides_where_they_are(record: Record, home: Path) -> None:
    path = record()
    env = {"HOME": "/nowhere", "CODEX_HOME": str(home / ".codex")}
    assert SOURCE.find(ID, str(home), env) == path


def test_listing_those_of_a_folder(record: Record, home: Path) -> None:
    old, new, child, elsewhere, broken = (id_of(each) for each in range(5))
    record(new, at=200)
    record(old, at=100)
    record(child, source={"subagent": "review"}, at=300)
    record(elsewhere, cwd="/elsewhere", at=300)
    record(broken).write_text("{")
    assert list(SOURCE.list(str(home), {"HOME": str(home)})) == [new, old]
    assert list(SOURCE.list(str(home), {"HOME": "/nowhere"})) == []
