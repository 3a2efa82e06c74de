"""A client of the Agent Client Protocol, version 1, without any input or output of its own.

It offers no files and no terminal: the agent uses its own, under its own permissions.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from barry_cli import __version__
from barry_cli.contract.events import Done, Failed, Init, PermissionRequested
from barry_cli.contract.session import Allowed, Denied
from barry_cli.headless.agent_events import AgentEvent, Observed, Stopped
from barry_cli.headless.agent_input import AgentInput
from barry_cli.headless.live import LiveStep
from barry_cli.headless.reading import read_list, read_object, read_string
from barry_cli.headless.wire.acp_profile import AcpProfile, mcp_servers
from barry_cli.headless.wire.acp_updates import Updates
from barry_cli.headless.wire.jsonrpc import NOTHING, JsonRpc, RpcError

PROTOCOL = 1

_ENDS = {
    "max_tokens": "the answer is longer than the model may write",
    "max_turn_requests": "the agent made more requests than a turn may have",
    "refusal": "the model refused to go on",
}

MOST_TOLD = 8
"""How often in one turn an agent is told why its calls were denied; then it is stuck."""


class AcpDialogue:
    """One conversation. See ``LiveDialogue``."""

    def __init__(self, input: AgentInput, profile: AcpProfile) -> None:
        self._input = input
        self._profile = profile
        self._rpc = JsonRpc(
            served={"session/request_permission": self._asked},
            notified={"session/update": self._updated},
        )
        self._updates = Updates(profile)
        self._session: str | None = None
        self._ready = False
        self._busy = False
        self._cancelled = False
        self._steers = False
        self._queue: deque[str] = deque([self._first(input)])
        self._permissions: dict[str, tuple[str, list[Any]]] = {}
        self._asks = 0
        self._denials: list[str] = []
        self._times_told = 0
        self._abilities: dict[str, Any] = {}

    # --- what the driver calls ---

    def start(self) -> str:
        """Say hello; everything else follows from the answers."""
        return self._rpc.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                },
                "clientInfo": {"name": "barry", "version": __version__},
            },
            on_result=self._initialized,
        )

    def encode(self, text: str) -> str:
        """Prompt at once when idle; a second prompt beside a running one is never sent."""
        if self._busy and self._steers and self._profile.steering is not None:
            return self._rpc.request(
                self._profile.steering,
                {"sessionId": self._session, "prompt": _prompt(text)},
                on_result=lambda result: LiveStep(consumed=1),
                on_error=lambda error: self._kept(text),
            )
        self._queue.append(text)
        return self._next() if self._ready and not self._busy else ""

    def read(self, line: str) -> LiveStep | None:
        """Take a line."""
        return self._rpc.read(line)

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        """Allow or reject once, by the option's kind; anything that would last is never chosen."""
        key, options = self._permissions.pop(id, ("", []))
        if not key:
            return ""
        wanted = "allow_once" if isinstance(decision, Allowed) else "reject_once"
        if isinstance(decision, Denied) and decision.reason:
            self._denials.append(decision.reason)
        for option in options:
            chosen = read_string(option, "optionId")
            if read_string(option, "kind") == wanted and chosen is not None:
                outcome = {"outcome": "selected", "optionId": chosen}
                return self._rpc.result(key, {"outcome": outcome})
        if isinstance(decision, Allowed):
            self._denials.append("the agent offered no way to allow this call alone")
        return self._rpc.result(key, {"outcome": {"outcome": "cancelled"}})

    def interrupt(self) -> str | None:
        """Cancel the prompt; requests that wait are answered so, as the protocol wants."""
        if not self._busy or self._session is None:
            return None
        self._cancelled = True
        self._queue.clear()
        said = [self._rpc.notify("session/cancel", {"sessionId": self._session})]
        for key, _ in self._permissions.values():
            said.append(self._rpc.result(key, {"outcome": {"outcome": "cancelled"}}))
        self._permissions.clear()
        return "".join(said)

    # --- the beginning ---

    def _first(self, input: AgentInput) -> str:
        system = input.system_prompt
        if system and self._profile.prefix_system_prompt and input.continuation is None:
            return f"{system}\n\n{input.text}"
        return input.text

    def _initialized(self, result: Any) -> LiveStep:
        version = result.get("protocolVersion") if isinstance(result, dict) else None
        if version != PROTOCOL:
            return _failed(f"it speaks version {version} of the protocol, and Barry {PROTOCOL}")
        meta = read_object(read_object(result, "_meta"), "steering")
        self._steers = meta is not None and meta.get("supported") is True
        self._abilities = read_object(result, "agentCapabilities") or {}
        build = read_string(read_object(result, "agentInfo"), "version")
        events: tuple[AgentEvent, ...] = (Observed(version=build),) if build else ()
        if self._profile.authenticate is not None:
            line = self._rpc.request(
                "authenticate",
                {"methodId": self._profile.authenticate},
                on_result=lambda done: self._open(),
            )
            return LiveStep(events=events, replies=(line,))
        step = self._open()
        return LiveStep(events=(*events, *step.events), replies=step.replies)

    def _open(self) -> LiveStep:
        servers, needed = mcp_servers(self._input.config.mcp_servers)
        offered = read_object(self._abilities, "mcpCapabilities") or {}
        for transport in sorted(needed):
            if offered.get(transport) is not True:
                return _failed(f"it can't be given an MCP server over {transport}")
        params: dict[str, Any] = {"cwd": self._input.cwd, "mcpServers": servers}
        if self._profile.meta:
            params["_meta"] = dict(self._profile.meta)
        asked = self._input.continuation
        if asked is None:
            method, then = "session/new", self._opened
        else:
            params["sessionId"] = asked.id
            then = self._opened if asked.fork else lambda result: self._taken_up(asked.id, result)
            method = self._method_of(fork=asked.fork)
        if not method:
            return _failed("conversation_lost: it can't take up a conversation in this way")
        return LiveStep(
            replies=(self._rpc.request(method, params, on_result=then, on_error=self._not_opened),)
        )

    def _method_of(self, *, fork: bool) -> str:
        if fork:
            return "session/fork" if self._profile.fork else ""
        if self._profile.resume == "load" and self._abilities.get("loadSession") is not True:
            return ""
        return f"session/{self._profile.resume}" if self._profile.resume else ""

    def _not_opened(self, error: RpcError) -> LiveStep:
        lost = "conversation_lost: " if self._input.continuation is not None else ""
        return _failed(f"{lost}{error.text()}")

    def _opened(self, result: Any) -> LiveStep:
        named = read_string(result, "sessionId")
        if named is None:
            return _failed("it opened a session and gave it no id")
        return self._taken_up(named, result)

    def _taken_up(self, named: str, result: Any) -> LiveStep:
        self._session = named
        events: list[AgentEvent] = [Init(harness_session_id=named)]
        model = read_string(read_object(result, "models"), "currentModelId")
        if model is not None:
            events.append(Observed(model=model))
        mode = read_string(read_object(result, "modes"), "currentModeId")
        wanted = self._profile.ask_mode
        if wanted is None or mode == wanted:
            step = self._moded()
        else:
            line = self._rpc.request(
                "session/set_mode",
                {"sessionId": named, "modeId": wanted},
                on_result=lambda done: self._moded(),
                on_error=lambda error: _failed(
                    f"it can't be put into its mode {wanted}, in which it asks: {error.text()}"
                ),
            )
            step = LiveStep(replies=(line,))
        return LiveStep(events=(*events, *step.events), replies=step.replies)

    def _moded(self) -> LiveStep:
        model, name = self._input.model, self._profile.model_id
        if model is None or name is None:
            return self._begin()
        wanted = name(model)
        line = self._rpc.request(
            "session/set_model",
            {"sessionId": self._session, "modelId": wanted},
            on_result=lambda done: self._modelled(wanted),
        )
        return LiveStep(replies=(line,))

    def _modelled(self, wanted: str) -> LiveStep:
        step = self._begin()
        return LiveStep(events=(Observed(model=wanted),), replies=step.replies)

    def _begin(self) -> LiveStep:
        self._ready = True
        return LiveStep(replies=(self._next(),))

    # --- prompts ---

    def _next(self) -> str:
        return self._prompt(self._queue.popleft(), counts=True)

    def _prompt(self, text: str, *, counts: bool) -> str:
        self._busy, self._cancelled = True, False
        self._times_told = 0 if counts else self._times_told + 1
        return self._rpc.request(
            "session/prompt",
            {"sessionId": self._session, "prompt": _prompt(text)},
            on_result=lambda result: self._answered(result, counts=counts),
            on_error=self._broke,
        )

    def _kept(self, text: str) -> LiveStep:
        """A message that could not be folded in: the next prompt."""
        self._queue.append(text)
        return LiveStep(replies=(self._next(),)) if not self._busy else NOTHING

    def _broke(self, error: RpcError) -> LiveStep:
        self._busy = False
        events = self._updates.end()
        if self._cancelled:
            return LiveStep(events=(*events, Stopped("aborted")), consumed=1)
        return LiveStep(events=(*events, Failed(error=error.text())), consumed=1)

    def _answered(self, result: Any, *, counts: bool) -> LiveStep:
        self._busy = False
        consumed = 1 if counts else 0
        events = self._updates.end()
        reason = read_string(result, "stopReason")
        denials, self._denials = self._denials, []
        if self._cancelled:
            return LiveStep(events=(*events, Stopped("aborted")), consumed=consumed)
        if denials and self._profile.tell_denials:
            if self._times_told >= MOST_TOLD:
                stuck = f"it goes on asking for what is denied, and was told why {MOST_TOLD} times"
                return LiveStep(events=(*events, Failed(error=stuck)), consumed=consumed)
            said = self._prompt("\n".join(dict.fromkeys(denials)), counts=False)
            return LiveStep(events=tuple(events), replies=(said,), consumed=consumed)
        if reason in _ENDS:
            failed = Failed(error=_ENDS[reason])
            return LiveStep(events=(*events, failed), consumed=consumed)
        if self._queue:
            return LiveStep(events=tuple(events), replies=(self._next(),), consumed=consumed)
        count = self._profile.usage
        usage = count(result) if count is not None and isinstance(result, dict) else None
        return LiveStep(events=(*events, Done(usage=usage)), consumed=consumed)

    # --- what the agent says and asks ---

    def _updated(self, params: Any) -> LiveStep:
        update = read_object(params, "update")
        # What a conversation was is told again while it is taken up: that is no news.
        if update is None or not self._ready or params.get("sessionId") != self._session:
            return NOTHING
        if update.get("sessionUpdate") == "current_mode_update":
            mode, wanted = read_string(update, "currentModeId"), self._profile.ask_mode
            if wanted is not None and mode != wanted:
                return _failed(f"it went into its mode {mode}, and asks only in {wanted}")
            return NOTHING
        return LiveStep(events=tuple(self._updates.read(update)))

    def _asked(self, key: str, params: Any) -> LiveStep:
        if self._cancelled:
            return LiveStep(replies=(self._rpc.result(key, {"outcome": {"outcome": "cancelled"}}),))
        stage = read_object(params, "toolCall") or {}
        events = self._updates.call(stage, asked=True)
        call = self._updates.known(stage)
        tool, given = self._profile.tool_of(call)
        self._asks += 1
        name = read_string(call, "toolCallId") or "call"
        if name in self._permissions:
            name = f"{name}#{self._asks}"
        self._permissions[name] = (key, read_list(params, "options") or [])
        events.append(
            PermissionRequested(
                id=name, tool=tool, input=given, description=read_string(call, "title")
            )
        )
        return LiveStep(events=tuple(events))


def _prompt(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def _failed(error: str) -> LiveStep:
    return LiveStep(events=(Failed(error=error),))
