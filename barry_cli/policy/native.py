"""The harness's own tools under a policy: which are taken back, denied, granted, out of reach.

A call to a native tool may bypass Barry's guards, so a guarded restriction takes back the whole
category of native tools that could break it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import ConfigDict, Field

from barry_cli.base.ids import nearest
from barry_cli.contract.adapter import NativeControl
from barry_cli.contract.data import Data
from barry_cli.contract.levels import ModeId
from barry_cli.policy.aliases import names_of
from barry_cli.policy.merge import BoundLike, as_bound
from barry_cli.policy.problems import PolicyProblem
from barry_cli.policy.ruling.actions import LEAVES, expand_actions
from barry_cli.policy.ruling.tool_names import files_rule
from barry_cli.policy.schema import NATIVE_CATEGORIES, AgentTrait, Bound, NativeCategory
from barry_cli.policy.tools import ToolMeta


class _Part(Data):
    """Part of something larger: made from a table or from anything with these attributes."""

    model_config = ConfigDict(from_attributes=True, extra="ignore")


class NativeManifest(_Part):
    """What a bag says about its harness's native tools."""

    name: str
    bounds: dict[str, Bound] = Field(default_factory=dict)
    """A bound that is named like a category lists the category's tools in its ``nativeTools``."""
    categories: dict[NativeCategory, tuple[str, ...]] = Field(default_factory=dict)
    """The same, said shorter."""
    traits: dict[str, AgentTrait] = Field(default_factory=dict)


class NativeBag(_Part):
    manifest: NativeManifest


class NativeMode(_Part):
    native: NativeControl | None = None


class NativeHarness(_Part):
    """One harness, as far as its own tools are concerned."""

    id: str
    native_tools: tuple[str, ...]
    """Everything that it can offer a session, as it names them."""
    aliases: tuple[str, ...] = ()
    """Its former ids: policies may still name it so."""
    bag: NativeBag | None = None
    default_mode: ModeId | None = None
    label: str | None = None
    modes: dict[ModeId, NativeMode | None] | None = None


class NativeHarnessLike(Protocol):
    """What can be read as a NativeHarness: the record of an installed adapter, for one."""

    @property
    def id(self) -> str: ...
    @property
    def native_tools(self) -> Sequence[str]: ...


AnyHarness = NativeHarness | NativeHarnessLike


@dataclass(frozen=True, kw_only=True)
class NativeGrants:
    """What is granted to a session: its bound, and native tools under the harness's id."""

    bound: BoundLike | None = None
    tools: Sequence[ToolMeta] = ()


class NativeToolStatus(Data):
    """What becomes of every native tool."""

    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    refused: dict[str, str] = Field(default_factory=dict)
    """Granted, and this mode can't turn it on; with the reason."""
    uncontrolled: dict[str, str] = Field(default_factory=dict)
    """Not allowed, and this mode can't turn it off; with the reason."""


class NativePolicy(NativeToolStatus):
    """What becomes of every native tool, and what stands against it."""

    conflicts: dict[str, str] = Field(default_factory=dict)
    """Granted, and taken back by a restriction; with the reason."""
    operator_override: str | None = None
    """How the operator can lift the denials of this mode."""


def can_enforce_in_sandbox(actions: Sequence[str] | None = None) -> bool:
    """Whether the egress proxy alone can enforce a bound's network actions.

    It filters by host, not by method: it can close everything, and nothing in part.
    """
    return not actions or expand_actions(list(actions)).issuperset(LEAVES)


def native_tools_taken_back(bound: BoundLike | None, harness: AnyHarness) -> list[str]:
    """The native tools that could break a restriction which only Barry's guards enforce.

    All of them, where the bag doesn't say which tools belong to a category that is needed.
    """
    return list(taken_back(as_bound(bound), native_harness(harness)).why)


@dataclass(frozen=True)
class TakenBack:
    """Native tools that are taken back, each with the field that does it, and what to know."""

    why: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    categories: tuple[NativeCategory, ...] = ()
    """What for."""


def taken_back(
    bound: Bound | None, harness: NativeHarness, ruled: Container[NativeCategory] = ()
) -> TakenBack:
    """``native_tools_taken_back`` with its reasons. ``ruled``: categories whose single calls are
    ruled on, so that nothing goes for their sake.
    """
    blame: dict[str, str] = {}
    notes: list[str] = []
    needed = {each: place for each, place in restricted(bound).items() if each not in ruled}
    for category, place in needed.items():
        tools = category_tools(harness, category)
        if tools is None:
            notes.append(
                f"{harness.id} doesn't say which of its tools belong to {category}: {place} takes "
                "back all of them"
            )
            tools = set(map(str.casefold, harness.native_tools))
        for tool in tools:
            blame.setdefault(tool, place)
    why = {
        tool: blame[tool.casefold()] for tool in harness.native_tools if tool.casefold() in blame
    }
    return TakenBack(why, tuple(notes), tuple(needed))


