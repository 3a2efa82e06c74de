"""What a session's mode can't do, said so (seed 001)."""

from __future__ import annotations

from barry_cli.base.problems import Refused
from barry_cli.contract.levels import ModeId


class NotSupportedInMode(Refused):
    """A method that the session's mode can't perform: doing nothing would read as done."""

    code = "not-supported-in-mode"

    def __init__(self, operation: str, mode: ModeId) -> None:
        self.operation = operation
        self.mode = mode
        super().__init__(
            f"{operation} is not possible in a {mode} session",
            hint="`barry adapter show ID` tells what each mode can do",
            details={"operation": operation, "mode": mode},
        )

    def __reduce__(self) -> tuple[type[NotSupportedInMode], tuple[str, ModeId]]:
        return type(self), (self.operation, self.mode)
