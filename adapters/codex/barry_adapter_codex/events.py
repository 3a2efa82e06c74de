"""What each notification of Codex's app server says (build 0.171.0)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from barry_adapter_codex.calls import STARTED, call_of
from barry_cli.agents import (
    AgentEvent,
    Quota,
    Raw,
    Retrying,
    Stopped,
    read_count,
    read_line,
    read_number,
    read_object,
    read_string,
)
from barry_cli.sessions import Done, Failed, Partial, Text, ToolResult, ToolUse

Row = dict[str, Any]
Cause = Literal["quota", "unavailable"]

_LIMITS = frozenset({"usageLimitExceeded", "rateLimitExceeded", "sessionBudgetExceeded"})
_OUTAGES = frozenset({"internalServerError", "serverOverloaded", "flexUnavailable"})

_QUOTA = re.compile(
    r"\b429 Too Many Requests|you've (hit|reached) your .*limit|usage limit|quota exceeded",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    r"unexpected status 5\d\d\b|experiencing high demand|connection failed|stream disconnected"
    r"|error sending request|at capacity|overloaded",
    re.IGNORECASE,
)
_LOST = re.compile(r"no rollout found for|missing source rollout|thread not found", re.IGNORECASE)


def quota(text: str) -> bool:
    """Whether a failure's text says that a limit is reached."""
    return _QUOTA.search(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")) is not None


def unavailable(text: str) -> bool:
    """Whether a failure's text says that the service is out or can't be reached."""
    return _UNAVAILABLE.search(text) is not None


def lost(text: str) -> bool:
    """Whether a failure's text says that the conversation to go on with isn't there."""
    return _LOST.search(text) is not None


def events(line: str) -> tuple[AgentEvent, ...]:
    """What one line means; ``Raw`` where it means nothing here."""
    row = read_line(line)
    reader = _READERS.get(read_string(row, "method") or "")
    params = read_object(row, "params")
    found = tuple(reader(params)) if reader is not None and params is not None else ()
    return found or (Raw(line),)


def _delta(params: Row) -> Iterator[AgentEvent]:
    text = read_string(params, "delta")
    if text:
        yield Partial(text=text)


def _begun(params: Row) -> Iterator[AgentEvent]:
    item = read_object(params, "item") or {}
    name, call = read_string(item, "id"), call_of(item)
    if name and call is not None:
        yield ToolUse(id=name, tool=call[0], input=call[1])


def _ended(params: Row) -> Iterator[AgentEvent]:
    item = read_object(params, "item") or {}
    name, text = read_string(item, "id"), read_string(item, "text")
    if read_string(item, "type") == "agentMessage" and text:
        yield Text(text=text, role="assistant")
    elif name and call_of(item) is not None:
        status = read_string(item, "status") or "completed"
        yield ToolResult(
            id=name, result=_result(item), error=None if status in ("completed", STARTED) else True
        )


def _result(item: Row) -> Any:
    """What a call gave: its output, an MCP server's content, or how it ended."""
    error = read_object(item, "error")
    content = read_object(item, "result")
    if error is not None:
        return read_string(error, "message")
    if content is not None:
        return content.get("content")
    output = read_string(item, "aggregatedOutput")
    silent = "" if item.get("exitCode") is not None else read_string(item, "status")
    return silent if output is None else output


def _trouble(params: Row) -> Iterator[AgentEvent]:
    """A passing one; the last one is told again by the end of the turn."""
    error = read_object(params, "error")
    if params.get("willRetry") is True and error is not None:
        told = (read_string(error, "message"), read_string(error, "additionalDetails"))
        text = ": ".join(each for each in told if each)
        yield Retrying(text=text, cause=_cause(error))


def _over(params: Row) -> Iterator[AgentEvent]:
    turn = read_object(params, "turn")
    status = read_string(turn, "status")
    if status == "completed":
        yield Done(duration_ms=read_count(turn, "durationMs"))
    elif status == "interrupted":
        yield Stopped("aborted")
    elif status == "failed":
        error = read_object(turn, "error") or {}
        text = read_string(error, "message") or "the turn failed"
        if _cause(error) == "quota":
            yield Quota(text=text)
        yield Failed(error=text)


def _cause(error: Row) -> Cause | None:
    """What is to blame, by the code that is made for programs."""
    info = error.get("codexErrorInfo")
    if isinstance(info, str):
        return "quota" if info in _LIMITS else "unavailable" if info in _OUTAGES else None
    if not isinstance(info, dict) or len(info) != 1:
        return None
    ((kind, more),) = info.items()
    status = read_number(more, "httpStatusCode") if isinstance(more, dict) else None
    if status is None:
        return "unavailable" if kind.startswith(("http", "responseStream")) else None
    return "quota" if status == 429 else "unavailable" if status >= 500 else None


_READERS = {
    "error": _trouble,
    "item/agentMessage/delta": _delta,
    "item/completed": _ended,
    "item/started": _begun,
    "turn/completed": _over,
}
