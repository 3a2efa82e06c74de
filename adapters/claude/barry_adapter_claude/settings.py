"""The settings files whose ``env`` goes over the environment that Claude Code is started with."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from barry_adapter_claude.declared import LaunchRefused
from barry_adapter_claude.places import Env, config_folder, state_file


@dataclass(frozen=True, slots=True)
class Variables:
    """What one settings file sets."""

    path: Path
    env: dict[str, str]


def of_user(env: Env) -> list[Variables]:
    """The user's own files; a later one goes over an earlier one."""
    return _found(state_file(env), config_folder(env) / "settings.json")


def of_folder(cwd: str, env: Env) -> list[Variables]:
    """The files that come with the folder, and so perhaps from somebody else.

    In the home folder these are the user's own, and left out.
    """
    own = {found.path.resolve() for found in of_user(env)}
    folder = Path(cwd) / ".claude"
    files = _found(folder / "settings.json", folder / "settings.local.json")
    return [found for found in files if found.path.resolve() not in own]


def _found(*paths: Path) -> list[Variables]:
    return [Variables(path, env) for path in paths if (env := _env(path))]


def _env(path: Path) -> dict[str, str]:
    """The ``env`` of a settings file; empty where Claude Code would take nothing from it either.

    Raises LaunchRefused where Claude Code might read what this can't.
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
        raise LaunchRefused(
            f"{path} is nested too deeply to be read, so it can't be told where it would send "
            "your requests",
            hint="mend the file, or move it aside",
        ) from None
    values = found.get("env") if isinstance(found, dict) else None
    if not isinstance(values, dict):
        return {}
    return {name: value if isinstance(value, str) else str(value) for name, value in values.items()}
