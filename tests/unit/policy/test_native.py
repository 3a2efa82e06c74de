"""What becomes of a harness's own tools under a bound, in a mode, with what traits grant."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given

from barry_cli.bags.manifest import BagManifest
from barry_cli.contract.adapter import NativeControl
from barry_cli.policy.native import (
    NativeGrants,
    NativeHarness,
    can_enforce_in_sandbox,
    native_harness,
    native_tool_denials,
    native_tool_status,
    native_tools_taken_back,
    resolve_native_policy,
    taken_back,
    validate_native_tools,
)
from barry_cli.policy.problems import PolicyProblem
from barry_cli.policy.ruling.actions import LEAVES
from barry_cli.policy.schema import AgentTrait, Bound, parse_bound
from barry_cli.policy.tools import ToolMeta
from tests.unit.policy.bound_samples import BOUNDS

INVENTORY = ("Zap", "Peek", "Scribble", "Fly", "Think")
CATEGORIES = {
    "shell": ["Zap"],
    "file-reads": ["peek"],
    "file-writes": ["Scribble"],
    "network": ["Fly"],
}


def harness(**rest: Any) -> NativeHarness:
    return NativeHarness.model_validate(
        {
            "id": "toy",
            "aliases": ["old-toy"],
            "nativeTools": INVENTORY,
            "bag": {"manifest": {"name": "toy", "categories": CATEGORIES}},
            **rest,
        }
    )


TOY = harness()


@pytest.mark.parametrize(
    ("bound", "back"),
    [
        (None, ""),
        ({}, ""),
        ({"bash": {"denyPrograms": ["git"]}}, "Zap"),
        ({"bash": {"deny": ["rm -rf"]}}, "Zap"),
        ({"files": {"deny": [".env"]}}, "Zap Peek Scribble"),
        ({"files": {"allowOnly": []}}, "Zap Peek Scribble"),
        ({"network": {"domains": ["*.co"]}}, "Zap Fly"),
        ({"network": {"actions": ["write"]}}, "Zap Fly"),
        ({"network": {"enforce": "guard"}}, ""),
        ({"network": {"enforce": "sandbox"}}, ""),
        ({"network": {"enforce": "sandbox", "domains": ["*.co"]}}, ""),
        ({"network": {"enforce": "sandbox", "actions": ["all"]}}, ""),
        ({"network": {"enforce": "sandbox", "actions": ["write"]}}, "Zap Fly"),
        ({"deniedTools": ["Zap"], "nativeTools": {"toy": ["Fly"]}, "nodes": {"deny": ["x"]}}, ""),
        ({"bash": {"deny": []}, "files": {"deny": []}, "network": {"domains": []}}, ""),
    ],
)
def test_a_guarded_restriction_takes_back_its_categories(
    bound: dict[str, Any] | None, back: str
) -> None:
    given_bound = None if bound is None else parse_bound(bound)
    assert native_tools_taken_back(bound=given_bound, harness=TOY) == back.split()


@given(BOUNDS, BOUNDS)
def test_a_further_bound_gives_nothing_back(one: Bound, other: Bound) -> None:
    # Not even under the sandbox: hosts are then the proxy's, so only those may come back.
    from barry_cli.policy.merge import merge_bounds

    both = set(native_tools_taken_back(merge_bounds(one, other), TOY))
    for bound in (one, other):
        hosts_only = bound.model_copy(
            update={"network": bound.network and bound.network.model_copy(update={"domains": None})}
        )
        if hosts_only.network and can_enforce_in_sandbox(hosts_only.network.actions):
            hosts_only = hosts_only.model_copy(update={"network": None})
        if can_enforce_in_sandbox(_actions(one) + _actions(other)):
            hosts_only = hosts_only.model_copy(update={"network": None})
        assert set(native_tools_taken_back(hosts_only, TOY)) <= both


def _actions(bound: Bound) -> list[str]:
    return list((bound.network.actions if bound.network else None) or ())


def test_a_bag_may_list_categories_as_bounds() -> None:
    bounds = {name: {"nativeTools": {"toy": tools}} for name, tools in CATEGORIES.items()}
    other = harness(bag={"manifest": {"name": "toy", "bounds": bounds}})
    for bound in ({"bash": {"deny": ["x"]}}, {"files": {"deny": ["x"]}}):
        assert native_tools_taken_back(bound, other) == native_tools_taken_back(bound, TOY)
    former = harness(
        bag={"manifest": {"name": "t", "bounds": {"shell": {"nativeTools": {"old-toy": ["Zap"]}}}}}
    )
    assert native_tools_taken_back({"bash": {"deny": ["x"]}}, former) == ["Zap"]


@pytest.mark.parametrize(
    "bag", [None, {"manifest": {"name": "toy", "categories": {"network": ["Fly"]}}}]
)
def test_without_its_category_every_tool_is_taken_back(bag: Any) -> None:
    mute = harness(bag=bag)
    back = taken_back(parse_bound({"bash": {"deny": ["x"]}}), mute)
    assert tuple(back.why) == INVENTORY
    assert back.notes == (
        "toy doesn't say which of its tools belong to shell: bash.deny takes back all of them",
    )
    assert native_tools_taken_back({"bash": {"deny": ["x"]}}, mute) == list(INVENTORY)
    # The counter-cases: no restriction needs it, and an empty category is one.
    assert native_tools_taken_back({"nodes": {"deny": ["x"]}}, mute) == []
    none = harness(bag={"manifest": {"name": "toy", "categories": {**CATEGORIES, "network": []}}})
    assert native_tools_taken_back({"network": {"domains": ["x"]}}, none) == ["Zap"]


@pytest.mark.parametrize(
    ("actions", "can"),
    [
        (None, True),
        ([], True),
        (["all"], True),
        (["read", "write", "ssh:read"], True),
        (list(LEAVES), True),
        (["read", "write"], False),  # ssh:read stays open
        (["write"], False),
        (["git:push"], False),
    ],
)
def test_the_proxy_closes_everything_or_nothing(actions: list[str] | None, can: bool) -> None:
    assert can_enforce_in_sandbox(actions) is can


@pytest.mark.parametrize(
    ("bound", "denied"),
    [
        (None, ""),
        ({"nativeTools": {"toy": ["zap", "FLY", "gone"]}}, "Zap Fly"),
        ({"nativeTools": {"bee": ["Zap"]}}, ""),
        ({"deniedTools": ["think", "git:push"]}, "Think"),
        ({"deniedTools": ["toy:zap", "bee:fly"]}, "Zap"),
        ({"deniedTools": ["toy"]}, " ".join(INVENTORY)),
    ],
)
def test_denials_by_name_are_spelt_as_the_inventory(
    bound: dict[str, Any] | None, denied: str
) -> None:
    assert native_tool_denials(bound, "toy", INVENTORY) == denied.split()
    assert native_tool_denials(bound=bound, harness="toy", inventory=[]) == []


def tools(*names: str, namespace: str = "toy") -> list[ToolMeta]:
    return [ToolMeta(namespace=namespace, tool_name=name, access="write") for name in names]


HELD = harness(
    defaultMode="guest",
    modes={
        "guest": {
            "native": NativeControl(
                grantable=("Zap", "Peek", "Scribble", "Think"),
                inseparable=(("Peek", "Scribble"),),
                operator_override="their settings win",
                uncontrolled={"Think": "the vendor keeps it on"},
            )
        },
        "hosted": {},
        "instrumented": None,
    },
)


def test_a_whole_policy() -> None:
    policy = resolve_native_policy(
        {
            "bound": parse_bound({"bash": {"deny": ["x"]}, "nativeTools": {"old-toy": ["Peek"]}}),
            "tools": tools("Zap", "peek", "Scribble", "Fly") + tools("Think", namespace="git"),
        },
        HELD,
    )
    assert policy.allowed == ()
    assert policy.conflicts == {"Zap": "bash.deny takes it back: its calls could bypass the guards"}
    assert policy.refused == {
        "Scribble": "this mode turns it on only together with Peek",
        "Fly": "this mode can't turn it on while others stay off",
    }
    assert policy.uncontrolled == {"Think": "the vendor keeps it on"}
    assert policy.denied == ("Zap", "Peek", "Scribble", "Fly")
    assert policy.operator_override == "their settings win"


def test_what_is_granted_and_free_is_allowed() -> None:
    grants = NativeGrants(bound=None, tools=tools("zap", "PEEK", "Scribble", namespace="old-toy"))
    policy = resolve_native_policy(grants=grants, harness=HELD, mode="guest")
    assert policy.allowed == ("Zap", "Peek", "Scribble")
    assert (policy.conflicts, policy.refused) == ({}, {})
    hosted = resolve_native_policy(grants, HELD, "hosted")  # it says nothing of native control
    assert hosted.allowed == ("Zap", "Peek", "Scribble")
    assert hosted.denied == ("Fly", "Think")
    assert (hosted.uncontrolled, hosted.operator_override) == ({}, None)


def test_what_a_mode_cannot_turn_off_and_was_granted_is_allowed() -> None:
    policy = resolve_native_policy({"bound": None, "tools": tools("Think")}, HELD)
    assert policy.allowed == ("Think",)
    assert policy.uncontrolled == {}


def test_groups_that_overlap_fall_together() -> None:
    chained = harness(
        defaultMode="guest",
        modes={
            "guest": {
                "native": NativeControl(
                    grantable=INVENTORY, inseparable=(("Zap", "Peek"), ("Peek", "Fly"))
                )
            }
        },
    )
    policy = resolve_native_policy({"bound": None, "tools": tools("Zap", "Peek")}, chained)
    assert policy.allowed == ()
    assert set(policy.refused) == {"Zap", "Peek"}
    whole = resolve_native_policy({"bound": None, "tools": tools("Zap", "Peek", "Fly")}, chained)
    assert whole.allowed == ("Zap", "Peek", "Fly")


def test_the_status_of_every_tool() -> None:
    trait = AgentTrait.model_validate(
        {
            "name": "t",
            "access": "read",
            "namespaces": [],
            "nativeTools": {"old-toy": ["Zap"], "toy": ["fly"], "bee": ["Peek"]},
        }
    )
    status = native_tool_status([trait], {"deniedTools": ["Scribble"]}, HELD)
    assert status.allowed == ("Zap",)
    assert set(status.refused) == {"Fly"}
    assert status.denied == ("Peek", "Scribble", "Fly")
    assert set(status.uncontrolled) == {"Think"}
    assert native_tool_status(traits=[], bound=None, harness=HELD, mode="guest").allowed == ()


def test_no_harness_has_no_native_tools() -> None:
    assert resolve_native_policy({"bound": None, "tools": []}).denied == ()


@pytest.mark.parametrize("mode", ["instrumented", None])
def test_a_mode_that_is_not_offered_is_refused(mode: Any) -> None:
    toy = HELD.model_copy(update={"default_mode": "instrumented"})
    with pytest.raises(PolicyProblem, match="toy has no mode instrumented"):
        resolve_native_policy({"bound": None, "tools": []}, toy, mode)


@given(BOUNDS)
def test_every_tool_has_one_fate(bound: Bound) -> None:
    policy = resolve_native_policy({"bound": bound, "tools": tools(*INVENTORY)}, HELD)
    fates = [*policy.allowed, *policy.denied, *policy.uncontrolled]
    assert sorted(fates) == sorted(INVENTORY)
    assert {*policy.conflicts, *policy.refused}.isdisjoint(policy.allowed)


BAG = {
    "name": "toy",
    "tools": {"Zap": {"kind": "shell", "field": "line"}},
    "categories": {"shell": ["Zap"]},
    "bounds": {"careful": {"nativeTools": {"toy": ["Fly"], "bee": ["Hum"]}}},
    "traits": {
        "all": {
            "name": "all",
            "access": "read",
            "namespaces": [],
            "nativeTools": {"old-toy": ["Zap"]},
            "bound": {"nativeTools": {"toy": ["Peek"]}},
        }
    },
}


def test_a_bag_names_what_its_harness_offers() -> None:
    validate_native_tools(manifest=BagManifest.model_validate(BAG), harness=TOY)
    wrong = BagManifest.model_validate(
        {
            **BAG,
            "categories": {"shell": ["Zap", "Boom"]},
            "bounds": {"careful": {"nativeTools": {"toy": ["fly"]}}},
            "traits": {"all": {**BAG["traits"]["all"], "nativeTools": {"old-toy": ["Zapp"]}}},  # type: ignore[index]
        }
    )
    with pytest.raises(PolicyProblem) as caught:
        validate_native_tools(wrong, TOY)
    said = str(caught.value)
    assert "categories.shell names 'Boom'" in said
    assert "bounds.careful.nativeTools.toy names 'fly', which toy doesn't offer; did you" in said
    assert "traits.all.nativeTools.old-toy names 'Zapp'" in said
    assert "Hum" not in said


def test_a_record_can_be_read_as_a_harness() -> None:
    record = SimpleNamespace(
        id="toy",
        aliases=("old-toy",),
        label="Toy",
        native_tools=INVENTORY,
        bag=SimpleNamespace(path="/x", manifest=BagManifest.model_validate(BAG)),
        default_mode="guest",
        modes={"guest": SimpleNamespace(native=None, verified_on="1"), "hosted": None},
        requirements=object(),
    )
    found = native_harness(record)
    assert (found.id, found.native_tools, found.default_mode) == ("toy", INVENTORY, "guest")
    assert native_tools_taken_back({"bash": {"deny": ["x"]}}, record) == ["Zap"]
    validate_native_tools(BAG, SimpleNamespace(id="toy", native_tools=INVENTORY, aliases=()))
