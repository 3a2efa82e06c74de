"""What each line of pi's RPC mode says (build 0.73.1, ``--mode rpc``).

How a turn ends is not in one line: see ``dialogue``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from barry_cli.agents import (
    AgentEvent,
    Observed,
    Raw,
    Retrying,
    Usage,
    read_count,
    read_line,
    read_list,
    read_number,
    read_object,
    read_string,
)
from barry_cli.sessions import Partial, Text, ToolResult, ToolUse, UsageReported

Row = dict[str, Any]

CUT = ("error", "aborted")
"""The stop reasons of an answer that broke off: its calls are not run."""

# How the libraries that pi reaches its services with name a status.
_STATUS = r"(?:^|\bstatus:? |\"code\": ?|\()"

_QUOTA = re.compile(
    _STATUS + r"429\b|too many requests|rate.?limit|usage.?limit|insufficient_quota"
    r"|exceeded your (current )?quota|credit balance is too low",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    _STATUS + r"5\d\d\b|overloaded|service.?unavailable|internal server error"
    r"|connection.?(error|refused|lost|reset)|network.?error|fetch failed|socket hang up"
    r"|other side closed|ended without|terminated|timed out|request timeout"
    r"|\bE(CONN[A-Z]+|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE)\b",
    re.IGNORECASE,
)


def quota(text: str) -> bool:
    """Whether a failure's text says that a limit is reached."""
    return _QUOTA.search(text) is not None


def unavailable(text: str) -> bool:
    """Whether a failure's text says that the service is out or can't be reached."""
    return not quota(text) and _UNAVAILABLE.search(text) is not None


def lost(text: str) -> bool:
    """Whether a failure's text says that the conversation to go on with isn't there."""
    return "No session found matching" in text


def events(line: str) -> tuple[AgentEvent, ...]:
    """What one line means; ``Raw`` where it means nothing here."""
    row = read_line(line)
    reader = _READERS.get(read_string(row, "type") or "")
    found = tuple(reader(row)) if reader is not None and row is not None else ()
    return found or (Raw(line),)


def answer_of(row: Row | None) -> Row | None:
    """The model's answer that a line holds in full."""
    message = read_object(row, "message")
    return message if read_string(message, "role") == "assistant" else None


def said(message: Row | None) -> str:
    """The text of an answer."""
    blocks = read_list(message, "content") or ()
    texts = (read_string(each, "text") for each in blocks if read_string(each, "type") == "text")
    return "".join(text for text in texts if text)


def usage_of(message: Row | None) -> Usage | None:
    """The tokens of an answer; None where pi doesn't tell."""
    found = read_object(message, "usage")
    counts = [read_count(found, name) for name in ("input", "output", "cacheRead", "cacheWrite")]
    if any(count is None for count in counts):
        return None
    sent, written, cached, kept = (count or 0 for count in counts)
    return Usage(input=sent, output=written, cached=cached, cache_write=kept)


def _update(row: Row) -> Iterator[AgentEvent]:
    piece = read_object(row, "assistantMessageEvent")
    text = read_string(piece, "delta")
    if read_string(piece, "type") == "text_delta" and text:
        yield Partial(text=text)


def _message(row: Row) -> Iterator[AgentEvent]:
    """An answer in full. What the user said is Barry's own word, and a result has its own line."""
    message = answer_of(row)
    if message is None:
        return
    model = read_string(message, "responseModel") or read_string(message, "model")
    if model:
        yield Observed(model=model)
    cut = read_string(message, "stopReason") in CUT
    for block in read_list(message, "content") or ():
        kind, text = read_string(block, "type"), read_string(block, "text")
        call, tool = read_string(block, "id"), read_string(block, "name")
        if kind == "text" and text:
            yield Text(text=text, role="assistant")
        elif kind == "toolCall" and call and tool and not cut:
            yield ToolUse(id=call, tool=tool, input=read_object(block, "arguments"))
    usage, made = usage_of(message), read_number(message, "timestamp")
    if usage is not None and made is not None:
        yield UsageReported(id=str(made), usage=usage)


def _result(row: Row) -> Iterator[AgentEvent]:
    call = read_string(row, "toolCallId")
    if call:
        yield ToolResult(
            id=call,
            result=_given(read_list(read_object(row, "result"), "content") or []),
            error=True if row.get("isError") is True else None,
        )


def _given(blocks: list[Any]) -> str | list[Any]:
    """What a tool gave: text, or blocks where there is more to it (an image)."""
    texts = [read_string(each, "text") for each in blocks if read_string(each, "type") == "text"]
    plain = [text for text in texts if text is not None]
    return "\n".join(plain) if len(plain) == len(blocks) else blocks


def _retry(row: Row) -> Iterator[AgentEvent]:
    text = read_string(row, "errorMessage") or "no reason given"
    attempt, most = read_number(row, "attempt"), read_number(row, "maxAttempts")
    yield Retrying(
        text=f"attempt {attempt} of {most}: {text}",
        cause="quota" if quota(text) else "unavailable" if unavailable(text) else None,
    )


_READERS = {
    "auto_retry_start": _retry,
    "message_end": _message,
    "message_update": _update,
    "tool_execution_end": _result,
}
