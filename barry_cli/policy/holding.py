"""How a launch holds a bound: which of the harness's own tools it has to switch off, and what is
out of its reach.

Where nobody rules on single calls, a tool that could break a rule is taken back whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from barry_cli.contract.levels import GatingLevel, ModeId
from barry_cli.policy.native import (
    AnyHarness,
    NativeGrants,
    native_harness,
    native_tool_denials,
    resolve_native_policy,
    taken_back,
)
from barry_cli.policy.problems import NotAllowed
from barry_cli.policy.schema import AgentTrait, Bound
from barry_cli.policy.scope import assert_node_allowed
from barry_cli.policy.tools import ToolMeta

NODE = "local"
"""The node that sessions of this machine run on."""


@dataclass(frozen=True, kw_only=True)
class Holding:
    """What becomes of the native tools of one harness, in one mode."""

    denied: tuple[str, ...] = ()
    """Switched off by name, or because no trait grants them."""
    taken_back: Mapping[str, str] = field(default_factory=dict)
    """Switched off, with the field whose rules could be broken through it."""
    conflicts: Mapping[str, str] = field(default_factory=dict)
    """Granted by a trait and taken back all the same: no session can have both."""
    uncontrolled: Mapping[str, str] = field(default_factory=dict)
    """To be switched off, and this mode can't; with the reason."""
    operator_override: str | None = None
    """How the operator can lift what this mode denies."""
    beyond: tuple[str, ...] = ()
    """Rules that nothing in this launch can hold, one sentence each."""
    notes: tuple[str, ...] = ()

    @property
    def off(self) -> tuple[str, ...]:
        """Every tool that is to be switched off, each once."""
        return tuple(dict.fromkeys((*self.denied, *self.taken_back)))


def holding(
    bound: Bound | None,
    harness: AnyHarness,
    mode: ModeId,
    gating: GatingLevel,
    *,
    traits: Sequence[AgentTrait] = (),
    listed: Sequence[str] | None = None,
) -> Holding:
    """How a launch in this mode holds a bound.

    ``harness``: its record, or anything with the same parts. ``traits``: what alone is granted;
    none: every native tool. ``listed``: the tools of its tool table. Raises PolicyProblem for a
    mode that it doesn't offer.
    """
    found = native_harness(harness)
    granted = {
        tool for trait in traits for tool in (trait.native_tools or {}).get(found.id, ())
    } or (set() if traits else set(found.native_tools))
    tools = [ToolMeta(namespace=found.id, tool_name=tool, access="write") for tool in granted]
    policy = resolve_native_policy(NativeGrants(bound=bound, tools=tools), found, mode)
    named = native_tool_denials(bound, found, found.native_tools)
    back = taken_back(bound, found)
    per_call = gating in ("hooks", "per-call")
    why = {} if per_call else {tool: why for tool, why in back.why.items() if tool not in named}
    spelt = {tool.casefold() for tool in granted}
    missing = [tool for tool in found.native_tools if tool.casefold() not in spelt]
    denied = [tool for tool in found.native_tools if tool in {*named, *missing}]
    off = {*denied, *why}
    # "Ungranted" and "taken back" are both off; only what a trait asks for by name can conflict.
    conflicts = {tool: reason for tool, reason in policy.conflicts.items() if tool in why}
    return Holding(
        denied=tuple(denied),
        taken_back={tool: reason for tool, reason in why.items() if tool not in missing},
        conflicts=conflicts if traits else {},
        uncontrolled={tool: why for tool, why in policy.uncontrolled.items() if tool in off},
        operator_override=policy.operator_override if off else None,
        beyond=tuple(_beyond(bound, found.native_tools, found.id, per_call, listed)),
        notes=() if per_call else back.notes,
    )


def refuse_what_no_launch_holds(bound: Bound | None, *, sandbox: bool) -> None:
    """Refuse a bound that a launch here must not start under. Raises NotAllowed.

    ``sandbox``: the launch has an egress sandbox.
    """
    if bound is None:
        return
    try:
        assert_node_allowed(NODE, bound)
    except NotAllowed as problem:
        hint = f"run it where the bound allows it: this machine is {NODE!r}"
        raise NotAllowed(
            problem.message, rule=problem.rule, field=problem.field, hint=hint
        ) from problem
    if bound.network is not None and bound.network.enforce == "sandbox" and not sandbox:
        raise NotAllowed(
            "the bound asks for the egress sandbox (network.enforce), and this launch has none",
            rule="sandbox",
            field="network.enforce",
            hint="choose a harness and mode with one, or deny network.actions or network.domains "
            'under enforce = "guard"',
        )


def _beyond(
    bound: Bound | None,
    inventory: Sequence[str],
    harness: str,
    per_call: bool,
    listed: Sequence[str] | None,
) -> list[str]:
    if bound is None:
        return []
    said = []
    known = {harness, *(f"{harness}:{tool}" for tool in inventory), *inventory}
    folded = {name.casefold() for name in known}
    others = [rule for rule in bound.denied_tools or () if rule.casefold() not in folded]
    if others and not per_call:
        said.append(
            f"deniedTools {', '.join(others)}: none of the harness's own tools, and nobody rules "
            "on calls of others in this mode"
        )
    if bound.denied_access and not per_call:
        said.append(
            f"deniedAccess {', '.join(bound.denied_access)}: nobody rules on single calls in this "
            "mode"
        )
    unlisted = [] if listed is None else [tool for tool in inventory if tool not in listed]
    if unlisted and (bound.bash or bound.files or bound.network):
        said.append(
            f"{', '.join(unlisted)}: not in the adapter's tool table, so what its calls do isn't "
            "known"
        )
    return said
