"""Traits grant, include one another, and bring their restrictions along."""

from __future__ import annotations

import warnings

import pytest

from barry_cli.contract.data import snapshot
from barry_cli.policy.problems import PolicyProblem
from barry_cli.policy.schema import AgentTrait, Bound
from barry_cli.policy.traits import (
    ResolvedTraitGrants,
    effective_with_notes,
    expand_trait_names,
    resolve_effective_bound,
    resolve_traits,
    tool_grant,
)


def trait(name: str, **rest: object) -> AgentTrait:
    return AgentTrait.model_validate(
        {"name": name, "access": "read", "namespaces": [], **rest}, by_alias=True, by_name=False
    )


TRAITS = {
    each.name: each
    for each in (
        trait(
            "coding",
            namespaces=["git"],
            access="readwrite",
            bound={"bash": {"denyPrograms": ["git", "gh"]}},
            harnessTraits={"toy": "coding-toy"},
        ),
        trait("coding-toy", nativeTools={"toy": ["Zap"]}),
        trait("review", includes=["coding"], namespaces=["sentry"]),
        trait("round", includes=["about"]),
        trait("about", includes=["round"]),
        trait("careful", boundNames=["no-push", "no-network"]),
        trait("lost", includes=["codng"]),
    )
}


def test_a_worked_example() -> None:
    assert expand_trait_names(names=["review"], traits=TRAITS, harness="toy") == [
        "review",
        "coding",
        "coding-toy",
    ]
    grants = resolve_traits(trait_names=["review"], all_traits=TRAITS, harness="toy")
    assert grants.by_namespace == {"sentry": "read", "git": "readwrite"}


@pytest.mark.parametrize(
    ("names", "harness", "expanded"),
    [
        ([], None, []),
        (["review"], None, ["review", "coding"]),
        (["review"], "other", ["review", "coding"]),
        (["coding", "review", "coding"], None, ["coding", "review"]),
        (["round"], None, ["round", "about"]),
        (["about", "round"], None, ["about", "round"]),
    ],
)
def test_names_expand_once_each(names: list[str], harness: str | None, expanded: list[str]) -> None:
    assert expand_trait_names(names, TRAITS, harness) == expanded


def test_a_long_chain_expands() -> None:
    chain = {f"t{n}": trait(f"t{n}", includes=[f"t{n + 1}"]) for n in range(5000)}
    chain["t5000"] = trait("t5000")
    assert len(expand_trait_names(["t0"], chain)) == 5001


def test_an_unknown_name_is_refused_with_who_asked_for_it() -> None:
    with pytest.raises(PolicyProblem, match=r"no trait codin; did you mean coding\?"):
        expand_trait_names(["codin"], TRAITS)
    with pytest.raises(PolicyProblem, match=r"codng, which trait lost includes"):
        resolve_traits(["lost"], TRAITS)


def test_the_higher_access_wins_among_traits() -> None:
    traits = {
        "low": trait("low", namespaces=["a"], tools=["b:x", "b:y"]),
        "high": trait("high", namespaces=["a"], tools=["b:x"], access="readwrite"),
    }
    for names in (["low", "high"], ["high", "low"]):
        grants = resolve_traits(names, traits)
        assert grants.by_namespace == {"a": "readwrite"}
        assert grants.by_tool == {"b:x": "readwrite", "b:y": "read"}


def test_a_bare_tool_warns_once_and_holds_everywhere() -> None:
    traits = {
        "old": trait("old", tools=["status"]),
        "older": trait("older", tools=["status", "log"], access="readwrite"),
    }
    with pytest.warns(DeprecationWarning, match="in every namespace") as seen:
        grants = resolve_traits(["old", "older"], traits)
    assert [str(each.message).split("'")[1] for each in seen] == ["status", "log"]
    assert grants.by_tool_legacy == {"status": "readwrite", "log": "readwrite"}
    assert tool_grant(grants, "git", "status") == tool_grant(grants, "x", "status") == "readwrite"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        resolve_traits(["new"], {"new": trait("new", tools=["git:status"])})  # the counter-case


def test_a_grant_to_the_tool_goes_before_its_namespaces() -> None:
    grants = ResolvedTraitGrants(
        by_namespace={"git": "readwrite", "sentry": "read"},
        by_tool={"git:push": "read"},
        by_tool_legacy={"log": "read", "push": "readwrite"},
    )
    assert tool_grant(grants, "git", "push") == "read"
    assert tool_grant(grants, "git", "log") == "read"
    assert tool_grant(grants, "git", "pull") == "readwrite"
    assert tool_grant(grants=grants, namespace="sentry", tool="push") == "readwrite"
    assert tool_grant(grants, "system", "status") is None


NAMED = {
    "no-push": Bound(denied_tools=("git:push",)),
    "no-network": Bound.model_validate({"network": {"actions": ["all"]}}),
}


async def by_name(name: str) -> Bound | None:
    return NAMED.get(name)


async def test_every_restriction_of_the_chain_holds() -> None:
    bound = await resolve_effective_bound(
        bound_by_name=by_name,
        bounds=[None, Bound.model_validate({"bash": {"denyPrograms": ["npm"]}})],
        harness="toy",
        trait_names=["review", "careful"],
        traits=TRAITS,
    )
    assert bound is not None
    assert snapshot(bound) == {
        "bash": {"denyPrograms": ["gh", "git", "npm"]},
        "deniedTools": ["git:push"],
        "network": {"actions": ["all"]},
    }


async def test_nothing_that_restricts_is_no_bound() -> None:
    assert (
        await resolve_effective_bound(
            bound_by_name=by_name,
            bounds=[Bound(name="x"), {}],
            trait_names=["round"],
            traits=TRAITS,
        )
        is None
    )
    assert await resolve_effective_bound(bound_by_name=by_name, trait_names=[], traits={}) is None


async def test_a_named_bound_that_is_not_there_is_refused() -> None:
    traits = {"x": trait("x", boundNames=["no-such"])}
    with pytest.raises(PolicyProblem, match="trait x names the bound no-such"):
        await resolve_effective_bound(bound_by_name=by_name, trait_names=["x"], traits=traits)
    # The counter-case: the trait that isn't selected asks for nothing.
    assert (
        await resolve_effective_bound(bound_by_name=by_name, trait_names=[], traits=traits) is None
    )


async def test_notes_name_traits_and_bounds() -> None:
    traits = {"src": trait("src", bound={"files": {"allowOnly": ["src/**"]}}, boundNames=["docs"])}

    async def docs(name: str) -> Bound | None:
        return Bound.model_validate({"files": {"allowOnly": ["docs/**"]}})

    merged = await effective_with_notes(bound_by_name=docs, trait_names=["src"], traits=traits)
    (note,) = merged.notes
    assert note.endswith("no file is allowed: docs allows nothing that trait src allows")
