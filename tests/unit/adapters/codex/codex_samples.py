"""Names and helpers that the tests of this adapter share."""

from __future__ import annotations

import tomllib
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from barry_cli.contract.plan import LaunchPlan

ROOT = Path(__file__).resolve().parents[4]
ID = "01a22d2b-91fd-7533-a638-eb1c0741137a"

Plan = Callable[..., LaunchPlan]
Record = Callable[..., Path]


def setting(plan: LaunchPlan, key: str) -> Any:
    """What ``-c KEY=...`` says in a plan, read as TOML; None where it isn't said."""
    said = [
        text.partition("=")[2]
        for flag, text in zip(plan.args, plan.args[1:], strict=False)
        if flag == "-c" and text.partition("=")[0] == key
    ]
    assert len(said) < 2, "a second one would replace the first"
    return tomllib.loads(f"it = {said[0]}")["it"] if said else None


def id_of(seconds: float) -> str:
    """A conversation's id that was made at this time."""
    digits = f"{int(seconds * 1000):012x}7{uuid.uuid4().hex[13:]}"
    return str(uuid.UUID(digits))
