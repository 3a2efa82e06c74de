"""One thread that does what may wait for a disk, in order, beside a loop that must not wait."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


class Worker:
    """A thread of its own, because another process may hold the database for seconds, and an
    adapter reads a whole conversation at once. It is a daemon: a reading that never ends keeps
    nobody from ending.
    """

    def __init__(self, name: str) -> None:
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    async def do(self, job: Callable[..., Result], *given: Any) -> Result:
        """Run this behind what was given before. Raises what it raises."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Result] = loop.create_future()

        def settle(result: Result | None, error: BaseException | None) -> None:
            if done.done():
                return
            if error is not None:
                done.set_exception(error)
            else:
                done.set_result(result)  # type: ignore[arg-type]  # None is a Result here

        def run() -> None:
            result, failed = None, None
            try:
                result = job(*given)
            except BaseException as error:
                failed = error
            with contextlib.suppress(RuntimeError):  # the loop is gone: nobody waits
                loop.call_soon_threadsafe(settle, result, failed)

        self._jobs.put(run)
        return await done

    def end(self) -> None:
        """Take no more; what was given is done first."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
