"""What each line of Claude Code's stream says (build 2.1.332, ``--output-format stream-json``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from barry_cli.agents import (
    AgentEvent,
    Observed,
    Quota,
    Raw,
    Retrying,
    Stopped,
    Usage,
    read_count,
    read_line,
    read_list,
    read_number,
    read_object,
    read_string,
    reset_time,
)
from barry_cli.sessions import (
    Done,
    Failed,
    Init,
    Partial,
    Result,
    Text,
    ToolProgress,
    ToolResult,
    ToolUse,
    UsageReported,
)

Row = dict[str, Any]

# Claude Code's own words, which the model never said: errors, told again by the final line.
_SYNTHETIC = "<synthetic>"
_INTERRUPTED = "[Request interrupted by user"
_PARENT = "parent_tool_use_id"
_HEARTBEAT = re.compile(r"-heartbeat-\d+$")
_SERVICE = frozenset({"overloaded", "server_error", "unknown"})

_QUOTA = re.compile(
    r"request rejected \(429\)|you've hit your|usage limit reached|reached your .*usage limit"
    r"|credit balance (is )?too low",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    r"API Error: 5\d\d\b|overloaded|connection (refused|dropped|closed|error|to the API was lost)"
    r"|unable to connect to API|request timed out"
    r"|\bE(CONN[A-Z]+|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE)\b",
    re.IGNORECASE,
)
_LOST = re.compile(r"no conversation found with session ID", re.IGNORECASE)


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
    reader = _READERS.get(read_string(row, "type") or "")
    found = tuple(reader(row)) if reader is not None and row is not None else ()
    return found or (Raw(line),)


def _system(row: Row) -> Iterator[AgentEvent]:
    kind = read_string(row, "subtype")
    conversation = read_string(row, "session_id")
    if kind == "init" and conversation:
        yield Observed(
            model=read_string(row, "model"), version=read_string(row, "claude_code_version")
        )
        yield Init(harness_session_id=conversation)
    elif kind == "api_retry":
        error = read_string(row, "error") or "unknown"
        status = read_number(row, "error_status")
        attempt, most = read_number(row, "attempt"), read_number(row, "max_retries")
        yield Retrying(
            text=f"attempt {attempt} of {most}: {error}" + (f" ({status})" if status else ""),
            cause="quota"
            if error == "rate_limit"
            else "unavailable"
            if error in _SERVICE
            else None,
        )


def _assistant(row: Row) -> Iterator[AgentEvent]:
    """One block of an answer; its usage is not final here."""
    message = read_object(row, "message")
    if read_string(message, "model") == _SYNTHETIC:
        return
    parent = read_string(row, _PARENT)
    for block in read_list(message, "content") or ():
        text = read_string(block, "text")
        if read_string(block, "type") == "text" and text:
            yield Text(text=text, role="assistant", parent_tool_use_id=parent)
        call, tool = read_string(block, "id"), read_string(block, "name")
        if read_string(block, "type") == "tool_use" and call and tool:
            yield ToolUse(
                id=call, tool=tool, input=read_object(block, "input"), parent_tool_use_id=parent
            )


def _user(row: Row) -> Iterator[AgentEvent]:
    """What tools gave, and what Claude Code itself put before the model in the user's place."""
    if row.get("isReplay") is True:
        return  # a message that Barry delivered
    parent = read_string(row, _PARENT)
    message = read_object(row, "message")
    content = message.get("content") if message else None
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    for block in content if isinstance(content, list) else ():
        text = read_string(block, "text")
        if read_string(block, "type") == "tool_result":
            yield ToolResult(
                id=read_string(block, "tool_use_id"),
                result=block.get("content"),
                error=True if block.get("is_error") is True else None,
                parent_tool_use_id=parent,
            )
        elif read_string(block, "type") == "text" and text and not text.startswith(_INTERRUPTED):
            yield Text(text=text, role="user", parent_tool_use_id=parent)


def _stream(row: Row) -> Iterator[AgentEvent]:
    delta = read_object(read_object(row, "event"), "delta")
    text = read_string(delta, "text")
    if read_string(delta, "type") == "text_delta" and text:
        yield Partial(text=text, parent_tool_use_id=read_string(row, _PARENT))


def _progress(row: Row) -> Iterator[AgentEvent]:
    """A call that takes long: ``<call>-heartbeat-<n>`` with the call itself as its parent.

    While Barry rules on a call there are heartbeats of the hook, which are no work.
    """
    name, tool = read_string(row, "tool_use_id") or "", read_string(row, "tool_name")
    seconds, parent = read_number(row, "elapsed_time_seconds"), read_string(row, _PARENT)
    call = _HEARTBEAT.sub("", name)
    if call and not call.startswith("hook-") and tool and seconds is not None:
        yield ToolProgress(
            id=call,
            tool=tool,
            elapsed_seconds=seconds,
            parent_tool_use_id=None if parent == call else parent,
        )


def _limit(row: Row) -> Iterator[AgentEvent]:
    info = read_object(row, "rate_limit_info")
    if read_string(info, "status") == "rejected":
        yield Quota(
            text=f"usage limit reached ({read_string(info, 'rateLimitType') or 'unnamed'})",
            reset_at=reset_time(read_number(info, "resetsAt")),
        )


def _result(row: Row) -> Iterator[AgentEvent]:
    """The end of a turn. An error of the service is called a success with ``is_error``."""
    usage = _usage(row)
    reason = read_string(row, "terminal_reason") or ""
    if read_string(row, "subtype") == "success" and row.get("is_error") is not True:
        yield Result(result=read_string(row, "result"), structured=row.get("structured_output"))
        yield Done(
            usage=usage,
            turns=read_count(row, "num_turns"),
            duration_ms=read_count(row, "duration_ms"),
        )
        return
    name = read_string(row, "uuid")
    if name and usage is not None:
        yield UsageReported(id=name, usage=usage)
    if reason.startswith("aborted"):
        yield Stopped("aborted")
        return
    errors = [text for text in read_list(row, "errors") or () if isinstance(text, str)]
    text = read_string(row, "result") or "; ".join(errors) or reason or "the turn failed"
    if read_number(row, "api_error_status") == 429:
        yield Quota(text=text)
    yield Failed(error=text)


def _usage(row: Row) -> Usage | None:
    """The turn's tokens: of every model that it used, its subagents' too.

    ``usage`` itself counts the main thread alone: a lower bound where the rest isn't told.
    """
    models = read_object(row, "model_usage_since_last_result")
    if models is not None:
        each = [model for model in models.values() if isinstance(model, dict)]

        def total(name: str) -> int:
            return sum(read_count(model, name) or 0 for model in each)

        return Usage(
            input=total("inputTokens"),
            output=total("outputTokens"),
            cached=total("cacheReadInputTokens"),
            cache_write=total("cacheCreationInputTokens"),
            reasoning=total("thinkingTokens"),
        )
    main = read_object(row, "usage")
    if main is None:
        return None

    def count(name: str) -> int:
        return read_count(main, name) or 0

    return Usage(
        input=count("input_tokens"),
        output=count("output_tokens"),
        cached=count("cache_read_input_tokens"),
        cache_write=count("cache_creation_input_tokens"),
        complete=False,
    )


_READERS = {
    "assistant": _assistant,
    "rate_limit_event": _limit,
    "result": _result,
    "stream_event": _stream,
    "system": _system,
    "tool_progress": _progress,
    "user": _user,
}