def native_tool_denials(
    bound: BoundLike | None, harness: str | AnyHarness, inventory: Sequence[str]
) -> list[str]:
    """The native tools that a bound names, under ``nativeTools`` or ``deniedTools``; in any case,
    answered as the inventory spells them.

    ``harness``: its id, or itself: a bound may name it by an alias.
    """
    return _denials(as_bound(bound), names_of(harness), inventory)


def native_tool_status(
    traits: Sequence[AgentTrait],
    bound: BoundLike | None,
    harness: AnyHarness,
    mode: ModeId | None = None,
) -> NativeToolStatus:
    """What becomes of the native tools when these traits grant and this bound restricts.

    ``mode``: the harness's default when absent.
    """
    given = native_harness(harness)
    granted = {
        tool
        for trait in traits
        for name in names_of(given)
        for tool in (trait.native_tools or {}).get(name, ())
    }
    policy = _policy(granted, as_bound(bound), given, mode)
    return NativeToolStatus(
        allowed=policy.allowed,
        denied=policy.denied,
        refused=policy.refused,
        uncontrolled=policy.uncontrolled,
    )


def resolve_native_policy(
    grants: NativeGrants | Mapping[str, Any],
    harness: AnyHarness | None = None,
    mode: ModeId | None = None,
) -> NativePolicy:
    """What becomes of the native tools of a session: ``grants`` holds ``bound`` and ``tools``,
    of which those under the harness's id are its own. Without a harness there are none.
    """
    given = grants if isinstance(grants, NativeGrants) else NativeGrants(**grants)
    if harness is None:
        return NativePolicy()
    found = native_harness(harness)
    granted = {tool.tool_name for tool in given.tools if tool.namespace in names_of(found)}
    return _policy(granted, as_bound(given.bound), found, mode)


def validate_native_tools(manifest: object, harness: AnyHarness) -> None:
    """Check that a bag grants and denies only native tools that its harness has.

    Raises PolicyProblem, which names every other one.
    """
    bag = NativeManifest.model_validate(manifest)
    found = native_harness(harness)
    problems = []
    for place, tool in _native_names(bag, names_of(found)):
        if tool not in found.native_tools:
            guess = nearest(tool, found.native_tools)
            asked = f"; did you mean {guess}?" if guess else ""
            problems.append(f"{place} names {tool!r}, which {found.id} doesn't offer{asked}")
    if problems:
        raise PolicyProblem(f"bag {bag.name}: {'; '.join(problems)}")


def native_harness(harness: object) -> NativeHarness:
    """The native side of a harness, from a table or from anything with the same attributes."""
    return NativeHarness.model_validate(harness)


def _policy(
    granted: Iterable[str], bound: Bound | None, harness: NativeHarness, mode: ModeId | None
) -> NativePolicy:
    control = _control(harness, mode)
    reach = _Reach(harness.native_tools, control)
    asked = set(map(str.casefold, granted))
    wanted = [tool for tool in harness.native_tools if tool.casefold() in asked]
    denials = set(_denials(bound, names_of(harness), harness.native_tools))
    back = taken_back(bound, harness).why
    left = [tool for tool in wanted if tool not in denials and tool not in back]
    allowed = reach.turned_on(left)
    stuck = {tool: reason for tool, reason in reach.uncontrolled.items() if tool not in allowed}
    return NativePolicy(
        allowed=tuple(tool for tool in harness.native_tools if tool in allowed),
        conflicts={
            tool: f"{back[tool]} takes it back: its calls could bypass the guards"
            for tool in wanted
            if tool in back and tool not in denials
        },
        denied=tuple(
            tool for tool in harness.native_tools if tool not in allowed and tool not in stuck
        ),
        operator_override=control.operator_override if control else None,
        refused={
            tool: reach.refusal(tool) for tool in left if tool not in allowed and tool not in stuck
        },
        uncontrolled=stuck,
    )


