"""The calls of one process: what is asked about, how it is answered, what ran all the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from barry_adapter_codex.calls import PATCH, SHELL, Row, call_of, command_of, patch_of, server_tool
from barry_adapter_codex.tools import RESOURCES
from barry_cli.agents import JsonRpc, LiveStep, read_object, read_string
from barry_cli.sessions import Allowed, Denied, PermissionRequested

_ACCEPT, _DECLINE = {"decision": "accept"}, {"decision": "decline"}
_YES, _NO = {"action": "accept", "content": {}}, {"action": "decline", "content": None}

_UNREADABLE = "Barry could not read what this call would do, so it is refused"
_NO_REASON = "Barry refused this call"

# Nobody is asked about these, so none of them is offered.
_NEVER = frozenset(
    {"collabAgentToolCall", "dynamicToolCall", "imageGeneration", "imageView", "webSearch"}
)


@dataclass(slots=True)
class _Asked:
    """A question that waits for its ruling."""

    key: str
    """What the protocol calls it."""
    tool: str
    yes: Row
    no: Row
    item: str | None = None
    """The item that it is about; MCP servers' calls are known by what they say instead."""
    call: str = ""


@dataclass(slots=True)
class Asking:
    """Serves Codex's questions. ``tell`` gives the line that puts a sentence before the agent."""

    rpc: Callable[[], JsonRpc]
    tell: Callable[[str], str]
    denied: Iterable[str]
    _waiting: dict[str, _Asked] = field(default_factory=dict)
    _changes: dict[str, Row] = field(default_factory=dict)
    _allowed: set[str] = field(default_factory=set)
    _servers: Counter[str] = field(default_factory=Counter)
    refused: dict[str, str] = field(default_factory=dict)
    """Item -> the sentence with which its call was refused."""

    def __post_init__(self) -> None:
        self.denied = frozenset(tool.casefold() for tool in self.denied)

    @property
    def served(self) -> dict[str, Callable[[str, Any], LiveStep]]:
        return {
            "item/commandExecution/requestApproval": self._command,
            "item/fileChange/requestApproval": self._change,
            "item/permissions/requestApproval": self._more,
            "mcpServer/elicitation/request": self._elicited,
        }

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        """What tells Codex; a denial's sentence goes before the agent with it."""
        asked = self._waiting.pop(id, None)
        if asked is None:
            return ""
        if isinstance(decision, Allowed):
            if asked.item is not None:
                self._allowed.add(asked.item)
            self._servers[asked.call] += 1
            return self.rpc().result(asked.key, asked.yes)
        return self._refuse(asked, decision.reason or _NO_REASON)

    def forget(self, key: str | None = None) -> None:
        """Codex takes a question back itself; without a key, all of them."""
        for name, asked in [*self._waiting.items()]:
            if key in (None, asked.key):
                del self._waiting[name]

    def begun(self, item: Row) -> bool:
        """Take notice of an item; False when it must not be."""
        name, kind = read_string(item, "id"), read_string(item, "type")
        if name and kind == "fileChange":
            self._changes[name] = item
        call = call_of(item)
        off = call is not None and call[0] in RESOURCES and call[0] in self.denied
        return kind not in _NEVER and not off

    def ended(self, item: Row) -> bool:
        """Whether a call that ran was allowed. What failed or was declined may not have run."""
        name, kind = read_string(item, "id"), read_string(item, "type")
        self._changes.pop(name or "", None)
        status = read_string(item, "status")
        if kind == "commandExecution":
            ran = status != "declined" and item.get("exitCode") is not None
            return not ran or name in self._allowed
        if kind == "fileChange":
            return status != "completed" or name in self._allowed
        if kind == "mcpToolCall" and (call := call_of(item)) is not None:
            if call[0] in RESOURCES:
                return True
            said = _said(*call)
            known = self._servers[said] > 0
            if status == "completed" and known:
                self._servers[said] -= 1
            return known or status != "completed"
        return kind not in _NEVER

    # --- what Codex asks ---

    def _command(self, key: str, params: Any) -> LiveStep:
        item = read_string(params, "itemId")
        given = command_of(params) if read_string(params, "kind") in (None, "command") else None
        asked = _Asked(key, SHELL, _ACCEPT, _DECLINE, item)
        return self._ask(asked, given, read_string(params, "reason"))

    def _change(self, key: str, params: Any) -> LiveStep:
        item = read_string(params, "itemId")
        patch = patch_of(self._changes.get(item or "", {}))
        # A root is asked for once and for all: that is nobody's to grant here.
        whole = patch is not None and read_string(params, "grantRoot") is None
        asked = _Asked(key, PATCH, _ACCEPT, _DECLINE, item)
        given = {"command": patch} if whole else None
        return self._ask(asked, given, read_string(params, "reason"))

    def _elicited(self, key: str, params: Any) -> LiveStep:
        meta = read_object(params, "_meta")
        server, tool = read_string(params, "serverName"), read_string(meta, "tool_name")
        if read_string(meta, "codex_approval_kind") != "mcp_tool_call" or not server or not tool:
            # The server itself asks a person something, and nobody is there.
            return LiveStep(replies=(self.rpc().result(key, _NO),))
        name, given = server_tool(server, tool), (meta or {}).get("tool_params") or {}
        asked = _Asked(key, name, _YES, _NO, call=_said(name, given))
        return self._ask(asked, given, read_string(params, "message"))

    def _more(self, key: str, params: Any) -> LiveStep:
        """More rights for what is still to come: none are granted beforehand."""
        return LiveStep(replies=(self.rpc().result(key, {"permissions": {}}),))

    def _ask(self, asked: _Asked, given: Any, description: str | None) -> LiveStep:
        if given is None:
            return LiveStep(replies=(self._refuse(asked, _UNREADABLE),))
        if asked.tool.casefold() in self.denied:
            reason = f"this session is denied {asked.tool}"
            return LiveStep(replies=(self._refuse(asked, reason),))
        # Known by its item where it has one, so that its result is known to be its own.
        named = asked.item is not None and asked.item not in self._waiting
        name = asked.item if named and asked.item else asked.key
        self._waiting[name] = asked
        request = PermissionRequested(
            id=name, tool=asked.tool, input=given, description=description
        )
        return LiveStep(events=(request,))

    def _refuse(self, asked: _Asked, reason: str) -> str:
        if asked.item is not None:
            self.refused[asked.item] = reason
        # Codex itself would only say that the user refused. Its answer must not come first.
        said = self.tell(f"Barry, which rules on calls here, refused {asked.tool}: {reason}")
        return said + self.rpc().result(asked.key, asked.no)


def _said(tool: str, given: Any) -> str:
    return json.dumps([tool, given], sort_keys=True)
