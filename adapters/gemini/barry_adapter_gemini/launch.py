"""How a launch of Gemini CLI's own TUI is planned. Nothing of the user's is written or moved.

Each flag is one word, ``--flag=value``: nothing that the user types after them is swallowed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from barry_adapter_gemini.conversation import conversation
from barry_adapter_gemini.declared import COMMAND, GUARANTEES, LABEL, VENDOR, LaunchRefused
from barry_adapter_gemini.denials import deny
from barry_adapter_gemini.routing import needs_login, route
from barry_adapter_gemini.settings import of_folder
from barry_adapter_gemini.system import arrange, warn_of_updates
from barry_cli.adapters import LaunchPlan, PlanDraft

if TYPE_CHECKING:
    from barry_cli.sessions import SessionConfig


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch. Raises LaunchRefused for what must not go on as asked."""
    with PlanDraft(LABEL, config, GUARANTEES) as draft:
        flags(draft)
        folder = of_folder(config.cwd, config.env)
        own = {**route(draft, folder), **servers(draft)}
        arranged = arrange(draft, own)
        needs_login(draft, own, folder, arranged=arranged)
        if not arranged:
            warn_of_updates(draft, folder)
            _without_servers(draft)
        only(draft, arranged=arranged)
        known, discover = conversation(draft)
        return draft.finish(COMMAND, harness_session_id=known, discover=discover)


def flags(draft: PlanDraft) -> None:
    """What goes in by flags alone."""
    model(draft)
    deny(draft)
    reach(draft)
    _options(draft)


def model(draft: PlanDraft) -> None:
    """Raises LaunchRefused for a model that can't be reached."""
    asked = draft.config.model
    if asked is None:
        return
    vendor, _, name = asked.partition("/")
    if not (vendor and name):
        raise LaunchRefused(
            f"a model is written vendor/model, and {asked!r} is not",
            hint=f"name one of its vendor's models, as {VENDOR}/MODEL",
        )
    if vendor != VENDOR and draft.config.endpoint is None:
        raise LaunchRefused(
            f"{LABEL} reaches {asked} only through an endpoint that speaks {VENDOR}'s API, and "
            "none was given",
            hint=f"install an adapter that carries {vendor}, or name a model as {VENDOR}/MODEL",
        )
    draft.args.append(f"--model={name}")


def reach(draft: PlanDraft) -> None:
    """The folders besides its own."""
    for root in draft.config.project_roots or ():
        if "," in root:
            draft.warn(f"{LABEL} splits folders at a comma: {root} is left out")
        else:
            draft.args.append(f"--include-directories={root}")


def _options(draft: PlanDraft) -> None:
    options = draft.config.options or {}
    if "approvalMode" in options:
        draft.args.append(f"--approval-mode={options['approvalMode']}")
    extensions(draft)


def extensions(draft: PlanDraft) -> None:
    """The user's extensions to load."""
    options = draft.config.options or {}
    if "extensions" in options:
        draft.args += [f"--extensions={name}" for name in options["extensions"] or ("none",)]


def servers(draft: PlanDraft) -> dict[str, Any]:
    """MCP servers as settings: no flag brings one."""
    servers: dict[str, Any] = {}
    for name, server in draft.config.mcp_servers.items():
        if server.type == "stdio":
            servers[name] = {
                "command": server.command,
                "args": list(server.args),
                "env": server.env,
            }
            draft.secrets += server.env.values()
        else:
            servers[name] = {"type": server.type, "url": server.url, "headers": server.headers}
            draft.secrets += server.headers.values()
    if "$" in json.dumps(servers):
        draft.warn(f"{LABEL} replaces $NAME in the settings of an MCP server by that variable")
    return {"mcpServers": servers} if servers else {}


def _without_servers(draft: PlanDraft) -> None:
    names = sorted(draft.config.mcp_servers)
    if names:
        draft.without_servers(
            names,
            f"{LABEL} takes MCP servers from its settings alone, and here it takes no settings of "
            f"Barry's: {', '.join(names)} {'is' if len(names) == 1 else 'are'} left out",
        )


NO_SERVER = "barry:none"
"""The name of no server. With an empty one this build doesn't start at all."""


def only(draft: PlanDraft, *, arranged: bool) -> None:
    """Keep the user's and the folder's own servers out, where that was asked for."""
    config = draft.config
    names = sorted(config.mcp_servers) if arranged else []
    # Nobody asked, and Barry brings no server: the user's own stay, as without Barry.
    if not (config.strict_mcp_config or (config.strict_mcp_config is None and names)):
        return
    if any("," in name for name in names):
        raise LaunchRefused(
            f"{LABEL} splits the names of MCP servers at a comma",
            hint="give the server a name without one",
        )
    draft.args += [f"--allowed-mcp-server-names={name}" for name in names or (NO_SERVER,)]
    if names:
        draft.warn(
            f"{LABEL} does not ask before it calls a tool of {', '.join(names)}: to name the "
            "servers that may be used approves them"
        )
