"""What a check gets to work with (the evidence of seed 000)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from barry_cli.contract.adapter import Adapter
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.instrument import Notice
    from barry_cli.contract.levels import ModeId
    from barry_cli.contract.plan import LaunchPlan
    from barry_cli.contract.session import DeliveryOptions, Session


class NotShown(AssertionError):
    """A check did not see what it claims; the message says what it saw instead."""


@dataclass(frozen=True, kw_only=True)
class Ruled:
    """A ruling on one call, as the hook or the plugin that asked for it told of it."""

    tool: str
    """As the harness names it."""
    allowed: bool
    reason: str
    """The sentence for the agent; empty when the call was allowed."""


class Terminal(Protocol):
    """A harness's TUI in a terminal of the check's own."""

    def screen(self) -> str:
        """The text now on the screen, line by line, without styling."""
        ...

    def wait_for(self, text: str, *, seconds: float = 60) -> str:
        """Wait until the text is on the screen. Raises NotShown with the screen when it isn't."""
        ...

    def type(self, text: str) -> None:
        """Send keys."""
        ...

    def ended(self, *, seconds: float = 15) -> int | None:
        """Wait for its own end: the exit code, minus a signal, or None when it still runs."""
        ...

    def close(self, *, seconds: float = 15) -> int | None:
        """End it (TERM, then KILL) and give its exit code, or None when a signal ended it."""
        ...


class ScriptedModel(Protocol):
    """A model on loopback that says what the check told it to."""

    def url(self, api: str) -> str: ...
    def script(self, rules: list[dict[str, object]]) -> None:
        """Replace the script: rules of ``when`` and ``then``."""
        ...

    def texts(self) -> list[str]:
        """User texts that arrived, oldest first."""
        ...

    def tool_results(self) -> list[str]:
        """What tools answered, as the harness told the model, oldest first."""
        ...

    def offered_tools(self) -> list[str]:
        """The tools named in the newest request that offered any."""
        ...

    def wait_for_text(self, text: str, *, seconds: float = 60) -> None:
        """Wait until a request carries the text. Raises NotShown when none does."""
        ...


class ProofContext(Protocol):
    """One run of one check: a fresh HOME and folder, a scripted model, and the launch itself."""

    @property
    def adapter(self) -> Adapter: ...
    @property
    def mode(self) -> ModeId: ...
    @property
    def home(self) -> Path: ...
    @property
    def cwd(self) -> Path: ...
    @property
    def key(self) -> str:
        """A made-up key that the scripted model accepts."""
        ...

    @property
    def model(self) -> ScriptedModel: ...
    @property
    def env(self) -> Mapping[str, str]:
        """The scrubbed environment that launches of this check start with."""
        ...

    async def launch(
        self, *, bound: Mapping[str, object] | None = None, **config: object
    ) -> tuple[LaunchPlan, Terminal]:
        """Plan with these SessionConfig fields, and start the plan in a terminal.

        In instrumented mode with all that a launch gives one: a compiled policy, hooks that were
        tried, and Barry's end of the session, which is there until the check is over. ``bound``:
        what its calls are ruled by, as a bound file has it (``{"bash": {"denyPrograms":
        ["git push"]}}``); without one the floor alone holds.
        """
        ...

    async def send(
        self,
        content: str,
        *,
        from_: str | None = None,
        wait: Literal["held", "written", "consumed"] = "consumed",
        seconds: float = 60,
    ) -> str:
        """Send a message to the newest instrumented session, as ``barry session send`` does.

        The terminals are read meanwhile. Gives the message's state once it is what was waited for,
        or has become ``failed`` or ``uncertain``, or the time is over: compare it. Raises NotShown
        when it is refused.
        """
        ...

    @property
    def notices(self) -> Sequence[Notice]:
        """What hooks and plugins of the newest instrumented session told, oldest first."""
        ...

    @property
    def rulings(self) -> Sequence[Ruled]:
        """What was ruled on its calls, oldest first."""
        ...

    @property
    def standing(self) -> Mapping[str, object]:
        """What is recorded of it now: ``activity``, ``harnessSessionId``, ``guarantees`` and
        ``lowered`` (both by camelCase or field name as in its row).
        """
        ...

    async def start(self, **config: object) -> Session:
        """Start a driven session with these SessionConfig fields; it is closed with the check."""
        ...

    async def turn(
        self,
        session: Session,
        content: str,
        *,
        options: DeliveryOptions | None = None,
        seconds: float = 60,
    ) -> list[SessionEvent]:
        """Deliver a message, and all that happens up to the turn's ``done``.

        Raises NotShown when the turn isn't over in time.
        """
        ...

    def require(self, shown: bool, otherwise: str | Callable[[], str]) -> None:
        """Raise NotShown with the sentence unless the thing was shown."""
        ...
