"""What an instrumented launch gives its adapter: hooks, a token, and a way to what runs inside.

The adapter wires these into its harness; Barry owns what they do, and it is the same for every
harness.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

NoticeKind = Literal[
    "loaded", "start", "prompt", "ruled", "ask", "after-tool", "stop", "end", "own"
]
"""``loaded``: a plugin holds its line and rules by the policy's fingerprint. ``start``,
``prompt``, ``after-tool``, ``stop``, ``end``: the hook events of these kinds. ``ask``: the harness
asks its user. ``ruled``: a call was ruled on. ``own``: a plugin's frame of a kind that only its
adapter knows."""


@dataclass(frozen=True, kw_only=True)
class Notice:
    """Something that a hook or a plugin inside the harness told Barry."""

    kind: NoticeKind
    document: Mapping[str, Any] = field(default_factory=dict)
    """What the harness told its hook, or the plugin's frame."""
    harness_session_id: str | None = None
    tool: str | None = None
    call: str | None = None
    prompt: str | None = None
    """What the user said, where this notice tells of it."""
    cwd: str | None = None
    transcript: str | None = None
    """Where the harness writes its transcript, as it told its hook."""


class Inside(Protocol):
    """Barry's end of what runs inside the harness, for as long as the harness runs."""

    def notices(self) -> AsyncIterator[Notice]:
        """Every notice from now on, in order; each reader gets each of them."""
        ...

    async def hand(self, text: str, *, fits: Callable[[Notice], bool] | None = None) -> bool:
        """Give a text to the hook that asks for messages at this moment.

        ``fits``: whether a hook that told of this is one to give it to; absent, each is.
        True once that hook has written it to the harness; False when no hook asks, or it was gone
        before it had written.
        """
        ...

    async def ask(
        self, frame: Mapping[str, object], *, seconds: float = 5
    ) -> Mapping[str, Any] | None:
        """Send a frame to the plugin that holds a line, and wait for its answer.

        None when no plugin holds one, or it doesn't answer in time.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class HookCall:
    """A program that the harness is to call for its events."""

    command: str
    """For a shell; every word absolute and quoted."""
    words: tuple[str, ...]
    """The same for who starts programs without one, and looks at the exit code."""


@dataclass(frozen=True, kw_only=True)
class Instrument:
    """All that Barry puts into an instrumented launch."""

    ruling: HookCall
    """Rules on one call: for the bag's ``before-tool`` format. Whatever fails refuses the call."""
    notice: HookCall
    """Tells Barry of every other event, and carries messages back where the format has an answer
    for one. It guards nothing: whatever fails is silent, and the harness goes on."""
    deadline_seconds: float
    """The ruling's own deadline. What a harness waits for it must be far above."""
    fingerprint: str
    """What tells this policy from every other; a plugin reports it with ``loaded``."""
    socket: str
    """The session's own socket, for plugins."""
    key: str = field(repr=False)
    """What hooks and plugins show at the socket: a secret, never in argv or an environment."""
    inside: Inside = field(repr=False, compare=False)
    program: str | None = None
    """The harness's program as this launch found it, for an adapter that has to ask it something
    besides starting it."""
