"""How far a long piece of work is: one line on the terminal, gone when the work is done."""

from __future__ import annotations

import contextlib
import sys
import time
from types import TracebackType
from typing import Self

SECONDS = 0.1
"""Between two lines."""
_BAR = 24


class Progress:
    """Says it on stderr, and to a terminal alone. ``total``: all parts; 0 where not known."""

    def __init__(self, what: str, total: int = 0) -> None:
        self._what = what
        self._total = total
        self._parts = self._done = 0
        self._next = time.monotonic() + SECONDS
        self._shown = False
        self._on = sys.stderr is not None and sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            self._write("\r\x1b[K")

    def advance(self, parts: int, done: int = 1) -> None:
        """More parts of the whole are worked off, and in them so many things."""
        self._parts += parts
        self._done += done
        if not self._on or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + SECONDS
        self._shown = True
        self._write(f"\r\x1b[K{self._bar()}{self._done} {self._what}")

    def _bar(self) -> str:
        if not self._total:
            return ""
        share = min(1.0, self._parts / self._total)
        return f"[{'#' * round(share * _BAR):{_BAR}}] {share:4.0%}  "

    def _write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()
