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

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "adapters" / "gemini"))

Plan = Callable[..., LaunchPlan]


class Place:
    """A user's home and a folder to work in, with files in either."""

    def __init__(self, top: Path) -> None:
        self.home, self.cwd = top / "home", top / "work"
        self.machine = top / "machine"
        for folder in (self.home / ".gemini", self.cwd / ".gemini"):
            folder.mkdir(parents=True)
        self.env: dict[str, str] = {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}

    def user_sets(self, **values: Any) -> Path:
        return self.write(self.home / ".gemini" / "settings.json", values)

    def folder_sets(self, **values: Any) -> Path:
        return self.write(self.cwd / ".gemini" / "settings.json", values)

    def write(self, path: Path, values: Any) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(values if isinstance(values, str) else json.dumps(values), "utf-8")
        return path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """No settings of the machine's own count, and system settings are not taken: the test's
    folders are where anybody may write."""
    from barry_adapter_gemini import denials, settings, system

    place = Place(tmp_path)
    for module in (denials, settings, system):
        monkeypatch.setattr(module, "machine_folder", lambda: place.machine)
    monkeypatch.setattr(system, "honoured", lambda path: False)
    return place


@pytest.fixture
def root(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The same where system settings are taken."""
    from barry_adapter_gemini import system

    monkeypatch.setattr(system, "honoured", lambda path: True)
    return place


@pytest.fixture
def make(place: Place) -> Plan:
    """A plan for a SessionConfig with these fields; every native tool is granted."""
    from barry_adapter_gemini.declared import NATIVE_TOOLS
    from barry_adapter_gemini.launch import plan

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
        path = plan.env.get("GEMINI_CLI_SYSTEM_SETTINGS_PATH")
        found = json.loads(Path(path).read_text("utf-8")) if path else {}
        assert isinstance(found, dict)
        return found

    return read
