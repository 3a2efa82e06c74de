"""What a package has changed in the process that loaded it, as the checking child sees it."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator

from barry_cli.registry.load import changing, current_folder, current_umask

_MOMENT_SECONDS = 0.3


class Traces:
    """The process as it is now, to be compared with later."""

    def __init__(self) -> None:
        self._modules = dict(sys.modules)
        self._threads = _threads()
        self._state = dict(_state())

    def problems(self) -> list[str]:
        """What has changed since."""
        found = [changing(what) for (what, now) in _state() if now != self._state[what]]
        replaced = [
            name for name, module in self._modules.items() if sys.modules.get(name) is not module
        ]
        found += [changing(f"the module {name}") for name in sorted([*replaced, *self._posing()])]
        if self._left_running():
            found.append(
                "it leaves a thread running after it is loaded, and a package only declares"
            )
        return found

    def _left_running(self) -> bool:
        """Whether there are more threads. One that was joined may still need a moment to go."""
        give_up = time.monotonic() + _MOMENT_SECONDS
        while _threads() - self._threads:
            if time.monotonic() >= give_up:
                return True
            time.sleep(0.01)
        return False

    def _posing(self) -> list[str]:
        """Names of Python's own modules under which something else came in."""
        known = (os.path.dirname(os.__file__), *_library())
        posing = []
        for name in sys.stdlib_module_names & (sys.modules.keys() - self._modules.keys()):
            spec = getattr(sys.modules[name], "__spec__", None)
            origin = getattr(spec, "origin", None)
            if origin not in ("built-in", "frozen") and not str(origin).startswith(known):
                posing.append(name)
        return posing


def _threads() -> set[int]:
    """The ids of the process's threads, whoever started them."""
    try:
        return {int(name) for name in os.listdir("/proc/self/task")}
    except OSError:  # another system than Linux: those that Python knows of
        import threading

        return {thread.ident or 0 for thread in threading.enumerate()}


def _library() -> tuple[str, ...]:
    import sysconfig

    return tuple(sysconfig.get_path(name) for name in ("stdlib", "platstdlib"))


def _state() -> Iterator[tuple[str, object]]:
    yield "the current folder", current_folder()
    yield "the umask", current_umask()
    yield "sys.path", list(sys.path)
    yield "sys.meta_path", list(sys.meta_path)
    yield "the environment", dict(os.environ)
    yield "which signals are blocked", signal.pthread_sigmask(signal.SIG_BLOCK, [])
    for number in sorted(signal.valid_signals()):
        # A real-time signal is a bare number.
        yield f"what {getattr(number, 'name', number)} does", signal.getsignal(number)
