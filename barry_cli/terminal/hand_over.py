"""Become the harness: no process of Barry's stays."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NoReturn


def hand_over(
    path: str | os.PathLike[str],
    argv: Sequence[str],
    env: Mapping[str, str],
    cwd: str | os.PathLike[str],
) -> NoReturn:
    """Replace this process by the program at `path`, as a shell would have started it.

    Nothing of Barry runs afterwards: files, databases and children must be closed before. Raises
    OSError when the directory or the program refuses; the signals are then as they were, and the
    working directory may be the new one.
    """
    for stream in (sys.stdout, sys.stderr):
        # It may be closed, or its reader may have gone.
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    # The interpreter ignores these two, and what is ignored stays so across exec.
    ignored = {
        number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGPIPE, signal.SIGXFSZ)
    }
    mask = signal.pthread_sigmask(signal.SIG_SETMASK, ())
    try:
        os.chdir(cwd)
        os.execve(path, list(argv), dict(env))
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, before in ignored.items():
            signal.signal(number, before)
        raise
