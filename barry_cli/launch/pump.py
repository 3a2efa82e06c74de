"""The pump: held messages into the harness, oldest first, none twice; and what shows each arrived.

It is the same for every harness. What a message is to look like and by which way it goes in is its
adapter's inbox's.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from barry_cli.base.problems import Refused, StoreProblem
from barry_cli.contract.plan import EvidentInbox, LaunchInbox
from barry_cli.inbox.messages import NOT_OBSERVABLE, Message
from barry_cli.inbox.spool import Spool
from barry_cli.launch.inside import Within

LOOK_SECONDS = 1.0
"""How often the table is looked at: a sender that finds nobody at the socket writes there."""

FIRST_SECONDS, LAST_SECONDS = 0.25, 2.0
"""How soon a message that nothing received is offered again, at first and in the end."""

DELIVER_SECONDS = 120.0
"""How long one delivery may take before nobody knows what became of it."""

TOGETHER = 20
"""How many messages one hook is given at most."""

_STORE_SECONDS = 1.0
_END_SECONDS = 0.3


class Pump:
    """Moves one session's messages, in the desk's loop."""

    def __init__(
        self,
        inbox: LaunchInbox,
        within: Within,
        spool: Spool,
        session_id: str,
        *,
        failed: Callable[[BaseException], None],
    ) -> None:
        """``failed`` is told of errors that the pump survives."""
        self._inbox = inbox
        self._within = within
        self._spool = spool
        self._session = session_id
        self._failed = failed
        self._evident = isinstance(inbox, EvidentInbox)
        self._wake = asyncio.Event()
        self._handed: list[asyncio.Task[bool]] = []
        self._under_way: set[asyncio.Task[bool]] = set()

    def wake(self) -> None:
        """Something happened that may let a message in."""
        self._wake.set()

    async def run(self) -> None:
        """Deliver until cancelled. What is under way then goes on until ``end``."""
        pause = FIRST_SECONDS
        while True:
            self._wake.clear()
            try:
                message = self._spool.next(self._session)
                free = message is not None and len(self._handed) < TOGETHER
                if free and message is not None and await self._offer(message):
                    pause = FIRST_SECONDS
                    continue
            except Exception as problem:  # nothing is lost for it: the next look finds it
                self._failed(problem)
                message = None
            if message is not None and self._wake.is_set():
                continue  # a hook that began to ask meanwhile was not offered it
            arrived = await self._let_go()
            if arrived and message is not None:
                continue
            await self._sleep(LOOK_SECONDS if message is None else pause)
            pause = FIRST_SECONDS if message is None else min(2 * pause, LAST_SECONDS)

    async def end(self) -> None:
        """Cut short what is still under way: nobody knows how far it came."""
        if left := list(self._under_way):
            for each in left:
                each.cancel()
            await asyncio.wait(left, timeout=_END_SECONDS)

    async def watch(self) -> None:
        """Mark what the harness itself shows to have arrived, for as long as it shows anything."""
        inbox = self._inbox
        if isinstance(inbox, EvidentInbox):
            async for message_id in inbox.consumed():
                await self._mark(partial(self._spool.consumed, self._session, message_id))

    async def _offer(self, message: Message) -> bool:
        """Begin one delivery. False: nothing received it. True: it is done, or a hook has it."""
        if not self._spool.begin(self._session, message.id):
            return True  # somebody else's, or gone
        self._within.taken.clear()
        delivering = asyncio.create_task(self._deliver(message))
        self._under_way.add(delivering)
        delivering.add_done_callback(self._under_way.discard)
        taken = asyncio.create_task(self._within.taken.wait())
        try:
            await asyncio.wait({delivering, taken}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            taken.cancel()
        if delivering.done():
            return delivering.result()
        if self._within.taken.is_set():
            self._handed.append(delivering)
            return True
        return await delivering

    async def _let_go(self) -> bool:
        """Tell the hooks that ask that this was all; whether they wrote what they were given."""
        self._within.no_more()
        handed, self._handed = self._handed, []
        return bool(handed) and all(await asyncio.gather(*handed))

    async def _deliver(self, message: Message) -> bool:
        session, spool = self._session, self._spool
        try:
            async with asyncio.timeout(DELIVER_SECONDS):
                received = await self._inbox.deliver(message.offered())
        except Refused as refusal:
            why = str(refusal)
            await self._mark(lambda: spool.failed(session, message.id, why))
            return True
        except Exception as error:  # the adapter's code: nobody knows how far it came
            why = f"its delivery failed: {str(error) or type(error).__name__}"
            if not isinstance(error, OSError):  # OSError says that the other end went away
                self._failed(error)
            await self._mark(lambda: spool.uncertain(session, message.id, why))
            return True
        if received is not True:
            await self._mark(lambda: spool.back(session, message.id))
            return False
        reason = None if self._evident else NOT_OBSERVABLE
        await self._mark(lambda: spool.written(session, message.id, reason=reason))
        return True

    async def _mark(self, change: Callable[[], object]) -> None:
        """Record what became of a message, as often as it takes: the disk may be full a while."""
        while True:
            try:
                change()
                return
            except StoreProblem as problem:
                self._failed(problem)
                await asyncio.sleep(_STORE_SECONDS)

    async def _sleep(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass
