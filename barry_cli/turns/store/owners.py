"""Who holds a turn, as a text from which another process can tell whether they live."""

from __future__ import annotations

import os

from barry_cli.base.ids import new_id
from barry_cli.base.processes import ProcessIdentity, identify, is_alive


def new_owner() -> str:
    """An owner that is this process: ``pid nonce space start``, unlike every other.

    ``space`` is the kernel's name for the set of processes that can see each other's numbers.
    """
    return owner_of(identify(os.getpid()) or ProcessIdentity(os.getpid(), ""))


def owner_of(process: ProcessIdentity) -> str:
    """An owner that is a process which this one can see."""
    return f"{process.pid} {new_id()} {_space()} {process.start_time}"


def is_gone(owner: str) -> bool:
    """Whether an owner has ended for sure.

    False where that can't be told: for a text of another form, and for a process in another
    container on this kernel.
    """
    words = owner.split(" ", 3)
    if len(words) != 4 or not words[0].isdecimal() or not words[3]:
        return False
    pid, _, space, start = words
    here = identify(os.getpid())
    if here is None:
        return False
    # Numbers of another container say nothing here; after a reboot nothing of before lives.
    if space != _space() and _boot(start) == _boot(here.start_time):
        return False
    return not is_alive(ProcessIdentity(int(pid), start))


def _boot(start_time: str) -> str:
    return start_time.partition(":")[0]


def _space() -> str:
    try:
        return os.readlink("/proc/self/ns/pid")
    except OSError:
        return "-"
