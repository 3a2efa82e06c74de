"""How a launch of opencode is planned. No settings file is touched."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from barry_adapter_opencode.conversation import conversation
from barry_adapter_opencode.declared import GUARANTEES, LABEL, NATIVE, NATIVE_TOOLS
from barry_adapter_opencode.denials import agent_rules, permission_variable, root_rules, rules
from barry_adapter_opencode.parts import inherited, model, prompt, skills
from barry_adapter_opencode.places import Defined, defined, has_own_settings, own_code
from barry_adapter_opencode.servers import servers
from barry_adapter_opencode.settings import merged, written
from barry_cli.adapters import LaunchPlan, PlanDraft

if TYPE_CHECKING:
    from barry_cli.sessions import SessionConfig


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch of opencode's own TUI. Raises BarryError for what must not go on as asked."""
    with PlanDraft(LABEL, config, GUARANTEES) as draft:
        denied = draft.denied(NATIVE_TOOLS, NATIVE)
        inline = inherited(draft)
        asked = denied or draft.config.mcp_servers or draft.config.strict_mcp_config
        # Under a denial the project's settings are not loaded, so what they define is no matter.
        project = None if denied else config.cwd
        own = defined(config.env, inline, project=project) if asked else None
        settings: dict[str, Any] = {"autoupdate": False}
        for part in (
            model(draft),
            _denials(draft, denied, own),
            prompt(draft, without_project=bool(denied)),
            servers(draft, own) if own is not None else {},
            skills(draft),
        ):
            settings = merged(settings, part)
        finish_settings(draft, denied, merged(inline, settings))
        talk = conversation(draft)
        return draft.finish("opencode", harness_session_id=talk.id, discover=talk.discover)


def finish_settings(
    draft: PlanDraft,
    denied: list[str],
    settings: dict[str, Any],
    more: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """What holds denials, roots, the agent and the settings, on their way into opencode.

    ``more``: rules that come after those.
    """
    roots = root_rules(draft.config.project_roots or ())
    permission_variable(draft, {**roots, **rules(denied), **more})
    agent = (draft.config.options or {}).get("agent")
    if agent is not None:
        draft.args += ["--agent", agent]
    draft.env["OPENCODE_DISABLE_AUTOUPDATE"] = "1"
    draft.env["OPENCODE_CONFIG_CONTENT"] = written(settings)


def _denials(draft: PlanDraft, denied: list[str], own: Defined | None) -> dict[str, Any]:
    if not denied or own is None:
        return {}
    reasons = leave_project_out(draft, own, "undo what is denied")
    if "attach" in (draft.config.extra_args or ()):
        reasons.append("attach after -- goes to a server that has rules of its own")
    for reason in reasons:
        draft.warn(f"the denied tools may not be held: {reason}")
        draft.lower(reason, gating="none")
    return agent_rules(denied, own)


def leave_project_out(draft: PlanDraft, own: Defined, could: str) -> list[str]:
    """Have the project's settings, agents and plugins left unread, because of what they could do;
    the reasons why something of theirs may act all the same.
    """
    draft.env["OPENCODE_DISABLE_PROJECT_CONFIG"] = "1"
    if has_own_settings(draft.config.cwd, draft.config.env):
        draft.warn(
            "this project's own opencode settings, agents and plugins are left out of the session, "
            f"because they could {could}; its instruction files are kept"
        )
    reasons = []
    if code := own_code(draft.config.cwd, draft.config.env):
        reasons.append(f"opencode runs this project's own {', '.join(code)} all the same")
    if own.unreadable:
        reasons.append(f"{own.unread} can't be read, and agents there may have rules of their own")
    return reasons
