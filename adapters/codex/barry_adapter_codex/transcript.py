"""Codex's record of a conversation, as events of Barry's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from barry_adapter_codex.places import changed_at, is_id, of_folder, rollouts
from barry_cli.sessions import (
    Done,
    Init,
    Result,
    SessionEvent,
    Text,
    TokenUsage,
    ToolResult,
    ToolUse,
)


class Rollouts:
    """The files below ``$CODEX_HOME/sessions``, one a conversation."""

    def find(self, harness_session_id: str, cwd: str, env: Mapping[str, str]) -> Path | None:
        """The file of a conversation that was held in this folder."""
        if not is_id(harness_session_id):
            return None
        for conversation, path in rollouts(env):
            if conversation == harness_session_id and of_folder(path, cwd):
                return path
        return None

    def list(self, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
        """The ids of this folder's conversations, the last one written to first."""
        newest = sorted(rollouts(env), key=lambda each: changed_at(each[1]), reverse=True)
        for conversation, path in newest:
            if of_folder(path, cwd):
                yield conversation

    def read(self, path: Path) -> Iterator[SessionEvent]:
        """The events of one file. Raises OSError when it can't be opened."""
        reader = _Reader()
        with path.open("rb") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                    yield from reader.events(entry["type"], entry["payload"])
                # What can't be read, or isn't of the form it should be, is passed over.
                except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                    continue


class _Reader:
    """What has to be remembered between lines: tokens are counted by request, told by turn."""

    def __init__(self) -> None:
        self._begun = False
        self._usage: TokenUsage | None = None

    def events(self, kind: str, payload: dict[str, Any]) -> list[SessionEvent]:
        if kind == "session_meta":
            # A fork repeats the head of what it was forked from.
            if self._begun:
                return []
            self._begun = True
            return [Init(harness_session_id=payload["id"])]
        if kind == "token_usage_record":
            self._usage = _sum(self._usage, payload["usage"])
            return []
        if kind == "response_item":
            return _item(payload)
        if kind == "event_msg":
            return self._message(payload)
        return []

    def _message(self, payload: dict[str, Any]) -> list[SessionEvent]:
        kind = payload["type"]
        if kind == "item_completed" and payload["item"]["type"] == "UserMessage":
            # Not the model's own input, where Codex adds messages in the user's name.
            return [Text(text=_text(payload["item"]["content"]), role="user")]
        if kind == "task_complete":
            error = payload.get("error")
            return [
                Result(
                    result=payload.get("last_agent_message"),
                    error=str(error["message"]) if error else None,
                ),
                self._done(payload),
            ]
        if kind == "turn_aborted":
            return [Result(error=str(payload["reason"])), self._done(payload)]
        return []

    def _done(self, payload: dict[str, Any]) -> Done:
        usage, self._usage = self._usage, None
        return Done(usage=usage, turns=1, duration_ms=payload.get("duration_ms"))


def _item(item: dict[str, Any]) -> list[SessionEvent]:
    """One piece of the conversation as the model has it."""
    kind = item["type"]
    if kind == "message" and item["role"] == "assistant":
        return [Text(text=_text(item["content"]), role="assistant")]
    if kind == "function_call":
        return [ToolUse(id=item["call_id"], tool=_name(item), input=_parsed(item["arguments"]))]
    if kind == "custom_tool_call":
        return [ToolUse(id=item["call_id"], tool=_name(item), input=item["input"])]
    if kind in ("function_call_output", "custom_tool_call_output"):
        return [ToolResult(id=item["call_id"], result=_text(item["output"]))]
    if kind == "web_search_call":
        return [ToolUse(id=str(item.get("id") or ""), tool="web_search", input=item.get("action"))]
    return []


def _name(item: dict[str, Any]) -> str:
    """A tool as the adapter names it: of an MCP server with the server, else bare."""
    space, name = str(item.get("namespace") or ""), str(item["name"])
    return f"{space}__{name}" if space.startswith("mcp__") else name


def _parsed(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments


def _text(content: Any) -> str:
    """The text of a message or an answer, which is one text or a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text", "")) for part in content)


def _sum(before: TokenUsage | None, used: dict[str, Any]) -> TokenUsage:
    fields = {
        "input": "input_tokens",
        "output": "output_tokens",
        "cached": "cached_input_tokens",
        "cache_write": "cache_write_input_tokens",
        "reasoning": "reasoning_output_tokens",
    }
    counts = {ours: int(used.get(theirs) or 0) for ours, theirs in fields.items()}
    # Codex counts what was read again, or written for that, among the input.
    counts["input"] = max(0, counts["input"] - counts["cached"] - counts["cache_write"])
    for ours in counts if before else ():
        counts[ours] += getattr(before, ours) or 0
    return TokenUsage.model_validate(counts)
