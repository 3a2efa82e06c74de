"""Every error that Barry expects, as one tree.

    BarryError                     code, message, hint, exit code, details
    ├── UsageProblem            2  the command line can't be carried out as written
    ├── Refused                 2  refused before anything ran
    │   ├── AdapterRefused      2  a package whose declarations do not hold up (seed 000)
    │   ├── NoTerminal          2  a launch needs a terminal
    │   ├── ConversationLost    2  the conversation to resume can't be found
    │   ├── ModeNotOffered      2  the adapter answers "not today" for this mode
    │   └── GuaranteeNotMet     2  --require asked for more than this launch has
    ├── SessionNotFound         2  no such session
    ├── AdapterNotInstalled   127  no record of this adapter (seed 000)
    ├── HarnessNotFound       127  the harness's program is not on this machine
    ├── HarnessCannotRun      126  it is there and can't be run
    ├── HarnessVersionMismatch 126 its build is outside the verified family (seed 000)
    ├── StoreProblem          125  Barry's own files can't be read or written
    └── OutputProblem         125  stdout takes nothing

The command line prints ``error: <message>`` and ``hint: <hint>`` and exits with the code;
libraries raise and never print. Anything outside this tree is a bug and exits 125.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class BarryError(Exception):
    """An expected failure: one sentence, and what to do next."""

    code: str = "failed"
    exit_code: int = 125

    def __init__(
        self, message: str, *, hint: str = "", details: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: Mapping[str, object] = details or {}

    def __str__(self) -> str:
        return self.message

    @classmethod
    def codes(cls) -> Mapping[str, int]:
        """Every code that an error of this kind may have, with its exit code."""
        return {cls.code: cls.exit_code}


class UsageProblem(BarryError):
    """The command line can't be carried out as written."""

    code = "usage"
    exit_code = 2


class Refused(BarryError):
    """Refused before anything ran."""

    code = "refused"
    exit_code = 2


class AdapterRefused(Refused):
    """A package whose declarations do not hold up (seed 000).

    Distinct from AdapterNotInstalled because the repair differs: reinstalling a package that is
    already present changes nothing.
    """

    code = "adapter-refused"

    def __init__(self, adapter_id: str, problems: Sequence[str], *, hint: str = "") -> None:
        self.adapter_id = adapter_id
        self.problems = list(problems)
        first = self.problems[0] if self.problems else "it gave no reason"
        more = len(self.problems) - 1
        tail = f" (and {more} more problem{'s' if more > 1 else ''})" if more > 0 else ""
        super().__init__(
            f"adapter {adapter_id} is refused: {first}{tail}",
            hint=hint or "fix the package, then run `barry adapter add` on it again",
            details={"adapterId": adapter_id, "problems": self.problems},
        )


class NoTerminal(Refused):
    """A launch gives a person a terminal UI, and there is no terminal."""

    code = "no-terminal"


class ConversationLost(Refused):
    """The conversation to resume can't be found where it should be."""

    code = "conversation-lost"


class ModeNotOffered(Refused):
    """The adapter answers "not today" for the mode asked for."""

    code = "mode-not-offered"


class GuaranteeNotMet(Refused):
    """``--require`` asked for more than this launch can be shown to have."""

    code = "guarantee-not-met"


class SessionNotFound(BarryError):
    """No session has this id or prefix, or more than one has."""

    code = "session-not-found"
    exit_code = 2


class AdapterNotInstalled(BarryError):
    """No installed adapter answers to this id (seed 000)."""

    code = "adapter-not-installed"
    exit_code = 127

    def __init__(self, adapter_id: str, *, message: str = "", hint: str = "") -> None:
        self.adapter_id = adapter_id
        super().__init__(
            message or f"no adapter named {adapter_id} is installed",
            hint=hint or f"`barry adapter add {adapter_id}` installs it, if Barry ships it",
            details={"adapterId": adapter_id},
        )


class HarnessNotFound(BarryError):
    """The harness's program is nowhere on this machine."""

    code = "harness-not-found"
    exit_code = 127


class HarnessCannotRun(BarryError):
    """The harness's program is there and can't be run."""

    code = "harness-cannot-run"
    exit_code = 126


class HarnessVersionMismatch(BarryError):
    """A launch refused because its build is outside the verified family (seed 000)."""

    code = "harness-version-mismatch"
    exit_code = 126

    def __init__(
        self, message: str, adapter_id: str, binary: str, observed: str, verified_on: str
    ) -> None:
        self.adapter_id = adapter_id
        self.binary = binary
        self.observed = observed
        self.verified_on = verified_on
        super().__init__(
            message,
            hint="install the verified build, or pass --allow-unverified-build",
            details={
                "adapterId": adapter_id,
                "binary": binary,
                "observed": observed,
                "verifiedOn": verified_on,
            },
        )


class StoreProblem(BarryError):
    """One of Barry's own files can't be read or written; it was left as it is."""

    code = "store"
    exit_code = 125


class OutputProblem(BarryError):
    """Standard output takes nothing: what was asked for is lost."""

    code = "output"
    exit_code = 125
