"""What the demo harness says while it is driven, in Barry's words."""

from __future__ import annotations

import json
from typing import Any

from barry_cli.agents import (
    AgentEvent,
    Observed,
    Quota,
    Raw,
    Stopped,
    Usage,
    read_line,
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
    ToolResult,
    ToolUse,
    UsageReported,
)

OUTAGE = "service is out"


def events(line: str) -> tuple[AgentEvent, ...]:
    """What one line means; nothing of it is unknown, or the line is Raw."""
    row = read_line(line)
    found = None if row is None else _known(row)
    return (Raw(line),) if found is None else found


def _known(row: dict[str, Any]) -> tuple[AgentEvent, ...] | None:
    kind = read_string(row, "type")
    if kind == "result":
        return _ended(row)
    event: AgentEvent | None = None
    if kind == "init":
        known = read_string(row, "session_id")
        seen = Observed(model=_model(row), version=read_string(row, "version"))
        return (seen,) if known is None else (Init(harness_session_id=known), seen)
    text, name, call = (read_string(row, each) for each in ("text", "name", "id"))
    if kind == "text_delta" and text is not None:
        event = Partial(text=text)
    elif kind == "text" and text is not None:
        event = Text(text=text, role="assistant")
    elif kind == "tool_use" and call is not None and name is not None:
        event = ToolUse(id=call, tool=name, input=row.get("input"))
    elif kind == "tool_result" and call is not None:
        failed = None if row.get("ok") is True else True
        event = ToolResult(id=call, result=row.get("output"), error=failed)
    elif kind == "usage":
        event = _usage(row)
    return None if event is None else (event,)


def _model(row: dict[str, Any]) -> str | None:
    name = read_string(row, "model")
    return None if name is None else f"demo/{name}"


def _usage(row: dict[str, Any]) -> AgentEvent | None:
    given, made = read_number(row, "input_tokens"), read_number(row, "output_tokens")
    if given is None or made is None:
        return None
    return UsageReported(id="turn", usage=Usage(input=int(given), output=int(made)))


def _ended(row: dict[str, Any]) -> tuple[AgentEvent, ...]:
    if row.get("ok") is True:
        return (Result(result=read_string(row, "text") or ""), Done())
    error = read_object(row, "error")
    code = read_string(error, "code")
    said = read_string(error, "message") or "it failed, and did not say why"
    if code == "interrupted":
        return (Stopped("aborted"),)
    if code == "quota":
        return (Quota(said, reset_time(read_number(error, "reset_at"))), Failed(error=said))
    return (Failed(error=f"{OUTAGE}: {said}" if code == "outage" else said),)


def unavailable(text: str) -> bool:
    """Whether a failure says that the model's service is out."""
    return text.startswith(OUTAGE)


def lost(text: str) -> bool:
    """Whether a failure says that the conversation to go on with isn't there."""
    return "no conversation with id" in text


def line_of(**row: object) -> str:
    """A message to the harness."""
    return json.dumps(row) + "\n"
