"""Qwen Code's end of the Agent Client Protocol, without any reading or writing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from barry_adapter_qwen.calls import named, understood
from barry_adapter_qwen.declared import LABEL
from barry_adapter_qwen.events import usage
from barry_cli.agents import (
    AcpDialogue,
    AcpProfile,
    AgentEvent,
    AgentInput,
    LiveStep,
    Stopped,
    read_line,
    read_object,
    read_string,
)
from barry_cli.sessions import (
    Allowed,
    Denied,
    Done,
    Failed,
    Partial,
    PermissionRequested,
    Result,
    Text,
    UsageReported,
)

ASKING = "default"
"""The mode in which it asks. What it would allow by itself is asked by rules, see ``asking``."""

_UNREADABLE = (
    f"Barry can't tell from what {LABEL} shows of this call which tool it is, so it is refused"
)
_UNRULED = f"{LABEL} ran a call that Barry had not allowed; its turn was ended"
_COMMANDS = ("/", "?")
_PLAIN = "The message is:\n"


class Dialogue(AcpDialogue):
    """One process and one conversation in it."""

    def __init__(self, input: AgentInput) -> None:
        self._prompted = False
        self._said: list[str] = []
        self._calls: dict[str, str] = {}
        self._allowed: set[str] = set()
        self._counted = 0
        self._cwd = input.cwd
        self._ending: tuple[AgentEvent, ...] = ()
        profile = AcpProfile(
            ask_mode=ASKING,
            resume="load",
            tool_of=_tool_of,
            update=self._told,
            prefix_system_prompt=False,
        )
        # Which tool of a server is asked about is not told: none is connected.
        config = replace(input.config, mcp_servers={})
        super().__init__(replace(input, text=_plain(input.text), config=config), profile)

    def encode(self, text: str) -> str:
        said = super().encode(_plain(text))
        self._hear([], [said])
        return said

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        call = self._calls.pop(id, None)
        if call is not None and isinstance(decision, Allowed):
            self._allowed.add(call)
        return super().answer(id, decision)

    def interrupt(self) -> str | None:
        self._calls.clear()
        return "" if self._ending else super().interrupt()

    def read(self, line: str) -> LiveStep | None:
        step, row = super().read(line), read_line(line)
        if step is None or row is None:
            return step
        events, replies = self._guarded(row, step)
        self._hear(events, replies)
        if self._ending and events == list(self._ending):
            self._ending = ()
            return LiveStep(events=tuple(events), replies=tuple(replies), consumed=step.consumed)
        self._prompted = self._prompted or any('"session/prompt"' in reply for reply in replies)
        ended = next((at for at, event in enumerate(events) if _ends(event)), None)
        if ended is not None and not self._ending:
            self._ending = tuple(events[ended:])
            events, replies = events[:ended], [*replies, self._listed(self._written)]
        return LiveStep(events=tuple(events), replies=tuple(replies), consumed=step.consumed)

    # --- the end of a turn ---
    #
    # It is told some milliseconds before its last lines are written to the conversation's file,
    # and a process that was ended in between would not write them. A list of conversations takes
    # more steps on the disk than those lines do, and two of them twice as many.

    def _listed(self, then: Callable[[], LiveStep]) -> str:
        return self._rpc.request(
            "session/list",
            {"cwd": self._cwd, "_meta": {"size": 1}},
            on_result=lambda result: then(),
            on_error=lambda error: then(),
        )

    def _written(self) -> LiveStep:
        return LiveStep(replies=(self._listed(self._told_end),))

    def _told_end(self) -> LiveStep:
        return LiveStep(events=self._ending)

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
                if understood(asked) is None:
                    replies.append(super().answer(event.id, Denied(reason=_UNREADABLE)))
                    continue
                self._calls[event.id] = read_string(asked, "toolCallId") or ""
            events.append(event)
        if self._prompted and self._ran_unruled(read_object(params, "update")):
            events.append(Failed(error=_UNRULED))
        return events, replies

    def _ran_unruled(self, update: dict[str, Any] | None) -> bool:
        if read_string(update, "toolCallId") in self._allowed:
            return False
        match read_string(update, "sessionUpdate"):
            case "tool_call":
                return True
            case "tool_call_update":
                return read_string(update, "status") == "completed"
            case _:
                return False

    def _told(self, update: dict[str, Any]) -> tuple[AgentEvent, ...] | None:
        """The tokens of a call to the model, between the pieces of what it says."""
        found = usage(update)
        if found is None:
            return None
        self._counted += 1
        piece = read_string(read_object(update, "content"), "text")
        more = (Partial(text=piece),) if piece else ()
        return (*more, UsageReported(id=f"call-{self._counted}", usage=found))


def _ends(event: AgentEvent) -> bool:
    return isinstance(event, Done | Stopped)


def _tool_of(call: dict[str, Any]) -> tuple[str, Any]:
    found = understood(call)
    own = read_string(read_object(call, "_meta"), "toolName")
    if found is not None:
        return own or found[0], found[1]
    return named(call), call.get("rawInput") or {"title": read_string(call, "title") or ""}


def _plain(text: str) -> str:
    """A message that begins like a command would be run as one, and the model would not see it."""
    return _PLAIN + text if text.lstrip("\ufeff \t\r\n").startswith(_COMMANDS) else text
