"""Whether Gemini CLI takes a folder for trusted: it runs hooks in no other, not even Barry's."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from barry_adapter_gemini.declared import COMMAND, LABEL, LaunchRefused
from barry_adapter_gemini.places import Env, home
from barry_adapter_gemini.settings import of_machine, of_user, read, variables_of_folder

if TYPE_CHECKING:
    from barry_cli.adapters import PlanDraft

TRUST = "GEMINI_CLI_TRUST_WORKSPACE"
RESTRICTED = "GEMINI_RESTRICTED_MODE"
_FILE = "GEMINI_CLI_TRUSTED_FOLDERS_PATH"


def trust(draft: PlanDraft) -> None:
    """Have the folder taken as trusted for as long as the TUI runs.

    Where it brings nothing that acts, nothing is lost by that. Where it does, the user must have
    trusted it before. Raises LaunchRefused.
    """
    config = draft.config
    for name, value in ((RESTRICTED, "true"), (TRUST, "false")):
        if draft.inherited(name) == value:
            raise LaunchRefused(
                f"{name}={value} makes {LABEL} trust no folder, and it then calls no hook",
                hint=f"unset {name}, or launch in guest mode",
            )
    decided = _decided(config.cwd, config.env)
    if decided is None and not _acts(config.cwd, config.env):
        decided = True
    if not decided and draft.inherited(TRUST) != "true":
        raise LaunchRefused(
            f"{LABEL} calls no hook in a folder that you have not trusted, and this one brings "
            f"settings, commands or variables of its own: {config.cwd}",
            hint=f"start {COMMAND} in it once and trust it, or launch in guest mode",
        )
    draft.env[TRUST] = "true"
    draft.env[RESTRICTED] = ""  # else a .env could set it


def _acts(cwd: str, env: Env) -> bool:
    """Whether the folder has anything that Gemini CLI reads only where it trusts."""
    real = os.path.realpath(cwd)
    if real == os.path.realpath(home(env)):
        return False
    return os.path.lexists(Path(real) / ".gemini") or variables_of_folder(cwd, env) is not None


def _decided(cwd: str, env: Env) -> bool | None:
    """What the user has decided; None where that was left open."""
    machine, user = of_machine(env), of_user(env)
    for settings in (machine, user):
        enabled = settings.at("security", "folderTrust", "enabled") if settings else None
        if enabled is not None:
            if enabled is False:
                return True
            break
    rules = read(Path(env.get(_FILE) or home(env) / ".gemini" / "trustedFolders.json")).values
    real, found, longest = os.path.realpath(cwd), None, -1
    for rule, level in rules.items():
        top = os.path.dirname(rule) if level == "TRUST_PARENT" else rule
        if len(rule) > longest and Path(real).is_relative_to(os.path.realpath(top)):
            found, longest = level, len(rule)
    return None if found is None else found in ("TRUST_FOLDER", "TRUST_PARENT")
