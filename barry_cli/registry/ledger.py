"""What checking has come to so far."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

Given = ParamSpec("Given")
Result = TypeVar("Result")


class Ledger:
    """Problems found, and how many rules were looked at to find them."""

    def __init__(self) -> None:
        self.checked = 0
        self.problems: list[str] = []

    def hold(self, holds: bool, otherwise: str) -> bool:
        """Count a rule, and note the problem unless it holds. Gives back whether it does."""
        self.checked += 1
        if not holds and otherwise not in self.problems:
            self.problems.append(otherwise)
        return holds

    def part(
        self,
        what: str,
        look: Callable[Given, Result],
        /,
        *args: Given.args,
        **kwargs: Given.kwargs,
    ) -> Result | None:
        """Run a part of the checks; where that fails, the part itself is the problem."""
        try:
            return look(*args, **kwargs)
        except Exception as error:  # a stranger's objects may do anything when they are looked at
            self.hold(False, f"{what} can't be checked: {describe(error)}")
            return None


def describe(error: BaseException) -> str:
    """An exception in one short line; its own text may be anything."""
    try:
        text = " ".join(str(error).split())
    except Exception:
        text = ""
    text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= 300 else text[:297] + "..."
