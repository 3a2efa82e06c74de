"""The plan of an instrumented launch: the guest's, with Barry's hooks and a way in for messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from barry_adapter_codex.arguments import COMMAND, LABEL, set_value
from barry_adapter_codex.extra import unguarded
from barry_adapter_codex.hooks import settings, trust
from barry_adapter_codex.inbox import Inbox
from barry_adapter_codex.launch import terminal
from barry_adapter_codex.places import codex_home
from barry_adapter_codex.problems import LaunchRefused
from barry_adapter_codex.tools import (
    INSTRUMENTED_GUARANTEES,
    INSTRUMENTED_NATIVE,
    INSTRUMENTED_OFF,
)
from barry_adapter_codex.transcript import Rollouts
from barry_cli.adapters import LaunchPlan, PlanDraft

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from barry_adapter_codex.launch import Find
    from barry_cli.adapters import Instrument
    from barry_cli.sessions import SessionConfig

_SETTING_FLAGS = ("-c", "--enable", "--disable")


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch. Raises LaunchRefused where Codex could not do what was asked.

    Codex itself is asked whether it will run the hooks; what stands against it lowers what this
    launch promises to what a guest's does.
    """
    with PlanDraft(LABEL, config, INSTRUMENTED_GUARANTEES) as draft:
        instrument = draft.config.instrument
        if instrument is None:
            raise LaunchRefused(
                f"{LABEL} has no hooks to call in this launch", hint="launch it in guest mode"
            )
        conversation, find = terminal(draft, INSTRUMENTED_NATIVE)
        # The shell that calls a hook would run this file first.
        draft.env["BASH_ENV"] = None
        for feature in INSTRUMENTED_OFF:
            draft.args += ["--disable", feature]
        draft.args += ["--enable", "hooks"]
        for key, value in settings(instrument).items():
            set_value(draft, key, value)
        program = instrument.program or COMMAND
        problem = _out_of_reach(draft) or await _trusted(draft, instrument, program)
        if problem is not None:
            _as_a_guest(draft, problem)
            return draft.finish(COMMAND, harness_session_id=conversation, discover=find)
        inbox = _inbox(draft, instrument, program, conversation, find)
        return draft.finish(COMMAND, harness_session_id=conversation, discover=find, inbox=inbox)


def _out_of_reach(draft: PlanDraft) -> str | None:
    """Why the hooks can't be relied on, whatever Codex says of them."""
    word = unguarded(draft.config.extra_args or ())
    if word is not None:
        return f"with {word} among your own arguments Barry's hooks may not run"
    usual, home = codex_home({**draft.config.env, "CODEX_HOME": None}), codex_home(draft.config.env)
    if home.resolve() != usual.resolve():
        return (
            f"CODEX_HOME is {home}, where nothing keeps the agent from the settings that name hooks"
        )
    return None


async def _trusted(draft: PlanDraft, instrument: Instrument, program: str) -> str | None:
    config = draft.config
    found = await trust(
        program, _settings(draft), instrument, env=_environment(draft), cwd=config.cwd
    )
    if found.problem is not None:
        return found.problem
    set_value(draft, "hooks.state", found.state)
    if found.silenced:
        draft.warn(
            f"PreToolUse hooks of {' and '.join(found.silenced)} are off in this launch: they "
            "could change a call after Barry has ruled on it"
        )
    return None


def _settings(draft: PlanDraft) -> list[str]:
    """The arguments that are settings: what else the TUI is given, its app server doesn't know."""
    given: list[str] = []
    words = iter([*draft.args, *(draft.config.extra_args or ())])
    for word in words:
        if word in _SETTING_FLAGS:
            given += [word, next(words)]
    return given


def _environment(draft: PlanDraft) -> Mapping[str, str | None]:
    return {**draft.config.env, **draft.env}


def _inbox(
    draft: PlanDraft,
    instrument: Instrument,
    program: str,
    conversation: str | None,
    find: Find | None,
) -> Inbox:
    cwd, env = draft.config.cwd, _environment(draft)
    known = {name: value for name, value in env.items() if value is not None}
    path: Path | None = None
    if conversation is not None:
        path = Rollouts().find(conversation, cwd, known)
    return Inbox(
        instrument.inside,
        program=program,
        env=env,
        cwd=cwd,
        conversation=conversation,
        transcript=None if path is None else str(path),
        # Hooks tell of a new one, with its first prompt; of one that goes on, only with its next.
        find=find if draft.config.resume is not None else None,
    )


def _as_a_guest(draft: PlanDraft, because: str) -> None:
    draft.lower(because, gating="static", capture="post-hoc", delivery="none", identity="none")
