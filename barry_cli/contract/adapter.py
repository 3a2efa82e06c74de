"""What an adapter package declares about one harness (seed 000)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Protocol,
    TypedDict,
    get_args,
    runtime_checkable,
)

from pydantic import Field

from barry_cli.contract.data import Data, JsonSchema
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.levels import ApprovalContinuation, ModeId, Platform

if TYPE_CHECKING:
    from barry_cli.contract.continuation import ContinuationHarness
    from barry_cli.contract.engine import StartEngine
    from barry_cli.contract.events import SessionEvent
    from barry_cli.contract.models import VendorCode
    from barry_cli.contract.plan import LaunchPlan
    from barry_cli.contract.requirements import HarnessCapabilities, OfferedModel, Requirements
    from barry_cli.contract.session import Session, SessionConfig


CallKind = Literal["shell", "write", "read", "fetch", "mcp", "subagent"]
"""What an agent can do, as far as a ruling tells kinds of it apart. ``subagent``: the calls of the
agents that it starts."""

CALL_KINDS: tuple[CallKind, ...] = get_args(CallKind)


class NativeControl(Data):
    """What a mode can do about the harness's own tools."""

    grantable: tuple[str, ...]
    """Tools that this mode can turn on while the rest stay off."""
    inseparable: tuple[tuple[str, ...], ...] | None = None
    """Groups that can only be turned on whole."""
    operator_override: str | None = None
    """How the operator can lift this mode's native gate."""
    uncontrolled: dict[str, str] | None = None
    """Tools that this mode can't turn off, with the reason."""


class Evidence(Data):
    """The runnable check that showed a mode's guarantees: a claim with no check is not made."""

    check: str
    """``module:function``, relative to the adapter's package; ``async (ProofContext) -> None``."""
    proves: str


class Mode(Data):
    """One way to run the harness, and what was shown to hold in it."""

    guarantees: Guarantees
    verified_on: str
    """The build that these guarantees were shown on."""
    evidence: Evidence
    egress_sandbox: bool = False
    """Whether Barry's egress proxy holds in this mode."""
    native: NativeControl | None = None
    platforms: tuple[Platform, ...] | None = None
    """Where they were shown. Other platforms are unverified, not broken."""
    build: Literal["binary", "bundled"] = "binary"
    """What this mode runs: the required binary, or a build that the adapter carries itself."""
    attaches_to: Literal["hosted"] | None = None
    """Set where the TUI renders the hosted session rather than running its own."""
    approval_continuation: ApprovalContinuation | None = None


if TYPE_CHECKING:
    PlanFunction = Callable[[SessionConfig], Awaitable[LaunchPlan]]
    StartFunction = Callable[[SessionConfig, StartEngine], Awaitable[Session]]
    AdoptFunction = Callable[[str, SessionConfig], Awaitable[Session]]
    OpenFunction = Callable[[SessionConfig, StartEngine], Awaitable[ContinuationHarness]]
else:  # pydantic asks only whether they can be called
    PlanFunction = StartFunction = AdoptFunction = OpenFunction = Callable[..., Any]


class LaunchMode(Mode):
    """A human drives, in the harness's own TUI; Barry plans the launch."""

    ruled: tuple[CallKind, ...] = ()
    """The kinds of call that were shown to be ruled on, denied and allowed. What is not named here
    is not shown: a launch under a bound takes such tools back, or its gating is lowered."""
    plan: PlanFunction = Field(exclude=True, repr=False)
    """``async (SessionConfig) -> LaunchPlan``"""


class SessionMode(Mode):
    """Barry drives: every event, delivery, interrupt, and a ruling on each tool call."""

    structured_output: Literal["native", "prompted"]
    start: StartFunction = Field(exclude=True, repr=False)
    """``async (SessionConfig, StartEngine) -> Session``"""
    adopt: AdoptFunction | None = Field(default=None, exclude=True, repr=False)
    """``async (harness_session_id, SessionConfig) -> Session``: a conversation begun without us."""
    open_continuation: OpenFunction | None = Field(default=None, exclude=True, repr=False)
    """``async (SessionConfig, StartEngine) -> ContinuationHarness``"""


class Modes(TypedDict):
    """None is the complete answer "not today": no slot can be left unanswered."""

    guest: LaunchMode | None
    instrumented: LaunchMode | None
    hosted: SessionMode | None


@runtime_checkable
class TranscriptSource(Protocol):
    """The harness's own record of its conversations."""

    def find(self, harness_session_id: str, cwd: str, env: Mapping[str, str]) -> Path | None:
        """Where a conversation of this folder is kept, or None when it isn't there."""
        ...

    def list(self, cwd: str, env: Mapping[str, str]) -> Iterator[str]:
        """The ids of this folder's conversations, newest first."""
        ...

    def read(self, path: Path) -> Iterator[SessionEvent]:
        """What happened, in order; lines that can't be read are passed over."""
        ...


@dataclass(frozen=True, kw_only=True)
class Adapter:
    """One harness, as Barry knows it."""

    id: str
    label: str
    capabilities: HarnessCapabilities
    requirements: Requirements
    native_tools: tuple[str, ...]
    """The harness's own tools, as it names them: everything it can offer a session."""
    default_mode: ModeId
    modes: Modes
    aliases: tuple[str, ...] = ()
    """Former ids that this harness still answers to."""
    bag: str | None = None
    """Relative folder that holds this adapter's bag manifest."""
    experimental: str | None = None
    """Present means experimental; the reason names the missing evidence."""
    offered_models: tuple[OfferedModel, ...] | None = None
    """The models that a harness with no vendor offers."""
    options: JsonSchema | None = None
    """JSON Schema for harness-specific settings, which arrive as ``SessionConfig.options``."""
    transcript: TranscriptSource | None = None
    vendor: str | None = None
    """The vendor whose API this harness speaks; absent where it connects to vendors itself."""
    vendor_code: VendorCode | None = None
    list_models: Callable[[Mapping[str, str]], Awaitable[list[str]]] | None = None
    """``async (env) -> names``: the models that this account can use."""
    resolve_binary: Callable[[], str | Awaitable[str]] | None = None
    """An executable that a caller asks for itself; not necessarily the session binary."""
    telemetry: Callable[[Mapping[str, Any]], Iterable[SessionEvent]] | None = None
    """What a log record that the harness reports over OTLP means. A record has ``name``, ``body``
    and ``attributes``, as plain JSON. Its events count only while no transcript tells of them.
    Absent: the harness is not asked to report."""


def define_adapter(adapter: Adapter) -> Adapter:
    """Give an adapter its type, so that a missing slot is a type error where it is written."""
    return adapter
