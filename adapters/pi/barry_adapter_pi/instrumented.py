"""How pi's own TUI is started with Barry's extension in it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from barry_adapter_pi import arguments
from barry_adapter_pi.conversation import conversation
from barry_adapter_pi.declared import INSTRUMENTED_GUARANTEES, LABEL, NATIVE
from barry_adapter_pi.launch import tools
from barry_adapter_pi.places import PROGRAMS, has_extensions, refused_programs
from barry_cli.adapters import LaunchPlan, LineInbox, PlanDraft, Refused, place_plugin

if TYPE_CHECKING:
    from barry_cli.sessions import SessionConfig

MODULES = tuple(Path(__file__).with_name(name) for name in ("inside.js", "paths.js"))
"""The extension, and what it needs."""

_CODE = ("--extension", "-e")


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch in which every call is put to Barry. Raises Refused where pi would run what
    nobody rules on.
    """
    with PlanDraft(LABEL, config, INSTRUMENTED_GUARANTEES) as draft:
        instrument = draft.config.instrument
        if instrument is None:
            raise Refused(f"{LABEL} was to be instrumented, and there is nothing to do it with")
        _refuse_unruled(config.cwd)
        arguments.environment(draft)
        given = {"programs": PROGRAMS}
        extension = place_plugin(draft, instrument, config.session_id, MODULES, given)
        draft.args += ["--extension", str(extension)]
        _others_code(draft)
        arguments.model(draft)
        tools(draft, NATIVE)
        arguments.thinking(draft)
        arguments.prompt(draft)
        arguments.reach(draft)
        talk = conversation(draft)
        return draft.finish(
            "pi",
            harness_session_id=talk.id,
            discover=talk.discover,
            inbox=LineInbox(
                instrument.inside, guarantee="wake", evidence="pi's own event for a user message"
            ),
            reports_loaded=True,
        )


def _refuse_unruled(cwd: str) -> None:
    if what := refused_programs(cwd):
        raise Refused(
            f"this folder's .pi/settings.json {what}",
            hint="look into it, and move it to your own settings or away; `--mode guest` starts pi "
            "without rulings",
        )


def _others_code(draft: PlanDraft) -> None:
    """Other extensions are code that could change a call after its ruling: out, or none holds."""
    config = draft.config
    loaded = []
    if (config.options or {}).get("extensions"):
        loaded.append("pi's extensions are loaded (extensions=true)")
    else:
        draft.args.append("--no-extensions")
        if has_extensions(config.cwd, config.env):
            draft.warn(
                "pi's extensions are left out of this session, because their code could undo what "
                "Barry rules; --option extensions=true keeps them"
            )
    words = [word.partition("=")[0] for word in config.extra_args or ()]
    loaded += [f"{word} after -- loads code" for word in words if word in _CODE]
    for each in loaded:
        draft.warn(f"calls may not be held: {each} that could change them after the ruling")
        draft.lower(f"{each} that could change a call after the ruling", gating="none")
