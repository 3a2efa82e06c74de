"""A long-running process that a hosted session talks to, and who starts it (seed 000)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from barry_cli.contract.plan import Command


@dataclass(frozen=True, kw_only=True)
class EngineSpec:
    """Not a command line: the adapter knows how to build one, but not which port is free or where
    this machine keeps its sockets.
    """

    kind: str
    session_id: str
    transport: Literal["unix", "tcp"]
    command: Callable[[str], Command]
    """Called with the address that the allocator chose."""
    cwd: str | None = None
    needs_password: bool = False
    """A secret per session, made by the allocator and passed through the environment."""
    password_env_var: str | None = None
    """The harness decides this name: under any other its server would be unprotected."""


class EngineHandle(Protocol):
    """A running engine."""

    @property
    def address(self) -> str: ...
    @property
    def session_id(self) -> str: ...
    @property
    def password(self) -> str | None:
        """In memory only, for the client that needs it."""
        ...

    async def record_version(self, version: str) -> None:
        """Record the build once observed, so that a mismatch with the verified one is visible."""
        ...

    async def stop(self) -> None: ...


StartEngine = Callable[[EngineSpec], Awaitable[EngineHandle]]
