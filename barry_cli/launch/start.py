"""Starting what was prepared: record it, hand over or stay, close the record."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self

from barry_cli.base.paths import Folders
from barry_cli.base.problems import (
    BarryError,
    HarnessCannotRun,
    HarnessNotFound,
    NoTerminal,
    StoreProblem,
    UsageProblem,
)
from barry_cli.contract.data import snapshot
from barry_cli.contract.talk import Reporter
from barry_cli.groundwork.surroundings import as_found
from barry_cli.launch.prepare import Prepared
from barry_cli.turns.store.sessions import SessionRow, Sessions, now

if TYPE_CHECKING:
    from barry_cli.base.processes import ProcessIdentity
    from barry_cli.inbox.place import Place
    from barry_cli.launch.desk import Desk, Kept
    from barry_cli.registry.adapters import Adapters
    from barry_cli.terminal.supervise import Ended


def require_terminal(adapter_id: str, registry: Adapters) -> None:
    """Refuse a launch that no person could use: some harnesses hang or lie without a terminal."""
    if os.isatty(0) and os.isatty(1):
        return
    rows = (row for row in registry.rows() if row["id"] == adapter_id)
    driven = any((row.get("modes") or {}).get("hosted") for row in rows)
    without = f"; `barry session start {adapter_id} PROMPT` needs none" if driven else ""
    raise NoTerminal(
        f"a launch of {adapter_id} needs a terminal, and standard input or output is none",
        hint=f"run it in a terminal{without}",
        details={"adapterId": adapter_id},
    )


def start(prepared: Prepared, folders: Folders, reporter: Reporter) -> Ended:
    """Start a prepared launch. Returns when a harness that Barry stayed with has ended; otherwise
    this process becomes the harness and nothing returns.

    Raises HarnessCannotRun or HarnessNotFound when the program can't be executed; then no session
    is recorded.
    """
    sessions = Sessions(folders)
    try:
        with _place(prepared) as place, _Record(sessions, prepared, place) as record:
            if place is not None:
                return _attend(prepared, sessions, folders, reporter, record, place)
            _tell(prepared, reporter)
            if not prepared.needs_parent:
                _hand_over(prepared, sessions, record)
            return _stay(prepared, sessions, reporter, record)
    finally:
        prepared.discard()


def _place(prepared: Prepared) -> contextlib.AbstractContextManager[Place | None]:
    """The session's socket, where it has one. Raises StoreProblem."""
    if prepared.instruments is None:
        return contextlib.nullcontext()
    from barry_cli.inbox.place import claim

    return claim(prepared.session_id)


class _Record:
    """The session's row: taken back when the launch fails before there is a session."""

    def __init__(self, sessions: Sessions, prepared: Prepared, place: Place | None) -> None:
        from barry_cli.base.processes import identify

        self._sessions = sessions
        self._prepared = prepared
        self._place = place
        self.it_runs = False
        self.own = identify(os.getpid())
        """This process: a session that is only starting lives as long as it does."""

    def __enter__(self) -> Self:
        self._sessions.add(_row(self._prepared, self.own, self._place))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or self.it_runs:
            return
        with contextlib.suppress(StoreProblem):
            self._sessions.forget(self._prepared.session_id)
        if isinstance(error, OSError):
            raise cannot_execute(self._prepared, error) from error


def _tell(prepared: Prepared, reporter: Reporter) -> None:
    for note in prepared.notes:
        reporter.note(note)
    for warning in prepared.warnings:
        reporter.warn(warning)
    if prepared.dropped:
        reporter.note(f"variables of your environment not passed on: {len(prepared.dropped)}")


def _row(prepared: Prepared, own: ProcessIdentity | None, place: Place | None) -> SessionRow:
    return SessionRow(
        id=prepared.session_id,
        adapter=prepared.adapter.id,
        mode=prepared.mode_id,
        cwd=prepared.cwd,
        guarantees=snapshot(prepared.plan.guarantees),
        lowered=prepared.plan.lowered,
        unverified=prepared.unverified,
        warnings=prepared.warnings,
        asked=prepared.asked(),
        harness_session_id=prepared.conversation,
        harness_version=prepared.version,
        resumed_from=prepared.resumed.id if prepared.resumed is not None else None,
        state="starting",
        supervisor_pid=own.pid if own is not None else None,
        supervisor_started=own.start_time if own is not None else None,
        created_at=now(),
        socket=place.path if place is not None else None,
        token_digest=prepared.instruments.digest if prepared.instruments is not None else None,
        activity="starting" if place is not None else None,
    )


def _hand_over(prepared: Prepared, sessions: Sessions, record: _Record) -> NoReturn:
    """Become the harness: the record says so, with the process by which it can be found."""
    from barry_cli.terminal.hand_over import hand_over

    sessions.change(
        prepared.session_id,
        state="handed_over",
        pid=os.getpid(),
        pid_started=record.own.start_time if record.own is not None else None,
        supervisor_pid=None,
        supervisor_started=None,
    )
    hand_over(prepared.program, prepared.argv, dict(prepared.env), prepared.cwd)


