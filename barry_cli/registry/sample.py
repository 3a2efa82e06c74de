"""A valid adapter to start from in tests: it declares little, and all of it holds up."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from barry_cli.contract.adapter import Adapter, Evidence, LaunchMode
from barry_cli.contract.draft import PlanDraft
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.requirements import (
    Binary,
    HarnessCapabilities,
    Install,
    Pin,
    Requirements,
)

if TYPE_CHECKING:
    from barry_cli.contract.plan import LaunchPlan
    from barry_cli.contract.proof import ProofContext
    from barry_cli.contract.session import SessionConfig

_GUARANTEES = Guarantees(
    capture="none",
    delivery="none",
    gating="none",
    identity="none",
    interrupt=False,
    keeps_vendor_ui=True,
    steer=False,
)


def test_adapter(**overrides: Any) -> Adapter:
    """An adapter that passes every check, with the given fields in place of its own (seed 000)."""
    adapter = Adapter(
        id="sample",
        label="Sample",
        capabilities=HarnessCapabilities(
            endpoint="fixed",
            mcp_transports=(),
            skills_mount="none",
            system_prompt_format="unsupported",
            tool_denial="none",
            without_key="unauthenticated",
        ),
        requirements=Requirements(
            binary=Binary(
                command="sample",
                version_args=("--version",),
                version_pattern=r"(\d+\.\d+\.\d+)",
                pin=Pin(version="1.0.0", enforced_by="it never replaces itself"),
                install=Install(fallback="it is made up"),
            )
        ),
        native_tools=("Shell", "Read", "Write"),
        default_mode="guest",
        modes={
            "guest": LaunchMode(
                guarantees=_GUARANTEES,
                verified_on="1.0.0",
                evidence=Evidence(
                    check="barry_cli.registry.sample:shown", proves="that a launch was planned"
                ),
                plan=_plan,
            ),
            "instrumented": None,
            "hosted": None,
        },
    )
    return dataclasses.replace(adapter, **overrides)


# Its name is the seed's; to a test runner that collects by name it is no test.
test_adapter.__dict__["__test__"] = False


async def shown(proof: ProofContext) -> None:
    """The sample's evidence: that it plans, with nothing promised beyond the user's own TUI."""
    plan, _ = await proof.launch()
    proof.require(plan.guarantees == _GUARANTEES, "the plan promises something else")


async def _plan(config: SessionConfig) -> LaunchPlan:
    with PlanDraft("Sample", config, _GUARANTEES) as draft:
        return draft.finish("sample")
