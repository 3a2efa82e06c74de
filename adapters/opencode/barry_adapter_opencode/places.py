"""Where opencode keeps its settings and its database, and what the user's settings define."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barry_adapter_opencode.declared import WRITERS
from barry_adapter_opencode.settings import merged

Env = Mapping[str, str | None]

_COMMENTS = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_COMMAS = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_SETTINGS = ("config.json", "opencode.json", "opencode.jsonc")
_RUNS = {"plugin", "plugins", "reference", "references", "skills"}
_NAME = re.compile(r"""^["']?name["']?\s*:\s*["']?(.+?)["']?\s*(?:\s#.*)?$""", re.MULTILINE)


@dataclass(frozen=True)
class Defined:
    """The names that settings define, and the files that could not be read."""

    agents: frozenset[str]
    """Agents of the user's settings."""
    modes: frozenset[str]
    """Agents of the older kind there."""
    servers: frozenset[str]
    """MCP servers of the user's and the project's settings."""
    unreadable: tuple[Path, ...]

    @property
    def unread(self) -> str:
        """The files that could not be read, for a sentence."""
        return ", ".join(map(str, self.unreadable))


def database(env: Env) -> Path | None:
    """The file that holds every conversation; None when opencode keeps it in memory alone."""
    folder = _xdg("XDG_DATA_HOME", ".local/share", env)
    named = env.get("OPENCODE_DB")
    if named == ":memory:":
        return None
    return folder / (named or "opencode.db")


def defined(env: Env, inline: Mapping[str, Any], *, project: str | None) -> Defined:
    """What settings define: the user's files, those in the environment, and, of MCP servers,
    those of the project that a folder is in.
    """
    agents = _keys(inline, "agent")
    modes = _keys(inline, "mode")
    servers = _keys(inline, "mcp")
    users = _settings_files(env)
    unreadable = []
    projects = _project_files(project) if project is not None else []
    for path in (*users, *projects):
        try:
            found = read_jsonc(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, RecursionError):
            unreadable.append(path)
            continue
        servers |= _keys(found, "mcp")
        if path in users:
            agents |= _keys(found, "agent")
            modes |= _keys(found, "mode")
    for folder in _settings_folders(env):
        for kind in ("agent", "agents", "mode", "modes"):
            agents |= {_agent_name(path, folder / kind) for path in _notes(folder / kind)}
    return Defined(frozenset(agents), frozenset(modes), frozenset(servers), tuple(unreadable))


def users_permission(env: Env, inline: Mapping[str, Any]) -> dict[str, Any]:
    """The rules of the user's settings in the order that opencode gives them; those of files that
    can't be read, of agents and of the project aside.
    """
    found: dict[str, Any] = {}
    config, *folders = _settings_folders(env)
    named = env.get("OPENCODE_CONFIG")
    files = [config / name for name in _SETTINGS]
    files += [Path(named)] if named else []
    files += [folder / name for folder in folders for name in _SETTINGS]
    for path in files:
        try:
            found = merged(found, _rules(read_jsonc(path.read_text(encoding="utf-8"))))
        except (OSError, ValueError, RecursionError):
            continue
    return merged(found, _rules(inline))


def _rules(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A file's rules; of the older kind, ``tools``, come before the others."""
    tools = settings.get("tools")
    older = {
        "edit" if name in WRITERS else str(name): "allow" if on else "deny"
        for name, on in (tools if isinstance(tools, dict) else {}).items()
    }
    rules = settings.get("permission")
    if isinstance(rules, str):
        return {**older, "*": rules}
    return merged(older, rules) if isinstance(rules, dict) else older


def has_own_settings(cwd: str, env: Env) -> bool:
    """Whether the folder, or one above it in the same project, carries settings for opencode."""
    users = _settings_folders(env)
    return any(
        (folder / name).exists() and folder / name not in users
        for folder in project_folders(cwd)
        for name in ("opencode.json", "opencode.jsonc", ".opencode")
    )


def own_code(cwd: str, env: Env) -> list[str]:
    """What opencode would run or fetch of the folder's, or of one above it in the same project,
    as soon as it starts, whatever it is told: plugins above all. Files, for a sentence.
    """
    found = []
    users = _settings_folders(env)
    for folder in project_folders(cwd):
        inner = folder / ".opencode"
        if inner not in users:
            for kind in ("plugin", "plugins"):
                found += [path for end in ("js", "ts") for path in inner.glob(f"{kind}/*.{end}")]
        for path in (place / name for place in (folder, inner) for name in _SETTINGS[1:]):
            if path.parent in users or not path.exists():
                continue
            try:
                if _RUNS & read_jsonc(path.read_text(encoding="utf-8")).keys():
                    found.append(path)
            except (OSError, ValueError, RecursionError):
                found.append(path)  # it may be read otherwise there
    return [os.path.relpath(path, cwd) for path in found]


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
    files = [folder / name for folder in _settings_folders(env) for name in _SETTINGS]
    named = env.get("OPENCODE_CONFIG")
    return [*files, Path(named)] if named else files


def _project_files(cwd: str) -> list[Path]:
    return [
        folder / inner / name
        for folder in project_folders(cwd)
        for inner in ("", ".opencode")
        for name in ("opencode.json", "opencode.jsonc")
    ]


def _keys(settings: Mapping[str, Any], name: str) -> set[str]:
    found = settings.get(name)
    return {str(key) for key in found} if isinstance(found, dict) else set()


def _notes(folder: Path) -> Iterator[Path]:
    """Every ``.md`` file below a folder; links are followed, as opencode follows them."""
    seen = set()
    for place, inner, names in os.walk(folder, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:
            inner.clear()
            continue
        seen.add(real)
        yield from (Path(place) / name for name in names if name.endswith(".md"))


def _agent_name(path: Path, folder: Path) -> str:
    """The name that the file's head gives, else the one that its place gives."""
    placed = path.relative_to(folder).with_suffix("").as_posix()
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return placed
    if not text.startswith("---"):
        return placed
    named = _NAME.search(text.split("\n---", 1)[0])
    return named[1] if named is not None else placed


def _xdg(variable: str, otherwise: str, env: Env) -> Path:
    named = env.get(variable)
    return (Path(named) if named else _home(env) / otherwise) / "opencode"


def _home(env: Env) -> Path:
    return Path(env.get("HOME") or "~").expanduser()