def _attend(
    prepared: Prepared,
    sessions: Sessions,
    folders: Folders,
    reporter: Reporter,
    record: _Record,
    place: Place,
) -> Ended:
    """Stay with a session that is instrumented: its desk is there before it is, and after.

    Raises what keeps the desk from being there, and what the session was ended for.
    """
    from barry_cli.launch.desk import Desk

    desk = Desk(kept(prepared, folders), place)
    desk.open()
    try:
        _tell(prepared, reporter)
        ended = _stay(prepared, sessions, reporter, record, desk)
    finally:
        desk.close()
    for fault in desk.faults:
        what = str(fault) if isinstance(fault, BarryError) else type(fault).__name__
        reporter.warn(f"while the session ran, a part of Barry beside it failed: {what}")
    if desk.refusal is not None:
        raise desk.refusal
    return ended


def kept(prepared: Prepared, folders: Folders) -> Kept:
    """What the desk of a prepared launch works for."""
    from barry_cli.launch.desk import Kept

    assert prepared.instruments is not None
    return Kept(
        session_id=prepared.session_id,
        instruments=prepared.instruments,
        plan=prepared.plan,
        folders=folders,
        adapter=prepared.adapter,
        cwd=prepared.cwd,
        env=prepared.env,
        conversation=prepared.conversation,
        require=prepared.request.require,
        restricted=bool(prepared.held.bound or prepared.request.traits),
        # What waits for the harness passes it on, and ends it for good when that is not enough.
        end=lambda: os.kill(os.getpid(), signal.SIGTERM),
    )


def _stay(
    prepared: Prepared,
    sessions: Sessions,
    reporter: Reporter,
    record: _Record,
    desk: Desk | None = None,
) -> Ended:
    """Be the parent: inherit nothing, print nothing, and close the record on every way out."""
    from barry_cli.terminal.supervise import supervise

    look = _Discovery(prepared, sessions) if desk is None else None

    def on_start(child: ProcessIdentity) -> None:
        record.it_runs = True
        # The user's session goes on even where its record can't be kept up to date.
        with contextlib.suppress(StoreProblem):
            sessions.change(
                prepared.session_id,
                state="running",
                pid=child.pid,
                pid_started=child.start_time,
            )

    ended = supervise(
        prepared.program,
        prepared.argv,
        dict(prepared.env),
        prepared.cwd,
        on_start=on_start,
        on_tick=look or _nothing,
    )
    try:
        if desk is not None:
            with _uninterrupted():  # the record of how it ended comes after
                desk.close()
        if look is not None:
            look()
            look.record()
        sessions.change(
            prepared.session_id,
            state="ended",
            ended_at=now(),
            exit_status=ended.exit_code,
            exit_signal=ended.signal if ended.signal is not None else ended.forwarded,
            token_digest=None,
            activity=None,
        )
    except StoreProblem as problem:
        reporter.warn(f"how the session ended is not recorded: {problem}")
    return ended


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """For the moment after the harness has ended, when its user may still press ^C."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL if before is None else before)


def _nothing() -> None:
    """What a desk looks for, nobody else has to."""


class _Discovery:
    """Looks for the conversation's id, while the TUI runs and once more when it ended."""

    def __init__(self, prepared: Prepared, sessions: Sessions) -> None:
        self._find = prepared.plan.discover_harness_session_id
        self._session = prepared.session_id
        self._sessions = sessions
        self._found: str | None = None
        self._recorded: str | None = None

    def __call__(self) -> None:
        if self._find is None:
            return
        import asyncio

        # Neither an adapter's mistake nor a full disk may end the user's session, or write into
        # their screen.
        with contextlib.suppress(Exception, SystemExit):
            with as_found():
                found = asyncio.run(asyncio.wait_for(_called(self._find), 5))
            self._found = found or self._found
            self.record()

    def record(self) -> None:
        """Put down what was found, if that is news. Raises StoreProblem."""
        if self._found != self._recorded:
            self._sessions.change(self._session, harness_session_id=self._found)
            self._recorded = self._found


async def _called(find: Callable[[], Awaitable[str | None]]) -> str | None:
    found = await find()
    return found if isinstance(found, str) else None


def cannot_execute(prepared: Prepared, error: OSError) -> BarryError:
    """What it means that the kernel would not start the program."""
    reason = error.strerror or str(error)
    details = {"adapterId": prepared.adapter.id, "binary": prepared.program}
    hint = f"`barry adapter doctor {prepared.adapter.id}` looks closer"
    if error.filename == prepared.cwd:
        return UsageProblem(
            f"the folder {prepared.cwd} can't be entered: {reason}",
            hint="it was there a moment ago: try again, or start in another one",
        )
    if isinstance(error, FileNotFoundError) and not os.path.exists(prepared.program):
        return HarnessNotFound(f"{prepared.program} is not there", hint=hint, details=details)
    if error.errno == errno.E2BIG:
        hint = "give it fewer or shorter arguments and variables"
    return HarnessCannotRun(
        f"{prepared.program} can't be started: {reason}", hint=hint, details=details
    )
