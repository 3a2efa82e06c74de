"""The desk: Barry's side of a running instrumented session.

While the harness has the terminal, the desk serves the session's socket, rules for plugins, hears
what hooks tell, moves messages and keeps the row true. It prints nothing and reads nothing of the
terminal's, and nothing that fails in it ends the user's session.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

from barry_cli.base.crashes import log_crash
from barry_cli.base.paths import Folders
from barry_cli.base.problems import BarryError, GuaranteeNotMet, StoreProblem
from barry_cli.capture.capture import Capture, Watched
from barry_cli.contract.adapter import Adapter
from barry_cli.contract.guarantees import satisfies
from barry_cli.contract.instrument import Notice
from barry_cli.contract.plan import LaunchPlan
from barry_cli.inbox.messages import Message
from barry_cli.inbox.place import Place
from barry_cli.inbox.server import InboxServer
from barry_cli.inbox.spool import Spool
from barry_cli.launch.frames import Frames
from barry_cli.launch.instruments import Instruments
from barry_cli.launch.pump import Pump
from barry_cli.launch.standing import Standing
from barry_cli.turns.store.sessions import Sessions

OPEN_SECONDS = 15.0
"""How long a desk may take to be there."""

CLOSE_SECONDS = 3.0
"""How long its end may take; what still hangs then is left behind."""

LOADED_SECONDS = 60.0
"""How long a plugin that has to rule may take to say so, unless a prompt comes first."""

LOADED_LONGEST = 300.0
"""The same where the machine has more to do than it can: many harnesses that start at once."""

_LAST_WORD_SECONDS = 0.7
_LAST_FRAMES_SECONDS = 0.05
_LOOK_SECONDS = 1.0
_FAULTS = 5


@dataclass(frozen=True, kw_only=True)
class Kept:
    """What a desk works for: one session as it was planned."""

    session_id: str
    instruments: Instruments
    plan: LaunchPlan
    folders: Folders
    adapter: Adapter
    cwd: str
    env: Mapping[str, str]
    """What the harness starts with."""
    conversation: str | None = None
    require: Mapping[str, str] = field(default_factory=dict)
    """What was required of the session."""
    restricted: bool = False
    """Whether a bound depends on its rulings."""
    end: Callable[[], None] = lambda: None
    """Ends the harness, when what the session must have turns out not to be there."""


class Desk:
    """Opened before the harness starts, closed after it has ended; both from one other thread."""

    def __init__(self, kept: Kept, place: Place) -> None:
        self._kept = kept
        self._place = place
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._there = threading.Event()
        self._not_there: BaseException | None = None
        # A thread, because the main one waits for signals and the harness, which Python lets only
        # the main one do. It must not keep the process when something in it hangs.
        self._thread = threading.Thread(target=self._live, name="desk", daemon=True)
        self.faults: list[BaseException] = []
        """What failed beside the session, once each, for who tells of it in the end."""
        self.refusal: BarryError | None = None
        """Why the session was ended."""
        self.listeners: list[Callable[[Notice], None]] = []
        """Who else is told of each notice, in the desk's thread."""
        self._standing = Standing(
            Sessions(kept.folders),
            kept.session_id,
            kept.plan.guarantees,
            kept.plan.lowered,
            conversation=kept.conversation,
            failed=self._failed,
        )

    # --- from outside ---

    def open(self) -> None:
        """Be there: the socket is served when this returns.

        Raises BarryError when it can't be; then nothing of it is left running.
        """
        self._thread.start()
        if not self._there.wait(OPEN_SECONDS):
            self.close()
            raise BarryError(
                f"what serves the session was not there within {OPEN_SECONDS:g} seconds",
                hint="the machine may be too busy: try again",
            )
        error = self._not_there
        if error is None:
            return
        self._thread.join(CLOSE_SECONDS)
        if isinstance(error, BarryError):
            raise error
        log = log_crash(error)
        raise BarryError(
            f"what serves the session could not be started: {str(error) or type(error).__name__}",
            hint=f"nothing was started; the log is {log}" if log else "nothing was started",
        ) from error

    def close(self) -> None:
        """Serve no more, settle what was under way. Raises nothing; idempotent."""
        loop, stopping = self._loop, self._stopping
        if loop is not None and stopping is not None:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                loop.call_soon_threadsafe(stopping.set)
        if self._thread.is_alive():
            self._thread.join(CLOSE_SECONDS)

    # --- the thread ---

    def _live(self) -> None:
        try:
            asyncio.run(self._work())
        except BaseException as error:
            if not self._there.is_set():
                self._not_there = error
            else:
                self._failed(error)
        finally:
            self._there.set()

    async def _work(self) -> None:
        kept, self._loop, self._stopping = self._kept, asyncio.get_running_loop(), asyncio.Event()
        self._loop.set_exception_handler(self._unhandled)
        self._is_loaded = asyncio.Event()
        self._prompted = asyncio.Event()
        within = kept.instruments.within
        self._capture = Capture(
            kept.folders,
            Watched(
                session_id=kept.session_id,
                cwd=kept.cwd,
                env=kept.env,
                promised=kept.plan.guarantees.capture,
                transcript=kept.adapter.transcript,
                telemetry=kept.adapter.telemetry,
                conversation=kept.conversation,
            ),
            door=kept.instruments.door,
        )
        await self._capture.start()
        with Spool(kept.folders) as spool:
            spool.settle(kept.session_id, over=False)
            self._pump: Pump | None = None
            if kept.plan.inbox is not None:
                self._pump = Pump(
                    kept.plan.inbox, within, spool, kept.session_id, failed=self._failed
                )
            server = InboxServer(
                self._place,
                spool,
                kept.session_id,
                Frames(kept.instruments, within, self).handlers,
                on_held=lambda message: self._wake(),
            )
            await server.start()
            evidence = self._task(self._pump.watch()) if self._pump is not None else None
            tasks = [self._task(self._look())]
            if self._pump is not None:
                tasks.append(self._task(self._pump.run()))
            if kept.plan.reports_loaded:
                tasks.append(self._task(self._expect_loaded()))
            self._there.set()
            try:
                await self._stopping.wait()
            finally:
                # What the harness said last may not have been read yet.
                await asyncio.sleep(_LAST_FRAMES_SECONDS)
                await _ended(tasks)
                within.close()
                await asyncio.gather(
                    server.close(), self._last_evidence(evidence, spool), self._last_capture()
                )
                if self._pump is not None:
                    await self._pump.end()
                try:
                    spool.settle(kept.session_id, over=True)
                except StoreProblem as problem:
                    self._failed(problem)

    async def _last_evidence(self, evidence: asyncio.Task[None] | None, spool: Spool) -> None:
        """What arrived last may still be on its way through the adapter."""
        if evidence is None:
            return
        if any(each.state == "written" and each.reason is None for each in self._listed(spool)):
            await asyncio.wait({evidence}, timeout=_LAST_WORD_SECONDS)
        await _ended([evidence])

    async def _last_capture(self) -> None:
        await self._discover(1)
        await self._capture.stop()
        level, because = self._capture.level()
        self._standing.holds("capture", level, because or "less of it was seen")

    def _listed(self, spool: Spool) -> list[Message]:
        try:
            return spool.list(self._kept.session_id)
        except StoreProblem as problem:
            self._failed(problem)
            return []

    def _task(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """One of the desk's tasks: when it fails the others go on."""
        task = asyncio.get_running_loop().create_task(work)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._failed(error)

    async def _look(self) -> None:
        """Now and then: the conversation's id, and what a sender can be promised."""
        plan = self._kept.plan
        while True:
            if plan.inbox is not None:
                level = plan.inbox.guarantee
                because = f"{self._kept.adapter.label} has no better way in"
                self._standing.holds("delivery", level, because)
            await self._discover(5)
            await asyncio.sleep(_LOOK_SECONDS)

    async def _discover(self, seconds: float) -> None:
        if self._kept.plan.discover_harness_session_id is None:
            return
        try:
            async with asyncio.timeout(seconds):
                found = await self._kept.plan.discover_harness_session_id()
            if isinstance(found, str) and self._standing.conversation(found):
                self._capture.conversation(found)
        except (Exception, SystemExit) as error:  # the adapter's code
            self._failed(error)

    async def _expect_loaded(self) -> None:
        waiting = [asyncio.ensure_future(each.wait()) for each in (self._is_loaded, self._prompted)]
        try:
            for _ in range(int(LOADED_LONGEST / LOADED_SECONDS)):
                told, _ = await asyncio.wait(
                    waiting, timeout=LOADED_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                if told or not _is_busy():
                    break
        finally:
            for each in waiting:
                each.cancel()
        if not self._is_loaded.is_set():
            when = "before the first prompt" if self._prompted.is_set() else "in time"
            self._lower_gating(f"its plugin did not say {when} that it rules on calls")

    def _lower_gating(self, because: str) -> None:
        """Nobody rules on single calls: what depends on that ends here."""
        kept = self._kept
        self._standing.holds("gating", "static", because)
        missing = satisfies(self._standing.guarantees, kept.require)
        if self.refusal is None and ("gating" in missing or kept.restricted):
            what = (
                f"gating {kept.require['gating']} is required"
                if "gating" in missing
                else "a bound depends on it"
            )
            self.refusal = GuaranteeNotMet(
                f"{kept.adapter.label} was ended, since {because}, and {what}",
                hint="try again; `barry adapter doctor` looks closer",
                details={"guarantee": "gating", "has": self._standing.guarantees.gating},
            )
            kept.end()

    # --- what the frames say ---

    def heard(self, notice: Notice) -> None:
        """A hook or a plugin told of something."""
        if notice.kind == "prompt":
            self._prompted.set()
        self._standing.notice(notice)
        self._capture.notice(notice)
        self._kept.instruments.within.tell(notice)
        for told in self.listeners:
            try:
                told(notice)
            except Exception as error:
                self._failed(error)
        self._wake()

    def loaded(self, fingerprint: str) -> None:
        """A plugin said by which policy it rules."""
        if fingerprint == self._kept.instruments.instrument.fingerprint:
            self._is_loaded.set()
        elif self._kept.plan.reports_loaded:
            self._lower_gating("its plugin rules by another policy than this session's")

    def asked(self) -> bool:
        """A hook waits for messages."""
        self._wake()
        return self._pump is not None

    def _wake(self) -> None:
        if self._pump is not None:
            self._pump.wake()

    # --- faults ---

    def _unhandled(self, loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        error = context.get("exception")
        self._failed(error if isinstance(error, BaseException) else RuntimeError(str(context)))

    def _failed(self, error: BaseException) -> None:
        alike = any(type(each) is type(error) and str(each) == str(error) for each in self.faults)
        if len(self.faults) < _FAULTS and not alike:
            self.faults.append(error)
            if not isinstance(error, BarryError):
                log_crash(error)


def _is_busy() -> bool:
    """Whether there was more to do in the last minute than this machine can."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)


async def _ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
