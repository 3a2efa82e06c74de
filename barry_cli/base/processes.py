"""Processes of this machine: who they are, whose children they are, and how they are ended.

A pid alone says nothing, because the system gives it out again. A `ProcessIdentity` is a pid
together with the moment its process began, and everything here that signals a process checks both.
Linux is read from /proc, other systems from `ps`.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from barry_cli.base.bounded_run import Finished, own_runs, run_bounded, run_bounded_async

__all__ = [
    "Finished",
    "ProcessIdentity",
    "adopted_zombies",
    "become_subreaper",
    "descendants",
    "end",
    "identify",
    "is_alive",
    "is_stopped",
    "own_runs",
    "run_bounded",
    "run_bounded_async",
    "send_signal",
    "subreaper",
]

_LINUX = sys.platform.startswith("linux")
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37
_POLL_SECONDS = 0.02
_KILL_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """One process and no later one with the same number."""

    pid: int
    start_time: str
    """When it began, as text to compare, not to read. It differs after a reboot."""


class _Row(NamedTuple):
    pid: int
    parent: int
    group: int
    state: str
    start: str

    @property
    def gone(self) -> bool:
        """A zombie has ended; only its number is kept for its parent."""
        return self.state in ("Z", "X", "x")


# --- reading the process table ---


def _linux_row(pid: int) -> _Row | None:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    # The name in brackets may hold spaces and brackets itself: cut at the last one.
    fields = text.rpartition(")")[2].split()
    if len(fields) < 20:
        return None
    return _Row(pid, int(fields[1]), int(fields[2]), fields[0], fields[19])


def _linux_rows() -> Iterator[_Row]:
    for name in os.listdir("/proc"):
        if name.isdecimal() and (row := _linux_row(int(name))) is not None:
            yield row


def _boot() -> str:
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return "boot"


def _ps_rows(pid: int | None = None) -> Iterator[_Row]:
    import subprocess

    chosen = ["-A"] if pid is None else ["-p", str(pid)]
    # The start time is printed in local time: a fixed zone keeps it equal across a clock change.
    environment = {"PATH": "/bin:/usr/bin", "LC_ALL": "C", "TZ": "UTC0"}
    try:
        done = subprocess.run(
            ["ps", *chosen, "-o", "pid=,ppid=,pgid=,state=,lstart="],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        fields = line.split(None, 4)
        if len(fields) == 5 and all(field.isdecimal() for field in fields[:3]):
            number, parent, group = (int(field) for field in fields[:3])
            yield _Row(number, parent, group, fields[3][0], fields[4].strip())


def _row(pid: int) -> _Row | None:
    if _LINUX:
        return _linux_row(pid)
    return next(_ps_rows(pid), None)


def _rows() -> list[_Row]:
    return list(_linux_rows() if _LINUX else _ps_rows())


def _identity(row: _Row) -> ProcessIdentity:
    return ProcessIdentity(row.pid, f"{_boot()}:{row.start}" if _LINUX else row.start)


# --- one process ---


def identify(pid: int) -> ProcessIdentity | None:
    """Return the process that has this number now, a zombie included, or None."""
    if pid <= 0:
        return None
    row = _row(pid)
    return None if row is None else _identity(row)


def is_alive(identity: ProcessIdentity) -> bool:
    """True while this very process runs or is stopped; a zombie has ended."""
    if identity.pid <= 0:
        return False
    row = _row(identity.pid)
    return row is not None and not row.gone and _identity(row) == identity


def send_signal(identity: ProcessIdentity, number: int) -> bool:
    """Send a signal to this very process; False when it has ended or may not be signalled."""
    if not hasattr(os, "pidfd_open"):
        return is_alive(identity) and _kill(identity.pid, number)
    if identity.pid <= 0:
        return False
    # Open first, compare second: the handle then can't be that of a later process.
    try:
        handle = os.pidfd_open(identity.pid)
    except ProcessLookupError:
        return False
    except OSError:  # A kernel, or a sandbox, without this call.
        return is_alive(identity) and _kill(identity.pid, number)
    try:
        if not is_alive(identity):
            return False
        signal.pidfd_send_signal(handle, number)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _kill(pid: int, number: int) -> bool:
    try:
        os.kill(pid, number)
    except OSError:
        return False
    return True


# --- families of processes ---


def _below(pid: int, rows: Sequence[_Row]) -> Iterator[_Row]:
    children: dict[int, list[_Row]] = {}
    for row in rows:
        children.setdefault(row.parent, []).append(row)
    seen = {pid}
    waiting = [pid]
    while waiting:
        for row in children.get(waiting.pop(), ()):
            if row.pid not in seen:
                seen.add(row.pid)
                waiting.append(row.pid)
                yield row


def descendants(pid: int) -> list[ProcessIdentity]:
    """Return the living children of a process, their children, and so on; not the process."""
    return [_identity(row) for row in _below(pid, _rows()) if not row.gone]


def is_stopped(pid: int, group: int) -> bool:
    """True when a descendant of the process that is in this process group is stopped."""
    return any(row.state == "T" and row.group == group for row in _below(pid, _rows()))


def adopted_zombies() -> set[int]:
    """Return the numbers of this process's ended, unreaped children. Linux only, else empty.

    Cheap enough for once a second: it reads this process's own children, not the whole table.
    """
    found: set[int] = set()
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/children", encoding="utf-8") as file:
                found.update(int(pid) for pid in file.read().split())
    except OSError:
        return found
    return {pid for pid in found if (row := _linux_row(pid)) is not None and row.gone}


def _prctl(option: int, argument: object) -> bool:
    import ctypes

    try:
        library = ctypes.CDLL(None, use_errno=True)
        return bool(library.prctl(option, argument, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def become_subreaper() -> bool:
    """Let orphans among this process's descendants become its own children. Linux only."""
    if not _LINUX:
        return False
    import ctypes

    return _prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(1))


@contextmanager
def subreaper() -> Iterator[bool]:
    """Be a subreaper inside the block; yields whether that worked. What it adopted it keeps."""
    if not _LINUX:
        yield False
        return
    import ctypes

    before = ctypes.c_int(0)
    known = _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(before))
    worked = become_subreaper()
    try:
        yield worked
    finally:
        if worked and known and not before.value:
            _prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(0))


def end(identities: Iterable[ProcessIdentity], grace_seconds: float) -> list[ProcessIdentity]:
    """End processes: TERM, then KILL for those still there after the grace. Bounded.

    Returns those that are alive even so, such as another user's or one in an uninterruptible
    wait. With no grace they get KILL at once.
    """
    left = [identity for identity in identities if is_alive(identity)]
    if grace_seconds > 0:
        for identity in left:
            # A stopped process takes a TERM only once it goes on.
            if send_signal(identity, signal.SIGTERM):
                send_signal(identity, signal.SIGCONT)
        left = _wait_for(left, grace_seconds)
    left = [identity for identity in left if send_signal(identity, signal.SIGKILL)] + [
        identity for identity in left if is_alive(identity)
    ]
    return _wait_for(list(dict.fromkeys(left)), _KILL_SECONDS)


def _wait_for(identities: list[ProcessIdentity], seconds: float) -> list[ProcessIdentity]:
    deadline = time.monotonic() + seconds
    while left := [identity for identity in identities if is_alive(identity)]:
        if time.monotonic() >= deadline:
            break
        time.sleep(_POLL_SECONDS)
    return left
