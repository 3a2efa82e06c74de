"""What an agent wants in place before it runs: planned by its adapter, without touching a disk.

``placing.py`` carries a plan out, and nothing else does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from barry_cli.contract.plan import Command
from barry_cli.headless.faults import AgentFault

Select = Callable[[str], str]
"""The part of a file that is needed, of its text; raises ValueError when it isn't there."""


def relative_path(path: str) -> str:
    """A path inside a session's private folder.

    Raises AgentFault (``configuration``) unless it is relative, without ``.``, ``..`` or an empty
    part.
    """
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise AgentFault(
            "configuration",
            f"{path!r} can't be a file of a session's own folder: its path must be relative and "
            "have no empty part, no '.' and no '..'",
            hint="correct the adapter's plan",
        )
    return str(PurePosixPath(*parts))


@dataclass(frozen=True, kw_only=True)
class GeneratedFile:
    """A file of the session's private folder, made anew (0600)."""

    path: str
    text: str = field(repr=False)

    def __post_init__(self) -> None:
        relative_path(self.path)


@dataclass(frozen=True, kw_only=True)
class MergedFile:
    """JSON entries put into a file of the private folder, one level deep.

    They go into the object at ``section`` (the document itself when None); other keys stay.
    """

    path: str
    entries: Mapping[str, Any] = field(repr=False)
    section: str | None = None

    def __post_init__(self) -> None:
        relative_path(self.path)


@dataclass(frozen=True, kw_only=True)
class HostFile:
    """A file of the user's that a private sandbox needs a copy of.

    It becomes a file of the private folder (``path``) or a variable; exactly one of the two. An
    executor on this machine gets none: there the harness reads its own.
    """

    source: str
    """Absolute, or beginning with ``~/``."""
    path: str | None = None
    variable: str | None = None
    select: Select | None = None
    optional: bool = False
    alternative: str = ""
    """What else the user can do when the file isn't there."""

    def __post_init__(self) -> None:
        if (self.path is None) == (self.variable is None):
            raise AgentFault(
                "configuration",
                f"the copy of {self.source} needs one destination, a file or a variable",
                hint="correct the adapter's plan",
            )
        if self.path is not None:
            relative_path(self.path)


@dataclass(frozen=True, kw_only=True)
class CredentialPlan:
    """How the agent gets to its model."""

    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Handed to its process, and to nothing else."""
    host: tuple[HostFile, ...] = ()
    files: tuple[GeneratedFile, ...] = ()
    commands: tuple[Command, ...] = ()
    """Log-ins, run once in a private sandbox; a secret goes to stdin, never into the arguments."""


@dataclass(frozen=True, kw_only=True)
class AgentConfiguration:
    """The agent's settings for one session."""

    files: tuple[MergedFile | GeneratedFile, ...] = ()
    host: tuple[HostFile, ...] = ()
