"""The inline settings that put Barry's hooks into Claude Code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from barry_cli.adapters import HookCall, Instrument

# Claude Code lets a call run whose hook is too slow: it has to wait far longer than the ruling can
# take. In seconds.
_PATIENCE = 120
_NOTICE_PATIENCE = 15

_TOLD = ("SessionStart", "UserPromptSubmit", "PermissionRequest", "Stop", "SessionEnd")
# A hook after each call costs time in every call: only where messages come in by it.
_CARRYING = ("PostToolUse", "PostToolUseFailure")


def settings(instrument: Instrument, *, carrying: bool) -> Mapping[str, object]:
    """Hooks, and what keeps anything else from running unruled.

    ``carrying``: messages come in after tool calls, too.
    """
    patience = max(_PATIENCE, round(4 * instrument.deadline_seconds))
    hooks = {"PreToolUse": [_every(instrument.ruling, patience)]}
    for event in (*_TOLD, *(_CARRYING if carrying else ())):
        hooks[event] = [_every(instrument.notice, _NOTICE_PATIENCE)]
    return {
        "hooks": hooks,
        # Said here it outranks the folder's settings and the user's.
        "disableAllHooks": False,
        # A command inside a skill's text runs when the skill is called, and no hook is asked.
        "disableSkillShellExecution": True,
    }


def _every(hook: HookCall, patience: int) -> dict[str, Any]:
    call = {"type": "command", "command": hook.command, "timeout": patience}
    return {"matcher": "*", "hooks": [call]}
