"""A guarded server of a session in a folder of a test's own, spoken to by the SDK's own client."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from barry_cli.contract.session import StdioMcpServer
from barry_cli.guard.install import install
from barry_cli.guard.policy_file import GuardPolicy
from barry_cli.guard.table import TOOLS
from barry_cli.policy.compile import compile_policy
from barry_cli.policy.schema import parse_bound

Progress = Callable[[float, float | None, str | None], Any]


@dataclass
class Session:
    """What a launch leaves for its guarded server."""

    top: Path
    bound: dict[str, Any] = field(default_factory=dict)
    roots: tuple[Path, ...] = ()
    tools: tuple[str, ...] = tuple(TOOLS)
    variables: tuple[str, ...] = ("PATH", "HOME", "GIVEN")

    @property
    def work(self) -> Path:
        return self.top / "work"

    def held(self) -> GuardPolicy:
        self.work.mkdir(exist_ok=True)
        policy = compile_policy(
            parse_bound(self.bound) if self.bound else None,
            root=str(self.work),
            harness="barry",
            tools=TOOLS,
            floor=(".barry",),
        )
        folders = (str(self.work), *map(str, self.roots))
        return GuardPolicy(policy, folders, self.tools, self.variables)

    def server(self) -> StdioMcpServer:
        return install(self.top / "policies", self.held())

    def policy_file(self) -> Path:
        (found,) = (self.top / "policies").glob("guard-*.marshal")
        return found


class Tools:
    """A connected client."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(
        self, tool: str, *, on_progress: Progress | None = None, **given: Any
    ) -> str:
        """What an allowed call answers."""
        failed, text = await self.answer(tool, on_progress=on_progress, **given)
        assert not failed, text
        return text

    async def refused(self, tool: str, **given: Any) -> str:
        """What a refused call answers."""
        failed, text = await self.answer(tool, **given)
        assert failed, text
        return text

    async def answer(
        self, tool: str, *, on_progress: Progress | None = None, **given: Any
    ) -> tuple[bool, str]:
        result = await self.client.call_tool(tool, given, progress_callback=on_progress)
        return result.is_error, "\n".join(part.text for part in result.content)


@asynccontextmanager
async def over_stdio(
    session: Session, *, cwd: Path | None = None, env: dict[str, str] | None = None
) -> AsyncIterator[Tools]:
    """The session's server, started as a harness starts it."""
    server, errors = session.server(), session.top / "errors"
    async with spoken_to(server, cwd=cwd or session.work, errors=errors, env=env) as tools:
        yield tools


@asynccontextmanager
async def spoken_to(
    server: StdioMcpServer, *, cwd: Path, errors: Path, env: dict[str, str] | None = None
) -> AsyncIterator[Tools]:
    """A client of a server that it starts."""
    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.args),
        cwd=str(cwd),
        env={"PATH": os.environ["PATH"], **(env or {})},
    )
    with errors.open("w") as log:
        async with Client(stdio_client(parameters, errlog=log), mode="legacy") as client:
            yield Tools(client)
