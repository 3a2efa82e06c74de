"""How opencode's own TUI is started with Barry's plugin in it."""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barry_adapter_opencode.conversation import Conversation, conversation
from barry_adapter_opencode.declared import (
    INSTRUMENTED_GUARANTEES,
    LABEL,
    NATIVE,
    NATIVE_TOOLS,
)
from barry_adapter_opencode.denials import BARRIER, agent_rules, barred
from barry_adapter_opencode.launch import finish_settings, leave_project_out
from barry_adapter_opencode.parts import guarded, inherited, model, prompt, skills
from barry_adapter_opencode.places import defined
from barry_adapter_opencode.servers import servers
from barry_adapter_opencode.settings import merged, plain
from barry_adapter_opencode.typed import typed
from barry_cli.adapters import LaunchPlan, LineInbox, PlanDraft, Refused, place_plugin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from barry_cli.sessions import SessionConfig

PLUGIN = Path(__file__).with_name("inside.js")
# Before a plugin is loaded opencode installs a package of its own, where it isn't yet, and waits.
# Barry's does without it: where no registry can be reached the wait is to be a short one.
_IMPATIENT = {"npm_config_fetch_retries": "0", "npm_config_fetch_timeout": "10000"}
_PASSWORD = "OPENCODE_SERVER_PASSWORD"  # noqa: S105 - the name of a variable


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch in which every call is put to Barry. Raises BarryError for what must not go on
    as asked.
    """
    with PlanDraft(LABEL, config, INSTRUMENTED_GUARANTEES) as draft:
        instrument = draft.config.instrument
        if instrument is None:
            raise Refused(f"{LABEL} was to be instrumented, and there is nothing to do it with")
        words = typed(draft.config.extra_args or ())
        denied = draft.denied(NATIVE_TOOLS, NATIVE)
        inline = inherited(draft)
        own = defined(config.env, inline, project=None)
        for reason in leave_project_out(draft, own, "undo what Barry rules"):
            draft.warn(f"calls may not be held: {reason}")
            draft.lower(reason, gating="none")
        routed = model(draft)
        talk = conversation(draft)
        plugin = place_plugin(
            draft,
            instrument,
            config.session_id,
            [PLUGIN],
            {
                "servers": _names([*config.mcp_servers, *own.servers]),
                "hidden": _impatient(draft),
                "barrier": BARRIER,
                **_goes_on(draft, talk, words, routed),
            },
        )
        settings: dict[str, Any] = {
            "autoupdate": False,
            "plugin": [plain(plugin.as_uri())],
            # Tools inside of one call would not be ruled on.
            "experimental": {"batch_tool": False},
        }
        for part in (
            routed,
            # A plugin that opencode doesn't load is left out silently: then nothing may be used.
            agent_rules(denied, own, barred()),
            prompt(draft, without_project=True),
            servers(draft, own),
            skills(draft),
        ):
            settings = merged(settings, part)
        guarded(draft)
        _close(draft)
        finish_settings(draft, denied, merged(inline, settings), barred())
        return draft.finish(
            "opencode",
            harness_session_id=talk.id,
            discover=talk.discover,
            inbox=LineInbox(
                instrument.inside,
                guarantee="wake",
                evidence="the answer that opencode begins to the message",
            ),
            reports_loaded=True,
        )


def _names(servers: Iterable[str]) -> dict[str, str]:
    """Server names as opencode spells them in the names of tools -> their own."""
    return {re.sub(r"[^a-zA-Z0-9_-]", "_", name): name for name in servers}


def _goes_on(
    draft: PlanDraft, talk: Conversation, words: dict[str, str], routed: dict[str, Any]
) -> dict[str, object]:
    """What the plugin has to know to begin a conversation, or to find the one that goes on."""
    options = draft.config.options or {}
    elsewhere = {"--session", "--continue", "--fork", "--prompt"} & words.keys()
    picked = draft.config.resume is not None and draft.config.resume.picker
    return {
        "conversation": None if elsewhere else talk.id,
        # Where opencode itself begins or picks one, messages wait for its first prompt.
        "fresh": talk.id is None and not elsewhere and not picked,
        "agent": words.get("--agent") or options.get("agent"),
        "model": words.get("--model") or _model(draft, routed),
    }


def _model(draft: PlanDraft, routed: dict[str, Any]) -> str | None:
    if draft.config.endpoint is None:
        return draft.config.model
    at = draft.args.index("--model")
    return draft.args[at + 1]


def _impatient(draft: PlanDraft) -> list[str]:
    """The names of these that the user has not set: they are for opencode, not for its commands."""
    ours = {name: value for name, value in _IMPATIENT.items() if draft.inherited(name) is None}
    draft.env.update(ours)
    return list(ours)


def _close(draft: PlanDraft) -> None:
    """A server that the user's settings open asks for a password: commands that the agent runs
    could else have it run others, and nobody rules on those.
    """
    password = draft.inherited(_PASSWORD)
    if password is None:
        password = draft.env[_PASSWORD] = secrets.token_urlsafe(24)
    draft.secrets.append(password)
