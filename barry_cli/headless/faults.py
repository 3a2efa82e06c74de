"""Why a turn of an agent failed, told apart by what its caller can do about it (seed 004)."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Mapping
from typing import Literal

from barry_cli.base.problems import BarryError

log = logging.getLogger(__name__)

FaultCode = Literal["process", "quota", "configuration", "session"]
"""``process``: it ran and failed; ``quota``: a usage limit is reached; ``configuration``: what it
was given can't work; ``session``: the conversation to go on with is lost."""

_EXIT_CODES: dict[FaultCode, int] = {"process": 1, "quota": 75, "configuration": 2, "session": 2}


class AgentFault(BarryError):
    """A turn that failed, or was refused before it began.

    ``details`` may hold, of a ``process``: ``exitCode``, ``stderr`` (redacted, its end),
    ``unavailable`` (what its service said), ``stopped`` (see ``Stopped``); of a ``quota`` also
    ``resetAt`` (ISO 8601, UTC), when the harness gave a time that a machine can read.
    """

    def __init__(
        self,
        code: FaultCode,
        message: str,
        *,
        hint: str = "",
        details: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.code: FaultCode = code
        self.exit_code = _EXIT_CODES[code]
        if code == "process" and "unavailable" in self.details:
            self.exit_code = 75
        elif code == "process" and self.details.get("stopped") in (
            "idle-timeout",
            "deadline",
            "stuck",
        ):
            self.exit_code = 124

    @classmethod
    def codes(cls) -> Mapping[str, int]:
        """Its four codes. A ``process`` exits with 75 when its service is out, with 124 when it
        was out of time.
        """
        return {str(code): status for code, status in _EXIT_CODES.items()}


def as_fault(error: Exception, *, driven: str) -> AgentFault:
    """An error of the code around an agent, as the fault that its caller gets to see.

    What Barry expects keeps its sentence; of anything else, a bug, only the kind is told, and its
    text, which may hold a secret, goes nowhere.
    """
    if isinstance(error, AgentFault):
        return error
    if isinstance(error, BarryError):
        return AgentFault(
            "configuration", error.message, hint=error.hint, details={**error.details}
        )
    log.error("driving %s failed inside Barry or its adapter (%s)", driven, type(error).__name__)
    log.debug("where it failed:\n%s", "".join(traceback.format_tb(error.__traceback__)))
    return AgentFault(
        "process",
        f"{driven} can't be driven: its adapter or Barry failed ({type(error).__name__})",
        hint="report it to the adapter's author",
    )


def unavailable_fault(error: BaseException | None) -> str | None:
    """What the service said when a turn failed because it was out, or None for another reason."""
    if not isinstance(error, AgentFault) or error.code != "process":
        return None
    said = error.details.get("unavailable")
    return said if isinstance(said, str) else None
