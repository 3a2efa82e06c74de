"""System settings: they outrank the user's and the folder's."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from barry_adapter_qwen.places import SYSTEM_DEFAULTS, SYSTEM_SETTINGS, machine_folder
from barry_adapter_qwen.settings import of_machine
from barry_cli.adapters import PlanDraft

_SHIPPED = Path(__file__).parent / "system.json"
"""What every launch sets: no self-update. It names its format's version, or Qwen Code would write
that into it."""


def arrange(draft: PlanDraft, own: dict[str, Any]) -> None:
    """Put self-update off, and ``own``, above all other settings; an administrator's stay."""
    machine = of_machine(draft.config.env)
    path = _SHIPPED
    if own or machine is not None:
        general = json.loads(_SHIPPED.read_text("utf-8"))
        values = merged(merged(machine.values if machine is not None else {}, general), own)
        path = draft.file("system.json", json.dumps(values, ensure_ascii=False))
    draft.env[SYSTEM_SETTINGS] = str(path)
    defaults = machine_folder() / "system-defaults.json"
    # They are looked for beside the settings, unless they are named.
    if not draft.inherited(SYSTEM_DEFAULTS) and defaults.exists():
        draft.env[SYSTEM_DEFAULTS] = str(defaults)


def merged(under: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Two trees of settings as one; where both speak, ``over`` counts."""
    both = dict(under)
    for name, value in over.items():
        below = both.get(name)
        both[name] = (
            merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
        )
    return both
