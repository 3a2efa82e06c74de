"""Qwen Code's record of a conversation."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

ID = "0d6f2b3c-1111-4222-8333-444455556666"
USAGE = {
    "promptTokenCount": 30,
    "candidatesTokenCount": 5,
    "cachedContentTokenCount": 20,
    "thoughtsTokenCount": 1,
}


def row(kind: str, *parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"uuid": "u", "sessionId": ID, "type": kind, "message": {"parts": list(parts)}, **more}


def answer(known: str, **response: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": known, "name": "read_file", "response": response}}


def call(known: str) -> dict[str, Any]:
    return {"functionCall": {"id": known, "name": "read_file", "args": {"file_path": "a"}}}


FAILED = {"uiEvent": {"event.name": "qwen-code.api_error", "error_message": "401"}}
ROWS: tuple[Any, ...] = (
    row("user", {"text": "go"}),
    {"type": "system", "systemPayload": {"uiEvent": {"event.name": "qwen-code.api_response"}}},
    row(
        "assistant",
        {"text": "hm", "thought": True},
        {"text": "so"},
        call("c1"),
        usageMetadata=USAGE,
    ),
    row("tool_result", answer("c1", output="text")),
    "not an object",
    row("assistant", call("c2")),
    row("tool_result", answer("c2", error="no")),
    row("assistant", {"text": "done"}),
    row("user", {"text": "more"}),
    {"type": "system", "systemPayload": FAILED},
    row("user", {"text": "unanswered"}),
)


def test_a_conversation_in_order(place: Any) -> None:
    from barry_adapter_qwen.transcript import QwenTranscripts

    path = place.chats / f"{ID}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("\n".join([*map(json.dumps, ROWS), '{"broken']) + "\n", "utf-8")
    found = [
        event.model_dump(exclude_none=True, exclude_defaults=True) | {"type": event.type}
        for event in QwenTranscripts().read(path)
    ]
    usage = {"input": 10, "output": 5, "cached": 20, "reasoning": 1}
    used = {"tool": "read_file", "input": {"file_path": "a"}}
    assert found == [
        {"type": "init", "harness_session_id": ID},
        {"type": "text", "text": "go", "role": "user"},
        {"type": "text", "text": "so", "role": "assistant"},
        {"type": "tool_use", "id": "c1", **used},
        {"type": "usage", "id": "u", "usage": usage},
        {"type": "tool_result", "id": "c1", "result": "text"},
        {"type": "tool_use", "id": "c2", **used},
        {"type": "tool_result", "id": "c2", "result": "no", "error": True},
        {"type": "text", "text": "done", "role": "assistant"},
        {"type": "done"},
        {"type": "text", "text": "more", "role": "user"},
        {"type": "error", "error": "401"},
        {"type": "done"},
        {"type": "text", "text": "unanswered", "role": "user"},
    ]


def test_conversations_are_found_by_folder_newest_first(place: Any, tmp_path: Path) -> None:
    from barry_adapter_qwen.transcript import QwenTranscripts

    older = ID.replace("0d6f", "1d6f")
    for name in (f"{ID}.jsonl", f"{older}.jsonl", f"{ID}-agent-x.jsonl", "notes.jsonl"):
        place.write(place.chats / name, {})
    os.utime(place.chats / f"{older}.jsonl", (1, 1))
    found, cwd = QwenTranscripts(), str(place.cwd)
    assert list(found.list(cwd, place.env)) == [ID, older]
    assert found.find(older, cwd, place.env) == place.chats / f"{older}.jsonl"
    assert found.find("../x", cwd, place.env) is None
    assert found.find(ID, str(place.home), place.env) is None


def test_they_are_where_variables_or_settings_put_them(place: Any) -> None:
    from barry_adapter_qwen.transcript import QwenTranscripts

    found, cwd = QwenTranscripts(), str(place.cwd)
    name = place.chats.relative_to(place.home / ".qwen")
    for folder in ("runtime", "set", "own"):
        place.write(place.home / folder / name / f"{ID}.jsonl", {"in": folder})
    env = {**place.env, "QWEN_RUNTIME_DIR": str(place.home / "runtime")}
    assert found.find(ID, cwd, env) == place.home / "runtime" / name / f"{ID}.jsonl"
    env = {**place.env, "QWEN_HOME": "~/own"}
    assert found.find(ID, cwd, env) == place.home / "own" / name / f"{ID}.jsonl"
    place.user_sets(advanced={"runtimeOutputDir": "~/set"})
    assert found.find(ID, cwd, place.env) == place.home / "set" / name / f"{ID}.jsonl"


def test_letters_beyond_the_first_plane_count_twice() -> None:
    from barry_adapter_qwen.places import _chats

    assert _chats("/a b/\N{GRINNING FACE}é", {"HOME": "/h"}, None) == Path(
        "/h/.qwen/projects/-a-b----/chats"
    )
