"""What opencode tells of its sessions (build 1.18.33), as events.

Its own protocol leaves out subagents, failed requests and the tokens of all but the last answer.
So ``gate.js`` hands on what happens inside: lines ``{"method": "_barry/event", "params": …}``.
"""

from __future__ import annotations

import re
from typing import Any

from barry_adapter_opencode.transcript import usage_of
from barry_cli.agents import (
    AgentEvent,
    Observed,
    Quota,
    Raw,
    Retrying,
    read_number,
    read_object,
    read_string,
)
from barry_cli.sessions import Failed, Partial, Text, ToolResult, ToolUse, UsageReported

Row = dict[str, Any]

ATTEMPTS = 3
"""opencode tries a failed request again for ever. After so many the turn has failed."""

_QUOTA = re.compile(
    r"\b429\b|too many requests|rate.?limit|quota|usage limit|insufficient (balance|credit)",
    re.IGNORECASE,
)
_UNAVAILABLE = re.compile(
    r"\b5\d\d\b|overloaded|internal server error|service unavailable|bad gateway|timed? ?out"
    r"|unable to connect|cannot connect|connection (refused|reset|closed|error)"
    r"|\(after \d+ attempts\)"  # it tries again only where another time may do
    r"|\bE(CONN[A-Z]+|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE)\b",
    re.IGNORECASE,
)


def quota(text: str) -> bool:
    """Whether a failure's text says that a limit is reached."""
    return _QUOTA.search(text) is not None


def unavailable(text: str) -> bool:
    """Whether a failure's text says that the service is out or can't be reached."""
    return _UNAVAILABLE.search(text) is not None


def events(line: str) -> tuple[AgentEvent, ...]:
    """What a line means that is neither of the protocol nor of the gate: nothing here."""
    return (Raw(line),)


class Told:
    """Puts together what is told of one session and of its subagents' sessions."""

    def __init__(self) -> None:
        self.session: str | None = None
        """The conversation itself."""
        self.idle = False
        """Whether it said last that nothing runs in it."""
        self.error: str | None = None
        """Why its last answer failed."""
        self.answer: str | None = None
        """What its agent said last."""
        self._answering: str | None = None
        self._model: str | None = None
        self._parents: dict[str, str] = {}
        self._begun: set[str] = set()
        self._ended: set[str] = set()
        self._texts: set[str] = set()

    def read(self, told: Row) -> tuple[AgentEvent, ...]:
        """The events of one thing told; of sessions that nobody knows nothing is made."""
        session, kind = read_string(told, "sessionID"), read_string(told, "type")
        main = session is not None and session == self.session
        parent = self._parents.get(session or "")
        if not main and parent is None:
            return ()
        match kind:
            case "message.updated":
                return self._message(read_object(told, "info") or {}, parent)
            case "message.part.updated":
                return self._part(read_object(told, "part") or {}, parent)
            case "message.part.delta":
                text = read_string(told, "delta")
                return (Partial(text=text, parent_tool_use_id=parent),) if text else ()
            case "session.status":
                return self._status(read_object(told, "status") or {}, main=main)
            case "session.error" if main:
                self.error = _said(read_object(told, "error")) or self.error
        return ()

    def begins(self, call: str, tool: str, given: Any, session: str) -> tuple[AgentEvent, ...]:
        """A call, once: told by the gate when it asks, or by opencode when it ends."""
        if call in self._begun:
            return ()
        self._begun.add(call)
        return (
            ToolUse(id=call, tool=tool, input=given, parent_tool_use_id=self._parents.get(session)),
        )

    def _message(self, info: Row, parent: str | None) -> tuple[AgentEvent, ...]:
        """An answer's tokens, once it is whole."""
        name, time = read_string(info, "id"), read_object(info, "time")
        if read_string(info, "role") != "assistant" or name is None:
            return ()
        found: list[AgentEvent] = []
        model, provider = read_string(info, "modelID"), read_string(info, "providerID")
        if parent is None and model and provider and self._model != f"{provider}/{model}":
            self._model = f"{provider}/{model}"
            found.append(Observed(model=self._model))
        usage = usage_of(info.get("tokens"))
        if usage is not None and read_number(time, "completed") is not None:
            # An answer that was cut short or failed has no count of its own.
            known = "error" not in info
            counted = usage.model_copy(update={"complete": known})
            found.append(UsageReported(id=name, usage=counted, parent_tool_use_id=parent))
        return tuple(found)

    def _part(self, part: Row, parent: str | None) -> tuple[AgentEvent, ...]:
        kind, name = read_string(part, "type"), read_string(part, "id") or ""
        if kind == "text":
            text, time = read_string(part, "text"), read_object(part, "time")
            whole = read_number(time, "end") is not None and name not in self._texts
            if not text or not whole or part.get("synthetic") or part.get("ignored"):
                return ()
            self._texts.add(name)
            if parent is None:
                before = self.answer if self._answering == read_string(part, "messageID") else None
                self.answer, self._answering = (before or "") + text, read_string(part, "messageID")
            return (Text(text=text, role="assistant", parent_tool_use_id=parent),)
        return self._tool(part, parent) if kind == "tool" else ()

    def _tool(self, part: Row, parent: str | None) -> tuple[AgentEvent, ...]:
        call, tool = read_string(part, "callID"), read_string(part, "tool")
        state, session = read_object(part, "state") or {}, read_string(part, "sessionID")
        if call is None or tool is None or session is None:
            return ()
        child = read_string(read_object(state, "metadata"), "sessionId")
        if tool == "task" and child is not None:
            self._parents[child] = call
        status = read_string(state, "status")
        if status not in ("completed", "error") or call in self._ended:
            return ()
        self._ended.add(call)
        failed = status == "error"
        return (
            *self.begins(call, tool, state.get("input"), session),
            ToolResult(
                id=call,
                result=state.get("error" if failed else "output"),
                error=True if failed else None,
                parent_tool_use_id=parent,
            ),
        )

    def _status(self, status: Row, *, main: bool) -> tuple[AgentEvent, ...]:
        kind = read_string(status, "type")
        if main:
            self.idle = kind == "idle"
        if kind != "retry":
            return ()
        said = read_string(status, "message") or "its request failed"
        limit = quota(said)
        attempt = read_number(status, "attempt") or 0
        if attempt < ATTEMPTS:
            return (
                Retrying(
                    text=f"attempt {attempt:g}: {said}",
                    cause="quota" if limit else "unavailable" if unavailable(said) else None,
                ),
            )
        failed = Failed(error=f"{said} (after {attempt:g} attempts)")
        return (Quota(text=said), failed) if limit else (failed,)


def _said(error: Row | None) -> str | None:
    """An error's own words, and the status of the answer that it was."""
    data = read_object(error, "data")
    text = read_string(data, "message") or read_string(error, "name")
    status = read_number(data, "statusCode")
    if text is None or status is None or f"{status:g}" in text:
        return text
    return f"{text} ({status:g})"
