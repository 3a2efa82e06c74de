"""Gemini CLI's own record of its conversations: one JSON document per line, read only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from barry_adapter_gemini.places import conversations
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

_OWN = "<session_context>"
"""How the text begins by which Gemini CLI itself opens a conversation."""


class GeminiTranscripts:
    """Finds, lists and reads conversations."""

    def find(self, harness_session_id: str, cwd: str, env: Mapping[str, str]) -> Path | None:
        """Where a conversation of this folder is kept, or None when it isn't there."""
        found = conversations(cwd, env)
        return next((each.path for each in found if each.id == harness_session_id), None)

    def list(self, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
        """The ids of this folder's conversations, newest first."""
        for each in conversations(cwd, env):
            yield each.id

    def read(self, path: Path) -> Iterator[SessionEvent]:
        """What happened, in order; lines that can't be read are passed over.

        A turn that was never answered to its end has no ``done``.
        """
        messages: dict[str, dict[str, Any]] = {}
        for row in _lines(path):
            if "id" not in row and isinstance(row.get("sessionId"), str):
                yield Init(harness_session_id=row["sessionId"])
            # A message is written again, whole, whenever more of it is known.
            for message in (row, *_replaced(row)):
                if isinstance(message.get("id"), str) and isinstance(message.get("type"), str):
                    messages[message["id"]] = message
        ended = False
        for message in messages.values():
            events = list(_events(message))
            if ended and events and message["type"] == "user":
                yield Done()
                ended = False
            yield from events
            if message["type"] in ("gemini", "error"):
                ended = not message.get("toolCalls")
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


def _replaced(row: dict[str, Any]) -> list[dict[str, Any]]:
    changes = row.get("$set")
    return _records(changes.get("messages")) if isinstance(changes, dict) else []


def _events(message: dict[str, Any]) -> Iterator[SessionEvent]:
    kind, text = message["type"], _text(message.get("content"))
    if kind == "user":
        if text and not text.startswith(_OWN):
            yield Text(text=text, role="user")
    elif kind == "error":
        yield Failed(error=text)
    elif kind == "gemini":
        if text:
            yield Text(text=text, role="assistant")
        for call in _records(message.get("toolCalls")):
            known = str(call.get("id", ""))
            yield ToolUse(id=known, tool=str(call.get("name", "")), input=call.get("args"))
            if call.get("status") in ("success", "error", "cancelled"):
                failed = True if call["status"] != "success" else None
                yield ToolResult(id=known, result=_result(call), error=failed)
        usage = _usage(message.get("tokens"))
        if usage is not None:
            yield UsageReported(id=message["id"], usage=usage)


def _result(call: dict[str, Any]) -> object:
    """What the model was told."""
    for part in _records(call.get("result")):
        answer = part.get("functionResponse")
        said = answer.get("response") if isinstance(answer, dict) else None
        if isinstance(said, dict):
            return said.get("output", said.get("error", said))
    return call.get("resultDisplay")


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    parts = (part.get("text") for part in _records(content))
    return "\n".join(part for part in parts if isinstance(part, str))


def _records(found: object) -> list[dict[str, Any]]:
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _usage(found: object) -> TokenUsage | None:
    if not isinstance(found, dict):
        return None

    def count(name: str) -> int:
        value = found.get(name)
        return value if isinstance(value, int) and value >= 0 else 0

    cached = count("cached")
    return TokenUsage(
        input=max(0, count("input") - cached),
        output=count("output"),
        cached=cached,
        reasoning=count("thoughts"),
    )
