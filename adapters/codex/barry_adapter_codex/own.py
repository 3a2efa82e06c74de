"""What Codex's own configuration says, where a launch has to know it. Read-only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barry_adapter_codex.places import codex_home
from barry_adapter_codex.problems import LaunchRefused

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


def own_settings(cwd: str, env: Mapping[str, str | None]) -> Own:
    """Read the settings that Codex would load in this folder, and those of folders above it that
    it would load if it trusted them.

    Raises LaunchRefused when one can't be read: what is in it could not be taken into account.
    """
    servers: dict[str, Mapping[str, Any]] = {}
    hidden: dict[str, None] = {}
    instructions = False
    provider: object = None
    variables: dict[str, object] = {}
    for path in _files(cwd, env):
        settings = _read(path)
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
    )


def _files(cwd: str, env: Mapping[str, str | None]) -> list[Path]:
    """The settings files that exist, the weakest first."""
    here = Path(cwd)
    projects = [folder / ".codex" / "config.toml" for folder in (here, *here.parents)]
    mine = codex_home(env) / "config.toml"
    candidates = [_SYSTEM, mine, *(path for path in reversed(projects) if path != mine)]
    return [path for path in candidates if path.is_file()]


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LaunchRefused(
            f"Codex's settings {path} can't be read: {error.strerror or error}",
            hint="make the file readable; a launch has to take its settings into account",
        ) from error
    except (ValueError, RecursionError) as error:
        raise LaunchRefused(
            f"Codex's settings {path} are not valid TOML",
            hint="mend the file; `codex` itself would refuse it too",
        ) from error


def _table(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = settings.get(name)
    return found if isinstance(found, dict) else {}
