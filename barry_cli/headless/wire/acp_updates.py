"""What an agent tells during a prompt (ACP's ``session/update``), as Barry's events."""

from __future__ import annotations

from typing import Any

from barry_cli.contract.events import Partial, Text, ToolResult, ToolUse
from barry_cli.headless.agent_events import AgentEvent
from barry_cli.headless.reading import read_list, read_object, read_string
from barry_cli.headless.wire.acp_profile import AcpProfile, Call

_BEGUN = ("in_progress", "completed", "failed")


class Updates:
    """Texts come in pieces and calls in stages: they are put together here."""

    def __init__(self, profile: AcpProfile) -> None:
        self._profile = profile
        self._text: list[str] = []
        self._calls: dict[str, Call] = {}
        self._told: set[str] = set()
        self._ended: set[str] = set()

    def read(self, update: dict[str, Any]) -> list[AgentEvent]:
        """The events of one update."""
        if self._profile.update is not None:
            own = self._profile.update(update)
            if own is not None:
                return [*self.text(), *own] if own else []
        match update.get("sessionUpdate"):
            case "agent_message_chunk":
                piece = read_string(read_object(update, "content"), "text")
                if not piece:
                    return []
                self._text.append(piece)
                return [Partial(text=piece)]
            case "tool_call" | "tool_call_update":
                return self.call(update)
            case _:
                return []  # plans, thoughts, commands: nothing that happened

    def text(self) -> list[AgentEvent]:
        """What was said since the last time, as one text."""
        said = "".join(self._text)
        self._text.clear()
        return [Text(text=said, role="assistant")] if said else []

    def call(self, stage: dict[str, Any], *, asked: bool = False) -> list[AgentEvent]:
        """One stage of a tool call. It is told once its input is known, or can't come any more."""
        key = read_string(stage, "toolCallId")
        if key is None:
            return []
        call = self._calls.setdefault(key, {})
        call.update({name: value for name, value in stage.items() if value is not None})
        status = read_string(call, "status")
        found = self.text()
        if key not in self._told and (asked or call.get("rawInput") or status in _BEGUN):
            self._told.add(key)
            tool, given = self._profile.tool_of(call)
            found.append(ToolUse(id=key, tool=tool, input=given))
        if status in ("completed", "failed") and key not in self._ended:
            self._ended.add(key)
            failed = True if status == "failed" else None
            found.append(ToolResult(id=key, result=_outcome(call), error=failed))
        return found

    def known(self, call: dict[str, Any]) -> Call:
        """All that was said of a call so far, this stage included."""
        key = read_string(call, "toolCallId") or ""
        return {**self._calls.get(key, {}), **call}

    def end(self) -> list[AgentEvent]:
        """The prompt is over: what was still being put together."""
        found = self.text()
        for key, call in self._calls.items():
            if key not in self._told:
                tool, given = self._profile.tool_of(call)
                found.append(ToolUse(id=key, tool=tool, input=given))
        self._calls.clear()
        self._told.clear()
        self._ended.clear()
        return found


def _outcome(call: Call) -> Any:
    """What a call gave: its texts, else whatever came raw."""
    texts = []
    for part in read_list(call, "content") or ():
        text = read_string(read_object(part, "content"), "text")
        if text is not None:
            texts.append(text)
    return "\n".join(texts) if texts else call.get("rawOutput")
