"""One headless turn: recorded, run, followed, closed; its end is a value, never an exception."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from barry_cli.base.paths import Folders
from barry_cli.base.problems import BarryError
from barry_cli.base.processes import identify
from barry_cli.contract.abort import Abort
from barry_cli.contract.data import snapshot
from barry_cli.groundwork.following import settle_turns
from barry_cli.host.prepare import PreparedRun
from barry_cli.host.recorded import RecordedSession
from barry_cli.host.watcher import Watcher
from barry_cli.turns.store.sessions import SessionRow, Sessions, now
from barry_cli.turns.store.turns import SqliteTurnStore
from barry_cli.turns.structured import (
    StructuredRun,
    StructuredRunFailed,
    StructuredRunStopped,
    run_structured,
    structured_output_for,
)

if TYPE_CHECKING:
    from barry_cli.contract.models import TokenUsage

INTERRUPTED = 128 + signal.SIGINT
TERMINATED = 128 + signal.SIGTERM
TIMED_OUT = 124
OUT = 75
"""Quota or outage: another harness, or a later moment, may do."""


@dataclass(frozen=True, kw_only=True)
class RunEnd:
    """What one headless turn came to."""

    session_id: str
    turn_id: str | None
    state: str
    """The turn's (see ``contract.turns.TurnState``)."""
    exit_code: int
    seconds: float
    text: str | None = None
    structured: Any = None
    usage: TokenUsage | None = None
    error: str | None = None
    hint: str = ""
    code: str | None = None
    """Of the fault: process, quota, configuration, session, timeout, interrupted …"""
    reset_at: str | None = None
    """When a quota is full again, where the harness said it for machines."""
    harness_session_id: str | None = None

    @property
    def is_out(self) -> bool:
        """Whether another harness may do what this one can't now."""
        return self.exit_code == OUT


async def run(prepared: PreparedRun, folders: Folders, watcher: Watcher) -> RunEnd:
    """Run a prepared turn to its end. SIGINT and SIGTERM end it in good order; a second SIGINT
    ends this process.

    Raises StoreProblem where it can't be recorded; then nothing was started.
    """
    began = time.monotonic()
    sessions = Sessions(folders)
    store = SqliteTurnStore(folders, redact=prepared.mask.text)
    stop = Abort()
    try:
        with _signals(stop) as received:  # whoever finds it on record may end it
            settle_turns(folders, store)
            sessions.add(_row(prepared))

            def on_conversation(harness_session_id: str) -> None:
                sessions.change(prepared.session_id, harness_session_id=harness_session_id)

            session = RecordedSession(prepared, store, watcher, on_conversation)
            prepared.ruler.watch = watcher.ruled
            try:
                watcher.starting(prepared)
                end = await _Run(prepared, session, store, stop, received, began).to_its_end()
            except BaseException as error:
                _close(sessions, prepared, getattr(error, "exit_code", 125), session)
                raise
            _close(sessions, prepared, end.exit_code, session)
            return end
    finally:
        store.close()


def _row(prepared: PreparedRun) -> SessionRow:
    own = identify(os.getpid())
    return SessionRow(
        id=prepared.session_id,
        adapter=prepared.adapter.id,
        mode="hosted",
        cwd=prepared.config.cwd,
        guarantees=snapshot(prepared.mode.guarantees),
        unverified=prepared.unverified,
        warnings=prepared.warnings,
        asked=prepared.asked(),
        harness_version=prepared.version,
        resumed_from=prepared.resumed.id if prepared.resumed is not None else None,
        state="running",
        supervisor_pid=own.pid if own is not None else None,
        supervisor_started=own.start_time if own is not None else None,
        created_at=now(),
    )


def _close(
    sessions: Sessions, prepared: PreparedRun, exit_code: int, session: RecordedSession
) -> None:
    changes: dict[str, object] = {
        "state": "ended",
        "ended_at": now(),
        "exit_status": exit_code,
    }
    if session.harness_session_id is not None:
        changes["harness_session_id"] = session.harness_session_id
    if session.harness_version is not None:
        changes["harness_version"] = session.harness_version
    sessions.change(prepared.session_id, **changes)


@contextmanager
def _signals(stop: Abort) -> Iterator[list[int]]:
    """Ask for the turn's end when this process is told to end; yields the signals that came."""
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def came(number: signal.Signals) -> None:
        received.append(number)
        stop.set()
        if number == signal.SIGINT:
            # Who asks twice doesn't wait: what was started ends with this process.
            loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, signal.SIG_DFL)

    before = signal.getsignal(signal.SIGINT)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, came, number)
    try:
        yield received
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)
        signal.signal(signal.SIGINT, before)


