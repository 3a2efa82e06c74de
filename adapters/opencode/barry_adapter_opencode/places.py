"""Where opencode keeps its settings and its database, and what the user's settings define."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Env = Mapping[str, str | None]

_COMMENTS = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMAS = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_NAME = re.compile(r"^name:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Defined:
    """The names that the user's settings define, and the files that could not be read."""

    agents: frozenset[str]
    modes: frozenset[str]
    servers: frozenset[str]
    unreadable: tuple[Path, ...]


def database(env: Env) -> Path | None:
    """The file that holds every conversation; None when opencode keeps it in memory alone."""
    folder = _xdg("XDG_DATA_HOME", ".local/share", env)
    named = env.get("OPENCODE_DB")
    if named == ":memory:":
        return None
    return folder / (named or "opencode.db")


def defined(env: Env, inline: Mapping[str, Any]) -> Defined:
    """What the user's own settings define, those in the environment included. The folder's own
    are not looked at.
    """
    agents = _keys(inline, "agent")
    modes = _keys(inline, "mode")
    servers = _keys(inline, "mcp")
    unreadable = []
    for path in _settings_files(env):
        try:
            found = read_jsonc(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError):
            unreadable.append(path)
            continue
        agents |= _keys(found, "agent")
        modes |= _keys(found, "mode")
        servers |= _keys(found, "mcp")
    for folder in _settings_folders(env):
        for kind in ("agent", "agents", "mode", "modes"):
            for path in sorted((folder / kind).rglob("*.md")):
                agents |= _agent_names(path, folder / kind)
    return Defined(frozenset(agents), frozenset(modes), frozenset(servers), tuple(unreadable))


def has_own_settings(cwd: str, env: Env) -> bool:
    """Whether the folder, or one above it in the same project, carries settings for opencode."""
    users = _settings_folders(env)
    return any(
        (folder / name).exists() and folder / name not in users
        for folder in project_folders(cwd)
        for name in ("opencode.json", "opencode.jsonc", ".opencode")
    )


def instructions(cwd: str) -> list[Path]:
    """The project's instruction files, as opencode picks them: one name, nearest first."""
    for name in ("AGENTS.md", "CLAUDE.md", "CONTEXT.md"):
        found = [folder / name for folder in project_folders(cwd) if (folder / name).is_file()]
        if found:
            return found
    return []


def project_folders(cwd: str) -> Iterator[Path]:
    """The folder and those above it, up to the top of the project."""
    here = Path(os.path.realpath(cwd))
    for folder in (here, *here.parents):
        yield folder
        if (folder / ".git").exists():
            return


def read_jsonc(text: str) -> dict[str, Any]:
    """Settings as opencode takes them: comments and trailing commas allowed.

    Raises ValueError when they are no object.
    """
    plain = _COMMAS.sub(_kept, _COMMENTS.sub(_kept, text))
    found = json.loads(plain)
    if not isinstance(found, dict):
        raise ValueError("settings are an object")
    return found


def _kept(found: re.Match[str]) -> str:
    return found[1] or ""


def _settings_folders(env: Env) -> list[Path]:
    folders = [_xdg("XDG_CONFIG_HOME", ".config", env), _home(env) / ".opencode"]
    named = env.get("OPENCODE_CONFIG_DIR")
    return [*folders, Path(named)] if named else folders


def _settings_files(env: Env) -> list[Path]:
    names = ("config.json", "opencode.json", "opencode.jsonc")
    files = [folder / name for folder in _settings_folders(env) for name in names]
    named = env.get("OPENCODE_CONFIG")
    return [*files, Path(named)] if named else files


def _keys(settings: Mapping[str, Any], name: str) -> set[str]:
    found = settings.get(name)
    return {str(key) for key in found} if isinstance(found, dict) else set()


def _agent_names(path: Path, folder: Path) -> set[str]:
    """The name that the file's place gives, and the one that its head gives in its stead."""
    names = {path.relative_to(folder).with_suffix("").as_posix()}
    try:
        head = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return names
    if head.startswith("---"):
        names |= {found.strip("'\"") for found in _NAME.findall(head.split("\n---", 1)[0])}
    return names


def _xdg(variable: str, otherwise: str, env: Env) -> Path:
    named = env.get(variable)
    return (Path(named) if named else _home(env) / otherwise) / "opencode"


def _home(env: Env) -> Path:
    return Path(env.get("HOME") or "~").expanduser()
