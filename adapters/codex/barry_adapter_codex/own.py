"""What Codex's own configuration says, where a launch has to know it. Read-only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barry_adapter_codex.places import codex_home

_SYSTEM = Path("/etc/codex/config.toml")


@dataclass(frozen=True, slots=True)
class Own:
    """The parts of the user's, the project's and the system's settings that matter here."""

    servers: Mapping[str, Mapping[str, Any]]
    """The MCP servers, by name."""
    hidden_variables: tuple[str, ...]
    """What the agent's commands don't get to see."""
    developer_instructions: bool
    key_variable: str | None
    """The variable that holds the key of the provider in use, where settings name one."""
    unread: str | None
    """Why a file is missing from this picture: Codex reads newer TOML than Python does."""


def own_settings(cwd: str, env: Mapping[str, str | None], *, of_folders: bool = True) -> Own:
    """The settings that Codex would load in this folder, and those of folders above it that it
    would load if it trusted them; without ``of_folders`` the user's and the system's alone.
    Nothing is raised: a file that Codex can't read either is its to complain about.
    """
    servers: dict[str, Mapping[str, Any]] = {}
    hidden: dict[str, None] = {}
    instructions = False
    provider: object = None
    variables: dict[str, object] = {}
    unread = None
    for path in _files(cwd if of_folders else None, env):
        settings = _read(path)
        if isinstance(settings, str):
            unread = unread or settings
            continue
        for name, row in _table(settings, "mcp_servers").items():
            if isinstance(row, dict):
                servers[name] = {**servers.get(name, {}), **row}
        excluded = _table(settings, "shell_environment_policy").get("exclude")
        for pattern in excluded if isinstance(excluded, list) else ():
            hidden[str(pattern)] = None
        instructions = instructions or bool(settings.get("developer_instructions"))
        if path == codex_home(env) / "config.toml" or path == _SYSTEM:
            # Codex takes providers from nowhere else.
            provider = settings.get("model_provider", provider)
            for name, row in _table(settings, "model_providers").items():
                if isinstance(row, dict):
                    variables[name] = row.get("env_key", variables.get(name))
    variable = variables.get(provider) if isinstance(provider, str) else None
    return Own(
        servers=servers,
        hidden_variables=tuple(hidden),
        developer_instructions=instructions,
        key_variable=variable if isinstance(variable, str) else None,
        unread=unread,
    )


def project_folders(cwd: Path, env: Mapping[str, str | None]) -> list[Path]:
    """Where this folder and those above it may have settings of their own, the nearest first."""
    mine = codex_home(env)
    return [each for folder in (cwd, *cwd.parents) if (each := folder / ".codex") != mine]


def _files(cwd: str | None, env: Mapping[str, str | None]) -> list[Path]:
    """The settings files that exist, the weakest first."""
    folders = project_folders(Path(cwd), env) if cwd is not None else []
    projects = [folder / "config.toml" for folder in reversed(folders)]
    candidates = [_SYSTEM, codex_home(env) / "config.toml", *projects]
    return [path for path in candidates if path.is_file()]


def _read(path: Path) -> dict[str, Any] | str:
    """What a file says, or why that is not known."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        return f"{path} can't be read: {error.strerror or error}"
    except (ValueError, RecursionError):
        return f"{path} is not TOML of version 1.0"


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}
