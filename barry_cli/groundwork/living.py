"""Which sessions live, as far as this machine can tell, and how one is ended."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from typing import Literal

from barry_cli.base.paths import Folders
from barry_cli.base.problems import Refused, SessionNotFound, StoreProblem
from barry_cli.base.processes import ProcessIdentity, is_alive, send_signal
from barry_cli.turns.store.sessions import SessionRow, Sessions, now

State = Literal["starting", "running", "ended", "ended, status unknown"]

STOP_SECONDS = 10.0
"""How long a session that was asked to end may take before it is made to."""


@dataclass(frozen=True, slots=True)
class Living:
    """A session and what it is now, which its row alone can't say."""

    row: SessionRow
    state: State

    @property
    def lives(self) -> bool:
        return self.state in ("running", "starting")

    @property
    def is_told_of(self) -> bool:
        """Whether more of it may come on record: it lives, or who watched it is not done yet."""
        if self.lives:
            return True
        watcher = _supervisor(self.row)
        return self.row.state != "ended" and watcher is not None and is_alive(watcher)


@dataclass(frozen=True, slots=True)
class Stopped:
    """What became of a request to stop."""

    id: str
    was: State
    ended: bool
    not_recorded: str | None = None
    """Why the record does not say so, where it could not be written."""

    @property
    def text(self) -> str:
        if self.was.startswith("ended"):
            return "had already ended"
        return "has ended" if self.ended else "still runs: it could not be ended"


def _harness(row: SessionRow) -> ProcessIdentity | None:
    if row.pid is None or row.pid_started is None:
        return None
    return ProcessIdentity(row.pid, row.pid_started)


def _supervisor(row: SessionRow) -> ProcessIdentity | None:
    if row.supervisor_pid is None or row.supervisor_started is None:
        return None
    return ProcessIdentity(row.supervisor_pid, row.supervisor_started)


def state_of(row: SessionRow) -> State:
    """What a session is now: a process that is gone can't be asked how it went."""
    if row.state == "ended":
        known = row.exit_status is not None or row.exit_signal is not None
        return "ended" if known else "ended, status unknown"
    harness, launcher = _harness(row), _supervisor(row)
    if harness is not None:
        return "running" if is_alive(harness) else "ended, status unknown"
    if row.pid is None and launcher is not None and is_alive(launcher):
        return "running" if row.mode == "hosted" else "starting"  # who drives it is here
    return "ended, status unknown"


def lives(row: SessionRow) -> bool:
    """Whether a session runs or is about to."""
    return Living(row, state_of(row)).lives


def all_sessions(folders: Folders) -> list[Living]:
    """Every session: live ones first, newest first within."""
    found = [Living(row, state_of(row)) for row in Sessions(folders).all()]
    return sorted(found, key=lambda each: not each.lives)


def one_session(folders: Folders, prefix: str) -> Living:
    """One session by id or prefix. Raises SessionNotFound."""
    row = Sessions(folders).get(prefix)
    return Living(row, state_of(row))


def stop_session(folders: Folders, prefix: str) -> Stopped:
    """End a session: TERM, and KILL when it doesn't end in time.

    Only the very process that was recorded is signalled, by pid and start time; where Barry stays
    beside it, or has not started it yet, Barry is asked. That nothing can be recorded stops
    nothing. Raises SessionNotFound, and Refused for a session of another user.
    """
    found = one_session(folders, prefix)
    row = found.row
    if not found.lives:
        return Stopped(row.id, found.state, True)
    _refuse_anothers(row)
    harness, supervisor = _harness(row), _supervisor(row)
    target = harness or supervisor
    if target is None:
        return Stopped(row.id, found.state, False)
    beside = supervisor is not None and is_alive(supervisor)
    asked = supervisor if supervisor is not None and beside else target
    if send_signal(asked, signal.SIGTERM):
        send_signal(asked, signal.SIGCONT)  # one that is stopped takes it only once it goes on
    # The supervisor itself goes from TERM to KILL in this time; leave it a little more.
    ended = _gone(target, STOP_SECONDS + (3 if beside else 0))
    if not ended:
        send_signal(target, signal.SIGKILL)
        ended = _gone(target, 5)
    if ended and asked is not target:
        _gone(asked, 5)
    return Stopped(row.id, found.state, ended, _record_end(folders, row.id) if ended else None)


def interrupt_session(folders: Folders, prefix: str) -> Stopped:
    """Ask who drives a session to cut its turn, and wait for its end; nothing is made to.

    Raises SessionNotFound, and Refused for a session that nobody drives, or another user's.
    """
    found = one_session(folders, prefix)
    row = found.row
    if row.mode != "hosted":
        raise Refused(
            f"session {row.id} has a terminal UI, and only who sits at it can interrupt its turn",
            hint=f"`barry session stop {row.id}` ends the session",
            details={"sessionId": row.id, "mode": row.mode},
        )
    driver = _supervisor(row)
    if not found.lives or driver is None:
        return Stopped(row.id, found.state, True)
    _refuse_anothers(row)
    if send_signal(driver, signal.SIGINT):
        send_signal(driver, signal.SIGCONT)
    return Stopped(row.id, found.state, _gone(driver, STOP_SECONDS * 3))


def _refuse_anothers(row: SessionRow) -> None:
    if row.owner_uid != os.getuid():
        raise Refused(
            f"session {row.id} belongs to another user",
            hint="its owner can stop it",
            details={"sessionId": row.id},
        )


def _record_end(folders: Folders, session_id: str) -> str | None:
    """Close a record that nobody else has closed; why not, where it can't be written."""
    sessions = Sessions(folders)
    try:
        if sessions.get(session_id).state != "ended":
            sessions.change(session_id, state="ended", ended_at=now())
    except SessionNotFound:  # a launch that never came to be took its record back
        return None
    except StoreProblem as problem:
        return str(problem)
    return None


def _gone(process: ProcessIdentity, seconds: float) -> bool:
    give_up = time.monotonic() + seconds
    while is_alive(process):
        if time.monotonic() >= give_up:
            return False
        time.sleep(0.05)
    return True
