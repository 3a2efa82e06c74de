"""The plan of a launch: what is asked for, as Codex's command line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from barry_adapter_codex.arguments import (
    COMMAND,
    LABEL,
    hide,
    model_name,
    options,
    prompt,
    route,
    same_provider,
    set_value,
    tools,
)
from barry_adapter_codex.conversation import discover
from barry_adapter_codex.own import Own, own_settings
from barry_adapter_codex.places import is_id
from barry_adapter_codex.problems import LaunchRefused
from barry_adapter_codex.tools import GUARANTEES, NATIVE
from barry_cli.adapters import LaunchPlan, NativeControl, PlanDraft
from barry_cli.sessions import Resume, SessionConfig

Find = Callable[[], Awaitable[str | None]]


async def plan(config: SessionConfig) -> LaunchPlan:
    """Plan a launch of the TUI. Raises LaunchRefused where Codex could not do what was asked."""
    with PlanDraft(LABEL, config, GUARANTEES) as draft:
        conversation, find = terminal(draft, NATIVE)
        return draft.finish(COMMAND, harness_session_id=conversation, discover=find)


def terminal(draft: PlanDraft, native: NativeControl) -> tuple[str | None, Find | None]:
    """All that starts the TUI. The conversation's id where it is known, else what finds it."""
    own = own_settings(draft.config.cwd, draft.config.env)
    resume = draft.config.resume
    conversation = _resumed(draft, resume)
    if resume is not None:
        draft.args.append("resume")
    # Without this a TUI leaves a server and an updater behind; with it, it is by itself.
    draft.args.append("--no-daemon")
    set_value(draft, "check_for_update_on_startup", False)
    name = model_name(draft)
    if name is not None:
        draft.args += ["-m", name]
    route(draft, own)
    given = _options(draft)
    _tools(draft, own, native)
    prompt(draft, own)
    _roots(draft, given)
    hide(draft, own)
    if resume is not None:
        if resume.last:
            draft.args.append("--last")
        elif resume.harness_session_id is not None:
            draft.args.append(resume.harness_session_id)
    return conversation, None if conversation is not None else _discover(draft, resume)


def _discover(draft: PlanDraft, resume: Resume | None) -> Find:
    kind: Literal["new", "last", "picked"] = "new"
    if resume is not None:
        kind = "picked" if resume.picker else "last"
    return discover(draft.config.cwd, draft.config.env, kind)


def _resumed(draft: PlanDraft, resume: Resume | None) -> str | None:
    """The id of the conversation to go on with, where it is known."""
    name = resume.harness_session_id if resume is not None and not resume.last else None
    if name is None:
        return None
    if name.startswith("-"):
        raise LaunchRefused(
            f"{name!r} is no id of a conversation", hint="`codex resume` lists them"
        )
    if not is_id(name):
        return None
    same_provider(draft, name)
    return name


def _options(draft: PlanDraft) -> Mapping[str, object]:
    given = options(draft)
    if "sandbox" in given:
        draft.args += ["-s", str(given["sandbox"])]
    if "approvalPolicy" in given:
        draft.args += ["-a", str(given["approvalPolicy"])]
    return given


def _tools(draft: PlanDraft, own: Own, native: NativeControl) -> None:
    """Take denied tools away, and say which of them stay."""
    kept = {tool.casefold() for tool in draft.config.denied_tools or ()} & {
        tool.casefold() for tool in native.uncontrolled or {}
    }
    if kept:
        draft.lower(f"{LABEL} keeps {', '.join(sorted(kept))}", gating="none")
    table = tools(draft, own, native)
    if table:
        set_value(draft, "mcp_servers", table)


def _roots(draft: PlanDraft, given: Mapping[str, object]) -> None:
    roots = draft.config.project_roots or ()
    for root in roots:
        draft.args += ["--add-dir", root]
    if roots and given.get("sandbox") == "read-only":
        draft.warn("extra roots can't be written to while the sandbox is read-only")
