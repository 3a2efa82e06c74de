"""A driven agent as the handle that turns are executed through (seed 001)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from barry_cli.base.canonical import canonical_hash
from barry_cli.headless.agent_session import agent_session
from barry_cli.turns.live_continuation import LiveContinuation

if TYPE_CHECKING:
    from barry_cli.contract.continuation import ContinuationHarness
    from barry_cli.contract.guarantees import Guarantees
    from barry_cli.contract.levels import ApprovalContinuation
    from barry_cli.contract.session import Session, SessionConfig
    from barry_cli.headless.agent_adapter import AgentAdapter


async def agent_continuation(
    adapter: AgentAdapter,
    config: SessionConfig,
    *,
    adapter_id: str,
    guarantees: Guarantees,
    **options: Any,
) -> ContinuationHarness:
    """A handle on one agent. ``options`` are ``agent_session``'s.

    One that asks before it acts waits for approvals in memory (``live``): they are gone with this
    process. One that doesn't never waits (``unsupported``). Raises AgentFault.
    """

    async def start(config: SessionConfig) -> Session:
        return await agent_session(adapter, config, guarantees=guarantees, **options)

    kind = LiveContinuation if adapter.capabilities.permission_hooks else _Unasked
    return await kind.open(adapter_id, fingerprint(adapter_id, config), config, start)


class _Unasked(LiveContinuation):
    """The same for an agent that never asks."""

    @property
    def approval_continuation(self) -> ApprovalContinuation:
        return "unsupported"


def fingerprint(adapter_id: str, config: SessionConfig) -> str:
    """Of what a waiting call was asked under; secrets are no part of it."""
    return canonical_hash(
        {
            "adapter": adapter_id,
            "cwd": config.cwd,
            "model": config.model,
            "allowed": list(config.allowed_native_tools or ()),
            "denied": list(config.denied_tools or ()),
            "systemPrompt": config.system_prompt,
            "options": config.options,
        }
    )