class _Reach:
    """What a mode can do about native tools, in the inventory's spelling."""

    def __init__(self, inventory: Sequence[str], control: NativeControl | None) -> None:
        spelt = {tool.casefold(): tool for tool in inventory}

        def own(names: Iterable[str]) -> set[str]:
            return {spelt.get(name.casefold(), name) for name in names}

        self.grantable = own(control.grantable if control else inventory)
        self.groups = [own(group) for group in (control.inseparable if control else None) or ()]
        reasons = (control.uncontrolled if control else None) or {}
        self.uncontrolled = {
            spelt.get(name.casefold(), name): reason for name, reason in reasons.items()
        }

    def turned_on(self, wanted: Iterable[str]) -> set[str]:
        allowed = self.grantable.intersection(wanted)
        # Groups may overlap, so one that falls can take another with it.
        while fallen := [each for each in self.groups if each & allowed and not each <= allowed]:
            for group in fallen:
                allowed -= group
        return allowed

    def refusal(self, tool: str) -> str:
        if tool not in self.grantable:
            return "this mode can't turn it on while others stay off"
        group = next(each for each in self.groups if tool in each)
        return f"this mode turns it on only together with {', '.join(sorted(group - {tool}))}"


def _control(harness: NativeHarness, mode: ModeId | None) -> NativeControl | None:
    wanted = mode or harness.default_mode
    modes = harness.modes or {}
    if wanted is None or not modes:
        return None
    found = modes.get(wanted)
    if found is None:
        offered = ", ".join(name for name, each in modes.items() if each is not None)
        raise PolicyProblem(
            f"{harness.id} has no mode {wanted}", hint=f"its modes: {offered or 'none'}"
        )
    return found.native


def restricted(bound: Bound | None) -> dict[NativeCategory, str]:
    """Category -> the field that takes its tools back, in the order of the categories."""
    found: dict[NativeCategory, str] = {}

    def need(place: str, *categories: NativeCategory) -> None:
        for category in categories:
            found.setdefault(category, place)

    bash, files, network = (bound.bash, bound.files, bound.network) if bound else (None,) * 3
    if bash and (bash.deny_programs or bash.deny):
        need("bash.denyPrograms" if bash.deny_programs else "bash.deny", "shell")
    if files and (files.deny or files.allow_only is not None):
        place = "files.deny" if files.deny else "files.allowOnly"
        need(place, "shell", "file-reads", "file-writes")
    access = files_rule(bound.denied_access or ()) if bound else ""
    if access:
        need("deniedAccess", "shell", "file-writes")
    if network and not can_enforce_in_sandbox(network.actions):
        need("network.actions", "shell", "network")
    if network and network.enforce != "sandbox" and (network.actions or network.domains):
        # Under the sandbox the proxy holds for hosts.
        need("network.actions" if network.actions else "network.domains", "shell", "network")
    return {category: found[category] for category in NATIVE_CATEGORIES if category in found}


def category_tools(harness: NativeHarness, category: NativeCategory) -> set[str] | None:
    """The tools of a category, in lower case; None when the bag doesn't say."""
    manifest = harness.bag.manifest if harness.bag else None
    if manifest is None:
        return None
    said = []
    if category in manifest.categories:
        said.append(manifest.categories[category])
    listed = manifest.bounds[category].native_tools if category in manifest.bounds else None
    said += [tools for owner, tools in (listed or {}).items() if owner in names_of(harness)]
    return {tool.casefold() for tools in said for tool in tools} if said else None


def _denials(bound: Bound | None, ids: Sequence[str], inventory: Sequence[str]) -> list[str]:
    if bound is None:
        return []
    named = {
        tool.casefold()
        for owner, tools in (bound.native_tools or {}).items()
        for tool in tools
        if owner in ids
    }
    named |= {rule.casefold() for rule in bound.denied_tools or ()}
    if named.intersection(ids):
        return list(inventory)
    return [
        tool
        for tool in inventory
        if named.intersection([tool.casefold(), *(f"{owner}:{tool}".casefold() for owner in ids)])
    ]


def _native_names(bag: NativeManifest, ids: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Every native name of this harness that a bag mentions, and where."""
    for category, tools in bag.categories.items():
        for tool in tools:
            yield f"categories.{category}", tool
    bounds = [(f"bounds.{name}", bound) for name, bound in bag.bounds.items()]
    bounds += [
        (f"traits.{name}.bound", trait.bound) for name, trait in bag.traits.items() if trait.bound
    ]
    tables = [(place, bound.native_tools) for place, bound in bounds]
    tables += [(f"traits.{name}", trait.native_tools) for name, trait in bag.traits.items()]
    for place, table in tables:
        for owner, tools in (table or {}).items():
            for tool in tools if owner in ids else ():
                yield f"{place}.nativeTools.{owner}", tool
