"""opencode's protocol (ACP) and what ``gate.js`` says beside it, without reading or writing.

Every call is put to Barry by the gate before it acts, with its real input, subagents' calls too.
opencode itself asks as well, by its rules: it is answered by what was ruled. A rejection by that
way would end the turn without a reason; one by the gate is the call's own result, and the agent
reads why. The prompt waits until the gate has said that it is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from barry_adapter_opencode.declared import LABEL
from barry_adapter_opencode.events import Told
from barry_adapter_opencode.routing import PROVIDER
from barry_cli.agents import (
    AcpDialogue,
    AcpProfile,
    AgentEvent,
    AgentInput,
    LiveStep,
    Stopped,
    read_line,
    read_list,
    read_number,
    read_object,
    read_string,
)
from barry_cli.sessions import (
    Allowed,
    Denied,
    Done,
    Failed,
    Init,
    PermissionRequested,
    Result,
    ToolResult,
)

_UNGUARDED = (
    f"{LABEL} did not load the plugin by which Barry rules on its calls, so nothing was begun"
)
_UNRULED = f"{LABEL} ran a call that Barry had not allowed; its turn was ended"
_NO_REASON = "Barry refused this call"
_CUT = "the turn was cut short before Barry had ruled on this call"
_OFF = "this tool is switched off in this session"
_HARMLESS = "invalid"
"""What opencode calls in place of a tool that isn't there: it acts on nothing."""


