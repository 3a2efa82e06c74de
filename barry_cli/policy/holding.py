"""How a launch holds a bound: which of the harness's own tools it has to switch off, and what is
out of its reach.

Where nobody rules on single calls, or not on those of a kind, a tool that could break a rule is
taken back whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from barry_cli.contract.adapter import CALL_KINDS, CallKind
from barry_cli.contract.levels import GatingLevel, ModeId
from barry_cli.policy.native import (
    AnyHarness,
    NativeGrants,
    NativeHarness,
    category_tools,
    native_harness,
    native_tool_denials,
    resolve_native_policy,
    restricted,
    taken_back,
)
from barry_cli.policy.problems import NotAllowed
from barry_cli.policy.schema import AgentTrait, Bound, NativeCategory
from barry_cli.policy.scope import assert_node_allowed
from barry_cli.policy.tools import ToolMeta

NODE = "local"
"""The node that sessions of this machine run on."""

KINDS: dict[NativeCategory, CallKind] = {
    "shell": "shell",
    "file-reads": "read",
    "file-writes": "write",
    "network": "fetch",
}
"""What the calls of a category's tools are."""


@dataclass(frozen=True, kw_only=True)
class Holding:
    """What becomes of the native tools of one harness, in one mode."""

    denied: tuple[str, ...] = ()
    """Switched off by name, or because no trait grants them."""
    taken_back: Mapping[str, str] = field(default_factory=dict)
    """Switched off, with the field whose rules could be broken through it."""
    kinds_back: tuple[NativeCategory, ...] = ()
    """The categories whose tools are among those, where no tool of them was denied by name."""
    unruled: tuple[CallKind, ...] = ()
    """The kinds of call that could break a rule, and that nobody was shown to rule on."""
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
    ruled: Sequence[CallKind] | None = None,
    agents: Sequence[str] = (),
    refused: Sequence[str] = (),
    guarded: Sequence[str] = (),
) -> Holding:
    """How a launch in this mode holds a bound.

    ``harness``: its record, or anything with the same parts. ``traits``: what alone is granted;
    none: every native tool. ``listed``: the tools of its tool table. ``ruled``: the kinds of call
    that this gating rules on; absent: every kind, where it rules on single calls at all.
    ``agents``: the tools that start agents. ``refused``: those that the caller switches off by name
    anyway. ``guarded``: rules that name nothing but tools of Barry's own, whose calls are ruled on
    in every mode. Raises PolicyProblem for a mode that it doesn't offer.
    """
    found = native_harness(harness)
    granted = {
        tool for trait in traits for tool in (trait.native_tools or {}).get(found.id, ())
    } or (set() if traits else set(found.native_tools))
    tools = [ToolMeta(namespace=found.id, tool_name=tool, access="write") for tool in granted]
    policy = resolve_native_policy(NativeGrants(bound=bound, tools=tools), found, mode)
    named = native_tool_denials(bound, found, found.native_tools)
    per_call = gating in ("hooks", "per-call")
    kinds = set() if not per_call else set(CALL_KINDS if ruled is None else ruled)
    unruled = _unruled(bound, kinds, per_call)
    back = taken_back(bound, found, [each for each, kind in KINDS.items() if kind in kinds])
    whole = dict(back.why)
    if "subagent" in unruled:
        place = _place(bound)
        whole |= {tool: place for tool in found.native_tools if tool in agents}
    why = {tool: place for tool, place in whole.items() if tool not in named}
    spelt = {tool.casefold() for tool in granted}
    missing = [tool for tool in found.native_tools if tool.casefold() not in spelt]
    denied = [tool for tool in found.native_tools if tool in {*named, *missing}]
    off = {*denied, *why}
    # "Ungranted" and "taken back" are both off; only what a trait asks for by name can conflict.
    conflicts = {
        tool: policy.conflicts.get(tool, f"{place} takes it back: its calls are not ruled on")
        for tool, place in why.items()
        if tool not in missing
    }
    return Holding(
        denied=tuple(denied),
        taken_back={tool: reason for tool, reason in why.items() if tool not in missing},
        kinds_back=tuple(_kinds_back(found, back.categories, why, (*named, *refused))),
        unruled=unruled,
        conflicts=conflicts if traits else {},
        uncontrolled={tool: why for tool, why in policy.uncontrolled.items() if tool in off},
        operator_override=policy.operator_override if off else None,
        beyond=tuple(_beyond(bound, found, per_call, listed, guarded)),
        notes=back.notes,
    )


def _unruled(bound: Bound | None, kinds: set[CallKind], per_call: bool) -> tuple[CallKind, ...]:
    """The kinds that could break something in the bound, and are not ruled on."""
    if not _place(bound):
        return ()
    could = {KINDS[category] for category in restricted(bound)}
    if per_call:
        # An agent of the agent's own, or a server of the user's, could break any rule.
        could |= {"subagent", "mcp"}
    return tuple(kind for kind in CALL_KINDS if kind in could and kind not in kinds)


def _place(bound: Bound | None) -> str:
    """The first field that restricts what calls do; "" where none does."""
    if bound is None:
        return ""
    if place := next(iter(restricted(bound).values()), ""):
        return place
    if bound.denied_access:
        return "deniedAccess"
    return "deniedTools" if bound.denied_tools else ""


def _kinds_back(
    harness: NativeHarness,
    categories: Sequence[NativeCategory],
    why: Mapping[str, str],
    named: Sequence[str],
) -> Iterator[NativeCategory]:
    """The categories that lost tools. Who denied one of them by name doesn't want another."""
    for category in categories:
        tools = category_tools(harness, category)
        own = [each for each in harness.native_tools if tools is None or each.casefold() in tools]
        by_name = {tool.casefold() for tool in named}
        if any(tool in why for tool in own) and by_name.isdisjoint(map(str.casefold, own)):
            yield category


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
    harness: NativeHarness,
    per_call: bool,
    listed: Sequence[str] | None,
    guarded: Sequence[str],
) -> list[str]:
    if bound is None:
        return []
    said = []
    inventory = harness.native_tools
    own = (f"{harness.id}:{tool}" for tool in inventory)
    known = {harness.id, *own, *inventory, *guarded}
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
