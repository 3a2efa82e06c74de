"""A launch plan in the making: what an adapter's ``plan`` writes into.

Two rules live here so that no adapter can forget them: a field of the configuration that the
adapter never looked at becomes a warning, and a guarantee can only go down, with a reason.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from barry_cli.base.paths import ensure_own, folders
from barry_cli.base.problems import StoreProblem
from barry_cli.contract.adapter import NativeControl
from barry_cli.contract.guarantees import Guarantees, lowered
from barry_cli.contract.native import disallowed_tools
from barry_cli.contract.plan import LaunchInbox, LaunchPlan
from barry_cli.contract.session import SessionConfig

# What a warning calls each field that a launch can be asked for and a harness may not know.
_CALLED = {
    "mcp_servers": "MCP servers",
    "allowed_native_tools": "a choice of native tools",
    "denied_tools": "denied tools",
    "decide": "a ruling on each call",
    "egress_sandbox": "an egress sandbox",
    "endpoint": "another endpoint",
    "ephemeral": "a conversation that leaves no trace",
    "instrument": "Barry's hooks",
    "max_turns": "a limit of turns",
    "model": "a model",
    "options": "options",
    "plugin_dirs": "plugin folders",
    "project_roots": "extra roots",
    "resume": "a conversation to go on with",
    "small_model": "a model for its background calls",
    "strict_mcp_config": "a choice of whose MCP servers to load",
    "system_prompt": "a system prompt",
    "telemetry_endpoint": "a telemetry endpoint",
    "telemetry_headers": "telemetry headers",
}

made: list[Path] = []
"""Every folder that a plan of this process was given, for who cleans up after one that failed."""


class _Watched:
    """A configuration that remembers which of its fields were read."""

    def __init__(self, config: SessionConfig) -> None:
        self._config = config
        self.names_read: set[str] = set()

    def __getattr__(self, name: str) -> object:
        self.names_read.add(name)
        value: object = getattr(self._config, name)
        return value


class PlanDraft:
    """Arguments, environment, warnings and promises, collected; ``finish`` makes the plan.

    Use it as a context manager: when planning fails, the folders that it made are removed.
    """

    def __init__(self, label: str, config: SessionConfig, guarantees: Guarantees) -> None:
        self.label = label
        self.args: list[str] = []
        self.env: dict[str, str | None] = {}
        self.warnings: list[str] = []
        self.secrets: list[str] = []
        self._config = config
        self._watched = _Watched(config)
        self._guarantees = self._promised = guarantees
        self._lowered: dict[str, str] = {}
        self._servers_out: list[str] = []
        self._folders: list[Path] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            import shutil

            for folder in self._folders:
                shutil.rmtree(folder, ignore_errors=True)

    @property
    def config(self) -> SessionConfig:
        """The configuration. Reading a field of it says "this adapter deals with that"."""
        return cast(SessionConfig, self._watched)

    def inherited(self, name: str) -> str | None:
        """A variable of the environment that the harness will start with; empty counts as unset."""
        return self._config.env.get(name) or None

    def warn(self, text: str) -> None:
        """Something that the user should know before the TUI takes the screen; said once."""
        if text not in self.warnings:
            self.warnings.append(text)

    def lower(self, because: str, **levels: object) -> None:
        """Take back part of the mode's promise, e.g. ``lower("...", gating="none")``.

        What was taken back further already stays so. Raises ValueError for more than the mode's
        own promise.
        """
        lowered(self._promised, **levels)
        for name, level in levels.items():
            try:
                self._guarantees = lowered(self._guarantees, **{name: level})
            except ValueError:
                continue
            self._lowered[name] = because

    def without_servers(self, names: Iterable[str], because: str) -> None:
        """These MCP servers that were asked for can't be brought. ``because`` is a warning."""
        self.warn(because)
        self._servers_out += names

    def denied(self, native_tools: tuple[str, ...], native: NativeControl | None) -> list[str]:
        """The tools to switch off. What this mode can't switch off is warned about and left out."""
        uncontrolled = {
            tool.casefold(): reason
            for tool, reason in ((native.uncontrolled if native else None) or {}).items()
        }
        known = {tool.casefold() for tool in native_tools}
        named = {tool.casefold() for tool in self._config.denied_tools or ()}
        denied = []
        for tool in disallowed_tools(self.config, native_tools, native):
            reason = uncontrolled.get(tool.casefold())
            if reason is not None:
                if tool.casefold() in named:
                    self.warn(f"{self.label} keeps its tool {tool}: {reason}")
                continue
            if tool.casefold() not in known and not tool.startswith("mcp__"):
                self.warn(f"{self.label} has no tool named {tool}: nothing was denied by that name")
                continue
            denied.append(tool)
        return denied

    def folder(self) -> Path:
        """A new private folder (0700) that the launcher removes when the harness has ended."""
        folder = private_folder(folders().launches)
        self._folders.append(folder)
        made.append(folder)
        return folder

    def file(self, name: str, text: str, *, folder: Path | None = None) -> Path:
        """A new private file (0600) in a folder that the launcher removes.

        Raises StoreProblem, and FileExistsError where this draft has made it before.
        """
        path = (folder or self.folder()) / name
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as out:
                out.write(text)
        except FileExistsError:
            raise
        except OSError as error:
            raise _unwritten(path, error) from error
        return path

    def finish(
        self,
        command: str,
        *,
        cwd: str | None = None,
        harness_session_id: str | None = None,
        discover: Callable[[], Awaitable[str | None]] | None = None,
        inbox: LaunchInbox | None = None,
        reports_loaded: bool = False,
    ) -> LaunchPlan:
        """The plan: the user's own extra arguments last, unread fields as warnings."""
        for name, called in _CALLED.items():
            if _asked(self._config, name) and name not in self._watched.names_read:
                self.warn(f"{self.label} can't be given {called} in this mode: that is left out")
                self._servers_out += self._config.mcp_servers if name == "mcp_servers" else ()
        return LaunchPlan(
            command=command,
            args=(*self.args, *(self._config.extra_args or ())),
            env=dict(self.env),
            cwd=cwd,
            guarantees=self._guarantees,
            lowered=dict(self._lowered),
            warnings=tuple(self.warnings),
            servers_left_out=tuple(self._servers_out),
            tmp_dirs=tuple(str(folder) for folder in self._folders),
            harness_session_id=harness_session_id,
            inbox=inbox,
            reports_loaded=reports_loaded,
            discover_harness_session_id=discover,
            secrets=tuple(self.secrets),
        )


def _asked(config: SessionConfig, name: str) -> bool:
    """Whether a field asks for anything."""
    if name == "allowed_native_tools" and config.denied_tools is not None:
        return False  # once a session is configured, what isn't allowed is denied: one warning
    if name == "ephemeral" and config.ephemeral is False:
        return False
    return getattr(config, name) not in (None, (), [], {})


def private_folder(where: Path) -> Path:
    """A new folder (0700) of this process, among those of other launches. Raises StoreProblem."""
    import tempfile

    sweep(ensure_own(where))
    try:
        return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=where))
    except OSError as error:
        raise _unwritten(where, error) from error


def _unwritten(path: Path, error: OSError) -> StoreProblem:
    return StoreProblem(
        f"{path} can't be written: {error.strerror or error}",
        hint="free space or mend the permissions of its folder, then try again",
        details={"path": str(path)},
    )


def sweep(where: Path) -> None:
    """Remove what launches left behind whose Barry was killed: nobody else will."""
    import shutil

    for folder in where.iterdir():
        pid = folder.name.partition("-")[0]
        if not pid.isdecimal():
            continue
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue
