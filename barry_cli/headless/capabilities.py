"""What an adapter really wires, and what of a policy that leaves unenforced (seed 002)."""

from __future__ import annotations

from typing import Literal

from barry_cli.contract.data import Data

Posture = Literal["strict", "auto", "dangerous"]


class CapabilitySettings(Data):
    """What is wired, never what a vendor advertises. Each flag is false until it is."""

    session_resume: bool = False
    """It can go on with a conversation by its id."""
    mid_turn_cancellation: bool = False
    """A running turn can be cut by the harness's own means, and its conversation goes on after."""
    structured_output: bool = False
    """It enforces a schema on the answer. Events in JSON are not that."""
    usage_reporting: bool = False
    permission_policy: bool = False
    """The whole policy is enforced by the harness: posture and both lists."""
    permission_hooks: bool = False
    """It asks before it acts, on a channel that the driver answers."""
    mcp_client: bool = False
    workspace_scoping: bool = False
    """It keeps its file tools to the session's folders."""
    model_selection: bool = False


class PermissionPolicy(Data):
    """What an agent may do without being asked, in the harness's own pattern language."""

    posture: Posture = "strict"
    """``strict`` asks before anything that acts, ``auto`` lets edits pass, ``dangerous`` all."""
    allowed_tools: tuple[str, ...] | None = None
    denied_tools: tuple[str, ...] = ()
    """A denial wins over an allowance."""


def shortcomings(
    policy: PermissionPolicy, capabilities: CapabilitySettings, partly: str | None, name: str
) -> tuple[str, ...]:
    """What of a policy this harness does not enforce, in one sentence each; empty when nothing.

    ``partly`` is the adapter's own sentence on a policy that it enforces in part.
    """
    found = []
    lists = [
        f"{called} {', '.join(tools)}"
        for called, tools in (("allowed", policy.allowed_tools), ("denied", policy.denied_tools))
        if tools
    ]
    if not capabilities.permission_policy and partly:
        found.append(partly)
    elif not capabilities.permission_policy:
        asked = " and ".join([f"the posture {policy.posture}", *(f"the list: {e}" for e in lists)])
        found.append(f"{name} does not enforce this policy by itself: {asked}")
    if policy.posture == "strict" and not capabilities.permission_hooks:
        found.append(
            f"{name} has no way to ask Barry: calls that need a permission are denied, "
            "not put to anybody"
        )
    return tuple(found)
