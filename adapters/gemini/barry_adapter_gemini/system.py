"""System settings: they outrank the user's and the folder's, and Gemini CLI takes them only from
files that nobody but root could have written, in folders of which the same is true.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from barry_adapter_gemini.declared import LABEL
from barry_adapter_gemini.places import SYSTEM_DEFAULTS, SYSTEM_SETTINGS, machine_folder
from barry_adapter_gemini.settings import Settings, of_machine, of_user
from barry_cli.adapters import PlanDraft

_SHIPPED = Path(__file__).parent / "system.json"
"""What every launch sets: no self-update."""


def arrange(draft: PlanDraft, own: dict[str, Any]) -> bool:
    """Put self-update off, and ``own``, above all other settings. False where that can't be done.

    An administrator's settings are never replaced.
    """
    if of_machine(draft.config.env) is not None:
        return False
    if own:
        general = json.loads(_SHIPPED.read_text("utf-8"))
        path = draft.file("system.json", json.dumps({**general, **own}, ensure_ascii=False))
    else:
        path = _SHIPPED
    if own and not honoured(path):
        path.unlink()  # it may hold secrets, and nobody will read it
        return False
    return set_above(draft, path)


def carry(draft: PlanDraft, own: dict[str, Any]) -> bool:
    """The same, with an administrator's settings carried along below ours."""
    machine = of_machine(draft.config.env)
    general = json.loads(_SHIPPED.read_text("utf-8"))
    values = _merged(_merged(machine.values if machine is not None else {}, general), own)
    path = draft.file("system.json", json.dumps(values, ensure_ascii=False))
    if not honoured(path):
        path.unlink()  # as above
        return False
    _name(draft, path)
    return True


def _merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Two trees of settings as one; where both speak, ``over`` counts, and lists are joined."""
    both = dict(under)
    for name, value in over.items():
        below = both.get(name)
        if isinstance(below, dict) and isinstance(value, dict):
            both[name] = _merged(below, value)
        elif isinstance(below, list) and isinstance(value, list):
            both[name] = [*below, *value]
        else:
            both[name] = value
    return both


def set_above(draft: PlanDraft, path: Path) -> bool:
    """Put the settings in a file above all others. False where that can't be done."""
    if of_machine(draft.config.env) is not None or not honoured(path):
        return False
    _name(draft, path)
    return True


def _name(draft: PlanDraft, path: Path) -> None:
    draft.env[SYSTEM_SETTINGS] = str(path)
    defaults = machine_folder() / "system-defaults.json"
    # They are looked for beside the settings, unless they are named.
    if not draft.inherited(SYSTEM_DEFAULTS) and defaults.exists():
        draft.env[SYSTEM_DEFAULTS] = str(defaults)


def warn_of_updates(draft: PlanDraft, folder: Settings) -> None:
    """Say that Gemini CLI may replace itself, unless its own settings rule that out.

    ``folder``: the settings of the folder that count.
    """
    config = draft.config
    for settings in (of_machine(config.env), folder, of_user(config.env)):
        updates = settings.at("general", "enableAutoUpdate") if settings is not None else None
        if updates is False:
            return
        if updates is not None:
            break
    draft.warn(
        f"{LABEL} may replace itself by a newer build: it takes that from its settings alone. Set "
        "general.enableAutoUpdate to false there"
    )


def honoured(path: Path) -> bool:
    """Whether Gemini CLI would read a file as system settings."""
    real = Path(os.path.realpath(path))
    for each in {path, *path.parents, real, *real.parents}:
        try:
            facts, itself = os.stat(each), os.lstat(each)
        except OSError:
            return False
        if facts.st_uid or itself.st_uid or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return False
    return True
