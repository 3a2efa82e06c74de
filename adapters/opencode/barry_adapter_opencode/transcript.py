"""opencode's conversations as session events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from barry_adapter_opencode.places import database
from barry_adapter_opencode.store import conversations, entries
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


class OpencodeTranscripts:
    """Finds and reads opencode's own record.

    opencode keeps all conversations in one database, so the path of one is
    ``<database>/<conversation's id>``: ``read`` takes it apart again.
    """

    def find(self, harness_session_id: str, cwd: str, env: Mapping[str, str]) -> Path | None:
        """What stands for the conversation, if this folder has it."""
        file = database(env)
        if file is None or harness_session_id not in conversations(file, cwd):
            return None
        return file / harness_session_id

    def list(self, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
        """The ids of this folder's conversations, newest first."""
        file = database(env)
        if file is not None:
            yield from conversations(file, cwd)

    def read(self, path: Path) -> Iterator[SessionEvent]:
        """What happened, in order; rows that can't be read are passed over.

        A turn that was never answered to its end has no ``done``.
        """
        current = ""
        message: dict[str, Any] = {}
        begun = False
        for message_id, text, _, part in entries(path.parent, path.name):
            if not begun:
                yield Init(harness_session_id=path.name)
                begun = True
            if message_id != current:
                yield from _closing(current, message)
                current, message = message_id, _object(text)
            yield from _events(message, _object(part))
        yield from _closing(current, message)


def _closing(message_id: str, message: dict[str, Any]) -> Iterator[SessionEvent]:
    """What is known of an answer once it is whole: its cost, its failure, the turn's end."""
    if message.get("role") != "assistant":
        return
    usage = usage_of(message.get("tokens"))
    if usage is not None:
        yield UsageReported(id=message_id, usage=usage)
    error = message.get("error")
    if isinstance(error, dict):
        data = error.get("data")
        said = data.get("message") if isinstance(data, dict) else None
        yield Failed(error=str(said or error.get("name") or "it failed"))
    elif message.get("finish") in (None, "tool-calls"):
        return
    yield Done()


def _events(message: dict[str, Any], part: dict[str, Any]) -> Iterator[SessionEvent]:
    role = message.get("role")
    kind = part.get("type")
    if kind == "text" and role in ("user", "assistant"):
        text = part.get("text")
        if isinstance(text, str) and text and not part.get("synthetic"):
            yield Text(text=text, role=role)
    elif kind == "tool":
        call, state = str(part.get("callID", "")), part.get("state")
        state = state if isinstance(state, dict) else {}
        yield ToolUse(id=call, tool=str(part.get("tool", "")), input=state.get("input"))
        if state.get("status") == "completed":
            yield ToolResult(id=call, result=state.get("output"), error=False)
        elif state.get("status") == "error":
            yield ToolResult(id=call, result=state.get("error"), error=True)


def usage_of(tokens: object) -> TokenUsage | None:
    """The tokens of a message, as opencode counts them; None for what is no count."""
    if not isinstance(tokens, dict):
        return None
    cache = tokens.get("cache")
    cache = cache if isinstance(cache, dict) else {}
    counts = {
        "input": tokens.get("input"),
        "output": tokens.get("output"),
        "reasoning": tokens.get("reasoning", 0),
        "cached": cache.get("read", 0),
        "cache_write": cache.get("write", 0),
    }
    if not all(isinstance(count, int) and count >= 0 for count in counts.values()):
        return None
    return TokenUsage.model_validate(counts)


def _object(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
