"""Barry's hooks as Gemini CLI's settings have them, and what would undo them.

A hook that crashes, is missing or takes too long lets its call run, so that each of ours ends with
the exit code that refuses, and is waited for far longer than it takes.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barry_adapter_gemini.declared import LaunchRefused
from barry_adapter_gemini.denials import undone
from barry_adapter_gemini.places import Env, home
from barry_adapter_gemini.settings import Settings, of_user, read

if TYPE_CHECKING:
    from barry_cli.adapters import Instrument, PlanDraft

RULED = "BeforeTool"
TOLD = ("AfterTool", "BeforeAgent", "AfterAgent", "Notification", "SessionStart", "SessionEnd")

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


def hooks(instrument: Instrument) -> dict[str, Any]:
    """The settings that have Barry's hooks called."""
    # Whoever lists names of hooks to leave out can't know this one.
    name = f"Barry {secrets.token_hex(4)}"
    calm = _calm()

    def entry(command: str, seconds: float) -> list[dict[str, Any]]:
        hook = {
            "type": "command",
            "name": name,
            "command": command,
            "timeout": round(seconds * 1000),
            "env": calm,
        }
        return [{"hooks": [hook]}]

    longest = max(_RULING_SECONDS, 3 * instrument.deadline_seconds)
    return {
        "hooksConfig": {"enabled": True},
        "hooks": {
            RULED: entry(instrument.ruling.command, longest),
            **{event: entry(instrument.notice.command, _NOTICE_SECONDS) for event in TOLD},
        },
    }


def _calm() -> dict[str, str]:
    """What keeps the shell that runs a hook from being led astray.

    Gemini CLI takes variables from a folder's ``.env``, and bash runs a file, or nothing at all,
    where one of these says so. Its input is a socket: unless it is the second of its line, it runs
    ``~/.bashrc`` first. And it is the bash that stands here, whatever an agent puts into a folder
    that is searched before.
    """
    bash = os.path.realpath(shutil.which("bash") or "/bin/bash")
    return {**dict.fromkeys(_ASTRAY, ""), "SHLVL": "1", "PATH": os.path.dirname(bash)}


def hold(draft: PlanDraft, folder: Settings) -> None:
    """See that the hooks will be called, and that what they rule on is what runs.

    Raises LaunchRefused where they would not be.
    """
    if reason := undone(draft, folder):
        raise LaunchRefused(
            f"Barry's hooks would not hold: {reason}",
            hint="take that away, or launch in guest mode",
        )
    if folder.at("hooks"):
        raise LaunchRefused(
            f"{folder.path} has hooks, which could change a call after Barry ruled on it",
            hint="take hooks out of it, move it aside, or launch in guest mode",
        )
    config = draft.config
    for settings in (of_user(config.env), *_extensions(config.env)):
        if settings.at("hooks", RULED):
            reason = (
                f"{settings.path} has a {RULED} hook of your own, which could change a call after "
                "Barry ruled on it"
            )
            draft.lower(reason, gating="static")
            return


def _extensions(env: Env) -> Iterator[Settings]:
    """The hooks of the user's extensions."""
    folder: Path = home(env) / ".gemini" / "extensions"
    for path in sorted(folder.glob("*/hooks/hooks.json")):
        yield read(path)
