"""How lower floors show and ask without knowing a command line."""

from __future__ import annotations

from typing import Protocol


class Reporter(Protocol):
    """Where a launch says what the user should know."""

    def warn(self, text: str) -> None: ...
    def note(self, text: str) -> None: ...


class Asker(Protocol):
    """Who asks the user; None is "nobody is there to ask"."""

    def choose(self, question: str, options: list[str]) -> int | None: ...
