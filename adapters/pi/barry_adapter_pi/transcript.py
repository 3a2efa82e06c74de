"""pi's session files (JSON Lines) as session events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from barry_adapter_pi.places import session_files
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

_ENDS = ("stop", "length", "error", "aborted")


class PiTranscripts:
    """Finds and reads pi's own record; nothing is ever written."""

    def find(self, harness_session_id: str, cwd: str, env: Mapping[str, str]) -> Path | None:
        """The session file of a conversation of this folder."""
        for found in session_files(cwd, env):
            if found.id == harness_session_id:
                return found.path
        return None

    def list(self, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
        """The ids of this folder's conversations, newest first."""
        for found in session_files(cwd, env):
            yield found.id

    def read(self, path: Path) -> Iterator[SessionEvent]:
        """What happened, in order; lines that can't be read are passed over.

        A turn that was never answered to its end has no ``done``.
        """
        ended = False
        for entry in _lines(path):
            if entry.get("type") == "session" and isinstance(entry.get("id"), str):
                yield Init(harness_session_id=entry["id"])
            message = entry.get("message")
            if entry.get("type") != "message" or not isinstance(message, dict):
                continue
            # A failed answer may be tried again: the turn is over when the next one begins.
            if ended and message.get("role") == "user":
                yield Done()
                ended = False
            yield from _events(str(entry.get("id", "")), message)
            if message.get("role") == "assistant":
                ended = message.get("stopReason") in _ENDS
        if ended:
            yield Done()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open("rb") as lines:
            for line in lines:
                try:
                    entry = json.loads(line)
                except (ValueError, RecursionError):
                    continue
                if isinstance(entry, dict):
                    yield entry
    except OSError:
        return


def _events(entry: str, message: dict[str, Any]) -> Iterator[SessionEvent]:
    role = message.get("role")
    blocks = _blocks(message.get("content"))
    if role == "user":
        text = _text(blocks)
        if text:
            yield Text(text=text, role="user")
    elif role == "assistant":
        for block in blocks:
            if block.get("type") == "text" and isinstance(block.get("text"), str):
                yield Text(text=block["text"], role="assistant")
            elif block.get("type") == "toolCall":
                yield ToolUse(
                    id=str(block.get("id", "")),
                    tool=str(block.get("name", "")),
                    input=block.get("arguments"),
                )
        if message.get("stopReason") in ("error", "aborted"):
            yield Failed(error=str(message.get("errorMessage") or message["stopReason"]))
        usage = _usage(message.get("usage"))
        if usage is not None:
            yield UsageReported(id=entry, usage=usage)
    elif role == "toolResult":
        yield ToolResult(
            id=str(message.get("toolCallId", "")),
            result=_text(blocks),
            error=message.get("isError") is True,
        )


def _blocks(content: object) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, dict)]


def _text(blocks: list[dict[str, Any]]) -> str:
    parts = (block.get("text") for block in blocks if block.get("type") == "text")
    return "\n".join(part for part in parts if isinstance(part, str))


def _usage(usage: object) -> TokenUsage | None:
    if not isinstance(usage, dict):
        return None
    counts = [usage.get(name) for name in ("input", "output", "cacheRead", "cacheWrite")]
    if not all(isinstance(count, int) and count >= 0 for count in counts):
        return None
    return TokenUsage.model_validate(
        dict(zip(("input", "output", "cached", "cache_write"), counts, strict=True))
    )
