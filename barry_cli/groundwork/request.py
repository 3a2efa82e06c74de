"""What a launch is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from barry_cli.contract.levels import ModeId


@dataclass(frozen=True, kw_only=True)
class LaunchRequest:
    """A launch as the user wrote it; nothing in it has been checked yet."""

    adapter: str
    """Id, alias, or unique prefix of an installed adapter."""
    mode: ModeId | None = None
    cwd: str | None = None
    model: str | None = None
    roots: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    """Names of variables to pass on besides the allow-list."""
    options: Mapping[str, object] = field(default_factory=dict)
    plugin_dirs: tuple[str, ...] = ()
    denied_tools: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    """Bounds besides those that apply by themselves: names, or paths of files."""
    traits: tuple[str, ...] = ()
    held_to: Mapping[str, object] | None = None
    """The bound of the session that is resumed, as its row has it."""
    relax: bool = False
    """Let the harness also load MCP servers from its own configuration."""
    require: Mapping[str, str] = field(default_factory=dict)
    allow_unverified_build: bool = False
    resume: str | None = None
    """A session of ours, or a conversation of the harness's; empty: the user picks."""
    last: bool = False
    pick: bool = False
    supervise: bool = False
    extra_args: tuple[str, ...] = ()

    def asked(self) -> dict[str, object]:
        """The part that a resumed session asks for again."""
        return {
            "model": self.model,
            "roots": list(self.roots),
            "env": list(self.env),
            "options": dict(self.options),
            "pluginDirs": list(self.plugin_dirs),
            "deniedTools": list(self.denied_tools),
            "traits": list(self.traits),
            "relax": self.relax,
        }
