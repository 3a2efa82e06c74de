"""The settings files whose ``env`` goes over the environment that Claude Code is started with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barry_adapter_claude.places import Env, config_folder, managed_files, state_file
from barry_cli.adapters import PlanDraft, Refused


@dataclass(frozen=True, slots=True)
class Variables:
    """What one settings file sets."""

    path: Path
    env: dict[str, str]


@dataclass(frozen=True, slots=True)
class SettingsFiles:
    """Every file that sets a variable; in each list a later one goes over an earlier one."""

    user: list[Variables]
    folder: list[Variables]
    """They come with the folder, and so perhaps from somebody else."""

    def user_values(self) -> dict[str, str]:
        """What the user's own files set."""
        return {name: value for found in self.user for name, value in found.env.items()}

    def names(self) -> set[str]:
        """Every variable that any file sets."""
        return {name for found in (*self.user, *self.folder) for name in found.env}


def read_settings(cwd: str, env: Env) -> SettingsFiles:
    """Read the files that Claude Code will read.

    Raises Refused where Claude Code might read what this can't.
    """
    return SettingsFiles(user=_found(*_own(env)), folder=_found(*folder_files(cwd, env)))


def folder_files(cwd: str, env: Env) -> list[Path]:
    """The settings files of a folder, there or not; in the home folder these are the user's own."""
    folder = Path(cwd) / ".claude"
    own = {path.resolve() for path in _own(env)}
    paths = (folder / "settings.json", folder / "settings.local.json")
    return [path for path in paths if path.resolve() not in own]


def left_unread(draft: PlanDraft) -> None:
    """Say which of a folder's settings a session does without."""
    cwd = draft.config.cwd
    left = [path for path in folder_files(cwd, draft.config.env) if path.is_file()]
    if left:
        names = " and ".join(str(path.relative_to(cwd)) for path in left)
        verb, they = ("is", "it") if len(left) == 1 else ("are", "they")
        draft.warn(f"this folder's {names} {verb} left unread: {they} may come from anybody")


def user_settings(env: Env) -> dict[str, Any]:
    """What the user's own settings file says; empty where it can't be read."""
    return _document(config_folder(env) / "settings.json")


def managed_settings() -> dict[str, Any]:
    """What the settings of an organisation say that are kept on this machine."""
    found: dict[str, Any] = {}
    for path in managed_files():
        found |= _document(path)
    return found


def _own(env: Env) -> tuple[Path, ...]:
    return state_file(env), config_folder(env) / "settings.json"


def _found(*paths: Path) -> list[Variables]:
    return [Variables(path, env) for path in paths if (env := _env(path))]


def _env(path: Path) -> dict[str, str]:
    """The ``env`` of a file; empty where Claude Code would take nothing from it either."""
    values = _document(path).get("env")
    if not isinstance(values, dict):
        return {}
    return {name: value if isinstance(value, str) else str(value) for name, value in values.items()}


def _document(path: Path) -> dict[str, Any]:
    """All that a file says; empty where Claude Code would take nothing from it either.

    Raises Refused for one that Claude Code might read, and this can't.
    """
    try:
        if not path.is_file():  # reading a pipe would wait for ever
            return {}
        data = path.read_bytes()
        wide = data.startswith(b"\xff\xfe")
        text = data.decode("utf-16" if wide else "utf-8-sig", errors="replace")
        # Numbers as text: Python limits their length, and Claude Code does not.
        found = json.loads(text, parse_int=str, parse_float=str)
    except (OSError, ValueError):
        return {}
    except RecursionError:
        raise Refused(
            f"{path} is nested too deeply to be read, so it can't be told where it would send "
            "your requests",
            hint="mend the file, or move it aside",
        ) from None
    return found if isinstance(found, dict) else {}
