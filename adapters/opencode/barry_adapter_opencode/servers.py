"""MCP servers in opencode's own spelling."""

from __future__ import annotations

from typing import Any

from barry_adapter_opencode.places import Defined
from barry_adapter_opencode.settings import plain
from barry_cli.adapters import PlanDraft
from barry_cli.sessions import HttpMcpServer, StdioMcpServer


def servers(draft: PlanDraft, own: Defined, *, strictly: bool = False) -> dict[str, Any]:
    """The servers asked for, and those switched off for them. opencode tries both transports of
    HTTP by itself.

    ``strictly``: the user's own are off, too, where nobody said which to load.
    """
    asked = draft.config.mcp_servers
    strict = draft.config.strict_mcp_config
    if strict is None and strictly:
        strict = True
    found: dict[str, Any] = {}
    for name, server in asked.items():
        if name in own.servers:
            # Settings of one name are merged: the one's headers would go to the other's address.
            draft.without_servers(
                [name],
                f"opencode has an MCP server {name} of its own and would mix the two, so the one "
                "that was asked for is left out; give it another name",
            )
            continue
        draft.secrets += (server.env if server.type == "stdio" else server.headers).values()
        found[plain(name)] = plain(_spelt(server))
    if strict or (strict is None and found):
        found |= {plain(name): {"enabled": False} for name in sorted(own.servers)}
        if own.servers:
            draft.warn(
                f"opencode's own MCP servers are off in this launch: "
                f"{', '.join(sorted(own.servers))} (--relax loads them, too)"
            )
        if own.unreadable:
            draft.warn(f"more MCP servers may be loaded: {own.unread} can't be read")
    return {"mcp": found} if found else {}


def _spelt(server: StdioMcpServer | HttpMcpServer) -> dict[str, Any]:
    if isinstance(server, StdioMcpServer):
        return {
            "type": "local",
            "command": [server.command, *server.args],
            "environment": dict(server.env),
            "enabled": True,
        }
    return {
        "type": "remote",
        "url": server.url,
        "headers": dict(server.headers),
        "enabled": True,
    }
