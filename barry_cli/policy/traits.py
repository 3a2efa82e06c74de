"""Traits: what a selection of them grants, and the restrictions that come along."""

from __future__ import annotations

import warnings
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from barry_cli.base.ids import nearest
from barry_cli.policy.aliases import Answering, names_of
from barry_cli.policy.merge import BoundLike, Merged, as_bound, bound_has_content, merge_with_notes
from barry_cli.policy.problems import PolicyProblem
from barry_cli.policy.schema import Access, AgentTrait, Bound

ResolvedTraits = dict[str, Access]
"""Namespace or tool -> the access that is granted."""

BoundByName = Callable[[str], Awaitable[BoundLike | None]]


@dataclass(frozen=True)
class ResolvedTraitGrants:
    """What a selection of traits grants; ``tool_grant`` answers for one tool."""

    by_namespace: ResolvedTraits = field(default_factory=dict)
    by_tool: ResolvedTraits = field(default_factory=dict)
    """Keyed ``namespace:tool``."""
    by_tool_legacy: ResolvedTraits = field(default_factory=dict)
    """Keyed by a bare name, which is any namespace's."""


def expand_trait_names(
    names: Sequence[str], traits: Mapping[str, AgentTrait], harness: str | Answering | None = None
) -> list[str]:
    """The selected traits and all that they include, each once; a trait stands before what it
    includes. ``harness``, its id or itself (a trait may name it by an alias), adds the traits that
    come with it.

    Raises PolicyProblem for an unknown name: leaving it out could leave out its restrictions.
    """
    found: dict[str, None] = {}
    waiting = [(name, "") for name in reversed(names)]
    while waiting:
        name, asker = waiting.pop()
        if name in found:
            continue
        if name not in traits:
            raise _unknown(name, asker, traits)
        found[name] = None
        waiting += [(each, name) for each in reversed([*_included(traits[name], harness)])]
    return list(found)


def resolve_traits(
    trait_names: Sequence[str],
    all_traits: Mapping[str, AgentTrait],
    harness: str | Answering | None = None,
) -> ResolvedTraitGrants:
    """What the traits grant together; where two differ, ``readwrite`` wins.

    A tool without its namespace warns (DeprecationWarning, once per name).
    """
    grants = ResolvedTraitGrants()
    for name in expand_trait_names(trait_names, all_traits, harness):
        trait = all_traits[name]
        for namespace in trait.namespaces:
            _grant(grants.by_namespace, namespace, trait.access)
        for tool in trait.tools or ():
            if ":" in tool:
                _grant(grants.by_tool, tool, trait.access)
                continue
            if tool not in grants.by_tool_legacy:
                warnings.warn(
                    f"trait {name} grants the tool {tool!r} in every namespace: write namespace:"
                    f"{tool} instead",
                    DeprecationWarning,
                    stacklevel=2,
                )
            _grant(grants.by_tool_legacy, tool, trait.access)
    return grants


def tool_grant(grants: ResolvedTraitGrants, namespace: str, tool: str) -> Access | None:
    """The access that one tool is granted, None when it is not. A grant to the tool itself goes
    before its namespace's, also when it is the lower one.
    """
    for found in (
        grants.by_tool.get(f"{namespace}:{tool}"),
        grants.by_tool_legacy.get(tool),
        grants.by_namespace.get(namespace),
    ):
        if found is not None:
            return found
    return None


async def resolve_effective_bound(
    *,
    bound_by_name: BoundByName,
    trait_names: Sequence[str],
    traits: Mapping[str, AgentTrait],
    bounds: Iterable[BoundLike | None] | None = None,
    harness: str | Answering | None = None,
) -> Bound | None:
    """All restrictions that hold: the caller's bounds, then each trait's own and named ones.

    None when nothing restricts. Raises PolicyProblem for an unknown trait or a named bound that
    isn't there.
    """
    merged = await effective_with_notes(
        bound_by_name=bound_by_name,
        trait_names=trait_names,
        traits=traits,
        bounds=bounds,
        harness=harness,
    )
    return merged.bound


async def effective_with_notes(
    *,
    bound_by_name: BoundByName,
    trait_names: Sequence[str],
    traits: Mapping[str, AgentTrait],
    bounds: Iterable[BoundLike | None] | None = None,
    harness: str | Answering | None = None,
) -> Merged:
    """``resolve_effective_bound`` with what a person should know about it."""
    chain: list[BoundLike | None] = []
    labels: list[str] = []
    for index, bound in enumerate(map(as_bound, bounds or ()), start=1):
        chain.append(bound)
        labels.append((bound and bound.name) or f"bound {index}")
    asked: set[str] = set()
    for name in expand_trait_names(trait_names, traits, harness):
        trait = traits[name]
        chain.append(trait.bound)
        labels.append(f"trait {name}")
        for bound_name in trait.bound_names or ():
            if bound_name in asked:
                continue
            asked.add(bound_name)
            named = await bound_by_name(bound_name)
            if named is None:
                raise PolicyProblem(
                    f"trait {name} names the bound {bound_name}, and there is none of that name",
                    hint="write the bound, or take its name out of the trait's boundNames",
                )
            chain.append(named)
            labels.append(bound_name)
    merged = merge_with_notes(chain, labels)
    return merged if bound_has_content(merged.bound) else Merged(None, merged.notes)


def _included(trait: AgentTrait, harness: str | Answering | None) -> Iterator[str]:
    yield from trait.includes or ()
    named = trait.harness_traits or {}
    for name in names_of(harness) if harness is not None else ():
        if name in named:
            yield named[name]


def _unknown(name: str, asker: str, traits: Mapping[str, AgentTrait]) -> PolicyProblem:
    guess = nearest(name, traits)
    whose = f", which trait {asker} includes" if asker else ""
    asked = f"; did you mean {guess}?" if guess else ""
    return PolicyProblem(
        f"there is no trait {name}{whose}{asked}", hint="`barry bound list` shows the traits"
    )


def _grant(table: ResolvedTraits, key: str, access: Access) -> None:
    if table.get(key) != "readwrite":
        table[key] = access
