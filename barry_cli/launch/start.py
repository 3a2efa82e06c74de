"""Starting what was prepared: record it, hand over or stay, close the record."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Awaitable, Callable
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
    from barry_cli.terminal.supervise import Ended


def require_terminal(adapter_id: str) -> None:
    """Refuse a launch that no person could use: some harnesses hang or lie without a terminal."""
    if os.isatty(0) and os.isatty(1):
        return
    raise NoTerminal(
        f"a launch of {adapter_id} needs a terminal, and standard input or output is none",
        hint="run it in a terminal; this version of Barry can't drive a harness without one",
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
        with _Record(sessions, prepared) as record:
            _tell(prepared, reporter)
            if not prepared.needs_parent:
                _hand_over(prepared, sessions, record)
            return _stay(prepared, sessions, reporter, record)
    finally:
        prepared.discard()


class _Record:
    """The session's row: taken back when the launch fails before there is a session."""

    def __init__(self, sessions: Sessions, prepared: Prepared) -> None:
        from barry_cli.base.processes import identify

        self._sessions = sessions
        self._prepared = prepared
        self.it_runs = False
        self.own = identify(os.getpid())
        """This process: a session that is only starting lives as long as it does."""

    def __enter__(self) -> Self:
        self._sessions.add(_row(self._prepared, self.own))
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


def _row(prepared: Prepared, own: ProcessIdentity | None) -> SessionRow:
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


def _stay(prepared: Prepared, sessions: Sessions, reporter: Reporter, record: _Record) -> Ended:
    """Be the parent: inherit nothing, print nothing, and close the record on every way out."""
    from barry_cli.terminal.supervise import supervise

    look = _Discovery(prepared, sessions)

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
        on_tick=look,
    )
    look()
    try:
        look.record()
        sessions.change(
            prepared.session_id,
            state="ended",
            ended_at=now(),
            exit_status=ended.exit_code,
            exit_signal=ended.signal if ended.signal is not None else ended.forwarded,
        )
    except StoreProblem as problem:
        reporter.warn(f"how the session ended is not recorded: {problem}")
    return ended


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
