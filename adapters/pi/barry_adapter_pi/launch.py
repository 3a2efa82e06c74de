"""How a launch of pi is planned. Nothing of the user's pi folder is written or moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_pi.conversation import conversation
from barry_adapter_pi.declared import GUARANTEES, LABEL, NATIVE, NATIVE_TOOLS
from barry_adapter_pi.places import appended_prompt, has_extensions
from barry_adapter_pi.routing import route
from barry_cli.adapters import LaunchPlan, PlanDraft

if TYPE_CHECKING:
    from barry_cli.sessions import SessionConfig

_LOOSENS = {
    "--tools": "--tools",
    "-t": "--tools",
    "--extension": "--extension",
    "-e": "--extension",
}


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch of pi's own TUI. Raises BarryError for what must not go on as asked."""
    with PlanDraft(LABEL, config, GUARANTEES) as draft:
        # pi never replaces itself; this ends its question whether there is a newer one.
        draft.env["PI_SKIP_VERSION_CHECK"] = "1"
        _model(draft)
        _tools(draft)
        _extensions(draft)
        _options(draft)
        _prompt(draft)
        for folder in draft.config.plugin_dirs or ():
            draft.args += ["--skill", folder]
        if draft.config.project_roots:
            draft.warn(
                "pi has no list of folders: it can reach these roots like any other folder, and "
                "is not told of them"
            )
        # pi loads MCP servers from nowhere, so nobody's configuration can add one.
        _ = draft.config.strict_mcp_config
        talk = conversation(draft)
        return draft.finish("pi", harness_session_id=talk.id, discover=talk.discover)


def _model(draft: PlanDraft) -> None:
    endpoint, model = draft.config.endpoint, draft.config.model
    if endpoint is not None:
        route(draft, endpoint, model)
        return
    if model is not None:
        draft.args += ["--model", model]
    for name in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        if draft.inherited(name):
            draft.warn(f"pi does not read {name}: requests and key go where its own settings say")


def _tools(draft: PlanDraft) -> None:
    """Pi has no list of denials, only one of all that may be used; extensions' tools included."""
    denied = draft.denied(NATIVE_TOOLS, NATIVE)
    if not denied:
        return
    allowed = [tool for tool in NATIVE_TOOLS if tool not in denied]
    draft.args += ["--tools", ",".join(allowed)] if allowed else ["--no-tools"]
    for word in draft.config.extra_args or ():
        if word in _LOOSENS:
            reason = f"{word} after -- can bring denied tools back"
            draft.warn(f"the denied tools are not held: {reason}")
            draft.lower(reason, gating="none")


def _extensions(draft: PlanDraft) -> None:
    """Extensions are code that could bring a tool back or read a key: out, where either counts."""
    config = draft.config
    held = [
        *(["the denied tools"] if {"--tools", "--no-tools"} & set(draft.args) else []),
        *(["the endpoint's key"] if config.endpoint is not None else []),
    ]
    if not held:
        return
    if (config.options or {}).get("extensions"):
        reason = "pi's extensions are loaded, and their code can do what a tool may not"
        draft.warn(f"{' and '.join(held)} can't be held: {reason}")
        if "the denied tools" in held:
            draft.lower(reason, gating="none")
        return
    draft.args.append("--no-extensions")
    if has_extensions(config.cwd, config.env):
        draft.warn(
            f"pi's extensions are left out of this session, because their code could undo what "
            f"holds {' and '.join(held)}; --option extensions=true keeps them"
        )


def _options(draft: PlanDraft) -> None:
    thinking = (draft.config.options or {}).get("thinking")
    if thinking is not None:
        draft.args += ["--thinking", thinking]


def _prompt(draft: PlanDraft) -> None:
    text = draft.config.system_prompt
    if text is None:
        return
    # The flag takes the place of the file that pi would append by itself: name that one too.
    own = appended_prompt(draft.config.cwd, draft.config.env)
    if own is not None:
        draft.args += ["--append-system-prompt", str(own)]
    draft.args += ["--append-system-prompt", str(draft.file("system-prompt.md", text))]
