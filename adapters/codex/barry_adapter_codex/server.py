"""Codex's own app server, asked something beside a TUI that runs, or before one does."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

Row = dict[str, Any]
Ask = Callable[[str, Mapping[str, object]], Awaitable[Row]]
"""A method and its parameters; the answer's row, with ``result`` or ``error`` in it. Raises OSError
when no answer comes: what was asked may have been done all the same."""

_LONGEST_LINE = 16 * 1024 * 1024
_CLIENT = {"name": "barry", "title": "Barry", "version": "1"}
_LEAVE_SECONDS = 3.0


@contextlib.asynccontextmanager
async def app_server(
    program: str,
    settings: Sequence[str],
    *,
    env: Mapping[str, str | None],
    cwd: str,
    seconds: float = 20.0,
) -> AsyncIterator[Ask]:
    """A server of its own over a pipe, which opens no conversation. An answer takes ``seconds`` at
    most.

    ``settings`` are arguments as the TUI gets them. Raises OSError when it doesn't come up.
    """
    process = await asyncio.create_subprocess_exec(
        program,
        "app-server",
        "--stdio",
        *settings,
        env={name: value for name, value in env.items() if value is not None},
        cwd=cwd,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        limit=_LONGEST_LINE,
    )
    asked = 0

    async def ask(method: str, params: Mapping[str, object]) -> Row:
        nonlocal asked
        asked += 1
        request = {"id": asked, "method": method, "params": params}
        try:
            async with asyncio.timeout(seconds):
                return await _exchange(process, request)
        except (TimeoutError, ValueError) as error:  # ValueError: a line without an end
            raise OSError(f"Codex's app server did not answer {method}") from error

    try:
        about = {"clientInfo": _CLIENT, "capabilities": {"experimentalApi": True}}
        if "result" not in await ask("initialize", about):
            raise OSError("Codex's app server did not take a client")
        yield ask
    finally:
        await asyncio.shield(_ended(process))


async def _exchange(process: asyncio.subprocess.Process, request: Mapping[str, object]) -> Row:
    asks, answers = process.stdin, process.stdout
    if asks is None or answers is None:
        raise OSError("Codex's app server has no pipes")
    asks.write(json.dumps(request).encode() + b"\n")
    await asks.drain()
    while line := await answers.readline():
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict) and row.get("id") == request["id"] and "method" not in row:
            return row
    raise OSError("Codex's app server ended")


async def _ended(process: asyncio.subprocess.Process) -> None:
    """It ends by itself once nobody speaks to it."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(_LEAVE_SECONDS):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
