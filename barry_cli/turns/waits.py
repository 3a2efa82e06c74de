"""Waiting for what may never end."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any

from barry_cli.turns.told import told

log = logging.getLogger(__name__)

_GRACE_SECONDS = 1.0  # for what was told to stop to notice

_left: set[asyncio.Future[Any]] = set()  # a loop holds its tasks weakly


async def bounded(
    what: str, work: Awaitable[object], seconds: float, *, private: object = None
) -> bool:
    """Whether it ended well in time; else it is told to stop, and left alone.

    An error of it is logged, without what is ``private``.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if not task.done():
            log.warning("%s takes longer than %g seconds and is told to stop", what, seconds)
            await stopped(what, task, min(_GRACE_SECONDS, seconds))
            return False
    finally:
        if not task.done():
            task.cancel()
            _leave(task)
    if task.cancelled():
        return False
    error = task.exception()
    if error is not None:
        log.warning("%s failed: %s", what, told(error, private))
    return error is None


async def stopped(what: str, task: asyncio.Future[Any], seconds: float) -> bool:
    """Whether a task that is told to stop does so in time; else it is left alone."""
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=seconds)
    if not task.done():
        _leave(task)
        log.warning("%s does not stop and is left alone", what)
    return task.done()


def _leave(task: asyncio.Future[Any]) -> None:
    _left.add(task)
    task.add_done_callback(_forget)


def _forget(task: asyncio.Future[Any]) -> None:
    _left.discard(task)
    if not task.cancelled():
        task.exception()  # nobody waits for it any more
