"""Barry's hooks as Qwen Code's settings have them, and what would undo them.

A hook that crashes, is missing or takes too long lets its call run, so that each of ours ends with
the exit code that refuses, and is waited for far longer than it takes. Qwen Code itself goes on
after a minute, whatever a hook's settings say.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from barry_adapter_qwen.declared import LABEL, LaunchRefused
from barry_adapter_qwen.launch import contained
from barry_adapter_qwen.places import Env, user_folder
from barry_adapter_qwen.settings import Settings, of_folder, of_machine, of_user, read

if TYPE_CHECKING:
    from barry_cli.adapters import Instrument, PlanDraft

RULED = "PreToolUse"
TOLD = (
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "Notification",
    "PermissionRequest",
    "SessionStart",
    "SessionEnd",
)

BARE = "QWEN_CODE_SIMPLE"
"""In this mode it calls no hook."""

_ASTRAY = (
    "BASHOPTS",
    "BASH_ENV",
    "ENV",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "SHELLOPTS",
)

_RULING_SECONDS = 60
_NOTICE_SECONDS = 15


def hooks(draft: PlanDraft, instrument: Instrument) -> dict[str, Any]:
    """The settings that have Barry's hooks called, beside those of an administrator."""
    calm = _calm()
    machine = of_machine(draft.config.env)

    def entry(event: str, command: str, seconds: float) -> list[dict[str, Any]]:
        others = machine.at("hooks", event) if machine is not None else None
        hook = {
            "type": "command",
            "name": "Barry",
            "command": command,
            "timeout": round(seconds * 1000),
            "env": calm,
        }
        return [*(others if isinstance(others, list) else ()), {"hooks": [hook]}]

    longest = max(_RULING_SECONDS, 3 * instrument.deadline_seconds)
    return {
        "disableAllHooks": False,
        "hooks": {
            RULED: entry(RULED, instrument.ruling.command, longest),
            **{event: entry(event, instrument.notice.command, _NOTICE_SECONDS) for event in TOLD},
        },
    }


def _calm() -> dict[str, str]:
    """What keeps the shell that runs a hook from being led astray.

    Qwen Code takes variables from a folder's ``.env`` and settings, and bash runs a file, or
    nothing at all, where one of these says so. Its input is a socket: unless it is the second of
    its line, it runs ``~/.bashrc`` first. And it is the bash that stands here, whatever an agent
    puts into a folder that is searched before.
    """
    bash = os.path.realpath(shutil.which("bash") or "/bin/bash")
    return {**dict.fromkeys(_ASTRAY, ""), "SHLVL": "1", "PATH": os.path.dirname(bash)}


def hold(draft: PlanDraft) -> None:
    """See that the hooks will be called, and that what they rule on is what runs.

    Raises LaunchRefused where they would not be.
    """
    config = draft.config
    if contained(draft):
        _refuse(f"{LABEL} would run in its own sandbox, where Barry can't be reached")
    words = {word.split("=")[0] for word in config.extra_args or ()}
    if "--bare" in words or (draft.inherited(BARE) or "").casefold() in ("1", "true", "yes", "on"):
        _refuse(f"in its bare mode (--bare, {BARE}) {LABEL} calls no hook")
    draft.env[BARE] = ""  # else a .env could set it
    folder, user = of_folder(config.cwd, config.env), of_user(config.env)
    if folder.at("hooks") is not None:
        _refuse(f"{folder.path} has hooks, which could have a call ruled on that is not made")
    if user.at("hooks") is not None and user.at("security", "folderTrust", "enabled") is True:
        # It then takes system hooks for the folder's, and calls those only where it trusts.
        _refuse(
            f"{user.path} has hooks and makes {LABEL} ask which folders it trusts: in one that it "
            "doesn't it would call your own hooks alone"
        )
    for settings in (user, *_extensions(config.env)):
        if _rewrites(settings):
            reason = (
                f"{settings.path} has {RULED} hooks of your own that run one after the other, and "
                "could have a call ruled on that is not made"
            )
            draft.lower(reason, gating="static")
            return


def _refuse(because: str) -> None:
    raise LaunchRefused(
        f"Barry's hooks would not hold: {because}",
        hint="take that away, or launch in guest mode",
    )


def _rewrites(settings: Settings) -> bool:
    """Whether hooks hand on to each other what a call is."""
    groups = settings.at("hooks", RULED)
    return any(
        isinstance(group, dict) and group.get("sequential") is True
        for group in (groups if isinstance(groups, list) else ())
    )


def _extensions(env: Env) -> Iterator[Settings]:
    """What the user's extensions bring."""
    folder = user_folder(env) / "extensions"
    for name in ("*/qwen-extension.json", "*/hooks/hooks.json"):
        for path in sorted(folder.glob(name)):
            yield read(path)
