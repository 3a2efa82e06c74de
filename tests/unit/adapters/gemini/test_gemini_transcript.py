"""Gemini CLI's record of a conversation."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

ID = "0d6f2b3c-1111-4222-8333-444455556666"
CALL: dict[str, Any] = {
    "id": "c1",
    "name": "read_file",
    "args": {"file_path": "a"},
    "status": "success",
    "result": [{"functionResponse": {"response": {"output": "text"}}}],
}
TOKENS = {"input": 30, "output": 5, "cached": 20, "thoughts": 1}
ROWS: tuple[Any, ...] = (
    {"sessionId": ID, "kind": "main"},
    {
        "$set": {
            "messages": [
                {"id": "m0", "type": "user", "content": [{"text": "<session_context>\nx"}]}
            ]
        }
    },
    {"id": "m1", "type": "user", "content": [{"text": "go"}]},
    {"id": "m2", "type": "gemini", "content": ""},
    {"id": "m2", "type": "gemini", "content": "so", "tokens": TOKENS, "toolCalls": [CALL]},
    {"id": "m3", "type": "user", "content": [{"functionResponse": {"id": "c1"}}]},
    "not an object",
    {"id": "m4", "type": "gemini", "content": [{"text": "done"}]},
    {"id": "m5", "type": "user", "content": "more"},
    {"id": "m6", "type": "error", "content": "it failed"},
    {"id": "m7", "type": "user", "content": "unanswered"},
)


def write(path: Path, rows: tuple[Any, ...] = ROWS) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(row) for row in rows]
    path.write_text(
        "\n".join(
            [*lines, '{"broken'],
        )
        + "\n",
        "utf-8",
    )
    return path


def read(path: Path) -> list[dict[str, Any]]:
    from barry_adapter_gemini.transcript import GeminiTranscripts

    return [
        event.model_dump(exclude_none=True, exclude_defaults=True) | {"type": event.type}
        for event in GeminiTranscripts().read(path)
    ]


def test_a_conversation_in_order(place: Any) -> None:
    usage = {"input": 10, "output": 5, "cached": 20, "reasoning": 1}
    assert read(write(place.home / "t.jsonl")) == [
        {"type": "init", "harness_session_id": ID},
        {"type": "text", "text": "go", "role": "user"},
        {"type": "text", "text": "so", "role": "assistant"},
        {"type": "tool_use", "id": "c1", "tool": "read_file", "input": {"file_path": "a"}},
        {"type": "tool_result", "id": "c1", "result": "text"},
        {"type": "usage", "id": "m2", "usage": usage},
        {"type": "text", "text": "done", "role": "assistant"},
        {"type": "done"},
        {"type": "text", "text": "more", "role": "user"},
        {"type": "error", "error": "it failed"},
        {"type": "done"},
        {"type": "text", "text": "unanswered", "role": "user"},
    ]


def test_a_failed_call_is_an_error(place: Any) -> None:
    failed = {
        **CALL,
        "status": "error",
        "result": [{"functionResponse": {"response": {"error": "no"}}}],
    }
    rows = ({"id": "m", "type": "gemini", "content": "", "toolCalls": [failed]},)
    result = next(each for each in read(write(place.home / "t", rows)) if "result" in each)
    assert result == {"type": "tool_result", "id": "c1", "result": "no", "error": True}


def test_conversations_are_found_by_folder(place: Any) -> None:
    from barry_adapter_gemini.transcript import GeminiTranscripts

    top = place.home / ".gemini"
    place.write(top / "projects.json", {"projects": {str(place.cwd): "short", "/other": "far"}})
    older = hashlib.sha256(str(place.cwd).encode()).hexdigest()
    header = ({"sessionId": "older", "kind": "main"},)
    first = write(top / "tmp" / older / "chats" / "session-1.jsonl", header)
    second = write(top / "tmp" / "short" / "chats" / "session-2.jsonl")
    sub = ({"sessionId": "sub", "kind": "subagent"},)
    write(top / "tmp" / "short" / "chats" / "session-3.jsonl", sub)
    write(top / "tmp" / "far" / "chats" / "session-4.jsonl", ({"sessionId": "far"},))
    os.utime(first, (1, 1))
    found, cwd = GeminiTranscripts(), str(place.cwd)
    assert list(found.list(cwd, place.env)) == [ID, "older"]
    assert found.find(ID, cwd, place.env) == second
    assert found.find("far", cwd, place.env) is None
    place.write(top / "projects.json", {"projects": {str(place.cwd): "../elsewhere"}})
    assert list(found.list(cwd, place.env)) == ["older"]
    assert list(found.list(cwd, {**place.env, "GEMINI_CLI_HOME": str(place.cwd)})) == []
