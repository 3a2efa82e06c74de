"""How a launch of Qwen Code's own TUI is planned. Nothing of the user's is written or moved.

Each flag is one word, ``--flag=value``, and one that takes a single value comes last: those that
take several would swallow what the user types after them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from barry_adapter_qwen.conversation import conversation
from barry_adapter_qwen.declared import (
    COMMAND,
    GUARANTEES,
    LABEL,
    NATIVE,
    NATIVE_TOOLS,
    LaunchRefused,
)
from barry_adapter_qwen.routing import route
from barry_adapter_qwen.settings import of_folder, of_machine, of_user
from barry_adapter_qwen.system import arrange
from barry_cli.adapters import LaunchPlan, PlanDraft

if TYPE_CHECKING:
    from collections.abc import Sequence

    from barry_cli.sessions import SessionConfig

_LONGEST_ARGUMENT = 100_000
"""In bytes. Linux takes 128 KiB in one argument."""


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch. Raises LaunchRefused for what must not go on as asked."""
    with PlanDraft(LABEL, config, GUARANTEES) as draft:
        arrange(draft, route(draft))
        flags(draft)
        known, discover = conversation(draft)
        return draft.finish(COMMAND, harness_session_id=known, discover=discover)


def flags(draft: PlanDraft) -> None:
    """What goes in by flags alone."""
    _tools(draft)
    _servers(draft)
    reach(draft)
    _options(draft)
    prompt(draft)
    if draft.config.max_turns is not None:
        draft.args.append(f"--max-session-turns={draft.config.max_turns}")


def _tools(draft: PlanDraft) -> None:
    denied = draft.denied(NATIVE_TOOLS, NATIVE)
    if not denied:
        return
    exclude(draft, denied)
    if contained(draft):
        reason = f"in its own sandbox {LABEL} was not shown to hold them"
        draft.warn(f"the denied tools may not be held: {reason}")
        draft.lower(reason, gating="none")


def exclude(draft: PlanDraft, denied: Sequence[str]) -> None:
    """Switch tools off. Raises LaunchRefused for a name that can't be written."""
    if any("," in tool for tool in denied):
        raise LaunchRefused(
            f"{LABEL} splits the names of denied tools at a comma",
            hint="deny each tool by itself",
        )
    draft.args.append(f"--exclude-tools={','.join(denied)}")


def contained(draft: PlanDraft) -> bool:
    """Whether it would run in its own sandbox."""
    config = draft.config
    words = {word.split("=")[0] for word in config.extra_args or ()}
    if {"-s", "--sandbox"} & words:
        return True
    if draft.inherited("QWEN_SANDBOX") not in (None, "false", "0"):
        return True
    files = (of_folder(config.cwd, config.env), of_user(config.env), of_machine(config.env))
    return any(found.at("tools", "sandbox") for found in files if found is not None)


def _servers(draft: PlanDraft) -> None:
    """MCP servers; where they carry secrets, in a private file."""
    config = draft.config
    servers: dict[str, Any] = {}
    secrets: list[str] = []
    for name, server in config.mcp_servers.items():
        if server.type == "stdio":
            servers[name] = {
                "command": server.command,
                "args": list(server.args),
                "env": server.env,
            }
            secrets += server.env.values()
        else:
            address = "httpUrl" if server.type == "http" else "url"
            servers[name] = {address: server.url, "headers": server.headers}
            secrets += server.headers.values()
    if any("," in name for name in servers):
        raise LaunchRefused(
            f"{LABEL} splits the names of MCP servers at a comma",
            hint="give the server a name without one",
        )
    if servers:
        text = json.dumps({"mcpServers": servers})
        if secrets or len(text) >= _LONGEST_ARGUMENT:
            draft.secrets += secrets
            text = str(draft.file("mcp.json", text))
        draft.args.append(f"--mcp-config={text}")
    strict = config.strict_mcp_config
    # Nobody asked, and Barry brings no server: the user's own stay, as without Barry.
    if strict or (strict is None and servers):
        draft.args.append(f"--allowed-mcp-server-names={','.join(servers)}")


def reach(draft: PlanDraft) -> None:
    """The folders besides its own."""
    for root in draft.config.project_roots or ():
        if "," in root:
            draft.warn(f"{LABEL} splits folders at a comma: {root} is left out")
        else:
            draft.args.append(f"--include-directories={root}")


def _options(draft: PlanDraft) -> None:
    extensions(draft)
    options = draft.config.options or {}
    if "approvalMode" in options:
        draft.args.append(f"--approval-mode={options['approvalMode']}")


def extensions(draft: PlanDraft) -> None:
    """The user's extensions to load."""
    options = draft.config.options or {}
    if "extensions" in options:
        draft.args.append(f"--extensions={','.join(options['extensions']) or 'none'}")


def prompt(draft: PlanDraft) -> None:
    """Words beside its own prompt. Raises LaunchRefused when they are too long for an argument."""
    text = draft.config.system_prompt
    if text is None:
        return
    if len(text.encode()) >= _LONGEST_ARGUMENT:
        raise LaunchRefused(
            f"{LABEL} takes a system prompt as an argument, and this one is too long for that",
            hint=f"keep it below {_LONGEST_ARGUMENT} bytes, or put it into QWEN.md",
        )
    draft.args.append(f"--append-system-prompt={text}")
