"""How a launch of pi is planned. Nothing of the user's pi folder is written or moved."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_pi import arguments
from barry_adapter_pi.conversation import conversation
from barry_adapter_pi.declared import GUARANTEES, LABEL, NATIVE, NATIVE_TOOLS
from barry_adapter_pi.places import folder_programs, has_extensions
from barry_cli.adapters import LaunchPlan, NativeControl, PlanDraft, Refused

if TYPE_CHECKING:
    from barry_cli.sessions import SessionConfig

_INSTALLS = {"npmCommand", "packages", "__proto__"}

_LOOSENS = {
    "--tools": "--tools",
    "-t": "--tools",
    "--extension": "--extension",
    "-e": "--extension",
}


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch of pi's own TUI. Raises BarryError for what must not go on as asked."""
    with PlanDraft(LABEL, config, GUARANTEES) as draft:
        arguments.environment(draft)
        arguments.model(draft)
        tools(draft, NATIVE)
        _extensions(draft)
        arguments.thinking(draft)
        arguments.prompt(draft)
        arguments.reach(draft)
        talk = conversation(draft)
        return draft.finish("pi", harness_session_id=talk.id, discover=talk.discover)


def tools(draft: PlanDraft, native: NativeControl) -> None:
    """Switch off what is denied; what the user typed may switch it on again."""
    denied = draft.denied(NATIVE_TOOLS, native)
    arguments.tools(draft, denied)
    for word in (draft.config.extra_args or ()) if denied else ():
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
    if config.endpoint is not None:
        _refuse_installing(config.cwd)
    if has_extensions(config.cwd, config.env):
        draft.warn(
            f"pi's extensions are left out of this session, because their code could undo what "
            f"holds {' and '.join(held)}; --option extensions=true keeps them"
        )


def _refuse_installing(cwd: str) -> None:
    """What a folder's settings have pi install runs code at the start, with the key in reach."""
    programs = folder_programs(cwd)
    named = _INSTALLS & set(programs if programs is not None else _INSTALLS)
    if named:
        raise Refused(
            f"this folder's .pi/settings.json names {', '.join(sorted(named))}, or can't be read: "
            "what pi would install and run at its start could read the endpoint's key",
            hint="look into it; --option extensions=true starts pi all the same",
        )
