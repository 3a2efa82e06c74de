"""Gemini CLI's end of the Agent Client Protocol, without any reading or writing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from barry_adapter_gemini.calls import named, understood
from barry_adapter_gemini.declared import LABEL
from barry_adapter_gemini.events import usage
from barry_cli.agents import (
    AcpDialogue,
    AcpProfile,
    AgentEvent,
    AgentInput,
    LiveStep,
    Stopped,
    Usage,
    read_line,
    read_object,
    read_string,
)
from barry_cli.sessions import (
    Allowed,
    Denied,
    Done,
    Failed,
    PermissionRequested,
    Result,
    Text,
)

ASKING = "default"
"""The mode in which it asks. What it would allow by itself is asked by rules, see ``asking``."""

APART = " "
"""Stands before the id of a conversation that is taken up; see below."""

_UNREADABLE = (
    f"Barry can't tell from what {LABEL} shows of this call what it would do, so it is refused: "
    "call it with shorter and plainer arguments"
)
_POLICY = "this tool is denied by the policy of the session"
_UNRULED = f"{LABEL} ran a call that Barry had not allowed; its turn was ended"
_COMMANDS = ("/", "$")
_PLAIN = "The message is:\n"


class Dialogue(AcpDialogue):
    """One process and one conversation in it."""

    def __init__(self, input: AgentInput) -> None:
        self._servers = tuple(input.config.mcp_servers)
        self._roots = bool(input.config.project_roots)
        self._denied = input.policy.denied_tools
        self._known = input.continuation.id if input.continuation is not None else None
        self._prompted = False
        self._said: list[str] = []
        self._calls: dict[str, str] = {}
        self._allowed: set[str] = set()
        self._tokens: Usage | None = None
        profile = AcpProfile(ask_mode=ASKING, resume="load", tool_of=self._tool_of)
        super().__init__(replace(input, text=_plain(input.text)), profile)

    def start(self) -> str:
        return self._out(super().start())

    def encode(self, text: str) -> str:
        said = super().encode(_plain(text))
        self._hear([], [said])
        return self._out(said)

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        call = self._calls.pop(id, None)
        if call is not None and isinstance(decision, Allowed):
            self._allowed.add(call)
        return self._out(super().answer(id, decision))

    def interrupt(self) -> str | None:
        self._calls.clear()
        said = super().interrupt()
        return None if said is None else self._out(said)

    def read(self, line: str) -> LiveStep | None:
        row = read_line(line)
        step = super().read(self._in(line, row))
        if step is None or row is None:
            return step
        events, replies = self._guarded(row, step)
        self._hear(events, replies)
        self._count(line, events)
        self._prompted = self._prompted or any('"session/prompt"' in reply for reply in replies)
        return LiveStep(
            events=tuple(events),
            replies=tuple(map(self._out, replies)),
            consumed=step.consumed,
        )

    def _tool_of(self, call: dict[str, Any]) -> tuple[str, Any]:
        found = understood(call, self._servers, roots=self._roots)
        return found or (named(call), {"title": read_string(call, "title") or ""})

    def _hear(self, events: list[AgentEvent], replies: list[str]) -> None:
        """Give a turn of several prompts one answer: what was said to each, one below the other."""
        for event in list(events):
            if isinstance(event, Text) and self._said:
                self._said[-1] += event.text
            elif isinstance(event, Done | Stopped | Failed):
                said, self._said = [text for text in self._said if text], []
                if isinstance(event, Done) and len(said) > 1:
                    events.insert(events.index(event), Result(result="\n\n".join(said)))
        self._said += [""] * sum('"session/prompt"' in reply for reply in replies)

    def _guarded(self, row: dict[str, Any], step: LiveStep) -> tuple[list[AgentEvent], list[str]]:
        """Refuse what can't be read, and end a turn in which a call ran that nobody allowed."""
        events: list[AgentEvent] = []
        replies = list(step.replies)
        params = read_object(row, "params")
        asked = read_object(params, "toolCall") or {}
        for event in step.events:
            if isinstance(event, PermissionRequested):
                found = understood(asked, self._servers, roots=self._roots)
                if found is None or self._is_denied(found[0]):
                    reason = _UNREADABLE if found is None else _POLICY
                    replies.append(super().answer(event.id, Denied(reason=reason)))
                    continue
                self._calls[event.id] = read_string(asked, "toolCallId") or ""
            events.append(event)
        if self._prompted and self._ran_unruled(read_object(params, "update")):
            events.append(Failed(error=_UNRULED))
        return events, replies

    def _is_denied(self, tool: str) -> bool:
        """By its name, or as one of a server's, all of which are denied."""
        server = "__".join(tool.split("__")[:2])
        return tool in self._denied or (tool.startswith("mcp__") and server in self._denied)

    def _ran_unruled(self, update: dict[str, Any] | None) -> bool:
        """A change that can't be made is not asked about: it begins, and fails."""
        if read_string(update, "toolCallId") in self._allowed:
            return False
        match read_string(update, "sessionUpdate"):
            case "tool_call":
                return read_string(update, "kind") != "edit"
            case "tool_call_update":
                return read_string(update, "status") == "completed"
            case _:
                return False

    # --- tokens: a turn may be several prompts ---

    def _count(self, line: str, events: list[AgentEvent]) -> None:
        found = usage(line)
        if found is not None:
            before = self._tokens or Usage(input=0, output=0)
            total = {
                "input": found.input + before.input,
                "output": found.output + before.output,
            }
            self._tokens = found.model_copy(update=total)
        for at, event in enumerate(events):
            if isinstance(event, Done):
                events[at] = event.model_copy(update={"usage": self._tokens})
                self._tokens = None

    # --- taking a conversation up ---
    #
    # Loading one, this build first opens a file for a new one, named by the minute and the id's
    # first letters. In the same minute that is the conversation's own file, and it is emptied;
    # later it is one beside it, and the next start deletes both. With a blank before the id, which
    # is cut off again before the conversation is looked for, that file has a name of its own.

    def _out(self, lines: str) -> str:
        if self._known is None:
            return lines
        return lines.replace(
            f'"sessionId": {json.dumps(self._known)}',
            f'"sessionId": {json.dumps(APART + self._known)}',
        )

    def _in(self, line: str, row: dict[str, Any] | None) -> str:
        """``line`` under the conversation's own id, and without the mode that it is said to be in.

        The mode is then set, whatever it is. What was said in the conversation is told again
        beside the answer to the load; the answer to this request comes after all of it.
        """
        if row is None:
            return line
        result, params = read_object(row, "result"), read_object(row, "params")
        if self._known is not None and read_string(params, "sessionId") == APART + self._known:
            return json.dumps({**row, "params": {**(params or {}), "sessionId": self._known}})
        if result is not None and "modes" in result:
            return json.dumps({**row, "result": {**result, "modes": None}})
        return line


def _plain(text: str) -> str:
    """A message that begins like a command would be run as one, and the model would not see it."""
    return _PLAIN + text if text.lstrip("\ufeff \t\r\n").startswith(_COMMANDS) else text
