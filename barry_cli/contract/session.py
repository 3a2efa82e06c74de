"""What a session is asked for, and what it is while it lives (seed 001)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol

from pydantic import Discriminator, Field, Tag

from barry_cli.contract.data import Data, JsonSchema

if TYPE_CHECKING:
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.execution import Executor
    from barry_cli.contract.guarantees import Guarantees
    from barry_cli.contract.instrument import Instrument
    from barry_cli.contract.levels import ModeId
    from barry_cli.contract.models import Endpoint


class StdioMcpServer(Data):
    """An MCP server that the harness starts."""

    type: Literal["stdio"] = "stdio"
    command: str
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)


class HttpMcpServer(Data):
    """An MCP server that the harness calls."""

    type: Literal["http", "sse"]
    url: str
    headers: dict[str, str] = Field(default_factory=dict)


def _transport(value: object) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return "http" if kind in ("http", "sse") else "stdio"


McpServerConfig = Annotated[
    Annotated[StdioMcpServer, Tag("stdio")] | Annotated[HttpMcpServer, Tag("http")],
    Discriminator(_transport),
]


class EgressPolicy(Data):
    """The network half of a bound, when a sandbox enforces it. Empty: nothing leaves."""

    allow_domains: tuple[str, ...]
    allow_unix_sockets: tuple[str, ...] | None = None


class PermissionRequest(Data):
    """A native tool call that the harness asks about."""

    id: str
    tool: str
    input: Any
    description: str | None = None


class Allowed(Data):
    """Run it; ``persist`` applies the answer to every later call of the same shape."""

    allow: Literal[True] = True
    persist: bool | None = None


class Denied(Data):
    """Don't run it."""

    allow: Literal[False] = False
    reason: str | None = None


PermissionDecision = Annotated[Allowed | Denied, Field(discriminator="allow")]

Decide = Callable[[PermissionRequest], Awaitable["Allowed | Denied"]]


class Resume(Data):
    """Which conversation goes on: the one named, the last one, or one that the user picks."""

    harness_session_id: str | None = None
    last: bool | None = None
    picker: bool | None = None
    fork: bool | None = None
    """Go on with a copy of it; only where Barry drives."""


@dataclass(frozen=True, kw_only=True)
class SessionConfig:
    """All that a session is asked for. An adapter honours each field or says that it can't.

    ``env`` is the environment that the harness starts with, already cut to what may pass;
    ``model`` and ``small_model`` are written ``vendor/model``.
    """

    session_id: str
    """Barry's session id."""
    cwd: str
    env: Mapping[str, str | None] = field(default_factory=dict)
    mcp_servers: Mapping[str, StdioMcpServer | HttpMcpServer] = field(default_factory=dict)
    allowed_native_tools: Sequence[str] | None = None
    """The native tools that are granted. Absent grants none: who starts a session says."""
    denied_tools: Sequence[str] | None = None
    """Honoured only where the harness can deny natively (``HarnessCapabilities.tool_denial``)."""
    decide: Decide | None = None
    """Rules on each call that the harness asks about. Absent: every such call is refused."""
    egress_sandbox: EgressPolicy | None = None
    endpoint: Endpoint | None = None
    """Set only when the model's vendor is not the harness's own. Absent: its own settings."""
    ephemeral: bool | None = None
    """One piece of work, never resumed: the harness keeps no state past close."""
    executor: Executor | None = None
    """Where a driven harness's processes run, and where its program is. Absent: this machine."""
    extra_args: Sequence[str] | None = None
    """What the user typed after ``--``; it comes after Barry's own flags."""
    instrument: Instrument | None = None
    """What an instrumented launch wires into the harness; absent in every other mode."""
    max_turns: int | None = None
    model: str | None = None
    options: Any = None
    """Harness-specific settings, already valid against ``Adapter.options``."""
    plugin_dirs: Sequence[str] | None = None
    project_roots: Sequence[str] | None = None
    """Extra roots that the agent may reach, under the harness's own access rules."""
    resume: Resume | None = None
    small_model: str | None = None
    """For the harness's own cheap background calls, where it makes any."""
    strict_mcp_config: bool | None = None
    """False lets the harness also load MCP servers from its own config (``--relax``)."""
    system_prompt: str | None = None
    telemetry_endpoint: str | None = None
    telemetry_headers: Mapping[str, str] | None = None


class Sender(Data):
    """Who says that a message is from them; a claim."""

    name: str
    session_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class DeliveryOptions:
    """What a sender asks for, not what is promised: the receipt says what happened."""

    from_: Sender | None = None
    if_active: Literal["queue", "steer"] | None = None
    output_schema: JsonSchema | None = None


class DeliveryReceipt(Data):
    """What actually happened to a delivery."""

    message_id: str
    status: Literal["started", "steered", "queued", "held"]


class SessionAttachment(Data):
    """Where a vendor's TUI attaches to render a hosted session."""

    address: str
    harness_session_id: str


class Session(Protocol):
    """A live session. Optional members are None where the mode can't."""

    @property
    def id(self) -> str: ...
    @property
    def mode(self) -> ModeId: ...
    @property
    def guarantees(self) -> Guarantees: ...
    @property
    def harness_session_id(self) -> str | None: ...
    @property
    def harness_version(self) -> str | None: ...
    @property
    def warnings(self) -> Sequence[str]: ...
    @property
    def attach(self) -> Callable[[], Awaitable[SessionAttachment]] | None: ...
    @property
    def detach(self) -> Callable[[], None] | None: ...
    @property
    def compact(self) -> Callable[[], Awaitable[None]] | None: ...
    @property
    def external_turns(self) -> Callable[[], AsyncIterator[SessionEvent]] | None: ...
    async def deliver(
        self, content: str, options: DeliveryOptions | None = None
    ) -> DeliveryReceipt: ...
    def events(self) -> AsyncIterator[SessionEvent]: ...
    async def answer(self, request: PermissionRequest, decision: Allowed | Denied) -> None: ...
    async def interrupt(self) -> None: ...
    def status(self) -> Literal["idle", "active", "error"]: ...
    async def close(self) -> None: ...
