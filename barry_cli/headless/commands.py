"""Short commands beside a turn: where the agent runs, bounded in time and output."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from barry_cli.contract.plan import Command
from barry_cli.headless.agent_adapter import CommandResult
from barry_cli.headless.surroundings import environment

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from barry_cli.contract.execution import Executor

SECONDS = 60.0
LIMIT = 4 * 1024 * 1024


async def run_command(
    executor: Executor,
    command: Command,
    *,
    env: Mapping[str, str],
    cwd: str,
    seconds: float = SECONDS,
    limit: int = LIMIT,
) -> CommandResult:
    """Run one to its end. Of each stream the first ``limit`` bytes are kept.

    Raises OSError when it can't be started.
    """
    process = await executor.start(
        [command.command, *command.args],
        env=environment(env, command.env),
        cwd=command.cwd or cwd,
        open_input=command.stdin is not None,
    )
    out, err = bytearray(), bytearray()
    tasks = [
        asyncio.ensure_future(_keep(process.read, out, limit)),
        asyncio.ensure_future(_keep(process.read_errors, err, limit)),
    ]
    status: int | None = None
    try:
        async with asyncio.timeout(seconds):
            if command.stdin is not None:
                with suppress(OSError):  # it ended without reading: its status says more
                    await process.write(command.stdin.encode())
                process.close_input()
            status = await process.wait()
            await asyncio.wait(tasks)
    except TimeoutError:
        status = None
    finally:
        await process.end()
        for task in tasks:
            task.cancel()
    return CommandResult(status, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))


async def _keep(read: Callable[[], Awaitable[bytes]], kept: bytearray, limit: int) -> None:
    while data := await read():
        kept += data[: max(0, limit - len(kept))]
