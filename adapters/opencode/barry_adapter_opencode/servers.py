"""MCP servers in opencode's own spelling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from barry_adapter_opencode.settings import plain

from barry_cli.sessions import HttpMcpServer, StdioMcpServer


def servers(asked: Mapping[str, StdioMcpServer | HttpMcpServer]) -> dict[str, Any]:
    """The servers to load. opencode tries both transports of HTTP by itself."""
    return {plain(name): plain(_spelt(server)) for name, server in asked.items()}


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
