"""Plans a launch of the demo harness's own TUI."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING
from uuid import uuid4

from barry_adapter_demo.declared import GUARANTEES, LABEL, NATIVE, NATIVE_TOOLS
from barry_cli.adapters import LaunchPlan, PlanDraft, Refused

if TYPE_CHECKING:
    from barry_cli.sessions import SessionConfig

MAIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "harness", "main.py")


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch. Raises Refused for a model that isn't the harness's own."""
    with PlanDraft(LABEL, config, GUARANTEES) as draft:
        conversation = terminal_arguments(draft)
        return draft.finish(sys.executable, harness_session_id=conversation)


def terminal_arguments(draft: PlanDraft) -> str | None:
    """All that starts the TUI; the conversation's id where it is known before."""
    draft.args += ["-I", "-S", MAIN]
    conversation = _conversation(draft)
    for tool in draft.denied(NATIVE_TOOLS, NATIVE):
        draft.args += ["--deny", tool]
    arguments(draft)
    return conversation


def arguments(draft: PlanDraft) -> None:
    """What a launch and a driven session are told alike."""
    asked = draft.config
    if asked.model:
        draft.args += ["--model", _model(asked.model)]
    if asked.system_prompt:
        draft.args += ["--append-system-prompt", asked.system_prompt]
    for root in asked.project_roots or ():
        draft.args += ["--add-dir", root]
    for folder in asked.plugin_dirs or ():
        draft.args += ["--plugin-dir", folder]
    _servers(draft)
    _options(draft)


def _conversation(draft: PlanDraft) -> str | None:
    """The flags of the conversation; its id where it is known before the start."""
    resume = draft.config.resume
    if resume is not None and resume.harness_session_id:
        draft.args += ["--resume", resume.harness_session_id]
        return resume.harness_session_id
    if resume is not None and resume.last:
        draft.args.append("--last")
        return None
    if resume is not None and resume.picker:
        draft.args.append("--pick")
        return None
    reserved = str(uuid4())
    draft.args += ["--session-id", reserved]
    return reserved


def _model(model: str) -> str:
    vendor, _, name = model.partition("/")
    if vendor != "demo":
        raise Refused(
            f"the demo harness reaches no vendor, so it can't use {model}",
            hint="its models: demo/echo, demo/shout",
        )
    return name


def _servers(draft: PlanDraft) -> None:
    """MCP servers go into a private file: their variables may hold secrets.

    The harness has no servers of its own, so any choice of whose to load holds already.
    """
    _ = draft.config.strict_mcp_config
    servers = {}
    for name, server in draft.config.mcp_servers.items():
        if server.type != "stdio":
            draft.warn(f"{LABEL} speaks to MCP servers over stdio alone: {name} is left out")
            continue
        servers[name] = {
            "command": server.command,
            "args": list(server.args),
            "env": dict(server.env),
        }
    if servers:
        path = draft.file("mcp.json", json.dumps({"mcpServers": servers}))
        draft.args += ["--mcp-config", str(path)]


def _options(draft: PlanDraft) -> None:
    options = dict(draft.config.options or {})
    if options.pop("messages", None) and draft.config.instrument is None:
        draft.warn(
            f"{LABEL} takes messages in instrumented mode alone: how they get in is left out"
        )
    for tool in options.pop("allow", []):
        draft.args += ["--allow", tool]
    if options:
        draft.args += ["--settings", str(draft.file("settings.json", json.dumps(options)))]
