"""What was approved is told from what was changed, and rights only shrink from there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.canonical import NotCanonical
from barry_cli.contract.data import snapshot
from barry_cli.policy.merge import merge_bounds
from barry_cli.policy.problems import NotAllowed, PolicyProblem
from barry_cli.policy.schema import AgentTrait, Bound, parse_bound
from barry_cli.policy.scope import (
    ExecutionContext,
    ExecutionScope,
    approve_execution_scope,
    assert_node_allowed,
    assert_scope_delegation,
    assert_tool_allowed,
    intersect_execution_scope,
    resolve_execution_context,
    scope_fingerprint,
)
from barry_cli.policy.strictness import excess
from barry_cli.policy.tools import ToolMeta
from tests.unit.policy.bound_samples import BOUNDS

CATALOG = [
    ToolMeta(namespace="git", tool_name="status", access="read", contract_hash="s1"),
    ToolMeta(namespace="git", tool_name="commit", access="write", contract_hash="c1"),
    ToolMeta(namespace="git", tool_name="push", access="write"),
    ToolMeta(namespace="sentry", tool_name="search", access="read"),
]

TRAITS = {
    "coding": AgentTrait.model_validate(
        {
            "name": "coding",
            "access": "readwrite",
            "namespaces": ["git"],
            "bound": {"bash": {"denyPrograms": ["git"]}},
            "harnessTraits": {"toy": "toys"},
        }
    ),
    "toys": AgentTrait(name="toys", access="read", namespaces=("sentry",)),
    "review": AgentTrait(name="review", access="read", namespaces=("git", "sentry")),
}


async def no_bound(name: str) -> Bound | None:
    return None


async def approve(traits: list[str] | None = None, **rest: Any) -> ExecutionScope:
    given_tools = rest.pop("tools", CATALOG)
    return await approve_execution_scope(
        bound_by_name=no_bound,
        tools=given_tools,
        trait_names=["coding"] if traits is None else traits,
        traits=TRAITS,
        **rest,
    )


async def now(traits: list[str] | None = None, **rest: Any) -> ExecutionContext:
    return await resolve_execution_context(
        bound_by_name=no_bound,
        tools=CATALOG,
        trait_names=["coding"] if traits is None else traits,
        traits=TRAITS,
        **rest,
    )


async def test_an_approval_says_what_it_covers() -> None:
    scope = await approve(harness="toy", identity="ann")
    assert scope.tools == {
        "git:status": "read",
        "git:commit": "write",
        "git:push": "write",
        "sentry:search": "read",
    }
    assert scope.contracts == {"git:status": "s1", "git:commit": "c1"}
    assert scope.traits == ("coding", "toys")
    assert (scope.harness, scope.identity) == ("toy", "ann")
    assert scope.bound == parse_bound({"bash": {"denyPrograms": ["git"]}})
    assert scope.fingerprint == scope_fingerprint(scope)
    assert len(scope.fingerprint) == 64


async def test_nothing_is_granted_that_is_not_selected() -> None:
    scope = await approve([], identity="ann")
    assert (scope.tools, scope.traits, scope.bound, scope.contracts) == ({}, (), None, None)
    context = await now([])
    assert (context.allowed_tool_ids, context.traits) == ((), ())


async def test_a_context_is_what_holds_now() -> None:
    bound = parse_bound({"deniedTools": ["git:push"]})
    context = await now(bounds=[bound], harness="toy", identity="ann")
    assert context.allowed_tool_ids == ("git:status", "git:commit", "sentry:search")
    assert context.traits == ("coding", "toys")
    assert context.bound == merge_bounds(bound, TRAITS["coding"].bound)


async def test_a_fingerprint_is_stable() -> None:
    scope = await approve(["coding", "review"])
    turned = await approve(["review", "coding"], tools=list(reversed(CATALOG)))
    assert turned.fingerprint == scope.fingerprint
    document = json.loads(json.dumps(snapshot(scope)))
    assert scope_fingerprint(document) == scope.fingerprint
    with_nulls = {"harness": None, **document, "bound": document["bound"], "identity": None}
    assert scope_fingerprint(with_nulls) == scope.fingerprint
    assert ExecutionScope.model_validate(document) == scope
    # The counter-cases: everything that is approved counts.
    others = [
        await approve(["coding"]),
        await approve(["coding", "review"], harness="toy"),
        await approve(["coding", "review"], identity="ann"),
        await approve(["coding", "review"], bounds=[{"bash": {"deny": ["x"]}}]),
        await approve(
            ["coding", "review"],
            tools=[tool.model_copy(update={"contract_hash": "new"}) for tool in CATALOG],
        ),
    ]
    assert len({scope.fingerprint, *(other.fingerprint for other in others)}) == len(others) + 1


@given(st.permutations(["c", "a", "b"]), st.integers(0, 9))
def test_the_order_of_keys_is_not_in_a_fingerprint(keys: list[str], number: int) -> None:
    value = {key: {"x": number, "y": None} for key in keys}
    assert scope_fingerprint(value) == scope_fingerprint({"a": {"x": number}} | value)
    assert scope_fingerprint([value]) != scope_fingerprint([value, number])


def test_what_has_no_canonical_form_has_no_fingerprint() -> None:
    around: dict[str, Any] = {}
    around["x"] = [around]
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    for value in (around, deep, {"x": float("nan")}, {1: 2}, {"x": {1}}):
        with pytest.raises(NotCanonical):
            scope_fingerprint(value)


async def test_a_catalogue_must_agree_with_itself() -> None:
    twice = [*CATALOG, CATALOG[0]]
    assert (await approve(tools=twice)).tools == (await approve()).tools
    other = CATALOG[0].model_copy(update={"access": "write"})
    with pytest.raises(PolicyProblem, match="lists git:status twice"):
        await approve(tools=[*CATALOG, other])


async def test_what_is_left_of_an_approval() -> None:
    scope = await approve(["coding", "review"])
    context = await now(["coding"], bounds=[{"deniedTools": ["sentry"]}])
    left = intersect_execution_scope(scope, context, CATALOG)
    assert left.allowed_tool_ids == ("git:status", "git:commit", "git:push")
    assert left.traits == ("coding",)
    assert left.bound == merge_bounds(scope.bound, context.bound)
    fewer = intersect_execution_scope(
        approved=scope,
        current=context,
        catalog=CATALOG,
        restrictions=[None, parse_bound({"deniedAccess": ["git"]})],
    )
    assert fewer.allowed_tool_ids == ("git:status",)
    assert fewer.bound == merge_bounds(left.bound, {"deniedAccess": ["git"]})
    assert intersect_execution_scope(snapshot(scope), context, CATALOG) == left


@pytest.mark.parametrize(
    "change",
    [
        {"access": "read"},
        {"contract_hash": "c2"},
        {"contract_hash": None},
        {"tool_name": "amend"},
    ],
)
async def test_a_tool_that_changed_is_not_approved(change: dict[str, Any]) -> None:
    catalog = [
        tool.model_copy(update=change) if tool.tool_name == "commit" else tool for tool in CATALOG
    ]
    scope = await approve()
    left = intersect_execution_scope(scope, await now(), catalog)
    assert left.allowed_tool_ids == ("git:status", "git:push")
    with pytest.raises(NotAllowed, match="git:commit can't be handed on"):
        assert_scope_delegation(scope, await now(), catalog)


async def test_a_scope_that_was_changed_is_refused() -> None:
    scope = await approve()
    for change in ({"bound": None}, {"identity": "eve"}, {"fingerprint": "0" * 64}):
        forged = scope.model_copy(update=change)
        with pytest.raises(PolicyProblem, match="changed after its approval"):
            intersect_execution_scope(forged, await now(), CATALOG)
        with pytest.raises(PolicyProblem, match="changed after its approval"):
            assert_scope_delegation(forged, await now(), CATALOG)


async def test_an_approval_is_for_its_harness_and_identity() -> None:
    scope = await approve(harness="toy", identity="ann")
    same = await now(harness="toy", identity="ann")
    assert intersect_execution_scope(scope, same, CATALOG).identity == "ann"
    for other in (
        await now(harness="bee", identity="ann"),
        await now(harness="toy", identity="eve"),
        await now(harness="toy"),
    ):
        with pytest.raises(NotAllowed, match="this was approved for the"):
            intersect_execution_scope(scope, other, CATALOG)
    open_scope = await approve()
    assert intersect_execution_scope(open_scope, same, CATALOG).harness == "toy"


def sealed(bound: Any, **tools: str) -> ExecutionScope:
    scope = ExecutionScope.model_validate(
        {
            "bound": bound,
            "fingerprint": "",
            "tools": {name.replace("_", ":"): access for name, access in tools.items()},
            "contracts": {"git:status": "s1"} if "git_status" in tools else None,
            "traits": [],
        }
    )
    return scope.model_copy(update={"fingerprint": scope_fingerprint(scope)})


DELEGATOR = ExecutionContext(
    allowed_tool_ids=("git:status", "git:push"),
    bound=parse_bound({"name": "mine", "bash": {"denyPrograms": ["git"]}}),
)


def test_nobody_hands_on_a_weaker_bound() -> None:
    with pytest.raises(NotAllowed, match=r"bash\.denyPrograms must hold git") as caught:
        assert_scope_delegation(scope=sealed(None), delegator=DELEGATOR, catalog=CATALOG)
    assert caught.value.field == "bash.denyPrograms"
    stricter = {"bash": {"denyPrograms": ["npm", "git"]}}
    assert_scope_delegation(sealed(stricter, git_status="read"), DELEGATOR, CATALOG)


@pytest.mark.parametrize(
    ("bound", "over", "problem"),
    [
        ({"network": {"actions": ["all"]}}, {"network": {"actions": ["write"]}}, ""),
        ({"network": {"enforce": "guard"}}, {}, ""),
        ({}, {"network": {"enforce": "guard"}, "description": "x", "deniedTools": []}, ""),
        ({"files": {"allowOnly": ["src/a/**"]}}, {"files": {"allowOnly": ["src/**"]}}, ""),
        ({"files": {"allowOnly": []}}, {"files": {"allowOnly": ["src/**"]}}, ""),
        ({"network": {"enforce": "sandbox"}}, {"network": {"enforce": "sandbox"}}, ""),
        (
            {"files": {"allowOnly": ["src/**", "x"]}},
            {"files": {"allowOnly": ["src/**"]}},
            "files.allowOnly must be no more than **/src/**/x, src/**",
        ),
        ({}, {"nodes": {"allow": []}}, "nodes.allow must be no more than an empty list"),
        (
            {"network": {"enforce": "sandbox", "allowDomains": ["a.com"]}},
            {"network": {"enforce": "sandbox"}},
            "network.allowDomains must be no more than an empty list",
        ),
        ({}, {"network": {"enforce": "sandbox"}}, "network.allowDomains must be no more than"),
        ({}, {"nativeTools": {"toy": ["Zap"]}}, "nativeTools.toy must hold Zap"),
    ],
)
def test_excess_is_named(bound: Any, over: Any, problem: str) -> None:
    said = excess(of=parse_bound(over), over=parse_bound(bound))
    if problem.startswith("files.allowOnly"):
        problem = "files.allowOnly must be no more than "
    assert said.startswith(problem)
    assert bool(said) == bool(problem)


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ({"git_commit": "write"}, "the delegator doesn't have it"),
        ({"git_status": "write"}, "it was approved to write, and the catalogue says read"),
        ({"git_gone": "read"}, "the delegator doesn't have it"),
    ],
)
def test_nobody_hands_on_a_further_tool(tools: dict[str, str], problem: str) -> None:
    with pytest.raises(NotAllowed, match=problem):
        assert_scope_delegation(sealed(DELEGATOR.bound, **tools), DELEGATOR, CATALOG)
    with pytest.raises(NotAllowed, match="the catalogue no longer lists it"):
        assert_scope_delegation(sealed(DELEGATOR.bound, git_push="write"), DELEGATOR, [])


def test_nobody_hands_on_what_their_bound_denies() -> None:
    held = DELEGATOR.model_copy(update={"bound": parse_bound({"deniedTools": ["git:push"]})})
    with pytest.raises(NotAllowed, match="the delegator's bound denies it"):
        assert_scope_delegation(sealed(held.bound, git_push="write"), held, CATALOG)


@given(BOUNDS, BOUNDS)
def test_both_bounds_at_once_can_always_be_handed_on(one: Bound, other: Bound) -> None:
    delegator = DELEGATOR.model_copy(update={"bound": one})
    assert_scope_delegation(sealed(merge_bounds(one, other)), delegator, CATALOG)


@pytest.mark.parametrize(
    ("nodes", "node", "rule"),
    [
        (None, "local", None),
        ({}, "local", None),
        ({"deny": ["far"]}, "local", None),
        ({"deny": ["far"]}, "far", "nodes.deny"),
        ({"allow": ["local"]}, "local", None),
        ({"allow": ["local"]}, "far", "nodes.allow"),
        ({"allow": []}, "local", "nodes.allow"),
        ({"allow": ["far"], "deny": ["far"]}, "far", "nodes.deny"),
    ],
)
def test_nodes(nodes: dict[str, Any] | None, node: str, rule: str | None) -> None:
    bound = None if nodes is None else parse_bound({"nodes": nodes})
    if rule is None:
        assert_node_allowed(node, bound)
        return
    with pytest.raises(NotAllowed) as caught:
        assert_node_allowed(node_id=node, bound=bound)
    assert caught.value.field == rule
    assert node in str(caught.value)


def test_without_a_bound_every_node_is_allowed() -> None:
    assert_node_allowed("anywhere")


def test_a_tool_is_allowed_when_all_agree() -> None:
    status, push, commit = (CATALOG[0], CATALOG[2], CATALOG[1])
    context = DELEGATOR.model_copy(
        update={"bound": parse_bound({"deniedTools": ["push"], "nodes": {"deny": ["far"]}})}
    )
    assert_tool_allowed(context=context, tool=status, node_id="local")
    with pytest.raises(NotAllowed, match="node far is denied") as caught:
        assert_tool_allowed(context, status, "far")
    assert caught.value.field == "nodes.deny"
    with pytest.raises(NotAllowed, match=r"git:push is denied by deniedTools \(push\)"):
        assert_tool_allowed(context, push, "local")
    with pytest.raises(NotAllowed, match="git:commit is not among the tools"):
        assert_tool_allowed(context, commit, "local")
