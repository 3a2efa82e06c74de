"""The files that a command line names: settings, MCP servers, plugins."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from .problems import reason, usage
from .wire import parsed

STYLES = ("plain", "pirate")


@dataclass(frozen=True, slots=True)
class Settings:
    style: str = "plain"
    banner: bool = True


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How to start one MCP server."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def load_json(path: str, what: str) -> object:
    """Read a JSON file. Raises a usage refusal."""
    try:
        with open(path, encoding="utf-8") as file:
            return parsed(file.read())
    except OSError as error:
        raise usage(f"cannot read {what} {path}: {reason(error)}") from None
    except ValueError as error:
        raise usage(f"{what} {path} is not JSON: {error}") from None


def load_settings(path: str) -> Settings:
    """Read ``{"style": plain|pirate, "banner": bool}``. Raises a usage refusal."""
    value = load_json(path, "settings")
    if not isinstance(value, dict):
        raise usage(f"settings {path} is not an object")
    unknown = sorted(set(value) - {"style", "banner"})
    if unknown:
        raise usage(f"settings {path} has an unknown key {unknown[0]!r}; known: style, banner")
    style, banner = value.get("style", "plain"), value.get("banner", True)
    if style not in STYLES:
        raise usage(f"settings {path}: style is {' or '.join(STYLES)}, not {style!r}")
    if not isinstance(banner, bool):
        raise usage(f"settings {path}: banner is true or false, not {banner!r}")
    return Settings(style, banner)


def load_servers(path: str) -> tuple[ServerSpec, ...]:
    """Read ``{"mcpServers": {NAME: {"command", "args", "env"}}}``. Raises a usage refusal."""
    value = load_json(path, "mcp config")
    servers = value.get("mcpServers") if isinstance(value, dict) else None
    if not isinstance(servers, dict):
        raise usage(f'mcp config {path} has no object "mcpServers"')
    return tuple(server(name, each, f"mcp config {path}") for name, each in servers.items())


def server(name: object, value: object, where: str) -> ServerSpec:
    """One server's declaration, checked. Raises a usage refusal."""
    plain = isinstance(name, str) and name.replace("-", "").replace("_", "").isalnum()
    if not isinstance(name, str) or not plain or "__" in name:
        raise usage(f"{where}: a server's name has letters, digits, - and single _, not {name!r}")
    given = value if isinstance(value, dict) else {}
    command, args, env = given.get("command"), given.get("args", []), given.get("env", {})
    if not isinstance(command, str) or not command:
        raise usage(f"{where}: server {name} has no command")
    if not isinstance(args, list) or not all(isinstance(each, str) for each in args):
        raise usage(f"{where}: args of server {name} is not a list of texts")
    if not isinstance(env, dict) or not all(isinstance(each, str) for each in env.values()):
        raise usage(f"{where}: env of server {name} is not an object of texts")
    return ServerSpec(name, command, tuple(args), env)


def load_skills(folders: tuple[str, ...]) -> tuple[str, ...]:
    """The names of the skills in plugin folders (``skills/*.md``). Raises a usage refusal."""
    names: list[str] = []
    for folder in folders:
        if not os.path.isdir(folder):
            raise usage(f"plugin folder {folder} is not a directory")
        skills = os.path.join(folder, "skills")
        try:
            found = os.listdir(skills) if os.path.isdir(skills) else []
        except OSError as error:
            raise usage(f"cannot read {skills}: {reason(error)}") from None
        names += sorted(each.removesuffix(".md") for each in found if each.endswith(".md"))
    return tuple(names)
