"""The files by which a user, a folder or an administrator tells Qwen Code what to do."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barry_adapter_qwen.declared import LABEL, LaunchRefused
from barry_adapter_qwen.places import SYSTEM_SETTINGS, Env, home, machine_folder, user_folder

# A text, which may hold what looks like a comment, or a comment of either kind.
_COMMENTS = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_VARIABLE = re.compile(r"^\s*(?:export\s+)?([\w.-]+)(?:\s*=|:\s)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Settings:
    """One settings file, with what it says."""

    path: Path
    values: dict[str, Any]

    def at(self, *keys: str) -> Any:
        """What stands under the keys, or None."""
        found: Any = self.values
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return found

    def table(self, *keys: str) -> dict[str, Any]:
        """The table under the keys; empty where there is none."""
        found = self.at(*keys)
        return found if isinstance(found, dict) else {}


def of_user(env: Env) -> Settings:
    """The user's own settings."""
    return read(user_folder(env) / "settings.json")


def of_folder(cwd: str, env: Env) -> Settings:
    """The settings that come with the folder, and so perhaps from somebody else.

    In the home folder they are the user's own, and left out.
    """
    path = Path(os.path.realpath(cwd)) / ".qwen" / "settings.json"
    return read(path) if folder_file(cwd, env) == path else Settings(path, {})


def folder_file(cwd: str, env: Env) -> Path | None:
    """The settings file that comes with the folder; None where there is none of its own."""
    folder = Path(os.path.realpath(cwd))
    path = folder / ".qwen" / "settings.json"
    own = folder == Path(os.path.realpath(home(env)))
    return path if not own and os.path.lexists(path) else None


def of_machine(env: Env) -> Settings | None:
    """An administrator's settings, or those that the environment names; None where are none."""
    path = Path(env.get(SYSTEM_SETTINGS) or machine_folder() / "settings.json")
    return read(path) if path.exists() else None


def variables_of_folder(cwd: str, env: Env) -> dict[str, Path]:
    """The variables that come with the folder -> the file that sets each."""
    folder = of_folder(cwd, env)
    found = dict.fromkeys(folder.table("env"), folder.path)
    path = _env_file(cwd, env)
    if path is not None:
        found |= dict.fromkeys(_names(path), path)
    return found


def _env_file(cwd: str, env: Env) -> Path | None:
    """The ``.env`` file that Qwen Code would load, unless it is the user's own."""
    own = Path(os.path.realpath(home(env)))
    start = Path(os.path.realpath(cwd))
    for folder in (start, *start.parents):
        if folder == own:
            continue
        for path in (folder / ".qwen" / ".env", folder / ".env"):
            if path.exists():
                return path
    return None


def _names(path: Path) -> set[str]:
    try:
        return set(_VARIABLE.findall(path.read_text("utf-8", errors="replace")))
    except OSError:
        return set()


def read(path: Path) -> Settings:
    """Raises LaunchRefused where Qwen Code might read what this can't."""
    try:
        if not path.is_file():  # reading a pipe would wait for ever
            return Settings(path, {})
        found = json.loads(_without_comments(path.read_text("utf-8")))
    except OSError:
        return Settings(path, {})
    except (ValueError, RecursionError):
        raise LaunchRefused(
            f"{path} can't be read as settings, so it can't be told what it would make {LABEL} do",
            hint="mend the file, or move it aside",
        ) from None
    return Settings(path, found if isinstance(found, dict) else {})


def _without_comments(text: str) -> str:
    def plain(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith('"') else " "

    return _COMMENTS.sub(plain, text)
