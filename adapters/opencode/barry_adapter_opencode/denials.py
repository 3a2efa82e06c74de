"""Switching opencode's tools off so that no settings switch them on again.

opencode joins all rules in one list, the general ones, then those of the agent, each in the order
in which they were written, and the last rule that fits decides. A rule that is merged into an
existing key keeps that key's place, so a later ``"*": "allow"`` would win over it. Hence rules
under keys that nobody else writes: they come last. ``bash**`` fits what ``bash`` fits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from barry_adapter_opencode.declared import AGENTS, WRITERS
from barry_adapter_opencode.places import Defined
from barry_cli.adapters import PlanDraft

Rules = dict[str, Any]

# What opencode's own agents may not, which a general rule to ask would undo.
_LIMITS: dict[str, Rules] = {
    "plan": {
        "edit**": {"*": "deny", ".opencode/plans/*.md": "ask"},
        "task**": {"general": "deny"},
    },
    "general": {"todowrite**": "deny"},
    "explore": {
        "***": "deny",
        **{
            f"{tool}**": "ask"
            for tool in ("bash", "glob", "grep", "list", "read", "webfetch", "websearch")
        },
    },
    **{name: {"***": "deny"} for name in ("compaction", "summary", "title")},
}


def rules(denied: Iterable[str], mark: str = "**") -> Rules:
    """The rules that switch tools off."""
    return dict.fromkeys((_permission(tool) + mark for tool in denied), "deny")


BARRIER = "*******"
"""The key of the rule by which nothing may be used until a plugin of Barry's takes it away."""


def barred() -> Rules:
    """The rule itself."""
    return {BARRIER: "deny"}


def asking(users: Rules) -> Rules:
    """Rules by which every call is asked about. The user's own come again after that, so that
    what they deny stays denied; what they allow is asked about.

    Another folder is no call of its own: the call that reaches into it is asked about.
    """
    return {
        "*****": "ask",
        **dict.fromkeys(("external_directory**", "doom_loop**"), "allow"),
        **{f"{name}***": _asked(rule) for name, rule in users.items()},
    }


def limits() -> Rules:
    """Settings that keep opencode's own agents to what they may."""
    return {"agent": {name: {"permission": dict(rules)} for name, rules in _LIMITS.items()}}


def _asked(rule: Any) -> Any:
    if isinstance(rule, dict):
        return {pattern: _asked(each) for pattern, each in rule.items()}
    return "deny" if rule == "deny" else "ask"


def agent_rules(denied: list[str], user: Defined, more: Rules | None = None) -> Rules:
    """Settings that repeat the rules for every agent, since an agent's own come after them."""
    more = more or {}
    agents = sorted({*AGENTS, *user.agents})
    found: Rules = {"agent": {name: {"permission": {**rules(denied), **more}} for name in agents}}
    if user.modes:
        # opencode merges the older kind of agent over the newer: another key comes last again.
        found["mode"] = {
            name: {"permission": {**rules(denied, "***"), **more}} for name in sorted(user.modes)
        }
    return found


def permission_variable(draft: PlanDraft, own: Rules) -> None:
    """Put rules into the variable that opencode merges after every file, the user's own kept."""
    if not own:
        return
    before = draft.inherited("OPENCODE_PERMISSION")
    draft.env["OPENCODE_PERMISSION"] = json.dumps({**_read(draft, before), **own})


def root_rules(roots: Iterable[str]) -> Rules:
    """Rules that let opencode's tools reach these folders; other folders' rules stay."""
    allowed = {f"{root.rstrip('/')}/*": "allow" for root in roots}
    return {"external_director?": allowed} if allowed else {}


def _read(draft: PlanDraft, text: str | None) -> Rules:
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        draft.warn("OPENCODE_PERMISSION holds no rules that can be read: it is left out")
        return {}
    return found


def _permission(tool: str) -> str:
    """Opencode's name for what a tool needs. A tool of an MCP server is ``server_tool`` there."""
    if tool in WRITERS:
        return "edit"
    if tool.startswith("mcp__"):
        return tool.removeprefix("mcp__").replace("__", "_", 1)
    return tool
