"""Qwen Code's own record of its conversations: one JSON document per line, read only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from barry_adapter_qwen.declared import LaunchRefused
from barry_adapter_qwen.places import conversation_files
from barry_adapter_qwen.settings import of_user
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


def files(cwd: str, env: Mapping[str, str | None]) -> Iterator[Path]:
    """The transcripts of a folder, newest first, wherever the user's settings put them."""
    return conversation_files(cwd, env, elsewhere(env))


def elsewhere(env: Mapping[str, str | None]) -> str | None:
    """The folder for conversations that the user's settings name."""
    try:
        named = of_user(env).at("advanced", "runtimeOutputDir")
    except LaunchRefused:
        return None
    return named if isinstance(named, str) else None


class QwenTranscripts:
    """Finds, lists and reads conversations."""

    def find(self, harness_session_id: str, cwd: str, env: Mapping[str, str]) -> Path | None:
        """Where a conversation of this folder is kept, or None when it isn't there."""
        return next((path for path in files(cwd, env) if path.stem == harness_session_id), None)

    def list(self, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
        """The ids of this folder's conversations, newest first."""
        for path in files(cwd, env):
            yield path.stem

    def read(self, path: Path) -> Iterator[SessionEvent]:
        """What happened, in order; lines that can't be read are passed over.

        A turn that was never answered to its end has no ``done``.
        """
        yield Init(harness_session_id=path.stem)
        ended = False
        for row in _lines(path):
            events = list(_events(row))
            if ended and any(isinstance(each, Text) and each.role == "user" for each in events):
                yield Done()
                ended = False
            yield from events
            if row.get("type") == "assistant":
                ended = not any(isinstance(each, ToolUse) for each in events)
            elif any(isinstance(each, Failed) for each in events):
                ended = True
        if ended:
            yield Done()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        for line in lines:
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(row, dict):
                yield row


def _events(row: dict[str, Any]) -> Iterator[SessionEvent]:
    kind = row.get("type")
    message = row.get("message")
    parts = _records(message.get("parts")) if isinstance(message, dict) else []
    if kind == "user":
        text = _text(parts)
        if text:
            yield Text(text=text, role="user")
    elif kind == "assistant":
        text = _text(parts)
        if text:
            yield Text(text=text, role="assistant")
        for call in _inner(parts, "functionCall"):
            yield ToolUse(
                id=str(call.get("id", "")), tool=str(call.get("name", "")), input=call.get("args")
            )
        usage = _usage(row.get("usageMetadata"))
        if usage is not None:
            yield UsageReported(id=str(row.get("uuid", "")), usage=usage)
    elif kind == "tool_result":
        for answer in _inner(parts, "functionResponse"):
            said = answer.get("response")
            found = said if isinstance(said, dict) else {"output": said}
            yield ToolResult(
                id=str(answer.get("id", "")),
                result=found.get("output", found.get("error", found)),
                error=True if "error" in found else None,
            )
    elif kind == "system":
        yield from _failure(row.get("systemPayload"))


def _failure(payload: object) -> Iterator[SessionEvent]:
    """A request that failed is kept among the notes about the program's own doings."""
    event = payload.get("uiEvent") if isinstance(payload, dict) else None
    if isinstance(event, dict) and event.get("event.name") == "qwen-code.api_error":
        said = event.get("error_message") or event.get("error") or event.get("error_type")
        yield Failed(error=str(said or "a request to the model failed"))


def _inner(parts: list[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    for part in parts:
        found = part.get(name)
        if isinstance(found, dict):
            yield found


def _text(parts: list[dict[str, Any]]) -> str:
    """What was said; thoughts are not."""
    said = (part.get("text") for part in parts if not part.get("thought"))
    return "\n".join(text for text in said if isinstance(text, str))


def _records(found: object) -> list[dict[str, Any]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _usage(found: object) -> TokenUsage | None:
    if not isinstance(found, dict):
        return None

    def count(name: str) -> int:
        value = found.get(name)
        return value if isinstance(value, int) and value >= 0 else 0

    cached = count("cachedContentTokenCount")
    return TokenUsage(
        input=max(0, count("promptTokenCount") - cached),
        output=count("candidatesTokenCount"),
        cached=cached,
        reasoning=count("thoughtsTokenCount"),
    )
