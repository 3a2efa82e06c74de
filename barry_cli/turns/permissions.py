"""Ruling by a tool's name alone (seed 001)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from barry_cli.contract.session import Allowed, Decide, Denied, PermissionRequest


def refuse_denied_tools(denied_tools: Sequence[str] = ()) -> Decide:
    """The ruling for a session whose only policy is its denied tools: the rest runs.

    A hosted session without a ruling refuses every call, so who has nothing to deny passes this
    too. Case does not matter.
    """
    denied = {tool.casefold() for tool in denied_tools}

    async def decide(request: PermissionRequest) -> Allowed | Denied:
        if request.tool.casefold() in denied:
            return Denied(reason=f"the tool {request.tool} is denied in this session")
        return Allowed()

    return decide


_WEAKLY = ("_", "-", ".", "/")  # joints that names hold themselves


def is_scoped_mcp_tool(tool: str, servers: Sequence[str]) -> bool:
    """Whether a tool's name is that of a tool on one of these MCP servers, as harnesses spell it.

    ``mcp__server__tool``, ``mcp_server_tool``, and ``server`` joined to ``tool`` by ``__``, ``_``,
    ``-``, ``.`` or ``/``; the server as it is configured, or with an underscore for each letter
    that tool names can't have. A name with ``__`` in it is cut there alone, so that ``git`` does
    not answer for ``git_hub__x``. ``web_search`` is a tool of a server ``web``: who knows the
    harness's own tools asks for those first.
    """
    return any(
        _of(tool, name)
        for server in servers
        for name in {server, re.sub(r"[^A-Za-z0-9_-]", "_", server)} - {""}
    )


def _of(tool: str, server: str) -> bool:
    if tool.startswith("mcp__"):
        heads = [f"mcp__{server}__"]
    elif tool.startswith("mcp_"):  # a server may be called mcp: then the shorter spelling is
        heads = [f"mcp_{server}_"]  # another server's, as far as a name can tell
    elif "__" in tool.removeprefix(server):
        heads = [f"{server}__"]
    else:
        heads = [server + joint for joint in _WEAKLY]
    return any(tool.startswith(head) and re.search(r"\w", tool[len(head) :]) for head in heads)
