"""Claude Code's control protocol on stdin and stdout, without any reading or writing.

Each call is asked about twice. Its ``PreToolUse`` callback, which comes for every call in every
permission mode, is answered with "ask"; that leads to ``can_use_tool``, and there it is ruled on.
So what runs is what was ruled on: the input goes back with the answer, and a hook of the user's
that rewrites it has no say. A callback alone would let such a rewritten call through.
"""

from __future__ import annotations

import json
from typing import Any

from barry_adapter_claude.declared import LABEL
from barry_adapter_claude.events import events
from barry_cli.agents import (
    AgentInput,
    LiveStep,
    read_line,
    read_list,
    read_object,
    read_string,
)
from barry_cli.sessions import Allowed, Denied, Failed, PermissionRequested

STRUCTURED = "StructuredOutput"
"""How the model hands over an answer with a schema: no call that acts."""

_HELLO = "barry-hello"
ASKING: dict[str, Any] = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": "Barry rules on this call",
    }
}
AS_IT_IS = {"text_not_typed": True}
"""No command in a message, no mention of a file to be read, and no keyword counts."""

_UNREADABLE = "Barry could not read what this call would do, so it is refused"
_UNRULED = f"{LABEL} ran a call that Barry had not allowed; its turn was ended"
_NO_REASON = "Barry refused this call"
# In seconds. A ruling may wait for a person; a callback without an answer is refused in the end.
_PATIENCE = 7 * 24 * 3600


class Dialogue:
    """One process: the prompt, messages during a turn, and after it the next turn's."""

    def __init__(self, input: AgentInput) -> None:
        self._waiting = [input.text]
        self._ready = False
        self._structured = input.output_schema is not None
        self._asked: dict[str, tuple[dict[str, Any], str | None]] = {}
        self._allowed: set[str | None] = set()
        self._interrupts = 0

    def start(self) -> str:
        """Every call is to be asked about. The prompt waits until Claude Code has agreed."""
        every = {"matcher": "", "hookCallbackIds": ["barry"], "timeout": _PATIENCE}
        request = {"subtype": "initialize", "hooks": {"PreToolUse": [every]}}
        return _line({"type": "control_request", "request_id": _HELLO, "request": request})

    def encode(self, text: str) -> str:
        if self._ready:
            return _message(text)
        self._waiting.append(text)
        return ""

    def read(self, line: str) -> LiveStep | None:
        row = read_line(line)
        kind = read_string(row, "type")
        if row is None or kind is None:
            return None
        if kind == "control_request":
            return self._requested(row)
        if kind == "control_response":
            return self._responded(read_object(row, "response") or {})
        if kind == "control_cancel_request":
            self._asked.pop(read_string(row, "request_id") or "", None)
            return LiveStep()
        if kind == "user" and row.get("isReplay") is True:
            return LiveStep(consumed=1)
        if kind == "user" and self._ran_unruled(row):
            return LiveStep(events=(*events(line), Failed(error=_UNRULED)))
        return None

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        if id not in self._asked:
            return ""
        given, call = self._asked.pop(id)
        if isinstance(decision, Allowed):
            self._allowed.add(call)
            return _reply(id, {"behavior": "allow", "updatedInput": given})
        return _refusal(id, decision.reason or _NO_REASON)

    def interrupt(self) -> str | None:
        """Claude Code itself takes back what it still asks about."""
        if not self._ready:
            return None
        self._asked.clear()
        self._interrupts += 1
        name = f"barry-interrupt-{self._interrupts}"
        request = {"subtype": "interrupt"}
        return _line({"type": "control_request", "request_id": name, "request": request})

    def _ran_unruled(self, row: dict[str, Any]) -> bool:
        """Whether a call gave a result that Barry did not allow. What failed may not have run:
        Claude Code refuses some calls by itself.
        """
        results = [
            block
            for block in read_list(read_object(row, "message"), "content") or ()
            if read_string(block, "type") == "tool_result" and block.get("is_error") is not True
        ]
        return any(read_string(block, "tool_use_id") not in self._allowed for block in results)

    def _requested(self, row: dict[str, Any]) -> LiveStep:
        name, request = read_string(row, "request_id"), read_object(row, "request")
        kind = read_string(request, "subtype")
        if name is None:
            return LiveStep()
        if kind == "hook_callback":
            # Only "ask" is safe to say of what can't be read: an error would let the call pass.
            about = read_object(request, "input")
            tool, call = read_string(about, "tool_name"), read_string(about, "tool_use_id")
            free = self._structured and tool == STRUCTURED
            if free:
                self._allowed.add(call)
            return LiveStep(replies=(_reply(name, {} if free else ASKING),))
        if kind != "can_use_tool":
            error = {"subtype": "error", "request_id": name, "error": "Barry does not serve this"}
            return LiveStep(replies=(_line({"type": "control_response", "response": error}),))
        tool, given = read_string(request, "tool_name"), read_object(request, "input")
        if tool is None or given is None:
            return LiveStep(replies=(_refusal(name, _UNREADABLE),))
        self._asked[name] = given, read_string(request, "tool_use_id")
        asked = PermissionRequested(
            id=name,
            tool=tool,
            input=given,
            description=read_string(request, "description"),
        )
        return LiveStep(events=(asked,))

    def _responded(self, response: dict[str, Any]) -> LiveStep:
        if self._ready or read_string(response, "request_id") != _HELLO:
            return LiveStep()
        if read_string(response, "subtype") != "success":
            reason = read_string(response, "error") or "it gave no reason"
            return LiveStep(
                events=(Failed(error=f"{LABEL} does not let Barry rule on its calls: {reason}"),)
            )
        self._ready = True
        waiting, self._waiting = self._waiting, []
        return LiveStep(replies=tuple(_message(text) for text in waiting))


def _message(text: str) -> str:
    message = {"role": "user", "content": text}
    return _line({"type": "user", "message": message, **AS_IT_IS})


def _refusal(id: str, reason: str) -> str:
    return _reply(id, {"behavior": "deny", "message": reason})


def _reply(id: str, response: dict[str, Any]) -> str:
    inner = {"subtype": "success", "request_id": id, "response": response}
    return _line({"type": "control_response", "response": inner})


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row) + "\n"
