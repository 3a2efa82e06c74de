"""MCP servers as Codex takes them: one table on the command line, with no secret in it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from barry_adapter_codex.own import Own
from barry_adapter_codex.problems import LaunchRefused
from barry_adapter_codex.toml import Value
from barry_adapter_codex.tools import TUI_SERVER
from barry_cli.adapters import PlanDraft
from barry_cli.sessions import HttpMcpServer, StdioMcpServer

VARIABLE = "BARRY_MCP_"
"""What the variables begin with that carry values for servers; a number follows."""

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# A server that is off has to have a transport all the same, and the one that it has elsewhere.
_OFF_STDIO: Mapping[str, Value] = {"command": "/bin/true", "enabled": False}
_OFF_HTTP: Mapping[str, Value] = {"url": "http://127.0.0.1/", "enabled": False}


def server_table(
    draft: PlanDraft, own: Own, denied: Iterable[str], *, tui_server: bool
) -> dict[str, Value]:
    """The ``mcp_servers`` of a launch: what was asked for, and what is switched off.

    ``denied`` are tools of servers, as ``mcp__SERVER`` or ``mcp__SERVER__TOOL``. The table has to
    be passed whole: a second argument for the same key replaces the first.
    """
    given = draft.config.mcp_servers
    strict = draft.config.strict_mcp_config
    denied = tuple(denied)
    if own.unread is not None and (given or strict or denied):
        raise LaunchRefused(
            f"which MCP servers Codex has of its own is not known: {own.unread}",
            hint="write that file so that it can be read, or launch without a choice of servers",
        )
    table: dict[str, dict[str, Value]] = {}
    for name, server in given.items():
        if not _fits(draft, own, name):
            continue
        row = _stdio(draft, name, server) if isinstance(server, StdioMcpServer) else None
        row = _http(draft, name, server) if isinstance(server, HttpMcpServer) else row
        if row is not None:
            table[name] = row
    # Codex adds its own servers to these unless each is switched off by name.
    if own.servers and (strict or (strict is None and table)):
        others = [name for name in own.servers if name not in table]
        table.update({name: _off(own, name) for name in others})
        if others:
            draft.warn(
                f"Codex's own MCP servers are off in this launch: {', '.join(others)} "
                "(--relax loads them, too)"
            )
    _deny(draft, own, table, denied)
    if not tui_server:
        table[TUI_SERVER] = dict(_OFF_STDIO)
    return dict(table)


def ask_about(table: Mapping[str, Value], own: Own) -> dict[str, Value]:
    """The same servers, with every call of theirs asked about: Codex by itself lets pass what a
    server calls read-only, and what the user's settings approve.
    """
    asked: dict[str, Value] = {}
    for name in (*table, *(name for name in own.servers if name not in table)):
        row = table.get(name, {})
        theirs = own.servers.get(name, {}).get("tools")
        tools = theirs if isinstance(theirs, Mapping) else {}
        asked[name] = {
            **(row if isinstance(row, Mapping) else {}),
            "default_tools_approval_mode": "prompt",
            **(
                {"tools": {str(tool): {"approval_mode": "prompt"} for tool in tools}}
                if tools
                else {}
            ),
        }
    return asked


def _fits(draft: PlanDraft, own: Own, name: str) -> bool:
    if not _NAME.fullmatch(name):
        draft.without_servers(
            [name],
            f"Codex takes letters, digits, _ and - in the name of an MCP server, so {name!r} is "
            "left out",
        )
        return False
    if name in own.servers or name == TUI_SERVER:
        draft.without_servers(
            [name],
            f"Codex has an MCP server {name} of its own and would mix the two, so the one that "
            "was asked for is left out; give it another name",
        )
        return False
    return True


def _stdio(draft: PlanDraft, name: str, server: StdioMcpServer) -> dict[str, Value] | None:
    """A server that Codex starts. Its variables travel in the environment, under names of ours
    that can't meet another server's, and a shell gives them their own names.
    """
    if not server.env:
        return {"command": server.command, "args": server.args, "enabled": True}
    odd = [variable for variable in server.env if not _IDENTIFIER.fullmatch(variable)]
    if odd:
        said = f"the MCP server {name} is left out: no shell can set its variable {odd[0]!r}"
        draft.without_servers([name], said)
        return None
    carriers = {variable: _carry(draft, value) for variable, value in server.env.items()}
    renames = " ".join(f'{name}="${carrier}"' for name, carrier in carriers.items())
    script = f'export {renames}; unset {" ".join(carriers.values())}; exec "$0" "$@"'
    return {
        "command": "/bin/sh",
        "args": ["-c", script, server.command, *server.args],
        "env_vars": list(carriers.values()),
        "enabled": True,
    }


def _http(draft: PlanDraft, name: str, server: HttpMcpServer) -> dict[str, Value] | None:
    if server.type == "sse":
        draft.without_servers([name], f"Codex speaks no SSE to MCP servers, so {name} is left out")
        return None
    row: dict[str, Value] = {"url": server.url, "enabled": True}
    if server.headers:
        row["env_http_headers"] = {
            header: _carry(draft, value) for header, value in server.headers.items()
        }
    return row


def _carry(draft: PlanDraft, value: str) -> str:
    """Put a value into the environment, and give the name of its variable."""
    number = sum(name.startswith(VARIABLE) for name in draft.env)
    variable = f"{VARIABLE}{number}"
    draft.env[variable] = value
    if value:
        draft.secrets.append(value)
    return variable


def _off(own: Own, name: str) -> dict[str, Value]:
    return dict(_OFF_HTTP if "url" in own.servers[name] else _OFF_STDIO)


def _deny(
    draft: PlanDraft, own: Own, table: dict[str, dict[str, Value]], denied: Iterable[str]
) -> None:
    for tool in denied:
        server, _, name = tool.removeprefix("mcp__").partition("__")
        mine, theirs = table.get(server), own.servers.get(server)
        if mine is None and theirs is None:
            draft.warn(f"Codex has no MCP server {server}, so denying {tool} denied nothing")
            draft.lower(f"no setting takes {tool} away", gating="none")
        elif mine is None and not name:
            table[server] = _off(own, server)
        elif mine is not None and not name:
            mine["enabled"] = False
        else:
            row = table.setdefault(server, {})
            before = row.get("disabled_tools") or (theirs or {}).get("disabled_tools")
            listed = [str(each) for each in before] if isinstance(before, list | tuple) else []
            row["disabled_tools"] = [*listed, name]
