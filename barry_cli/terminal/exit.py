"""How a harness ended, and how Barry then ends, so that the shell sees the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

_SIGNAL_BASE = 128


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a supervised harness. One of `exit_code` and `signal` is set."""

    exit_code: int | None
    signal: int | None
    """The signal that ended it."""
    forwarded: int | None
    """The first TERM or HUP that was sent to Barry, which passes it on."""
    fault: Exception | None = None
    """What `on_start` or `on_tick` raised; the one at fault was not called again."""

    @property
    def abnormal(self) -> bool:
        """Whether it may have had no chance to put the terminal in order."""
        return self.signal is not None or self.forwarded is not None


def exit_status(ended: Ended) -> int:
    """Return the status that Barry exits with.

    A signal passed on counts before the harness's own account of it: some exit with 0 after a
    TERM, and one that had to be killed in the end was still ended by that TERM.
    """
    if ended.forwarded is not None:
        return _SIGNAL_BASE + ended.forwarded
    if ended.signal is not None:
        return _SIGNAL_BASE + ended.signal
    return ended.exit_code or 0


def exit_like(ended: Ended) -> NoReturn:
    """Leave Barry with the harness's status."""
    raise SystemExit(exit_status(ended))
