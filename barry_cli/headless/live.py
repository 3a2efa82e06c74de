"""How a harness is talked to while its turn runs: a pure state machine per harness (seed 004).

The dialogue reads lines and returns what is to be written; the driver does the reading and writing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from barry_cli.contract.session import Allowed, Denied

if TYPE_CHECKING:
    from barry_cli.headless.agent_events import AgentEvent
    from barry_cli.headless.agent_input import AgentInput


@dataclass(frozen=True, slots=True)
class LiveStep:
    """What one line came to."""

    events: tuple[AgentEvent, ...] = ()
    """A ``Done``, ``Stopped`` or ``Failed`` of the main thread says that the turn is over."""
    replies: tuple[str, ...] = ()
    """To be written to stdin as they are, line ends included."""
    consumed: int = 0
    """How many messages the harness is now known to have taken in; the turn's prompt is one."""


class LiveDialogue(Protocol):
    """One conversation over stdin and stdout. No method waits, reads a clock or raises."""

    def start(self) -> str:
        """What to write first. Where the prompt must wait for answers, ``read`` sends it."""
        ...

    def encode(self, text: str) -> str:
        """Another message of the user's: what to write, or empty when the dialogue keeps it until
        it can be sent (then a later step's replies hold it).

        After a turn's end, where ``AgentLiveInput.persistent``, it begins the next turn.
        """
        ...

    def read(self, line: str) -> LiveStep | None:
        """Take a line, without its line end; None leaves it to ``AgentAdapter.events``."""
        ...

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        """What tells the harness how the ``PermissionRequested`` of this id was ruled.

        A denial has its reason filled in: the agent must get to read that sentence, if the
        protocol can carry one. An allowance is for this one call. Empty for an id not pending.
        """
        ...

    def interrupt(self) -> str | None:
        """What cuts the running turn, pending requests answered included; None when the protocol
        has nothing for that, and the driver ends the process instead.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class AgentLiveInput:
    """The protocol for talking to a running turn."""

    open: Callable[[AgentInput], LiveDialogue]
    asks: bool = False
    """Its dialogues raise ``PermissionRequested`` for every call that needs a permission."""
    steers: bool = False
    """A message sent during a turn is folded into that turn."""
    persistent: bool = False
    """The process can take another turn after one has ended."""
