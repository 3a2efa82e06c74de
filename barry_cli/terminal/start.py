"""Start a harness as a child that inherits the terminal, in this process's own group."""

from __future__ import annotations

import errno
import os
import signal
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from barry_cli.terminal.job_signals import JobSignals

_PR_SET_PDEATHSIG = 1
_NOT_STARTED = 127


def start(
    path: str | os.PathLike[str],
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | os.PathLike[str],
    signals: JobSignals,
) -> int:
    """Return the child's pid once the program runs. The caller holds the signals back.

    By hand, because the child's signals, its bond to this process and its terminal must be right
    before its first instruction. Raises OSError naming the program or the directory.
    """
    # Everything that may import or take a lock happens before the fork.
    words, variables = list(argv), dict(env)
    follow = _follow_parent(signals.hang_up())
    parent = os.getpid()
    reader, writer = os.pipe()  # Both close on exec: the end of the data means success.
    try:
        with warnings.catch_warnings():
            # Newer interpreters warn of forking beside threads. The child only executes a program.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
    except OSError:
        os.close(reader)
        os.close(writer)
        raise
    if child == 0:
        _become(path, words, variables, cwd, signals, follow, parent, writer)
    os.close(writer)
    with open(reader, "rb") as report:
        failure = report.read()
    if failure:
        os.waitpid(child, 0)
        number, _, what = failure.decode("ascii").partition(" ")
        raise OSError(int(number), os.strerror(int(number)), cwd if what == "cwd" else path)
    return child


def _become(
    path: str | os.PathLike[str],
    words: list[str],
    variables: dict[str, str],
    cwd: str | os.PathLike[str],
    signals: JobSignals,
    follow: Callable[[], object],
    parent: int,
    writer: int,
) -> NoReturn:
    what = b"cwd"
    try:
        follow()
        if os.getppid() != parent:  # It went before the bond was made.
            os._exit(_NOT_STARTED)
        os.chdir(cwd)
        what = b"program"
        signals.restore_in_child()
        os.execve(path, words, variables)
    except Exception as error:
        number = error.errno if isinstance(error, OSError) else None
        os.write(writer, b"%d %s" % (number or errno.EINVAL, what))
    finally:
        os._exit(_NOT_STARTED)


def _follow_parent(number: signal.Signals) -> Callable[[], object]:
    """Return what a child calls to be sent this signal when its parent dies. Linux only."""
    if not sys.platform.startswith("linux"):
        return lambda: None
    import ctypes

    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return lambda: None
    argument = ctypes.c_ulong(number)
    return lambda: prctl(_PR_SET_PDEATHSIG, argument, 0, 0, 0)
