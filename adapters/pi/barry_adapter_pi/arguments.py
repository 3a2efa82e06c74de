"""What each part of a session becomes on pi's command line, whoever drives it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from barry_adapter_pi.declared import NATIVE_TOOLS
from barry_adapter_pi.places import appended_prompt
from barry_adapter_pi.routing import route

if TYPE_CHECKING:
    from barry_cli.adapters import PlanDraft


def environment(draft: PlanDraft) -> None:
    """Pi never replaces itself; this ends its question whether there is a newer build."""
    draft.env["PI_SKIP_VERSION_CHECK"] = "1"


def model(draft: PlanDraft) -> None:
    """The model and where it is reached. Raises BarryError for what pi can't be given."""
    endpoint, name = draft.config.endpoint, draft.config.model
    if endpoint is not None:
        route(draft, endpoint, name)
        return
    if name is not None:
        draft.args += ["--model", name]
    for variable in ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        if draft.inherited(variable):
            draft.warn(
                f"pi does not read {variable}: requests and key go where its own settings say"
            )


def tools(draft: PlanDraft, denied: Sequence[str]) -> None:
    """Pi has no list of denials, only one of all that may be used; extensions' tools included."""
    if denied:
        allowed = [tool for tool in NATIVE_TOOLS if tool not in denied]
        draft.args += ["--tools", ",".join(allowed)] if allowed else ["--no-tools"]


def thinking(draft: PlanDraft) -> None:
    """How much the model thinks."""
    level = (draft.config.options or {}).get("thinking")
    if level is not None:
        draft.args += ["--thinking", level]


def prompt(draft: PlanDraft) -> None:
    """What is added to pi's own system prompt."""
    text = draft.config.system_prompt
    if text is None:
        return
    # The flag takes the place of the file that pi would append by itself: name that one too.
    own = appended_prompt(draft.config.cwd, draft.config.env)
    if own is not None:
        draft.args += ["--append-system-prompt", str(own)]
    draft.args += ["--append-system-prompt", str(draft.file("system-prompt.md", text))]


def reach(draft: PlanDraft) -> None:
    """Plugin folders; extra roots; MCP servers, which pi loads from nowhere."""
    for folder in draft.config.plugin_dirs or ():
        draft.args += ["--skill", folder]
    if draft.config.project_roots:
        draft.warn(
            "pi has no list of folders: it can reach these roots like any other folder, and "
            "is not told of them"
        )
    # Nobody's configuration can add a server, so there is nothing to be strict about.
    _ = draft.config.strict_mcp_config