class Dialogue:
    """One process: the prompt, messages during a turn, and after it the next turn's."""

    def __init__(
        self, input: AgentInput, *, denied: Iterable[str] = (), servers: Iterable[str] = ()
    ) -> None:
        """``denied``: tools that are refused without a ruling, by Barry's names. ``servers``: the
        MCP servers that may be there.
        """
        config = input.config
        agent = (config.options or {}).get("agent")
        self._servers = {_plain(name): name for name in servers}
        self._denied = {tool.casefold() for tool in denied}
        self._acp = AcpDialogue(
            # Servers are in the settings already, see ``hosted.py``.
            replace(
                input,
                text=worded(input.text),
                config=replace(config, mcp_servers={}),
            ),
            AcpProfile(
                ask_mode=agent,
                resume="resume",
                fork=True,
                update=lambda update: (),  # the gate tells more
                model_id=_routed if config.endpoint is not None else str,
                prefix_system_prompt=False,
                tell_denials=False,
            ),
        )
        self._told = Told()
        self._guarded = False
        self._busy = False
        self._done: Done | None = None
        self._asked: dict[str, tuple[float, str]] = {}
        self._allowed: set[str] = set()
        self._steers: set[str] = set()
        self._messages = 0

    # --- what the driver calls ---

    def start(self) -> str:
        return self._acp.start()

    def encode(self, text: str) -> str:
        """A message beside a running prompt joins it: the agent reads it at its next step."""
        self._messages += 1
        if not self._busy:
            said = self._acp.encode(worded(text))
            if said:
                self._begins()
            return said
        name = f"barry-{self._messages}"
        self._steers.add(name)
        prompt = [{"type": "text", "text": worded(text)}]
        return _line(
            id=name,
            method="session/prompt",
            params={"sessionId": self._told.session, "prompt": prompt},
        )

    def read(self, line: str) -> LiveStep | None:
        row = read_line(line)
        if row is None:
            return None
        params = read_object(row, "params") or {}
        match read_string(row, "method"):
            case "_barry/ready":
                self._guarded = True
                return LiveStep()
            case "_barry/ask":
                return self._ruled_on(params)
            case "_barry/event":
                return self._happened(params)
            case "session/request_permission":
                return LiveStep(replies=(self._passed(row.get("id"), params),))
            case _:
                pass
        name = row.get("id")
        if isinstance(name, str) and "method" not in row:
            return self._taken(name)
        step = self._acp.read(line)
        cut = read_string(read_object(row, "result"), "stopReason") == "cancelled"
        return None if step is None else self._checked(step, cut=cut)

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        if id not in self._asked:
            return ""
        ask, call = self._asked.pop(id)
        if isinstance(decision, Allowed):
            self._allowed.add(call)
            return _ruling(ask)
        return _ruling(ask, decision.reason or _NO_REASON)

    def interrupt(self) -> str | None:
        """What the gate still asks about is refused, and the prompt is cancelled."""
        said = self._acp.interrupt()
        if said is None:
            return None
        refused = [_ruling(ask, _CUT) for ask, _ in self._asked.values()]
        self._asked.clear()
        return "".join((said, *refused))

    # --- what opencode says ---

    def _checked(self, step: LiveStep, *, cut: bool) -> LiveStep:
        """A step of the protocol: no prompt without the gate, no end before all is told."""
        consumed, found = step.consumed, list[AgentEvent]()
        for each in step.events:
            event = Stopped("aborted") if cut and isinstance(each, Done) else each
            match event:
                case Init():
                    self._told.session = event.harness_session_id
                    found.append(event)
                case Done():
                    self._done = event
                case Failed():
                    self._busy = False
                    found.append(Failed(error=self._told.error or event.error))
                case Stopped():
                    self._busy, self._done = False, None
                    consumed += len(self._steers)
                    self._steers.clear()
                    found.append(event)
                case _:
                    found.append(event)
        if any(_is_prompt(reply) for reply in step.replies):
            if not self._guarded:
                return LiveStep(events=(*found, Failed(error=_UNGUARDED)))
            self._begins()
        return LiveStep((*found, *self._over()), step.replies, consumed)

    def _begins(self) -> None:
        self._busy, self._told.idle = True, False
        self._told.error = self._told.answer = None

    def _happened(self, told: dict[str, Any]) -> LiveStep:
        events: list[AgentEvent] = []
        for event in self._told.read(told):
            events.append(event)
            if (
                isinstance(event, ToolResult)
                and event.error is None
                and event.id not in self._allowed
            ):
                events.append(Failed(error=_UNRULED))
        return LiveStep((*events, *self._over()))

    def _over(self) -> tuple[AgentEvent, ...]:
        """The turn's end, once opencode has told that nothing runs and has taken every message."""
        if self._done is None or self._steers or not self._told.idle:
            return ()
        done, self._done, self._busy = self._done, None, False
        return (Result(result=self._told.answer), done)

    def _taken(self, name: str) -> LiveStep:
        """A message that was sent beside the prompt is answered."""
        if name not in self._steers:
            return LiveStep()
        self._steers.remove(name)
        return LiveStep(self._over(), consumed=1)

    # --- rulings ---

    def _ruled_on(self, params: dict[str, Any]) -> LiveStep:
        ask, native = read_number(params, "ask"), read_string(params, "tool")
        call, session = read_string(params, "call"), read_string(params, "session")
        if ask is None:
            return LiveStep()
        if native is None or call is None or session is None:
            return LiveStep(replies=(_ruling(ask, _NO_REASON),))
        tool, given = self._named(native), params.get("args")
        begins = self._told.begins(call, tool, given, session)
        if native == _HARMLESS:
            self._allowed.add(call)
            return LiveStep(begins, (_ruling(ask),))
        if tool.casefold() in self._denied:
            return LiveStep(begins, (_ruling(ask, _OFF),))
        name = call if call not in self._asked else f"{call}#{ask:g}"
        self._asked[name] = ask, call
        return LiveStep((*begins, PermissionRequested(id=name, tool=tool, input=given)))

    def _passed(self, key: Any, params: dict[str, Any]) -> str:
        """Its own question, by what was ruled on the call; never anything that lasts."""
        call = read_string(read_object(params, "toolCall"), "toolCallId")
        wanted = "allow_once" if call in self._allowed else "reject_once"
        outcome: dict[str, Any] = {"outcome": "cancelled"}
        for option in read_list(params, "options") or ():
            chosen = read_string(option, "optionId")
            if read_string(option, "kind") == wanted and chosen is not None:
                outcome = {"outcome": "selected", "optionId": chosen}
        return _line(id=key, result={"outcome": outcome})

    def _named(self, native: str) -> str:
        """Barry's name of a tool: a server's are ``server_tool`` here."""
        for start in sorted(self._servers, key=len, reverse=True):
            if native.startswith(f"{start}_"):
                return f"mcp__{self._servers[start]}__{native[len(start) + 1 :]}"
        return native


def worded(text: str) -> str:
    """A message that opencode takes for words: one with a slash in front would be a command, or
    nothing at all where there is none of that name. An invisible space stands before it.
    """
    return f"\u200b{text}" if text.lstrip().startswith("/") else text


def _plain(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)


def _routed(model: str) -> str:
    """A ``vendor/model`` that is reached at an endpoint of Barry's."""
    return f"{PROVIDER}/{model.partition('/')[2]}"


def _is_prompt(reply: str) -> bool:
    return read_string(read_line(reply), "method") == "session/prompt"


def _ruling(ask: float, refused: str | None = None) -> str:
    ruled = {"ask": ask, "allow": refused is None, "reason": refused or ""}
    return _line(method="_barry/ruled", params=ruled)


def _line(**message: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **message}) + "\n"
