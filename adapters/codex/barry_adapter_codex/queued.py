"""Codex's own queue of messages for a conversation, filled by the pipe of an app server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack

from barry_adapter_codex.server import Ask, app_server

_SETTINGS = ("-c", "check_for_update_on_startup=false")
_KEPT_SECONDS = 5.0
"""How long a server is kept for the next message: starting one takes longer than a short turn."""


class Queue:
    """For one session, in one loop. Close it."""

    def __init__(self, program: str, *, env: Mapping[str, str | None], cwd: str) -> None:
        self._program = program
        self._env = env
        self._cwd = cwd
        self._ask: Ask | None = None
        self._stack = AsyncExitStack()
        self._closing: asyncio.Task[None] | None = None

    async def add(self, conversation: str, message_id: str, text: str) -> bool:
        """Put a message behind the others; False where Codex surely didn't take it.

        Raises OSError when nobody knows.
        """
        await self._keep()
        if self._ask is None:
            try:
                self._ask = await self._stack.enter_async_context(
                    app_server(self._program, _SETTINGS, env=self._env, cwd=self._cwd)
                )
            except OSError:
                return False
        message = {
            "threadId": conversation,
            "clientUserMessageId": message_id,
            "input": [{"type": "text", "text": text}],
        }
        try:
            return "result" in await self._ask("thread/queue/add", message)
        except OSError:
            await self._end()
            raise
        finally:
            self._closing = asyncio.create_task(self._later())

    async def close(self) -> None:
        """End what is kept."""
        await self._keep()
        await self._end()

    async def _keep(self) -> None:
        if self._closing is not None:
            self._closing.cancel()
            await asyncio.gather(self._closing, return_exceptions=True)
            self._closing = None

    async def _later(self) -> None:
        await asyncio.sleep(_KEPT_SECONDS)
        await self._end()

    async def _end(self) -> None:
        self._ask = None
        stack, self._stack = self._stack, AsyncExitStack()
        await stack.aclose()
