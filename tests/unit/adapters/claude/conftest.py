"""The adapter package, importable; a home and a folder for its plans."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "adapters" / "claude"))

Plan = Callable[..., LaunchPlan]


class Place:
    """A user's home and a folder to work in, with settings in either."""

    def __init__(self, top: Path) -> None:
        self.home, self.cwd = top / "home", top / "work"
        for folder in (self.home / ".claude", self.cwd / ".claude"):
            folder.mkdir(parents=True)
        self.env: dict[str, str] = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}

    def user_sets(self, **variables: str) -> Path:
        return self._write(self.home / ".claude" / "settings.json", variables)

    def folder_sets(self, name: str = "settings.json", /, **variables: str) -> Path:
        return self._write(self.cwd / ".claude" / name, variables)

    def _write(self, path: Path, variables: dict[str, str]) -> Path:
        path.write_text(json.dumps({"env": variables}), encoding="utf-8")
        return path


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def make(place: Place) -> Plan:
    """A plan for a SessionConfig with these fields; every native tool is granted."""
    from barry_adapter_claude.declared import NATIVE_TOOLS
    from barry_adapter_claude.launch import plan

    def make(**fields: Any) -> LaunchPlan:
        env = {**place.env, **fields.pop("env", {})}
        config = SessionConfig(
            **{
                "session_id": "s",
                "cwd": str(place.cwd),
                "env": env,
                "allowed_native_tools": NATIVE_TOOLS,
                **fields,
            }
        )
        return asyncio.run(plan(config))

    return make


@pytest.fixture
def inline() -> Callable[[LaunchPlan], dict[str, str]]:
    """The variables that a plan repeats in settings, in an argument or in a file."""

    def inline(plan: LaunchPlan) -> dict[str, str]:
        found = [word.partition("=")[2] for word in plan.args if word.startswith("--settings=")]
        assert len(found) <= 1
        if not found:
            return {}
        text = found[0] if found[0].startswith("{") else Path(found[0]).read_text("utf-8")
        env = json.loads(text)["env"]
        assert isinstance(env, dict)
        return env

    return inline
