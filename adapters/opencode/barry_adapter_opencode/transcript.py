"""opencode's conversations as session events."""

from __future__ import annotations

import json
import math
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
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
        """What happened, in order, subagents' doings between their call and its result; rows that
        can't be read are passed over.

        What is still being written ends it: what was read once stays as it is. A turn that was
        never answered to its end has no ``done``.
        """
        begun = False
        for event in _conversation(path.parent, path.name):
            if not begun:
                yield Init(harness_session_id=path.name)
                begun = True
            yield event


@dataclass
class _Message:
    """A message and its parts, as opencode has them."""

    id: str
    info: dict[str, Any]
    parts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def answers(self) -> bool:
        return self.info.get("role") == "assistant"

    @property
    def over(self) -> bool:
        """Whether nothing of it changes any more."""
        time = self.info.get("time")
        begun = isinstance(time, dict) and time.get("completed") is None
        return not begun or self.info.get("finish") is not None or "error" in self.info


def _messages(database: Path, session: str) -> list[_Message]:
    found: list[_Message] = []
    for message_id, text, _, part in entries(database, session):
        if not found or found[-1].id != message_id:
            found.append(_Message(message_id, _object(text)))
        if part:
            found[-1].parts.append(_object(part))
    return found


def _conversation(
    database: Path,
    session: str,
    parent: str | None = None,
    during: tuple[float, float] = (0, math.inf),
) -> Generator[SessionEvent, None, bool]:
    """The events of a conversation; the result: whether all of it is over.

    ``parent``: the call that it is a subagent's of; ``during``: the time of that call (ms), since
    another call may go on with it.
    """
    found = [each for each in _messages(database, session) if _within(each, during)]
    newest = next((each for each in reversed(found) if each.answers), None)
    for message in found:
        going_on = message is newest and not message.over
        for part in message.parts:
            over = yield from _events(database, message, part, parent)
            if not over and message is newest:
                return False
        if going_on:
            return False
        yield from _closing(message, parent)
    return True


def _within(message: _Message, during: tuple[float, float]) -> bool:
    time = message.info.get("time")
    created = time.get("created") if isinstance(time, dict) else None
    return not isinstance(created, int | float) or during[0] <= created <= during[1]


def _closing(message: _Message, parent: str | None) -> Iterator[SessionEvent]:
    """What is known of an answer once it is whole: its cost, its failure, the turn's end."""
    if not message.answers:
        return
    usage = usage_of(message.info.get("tokens"))
    if usage is not None:
        yield UsageReported(id=message.id, usage=usage, parent_tool_use_id=parent)
    error = message.info.get("error")
    if isinstance(error, dict):
        data = error.get("data")
        said = data.get("message") if isinstance(data, dict) else None
        words = str(said or error.get("name") or "it failed")
        yield Failed(error=words, parent_tool_use_id=parent)
    elif message.info.get("finish") in (None, "tool-calls"):
        return
    if parent is None:
        yield Done()


def _events(
    database: Path, message: _Message, part: dict[str, Any], parent: str | None
) -> Generator[SessionEvent, None, bool]:
    """The events of a part; the result: whether it is over."""
    role, kind = message.info.get("role"), part.get("type")
    if kind == "text" and role in ("user", "assistant"):
        text, time = part.get("text"), part.get("time")
        written = isinstance(time, dict) and time.get("end") is not None
        if role == "assistant" and not written and not message.over:
            return False
        if isinstance(text, str) and text and not part.get("synthetic"):
            yield Text(text=text, role=role, parent_tool_use_id=parent)
    elif kind == "tool":
        return (yield from _call(database, message, part, parent))
    return True


def _call(
    database: Path, message: _Message, part: dict[str, Any], parent: str | None
) -> Generator[SessionEvent, None, bool]:
    call, tool, state = str(part.get("callID", "")), str(part.get("tool", "")), part.get("state")
    state = state if isinstance(state, dict) else {}
    status = state.get("status")
    if status == "pending" and not message.over:
        return False  # its input is still being written
    yield ToolUse(id=call, tool=tool, input=state.get("input"), parent_tool_use_id=parent)
    inner = _inner(state)
    if inner is not None:
        over = yield from _conversation(database, inner[0], call, inner[1])
        if not over and status == "running":
            return False
    if status == "completed":
        result = state.get("output")
        yield ToolResult(id=call, result=result, error=False, parent_tool_use_id=parent)
    elif status == "error":
        result = state.get("error")
        yield ToolResult(id=call, result=result, error=True, parent_tool_use_id=parent)
    return status in ("completed", "error")


def _inner(state: dict[str, Any]) -> tuple[str, tuple[float, float]] | None:
    """The conversation of the subagent that a call started, and the time of the call."""
    about, time = state.get("metadata"), state.get("time")
    session = about.get("sessionId") if isinstance(about, dict) else None
    if not isinstance(session, str):
        return None
    time = time if isinstance(time, dict) else {}
    start, end = time.get("start"), time.get("end")
    return session, (
        start if isinstance(start, int | float) else 0,
        end if isinstance(end, int | float) else math.inf,
    )


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
