"""One connection to a session's socket, as the handlers of its frames see it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Any

from barry_cli.inbox.frames import line_of, refusal
from barry_cli.inbox.messages import Peer

_READS_WITHIN = 5.0
"""Seconds that the other end may leave what is written to it unread."""


class Line:
    """What is written goes out whole, in order; who doesn't read it is cut off."""

    def __init__(self, peer: Peer, writer: asyncio.StreamWriter) -> None:
        self.peer = peer
        self.kept = False
        """Whether it may be silent for as long as it likes."""
        self._writer = writer
        self._over = asyncio.Event()
        self._one = asyncio.Lock()

    async def send(self, document: Mapping[str, Any]) -> bool:
        """Write one frame; False when the other end is gone, or doesn't read."""
        async with self._one:
            if self._over.is_set() or self._writer.is_closing():
                return False
            try:
                self._writer.write(line_of(document))
                async with asyncio.timeout(_READS_WITHIN):
                    await self._writer.drain()
            except (OSError, TimeoutError):
                self.cut()
                return False
            return True

    async def refuse(self, code: str, message: str) -> bool:
        """Answer that a frame counts for nothing."""
        return await self.send(refusal(code, message))

    def keep(self) -> None:
        """Let it be silent from now on: a plugin's, that says something when there is something."""
        self.kept = True

    def cut(self) -> None:
        """End it at once, with what is still unread. Idempotent."""
        self._over.set()
        with contextlib.suppress(RuntimeError):  # the loop may be gone
            self._writer.transport.abort()

    def end(self) -> None:
        """End it once what was written has gone out."""
        self._over.set()
        with contextlib.suppress(RuntimeError):
            self._writer.close()
            # Who never reads would else keep the connection for as long as Barry runs.
            asyncio.get_running_loop().call_later(_READS_WITHIN, self._writer.transport.abort)

    async def closed(self) -> None:
        """Return once the connection has ended."""
        await self._over.wait()
