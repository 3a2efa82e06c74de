"""A call lives no longer than the connection that it came in on, where a transport can tell.

Over HTTP a client that went away could never fetch the answer: there is nothing to resume here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import ContextVar
from typing import TypeVar

import anyio

Result = TypeVar("Result")

connection: ContextVar[anyio.Event | None] = ContextVar("connection", default=None)
"""Set once the client of this request has gone; None where its end cancels the call anyway."""


async def while_connected(work: Coroutine[object, object, Result]) -> Result | None:
    """Do it; when the client goes first, it is cancelled, and nothing comes of it."""
    gone = connection.get()
    if gone is None:
        return await work
    doing = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(gone.wait())
    try:
        await asyncio.wait((doing, leaving), return_when=asyncio.FIRST_COMPLETED)
        return doing.result() if doing.done() else None
    finally:
        leaving.cancel()
        if not doing.done():
            doing.cancel()
            with anyio.CancelScope(shield=True):
                await asyncio.wait((doing,))
