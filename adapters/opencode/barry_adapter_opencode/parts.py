"""What each part of a session becomes in opencode's settings, whoever drives it."""

from __future__ import annotations

from typing import Any

from barry_adapter_opencode.declared import LABEL
from barry_adapter_opencode.places import instructions, read_jsonc
from barry_adapter_opencode.routing import inherited_routes, route
from barry_adapter_opencode.settings import plain
from barry_cli.adapters import PlanDraft

_WITHOUT_PLUGINS = "OPENCODE_PURE"
_EXPERIMENTS = "OPENCODE_EXPERIMENTAL"


def model(draft: PlanDraft) -> dict[str, Any]:
    """The models, and where their requests go. Raises BarryError for what can't be reached."""
    endpoint, name, small = (
        draft.config.endpoint,
        draft.config.model,
        draft.config.small_model,
    )
    if endpoint is not None:
        return route(draft, endpoint, name, small)
    if name is not None:
        draft.args += ["--model", name]
    found = inherited_routes(draft)
    return found if small is None else {**found, "small_model": plain(small)}


def prompt(draft: PlanDraft, *, without_project: bool) -> dict[str, Any]:
    """The system prompt as an instruction file, and the project's own where its settings are not
    read.
    """
    files = instructions(draft.config.cwd) if without_project else []
    text = draft.config.system_prompt
    if text is not None:
        files.append(draft.file("system-prompt.md", text))
    return {"instructions": [plain(str(file)) for file in files]} if files else {}


def skills(draft: PlanDraft) -> dict[str, Any]:
    """Plugin folders as folders of skills."""
    folders = draft.config.plugin_dirs
    if not folders:
        return {}
    draft.warn(
        "opencode takes the plugin folders as folders of skills, in place of skills.paths in your "
        "own settings; their other parts are left out"
    )
    return {"skills": {"paths": [plain(folder) for folder in folders]}}


def guarded(draft: PlanDraft, *unset: str) -> None:
    """What a plugin of Barry's needs to hold: that plugins are loaded, and no tools beside those
    that it knows. ``unset``: more variables that are taken away.
    """
    env = draft.config.env
    experiments = [name for name in env if name.startswith(_EXPERIMENTS)]
    for name in (_WITHOUT_PLUGINS, *unset, *experiments):
        if name in env:
            draft.env[name] = None
    if experiments:
        draft.warn(
            f"{LABEL}'s experiments are off in this session, because Barry can't hold what they "
            f"do: {', '.join(sorted(experiments))}"
        )


def inherited(draft: PlanDraft) -> dict[str, Any]:
    """Inline settings that the user's own environment carries already."""
    before = draft.inherited("OPENCODE_CONFIG_CONTENT")
    if before is None:
        return {}
    try:
        return read_jsonc(before)
    except (ValueError, RecursionError):
        draft.warn("OPENCODE_CONFIG_CONTENT holds no settings that can be read: it is left out")
        return {}
