"""What a program takes over from the process that starts it, kept as Barry itself found it."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def as_found() -> Iterator[None]:
    """Put back what foreign code inside the block may change for the whole process.

    That is the folder, the file mode mask, the environment, and what signals do: the harness would
    inherit them, and Barry could no longer be interrupted.
    """
    folder = _open_folder()
    mask = os.umask(0o077)
    os.umask(mask)
    variables = dict(os.environ)
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        yield
    finally:
        for number, handler in handlers.items():
            # None is a handler that the interpreter does not know and can't set again.
            if handler is not None and signal.getsignal(number) != handler:
                with suppress(OSError, ValueError):  # only the main thread can, and only some
                    signal.signal(number, handler)
        os.umask(mask)
        if variables != os.environ:
            os.environ.clear()
            os.environ.update(variables)
        if folder is not None:
            with suppress(OSError):
                os.fchdir(folder)
            os.close(folder)
        # Last, because what was held back comes now.
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _open_folder() -> int | None:
    """The folder itself rather than its path: it may have gone, or be another one by then."""
    # By its path alone where that can be: who may pass through it may not always read it.
    how = os.O_PATH if hasattr(os, "O_PATH") else os.O_RDONLY
    try:
        return os.open(".", how | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return None
