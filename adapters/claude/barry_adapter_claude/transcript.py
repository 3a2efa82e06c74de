"""Claude Code's own record of its conversations: one JSON document per line, read only."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from barry_adapter_claude.places import conversation_file, conversation_files
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

_INTERRUPTED = "[Request interrupted by user"
_PEER = "Another Claude session sent a message:\n"
_NOT_TYPED = "\n\nThis came from another Claude session"


class ClaudeTranscripts:
    """Finds, lists and reads conversations."""

    def find(self, harness_session_id: str, cwd: str, env: Mapping[str, str]) -> Path | None:
        """Where a conversation of this folder is kept, or None when it isn't there."""
        return conversation_file(harness_session_id, cwd, env)

    def list(self, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
        """The ids of this folder's conversations, newest first."""
        for path in conversation_files(cwd, env):
            yield path.stem

    def read(self, path: Path) -> Iterator[SessionEvent]:
        """What happened, in order; lines that can't be read are passed over."""
        reading = _Reading()
        yield Init(harness_session_id=path.stem)
        with path.open("rb") as lines:
            for line in lines:
                yield from reading.line(line)
        yield from reading.end()


class _Reading:
    """What has to be remembered from one line to the next."""

    def __init__(self) -> None:
        self._in_turn = False
        self._message = ""
        self._usage: TokenUsage | None = None

    def line(self, line: bytes) -> Iterator[SessionEvent]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            return
        # What subagents did is kept in files of their own.
        if not isinstance(row, dict) or row.get("isSidechain"):
            return
        message = row.get("message")
        kind = row.get("type")
        if kind == "attachment":
            yield from _joined(row.get("attachment"))
        elif kind == "user" and _kind_of(row.get("origin")) == "peer" and isinstance(message, dict):
            yield from self._peer(message)
        elif row.get("isMeta"):
            return  # Claude Code's own notes
        elif kind == "user" and isinstance(message, dict) and not row.get("isCompactSummary"):
            yield from self._user(message)
        elif kind == "assistant" and isinstance(message, dict):
            yield from self._assistant(message, failed=row.get("isApiErrorMessage") is True)
        elif kind == "system" and row.get("subtype") == "turn_duration":
            yield from self.end(row.get("durationMs"))

    def _user(self, message: dict[str, Any]) -> Iterator[SessionEvent]:
        blocks = _blocks(message)
        texts = [_text(block) for block in blocks if block.get("type") == "text"]
        if any(text.startswith(_INTERRUPTED) for text in texts):
            yield from self.end()
            return
        if texts:
            yield from self.end()
            self._in_turn = True
        for block in blocks:
            if block.get("type") == "tool_result":
                yield ToolResult(
                    id=str(block.get("tool_use_id", "")),
                    result=block.get("content"),
                    error=True if block.get("is_error") else None,
                )
        for text in texts:
            yield Text(text=text, role="user")

    def _peer(self, message: dict[str, Any]) -> Iterator[SessionEvent]:
        """Another session's message that began a turn, without what Claude Code says of it."""
        yield from self.end()
        self._in_turn = True
        for block in _blocks(message):
            text = _text(block).removeprefix(_PEER)
            yield Text(
                text=text[: text.rfind(_NOT_TYPED)] if _NOT_TYPED in text else text, role="user"
            )

    def _assistant(self, message: dict[str, Any], *, failed: bool) -> Iterator[SessionEvent]:
        self._in_turn = True
        if str(message.get("id", "")) != self._message:
            yield from self._report()
        self._message = str(message.get("id", ""))
        self._usage = _usage(message.get("usage")) or self._usage
        for block in _blocks(message):
            kind = block.get("type")
            if kind == "text":
                text = _text(block)
                yield Failed(error=text) if failed else Text(text=text, role="assistant")
            elif kind == "tool_use":
                yield ToolUse(
                    id=str(block.get("id", "")),
                    tool=str(block.get("name", "")),
                    input=block.get("input"),
                )

    def end(self, milliseconds: object = None) -> Iterator[SessionEvent]:
        """The end of a turn, if one is open."""
        yield from self._report()
        if self._in_turn:
            yield Done(duration_ms=milliseconds if isinstance(milliseconds, int) else None)
        self._in_turn = False

    def _report(self) -> Iterator[SessionEvent]:
        """A message stands on a line per block, each with the same usage: it is told once."""
        if self._usage is not None:
            yield UsageReported(id=self._message, usage=self._usage)
        self._usage = None


def _joined(attached: object) -> Iterator[SessionEvent]:
    """What the user, or another session, said while a turn was running."""
    if not isinstance(attached, dict) or attached.get("type") != "queued_command":
        return
    said = attached.get("prompt")
    if _kind_of(attached.get("origin")) in ("human", "peer"):
        for block in _blocks({"content": said}):
            if block.get("type") == "text":
                yield Text(text=_text(block), role="user")


def _kind_of(origin: object) -> str:
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return kind if isinstance(kind, str) else ""


def _blocks(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return (
        [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    )


def _text(block: dict[str, Any]) -> str:
    return str(block.get("text", ""))


def _usage(found: object) -> TokenUsage | None:
    if not isinstance(found, dict):
        return None

    def count(name: str) -> int:
        value = found.get(name)
        return value if isinstance(value, int) else 0

    return TokenUsage(
        input=count("input_tokens"),
        output=count("output_tokens"),
        cached=count("cache_read_input_tokens"),
        cache_write=count("cache_creation_input_tokens"),
    )
