"""How a launch of Claude Code's own TUI is planned. Nothing of the user's is written or moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_claude import arguments
from barry_adapter_claude.conversation import conversation
from barry_adapter_claude.declared import COMMAND, GUARANTEES, LABEL, NATIVE, NATIVE_TOOLS
from barry_adapter_claude.held import hold
from barry_adapter_claude.routing import route
from barry_adapter_claude.settings import read_settings
from barry_cli.adapters import LaunchPlan, PlanDraft

if TYPE_CHECKING:
    from barry_cli.sessions import SessionConfig

# Flags of which a second one adds to the first; of all others the last one counts.
_ADDING = {"--disallowedTools", "--add-dir", "--mcp-config", "--plugin-dir"}

# The session then runs in another process or on another machine, without this launch's flags.
_ELSEWHERE = ("--bg", "--background", "--cloud", "--desktop", "--teleport")


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch. Raises Refused for what must not go on as asked."""
    with PlanDraft(LABEL, config, GUARANTEES) as draft:
        held = {"DISABLE_AUTOUPDATER": "1"}
        files = read_settings(draft.config.cwd, draft.config.env)
        known, discover = conversation(draft)
        arguments.model(draft, held)
        _tools(draft)
        arguments.prompt(draft)
        arguments.servers(draft)
        arguments.reach(draft)
        arguments.telemetry(draft, held)
        route(draft, files, held)
        hold(draft, files, held)
        own_words(draft)
        return draft.finish(COMMAND, harness_session_id=known, discover=discover)


def _tools(draft: PlanDraft) -> None:
    denied = draft.denied(NATIVE_TOOLS, NATIVE)
    if not denied:
        return
    draft.args.append(f"--disallowedTools={','.join(denied)}")
    for word in draft.config.extra_args or ():
        flag = word.split("=")[0]
        if flag in _ELSEWHERE:
            reason = f"{flag} starts a session elsewhere, where the denied tools were not shown off"
            draft.warn(f"the denied tools are not held: {reason}")
            draft.lower(reason, gating="none")


def own_words(draft: PlanDraft) -> None:
    """Say which of Barry's flags the user's own words take the place of."""
    ours = {word.split("=")[0] for word in draft.args} - _ADDING
    for word in draft.config.extra_args or ():
        flag = word.split("=")[0]
        if flag in ours:
            draft.warn(f"your own {flag} takes the place of the one that this launch would give")
