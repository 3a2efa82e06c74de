"""Starting what was prepared: record it, hand over or stay, close the record."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NoReturn

from barry_cli.base.paths import Folders
from barry_cli.base.problems import HarnessCannotRun, HarnessNotFound, NoTerminal, StoreProblem
from barry_cli.contract.data import snapshot
from barry_cli.contract.talk import Reporter
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
        hint=f"run it in a terminal; without one, `barry session start {adapter_id} PROMPT` is "
        "the command that drives it",
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
        sessions.add(_row(prepared))
        for note in prepared.notes:
            reporter.note(note)
        for warning in prepared.warnings:
            reporter.warn(warning)
        if prepared.dropped:
            reporter.note(
                f"{len(prepared.dropped)} variables of your environment were not passed on"
            )
        if prepared.needs_parent:
            return _stay(prepared, sessions, reporter)
        _hand_over(prepared, sessions)
    finally:
        prepared.discard()


def _row(prepared: Prepared) -> SessionRow:
    return SessionRow(
        id=prepared.session_id,
        adapter=prepared.adapter.id,
        mode=prepared.mode_id,
        cwd=prepared.cwd,
        guarantees=snapshot(prepared.plan.guarantees),
        lowered=prepared.plan.lowered,
        unverified=prepared.unverified,
        warnings=prepared.warnings,
        asked=prepared.request.asked(),
        harness_session_id=prepared.plan.harness_session_id,
        harness_version=prepared.version,
        resumed_from=prepared.resumed.id if prepared.resumed is not None else None,
        state="starting",
        created_at=now(),
    )


def _hand_over(prepared: Prepared, sessions: Sessions) -> NoReturn:
    """Become the harness: the record says so, with the process by which it can be found."""
    from barry_cli.base.processes import identify
    from barry_cli.terminal.hand_over import hand_over

    own = identify(os.getpid())
    sessions.change(
        prepared.session_id,
        state="handed_over",
        pid=os.getpid(),
        pid_started=own.start_time if own is not None else None,
    )
    try:
        hand_over(prepared.program, prepared.argv, dict(prepared.env), prepared.cwd)
    except OSError as error:
        sessions.forget(prepared.session_id)
        raise cannot_execute(prepared, error) from error


def _stay(prepared: Prepared, sessions: Sessions, reporter: Reporter) -> Ended:
    """Be the parent: inherit nothing, print nothing, and close the record on every way out."""
    from barry_cli.base.processes import identify
    from barry_cli.terminal.supervise import supervise

    own = identify(os.getpid())
    look = _Discovery(prepared, sessions)

    def started(child: ProcessIdentity) -> None:
        # The user's session goes on even where its record can't be kept up to date.
        with contextlib.suppress(StoreProblem):
            sessions.change(
                prepared.session_id,
                state="running",
                pid=child.pid,
                pid_started=child.start_time,
                supervisor_pid=os.getpid(),
                supervisor_started=own.start_time if own is not None else None,
            )

    try:
        ended = supervise(
            prepared.program,
            prepared.argv,
            dict(prepared.env),
            prepared.cwd,
            on_start=started,
            on_tick=look,
        )
    except OSError as error:
        sessions.forget(prepared.session_id)
        raise cannot_execute(prepared, error) from error
    look()
    try:
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

    def __call__(self) -> None:
        if self._find is None:
            return
        import asyncio

        # An adapter's mistake here must not end the user's session, nor write into their screen.
        try:
            found = asyncio.run(asyncio.wait_for(_called(self._find), 5))
        except Exception:
            return
        if found is not None and found != self._found:
            self._found = found
            self._sessions.change(self._session, harness_session_id=found)


async def _called(find: Callable[[], Awaitable[str | None]]) -> str | None:
    found = await find()
    return found if isinstance(found, str) else None


def cannot_execute(prepared: Prepared, error: OSError) -> HarnessCannotRun | HarnessNotFound:
    """What it means that the kernel would not start the program."""
    reason = error.strerror or str(error)
    details = {"adapterId": prepared.adapter.id, "binary": prepared.program}
    hint = f"`barry adapter doctor {prepared.adapter.id}` looks closer"
    if isinstance(error, FileNotFoundError) and not os.path.exists(prepared.program):
        return HarnessNotFound(f"{prepared.program} is not there", hint=hint, details=details)
    return HarnessCannotRun(
        f"{prepared.program} can't be started: {reason}", hint=hint, details=details
    )
