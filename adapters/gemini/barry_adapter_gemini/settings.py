"""The files by which a user, a folder or an administrator tells Gemini CLI what to do."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barry_adapter_gemini.declared import LABEL, LaunchRefused
from barry_adapter_gemini.places import SYSTEM_SETTINGS, Env, home, machine_folder

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


def of_user(env: Env) -> Settings:
    """The user's own settings."""
    return read(home(env) / ".gemini" / "settings.json")


def of_folder(cwd: str, env: Env) -> Settings:
    """The settings that come with the folder, and so perhaps from somebody else.

    In the home folder they are the user's own, and left out.
    """
    path = Path(os.path.realpath(cwd)) / ".gemini" / "settings.json"
    return read(path) if folder_file(cwd, env) == path else Settings(path, {})


def folder_file(cwd: str, env: Env) -> Path | None:
    """The settings file that comes with the folder; None where there is none of its own."""
    path = Path(os.path.realpath(cwd)) / ".gemini" / "settings.json"
    own = Path(os.path.realpath(home(env))) / ".gemini" / "settings.json"
    return path if path != own and os.path.lexists(path) else None


def of_machine(env: Env) -> Settings | None:
    """An administrator's settings, or those that the environment names; None where are none."""
    path = Path(env.get(SYSTEM_SETTINGS) or machine_folder() / "settings.json")
    return read(path) if path.exists() else None


def variables_of_folder(cwd: str, env: Env) -> tuple[Path, set[str]] | None:
    """The ``.env`` file that Gemini CLI would load, and the names in it.

    None where there is none, or where it is the user's own.
    """
    own = Path(os.path.realpath(home(env)))
    start = Path(os.path.realpath(cwd))
    for folder in (start, *start.parents):
        for path in (folder / ".gemini" / ".env", folder / ".env"):
            if not path.exists():
                continue
            return None if folder == own else (path, _names(path))
    return None


def has_key(values: object, name: str) -> bool:
    """Whether a key of this name stands anywhere in the settings."""
    if isinstance(values, dict):
        return name in values or any(has_key(each, name) for each in values.values())
    return isinstance(values, list) and any(has_key(each, name) for each in values)


def _names(path: Path) -> set[str]:
    try:
        return set(_VARIABLE.findall(path.read_text("utf-8", errors="replace")))
    except OSError:
        return set()


def read(path: Path) -> Settings:
    """Raises LaunchRefused where Gemini CLI might read what this can't."""
    try:
        if not path.is_file():  # reading a pipe would wait for ever
            return Settings(path, {})
        text = path.read_text("utf-8")
        # Numbers as text: Python limits their length, and Gemini CLI does not.
        found = json.loads(_without_comments(text), parse_int=str, parse_float=str)
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
