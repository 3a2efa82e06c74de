"""In what the agents that speak the Agent Client Protocol differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from barry_cli.contract.session import HttpMcpServer, StdioMcpServer
from barry_cli.headless.agent_events import AgentEvent, Usage
from barry_cli.headless.reading import read_list, read_string

Call = dict[str, Any]
"""A tool call as the protocol tells of it, all that was said so far together."""


def tool_of(call: Call) -> tuple[str, Any]:
    """(tool, input) of a call: its name where the agent gives one, else its kind."""
    name = read_string(call, "name") or read_string(call, "kind") or "other"
    given = call.get("rawInput")
    if given in (None, {}, ""):
        given = {"title": read_string(call, "title") or ""}
        paths = [
            path
            for each in read_list(call, "locations") or ()
            if (path := read_string(each, "path"))
        ]
        if paths:
            given["locations"] = paths
    return name, given


@dataclass(frozen=True, kw_only=True)
class AcpProfile:
    """One agent's ways."""

    authenticate: str | None = None
    """The authentication method to name after ``initialize``."""
    ask_mode: str | None = None
    """The mode in which it asks before it acts; forced before the first prompt, watched after."""
    resume: Literal["load", "resume"] | None = "load"
    """The method that takes a conversation up: with its events told again, or without."""
    fork: bool = False
    """It has ``session/fork``."""
    tool_of: Callable[[Call], tuple[str, Any]] = tool_of
    """(tool, input) as Barry's tool table names them. Never raises."""
    update: Callable[[dict[str, Any]], tuple[AgentEvent, ...] | None] | None = None
    """Maps an update in the agent's own way; None leaves it to the common mapping."""
    usage: Callable[[dict[str, Any]], Usage | None] | None = None
    """The tokens in the answer to a prompt."""
    model_id: Callable[[str], str] | None = None
    """What ``session/set_model`` calls a ``vendor/model``; None: the model is set elsewhere."""
    prefix_system_prompt: bool = True
    """The session's system prompt opens the first prompt: the protocol has no other place."""
    tell_denials: bool = True
    """After a prompt with denied calls the agent gets to read why, in a prompt of its own: the
    answer to a request has no field for a reason."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """``_meta`` of a new or resumed session."""
    steering: str | None = None
    """The extension's request that folds a message into a running prompt, where it is offered."""


def mcp_servers(
    servers: Mapping[str, StdioMcpServer | HttpMcpServer],
) -> tuple[list[dict[str, Any]], set[str]]:
    """The session's MCP servers as the protocol names them, and the transports they need."""
    told: list[dict[str, Any]] = []
    needed: set[str] = set()
    for name, server in servers.items():
        if isinstance(server, StdioMcpServer):
            told.append(
                {
                    "name": name,
                    "command": server.command,
                    "args": list(server.args),
                    "env": _pairs(server.env),
                }
            )
        else:
            needed.add(server.type)
            told.append(
                {
                    "type": server.type,
                    "name": name,
                    "url": server.url,
                    "headers": _pairs(server.headers),
                }
            )
    return told, needed


def _pairs(values: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in values.items()]
