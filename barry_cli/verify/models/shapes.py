"""The common shape between four model APIs: one request, one reply.

Every API module reads its own JSON into a `ModelRequest` and renders a `Reply` back to its own
wire. What lies between (rules, log, usage) knows these shapes only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Api = Literal["anthropic", "openai-responses", "openai-chat", "gemini"]
Frame = Literal["none", "beside", "framed"]
Json = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Turn:
    """One piece of a conversation, in the order the request lists it.

    `frame` says how far a user-side text may be the harness's own: `framed` is all of it in tags
    or in a system message (an environment, a reminder, a hook's words), `beside` stands next to a
    tool result.
    """

    role: Literal["user", "assistant", "tool"]
    text: str = ""
    call_id: str = ""
    is_error: bool | None = None
    frame: Frame = "none"


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that the request offers. `custom` tools take free text instead of JSON."""

    name: str
    namespace: str = ""
    custom: bool = False

    @property
    def label(self) -> str:
        """`namespace/name`, or the bare name."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A model call of any API. `schema` is the JSON Schema that the answer must fit."""

    api: Api
    model: str
    stream: bool
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[OfferedTool, ...]
    schema: Json | None = None


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A tool call as it goes out: a text `input` is a custom call's."""

    id: str
    name: str
    namespace: str
    input: Json | str


@dataclass(frozen=True, slots=True)
class TokenCount:
    """Tokens of one reply. `cached` is the part of `input` that came from the cache."""

    input: int
    cached: int
    output: int


@dataclass(frozen=True, slots=True)
class Reply:
    """One scripted answer. Iterating `pieces` may wait: slow streams are slow there."""

    id: str
    created: int
    text: str
    pieces: Iterable[str]
    calls: tuple[PlannedCall, ...]
    usage: TokenCount


class Wire(Protocol):
    """What each API module provides."""

    def read(self, path: str, body: Json) -> ModelRequest:
        """Read a request body; unknown or wrong parts are passed over, never an error."""

    def whole(self, request: ModelRequest, reply: Reply) -> Json:
        """The answer to a request that does not stream."""

    def events(self, request: ModelRequest, reply: Reply) -> Iterator[bytes]:
        """The same answer as server-sent events."""

    def error(self, status: int, message: str) -> Json:
        """An error body in this API's shape."""

    def tokens(self, count: int) -> Json:
        """The answer to a request that only counts its tokens."""


def sse(data: str, event: str = "") -> bytes:
    """One server-sent event."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {data}\n\n".encode()
