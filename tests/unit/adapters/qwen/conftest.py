"""The adapter package, importable; a home and a folder for its plans."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import SessionConfig

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "adapters" / "qwen"))

Plan = Callable[..., LaunchPlan]


class Place:
    """A user's home and a folder to work in, with files in either."""

    def __init__(self, top: Path) -> None:
        self.home, self.cwd = top / "home", top / "work"
        self.machine = top / "machine"
        for folder in (self.home / ".qwen", self.cwd / ".qwen"):
            folder.mkdir(parents=True)
        self.env: dict[str, str] = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}

    @property
    def chats(self) -> Path:
        name = re.sub("[^a-zA-Z0-9]", "-", os.path.realpath(self.cwd))
        return self.home / ".qwen" / "projects" / name / "chats"

    def user_sets(self, **values: Any) -> Path:
        return self.write(self.home / ".qwen" / "settings.json", values)

    def folder_sets(self, **values: Any) -> Path:
        return self.write(self.cwd / ".qwen" / "settings.json", values)

    def write(self, path: Path, values: Any) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(values if isinstance(values, str) else json.dumps(values), "utf-8")
        return path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """No settings of the machine's own count."""
    from barry_adapter_qwen import settings, system

    place = Place(tmp_path)
    for module in (settings, system):
        monkeypatch.setattr(module, "machine_folder", lambda: place.machine)
    return place


@pytest.fixture
def make(place: Place) -> Plan:
    """A plan for a SessionConfig with these fields; every native tool is granted."""
    from barry_adapter_qwen.declared import NATIVE_TOOLS
    from barry_adapter_qwen.launch import plan

    def make(**fields: Any) -> LaunchPlan:
        env = {**place.env, **fields.pop("env", {})}
        return asyncio.run(
            plan(
                SessionConfig(
                    **{
                        "session_id": "s",
                        "cwd": str(place.cwd),
                        "env": env,
                        "allowed_native_tools": NATIVE_TOOLS,
                        **fields,
                    }
                )
            )
        )

    return make


@pytest.fixture
def system_settings() -> Callable[[LaunchPlan], dict[str, Any]]:
    def read(plan: LaunchPlan) -> dict[str, Any]:
        path = plan.env.get("QWEN_CODE_SYSTEM_SETTINGS_PATH")
        found = json.loads(Path(path).read_text("utf-8")) if path else {}
        assert isinstance(found, dict)
        return found

    return read
