"""The one event vocabulary of sessions (seed 001). Every turn ends with exactly one ``done``."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from barry_cli.contract.data import Data
from barry_cli.contract.models import TokenUsage


class _Event(Data):
    parent_tool_use_id: str | None = None
    """Set when a subagent, not the main thread, produced the event: the call that spawned it."""


class Init(_Event):
    type: Literal["init"] = "init"
    harness_session_id: str


class Text(_Event):
    type: Literal["text"] = "text"
    text: str
    role: Literal["assistant", "user"] | None = None


class Partial(_Event):
    type: Literal["partial"] = "partial"
    text: str


class ToolUse(_Event):
    type: Literal["tool_use"] = "tool_use"
    id: str
    tool: str
    input: Any


class ToolResult(_Event):
    type: Literal["tool_result"] = "tool_result"
    result: Any
    id: str | None = None
    error: bool | None = None


class ToolProgress(_Event):
    type: Literal["tool_progress"] = "tool_progress"
    id: str
    tool: str
    elapsed_seconds: float


class PermissionRequested(_Event):
    type: Literal["permission_request"] = "permission_request"
    id: str
    tool: str
    input: Any
    description: str | None = None


class StatusChanged(_Event):
    type: Literal["status"] = "status"
    status: Literal["idle", "active", "error"]


class Result(_Event):
    type: Literal["result"] = "result"
    result: str | None = None
    structured: Any = None
    error: str | None = None


class Failed(_Event):
    type: Literal["error"] = "error"
    error: str


class UsageReported(_Event):
    type: Literal["usage"] = "usage"
    id: str
    usage: TokenUsage


class Done(_Event):
    type: Literal["done"] = "done"
    usage: TokenUsage | None = None
    turns: int | None = None
    duration_ms: int | None = None


SessionEvent = Annotated[
    Init
    | Text
    | Partial
    | ToolUse
    | ToolResult
    | ToolProgress
    | PermissionRequested
    | StatusChanged
    | Result
    | Failed
    | UsageReported
    | Done,
    Field(discriminator="type"),
]
"""One thing that happened in a session, told apart by ``type``."""