class _Run:
    """A turn under way, with what may end it before its time."""

    def __init__(
        self,
        prepared: PreparedRun,
        session: RecordedSession,
        store: SqliteTurnStore,
        stop: Abort,
        received: list[int],
        began: float,
    ) -> None:
        self._prepared = prepared
        self._session = session
        self._opened = session.opened
        self._store = store
        self._stop = stop
        self._received = received
        self._began = began
        self._timed_out = False
        self._structured: Any = None
        self._problem: BarryError | None = None

    async def to_its_end(self) -> RunEnd:
        work = asyncio.create_task(self._work())
        stop = asyncio.create_task(self._stop.wait())
        try:
            await asyncio.wait(
                {work, stop},
                timeout=self._prepared.request.timeout_seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if not work.done():
                self._timed_out = not self._stop.is_set()
                self._stop.set()
                await self._session.interrupt()
            await work
        except BarryError as problem:  # of who follows it, too: their output can't be written
            self._problem = problem
            with suppress(BarryError):
                await self._session.interrupt()
        except BaseException:  # who follows it failed, or is gone
            await self._session.interrupt()
            raise
        finally:
            stop.cancel()
            if not work.done():
                work.cancel()
            await self._session.end()
        return self._end()

    async def _work(self) -> None:
        request = self._prepared.request
        if request.schema is None:
            await self._session.deliver(request.prompt)
            async for _ in self._session.events():
                pass
            return
        self._opened.alone = True
        prepared = self._prepared
        vendor = prepared.adapter.vendor
        enforced = structured_output_for(
            prepared.mode,
            harness_vendor=vendor,
            model=prepared.config.model,
            models=_Routed(prepared),
        )
        try:
            reply = await run_structured(
                StructuredRun(
                    prompt=request.prompt,
                    schema=request.schema,
                    signal=self._stop,
                    structured_output=enforced,
                    start=self._fresh,
                )
            )
            self._structured = reply.data
        except StructuredRunStopped:
            return
        except StructuredRunFailed as problem:
            if self._opened.of_last_turn("fault") is None:
                self._problem = problem

    async def _fresh(self) -> RecordedSession:
        return self._session

    def _end(self) -> RunEnd:
        turn_id = self._session.turn_id
        turn = None
        if turn_id is not None:
            turn = self._store.snapshot(self._prepared.session_id, turn_id)
        fault = self._problem or self._refused() or self._opened.of_last_turn("fault")
        state = turn.state if turn is not None else "failed"
        code, exit_code = self._classified(state, fault)
        result = self._opened.of_last_turn("text")
        error = None
        if exit_code != 0:
            said = str(fault) if fault is not None else turn.error if turn is not None else None
            error = self._prepared.mask.text(self._why(code) or said or "the turn failed")
        details = fault.details if isinstance(fault, BarryError) else {}
        reset_at = details.get("resetAt")
        return RunEnd(
            session_id=self._prepared.session_id,
            turn_id=turn_id,
            state=state,
            exit_code=exit_code,
            seconds=time.monotonic() - self._began,
            text=self._prepared.mask.text(result) if isinstance(result, str) else None,
            structured=self._prepared.mask.value(self._structured),
            usage=self._opened.of_last_turn("usage"),
            error=error,
            hint=fault.hint if isinstance(fault, BarryError) else "",
            code=code,
            reset_at=reset_at if isinstance(reset_at, str) else None,
            harness_session_id=self._session.harness_session_id,
        )

    def _refused(self) -> BarryError | None:
        refused = self._opened.refused
        return refused if isinstance(refused, BarryError) else None

    def _classified(self, state: str, fault: object) -> tuple[str | None, int]:
        if self._received:
            return "interrupted", 128 + self._received[0]
        if self._timed_out:
            return "timeout", TIMED_OUT
        if isinstance(fault, BarryError):
            return fault.code, fault.exit_code
        return (None, 0) if state == "completed" else ("turn-failed", 1)

    def _why(self, code: str | None) -> str | None:
        if code == "interrupted":
            return f"the turn was interrupted by {signal.Signals(self._received[0]).name}"
        if code == "timeout":
            seconds = self._prepared.request.timeout_seconds
            return f"the turn was not over after {seconds:g} seconds, and was ended"
        return None


class _Routed:
    """Where the turn's model is reached, as ``structured_output_for`` asks."""

    def __init__(self, prepared: PreparedRun) -> None:
        self._endpoint = prepared.config.endpoint

    def endpoint(self, model: str) -> Any:
        return self._endpoint
