"""Former ids of harnesses in policies: replaced by the ids before a policy is used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from barry_cli.policy.problems import PolicyProblem
from barry_cli.policy.schema import AgentTrait, Bound, Rules


class Answering(Protocol):
    """What has an id, and perhaps ``aliases`` that policies may still name it by."""

    @property
    def id(self) -> str: ...


def names_of(harness: str | Answering) -> tuple[str, ...]:
    """All names that a policy may know a harness by: its id, and its aliases where they are known.

    ``harness``: its id alone, or its record or anything else with these parts.
    """
    if isinstance(harness, str):
        return (harness,)
    return (harness.id, *getattr(harness, "aliases", ()))


def bound_with_ids(bound: Bound, ids: Mapping[str, str]) -> Bound:
    """The bound with every alias (alias -> id) in ``nativeTools`` replaced by its id."""
    if bound.native_tools is None or ids.keys().isdisjoint(bound.native_tools):
        return bound
    tools = _tools(bound.native_tools, ids)
    return Bound.model_validate({**dict(bound), "native_tools": tools})


def trait_with_ids(trait: AgentTrait, ids: Mapping[str, str]) -> AgentTrait:
    """The same for a trait, its ``harnessTraits`` and its own bound.

    Raises PolicyProblem when an alias and its id stand for two different traits.
    """
    update: dict[str, object] = {}
    if trait.native_tools is not None:
        update["native_tools"] = _tools(trait.native_tools, ids)
    if trait.bound is not None:
        update["bound"] = bound_with_ids(trait.bound, ids)
    if trait.harness_traits is not None:
        found: dict[str, str] = {}
        for key, name in trait.harness_traits.items():
            owner = ids.get(key, key)
            if found.setdefault(owner, name) != name:
                raise PolicyProblem(
                    f"trait {trait.name} has two harnessTraits for {owner}: "
                    f"{found[owner]} and {name}",
                    hint=f"keep the one under {owner}",
                )
        update["harness_traits"] = found
    return AgentTrait.model_validate({**dict(trait), **update}) if update else trait


def _tools(table: Mapping[str, Rules], ids: Mapping[str, str]) -> dict[str, Rules]:
    found: dict[str, Rules] = {}
    for key, tools in table.items():
        owner = ids.get(key, key)
        found[owner] = tuple(dict.fromkeys((*found.get(owner, ()), *tools)))
    return found
