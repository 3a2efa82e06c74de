"""What a harness needs on this machine, and what it can be told (seed 000)."""

from __future__ import annotations

from typing import Literal

from barry_cli.contract.data import Data
from barry_cli.contract.levels import Platform


class HarnessCapabilities(Data):
    """What the harness itself can be told, whatever the mode."""

    endpoint: Literal["configurable", "fixed"]
    """Whether Barry can point the harness at another vendor's endpoint that serves its vendor's
    API. ``fixed``: a model of another vendor is refused before a session starts."""
    mcp_transports: tuple[Literal["stdio", "http", "sse"], ...]
    skills_mount: Literal["none", "plugin"]
    system_prompt_format: Literal["unsupported", "preset-append", "raw"]
    """``unsupported`` means that guidance must be prefixed onto the prompt instead."""
    tool_denial: Literal["native", "none"]
    """``none`` means that denied tools can't be enforced by the harness."""
    without_key: Literal["subscription-oauth", "unauthenticated"]
    """What the harness does with no API key. ``subscription-oauth`` falls back to the user's own
    login, which must never be sent to another vendor's endpoint."""


class Install(Data):
    """How a person installs the program: one command or sentence per platform."""

    linux: str | None = None
    darwin: str | None = None
    fallback: str | None = None


class Pin(Data):
    """The build that the modes were verified on, and what stops the harness replacing it."""

    version: str
    enforced_by: str
    family: str | None = None
    """Builds close enough to launch, as a PEP 440 specifier set. Absent: the same release line
    (equal major, and equal minor while major is 0)."""


class Binary(Data):
    """The harness's program, and how to ask it for its version."""

    command: str
    version_args: tuple[str, ...]
    version_pattern: str
    """A regular expression whose one group is the version, searched in what the program prints on
    stdout (warnings on stderr don't count)."""
    pin: Pin
    install: Install
    paths: tuple[str, ...] = ()
    """Absolute installed paths (``~`` allowed), tried in order before the command on PATH."""


class Login(Data):
    """How one can tell, by presence alone, that the user can reach a model. Nothing is read."""

    variables: tuple[str, ...] = ()
    """Environment variables, any of which is enough."""
    files: tuple[str, ...] = ()
    """Files (``~`` and ``$NAME`` allowed), any of which is enough."""
    conflicts: tuple[tuple[str, ...], ...] = ()
    """Groups of variables of which at most one may be set."""
    needed: bool = True
    """False for a harness that works without any login."""


class Requirements(Data):
    """What must be on the machine before a session can start."""

    binary: Binary
    platforms: tuple[Platform, ...] | None = None
    environment: tuple[str, ...] = ()
    """Variables that the harness itself reads and that a launch passes on; a trailing ``*``
    stands for any ending."""
    session_marks: tuple[str, ...] = ()
    """Variables by which a session of this harness marks its children; a launch strips them."""
    login: Login | None = None


class OfferedModel(Data):
    """A model that a harness with no vendor offers, as it names it (``vendor/model``)."""

    id: str
    label: str
