"""A policy that names a harness by a former id means the harness."""

from __future__ import annotations

import pytest

from barry_cli.policy.aliases import bound_with_ids, trait_with_ids
from barry_cli.policy.native import native_tool_denials
from barry_cli.policy.problems import PolicyProblem
from barry_cli.policy.schema import AgentTrait, Bound, parse_bound
from barry_cli.policy.traits import expand_trait_names

IDS = {"old-toy": "toy", "older-toy": "toy"}


def test_denials_under_any_former_id_hold() -> None:
    bound = parse_bound({"nativeTools": {"old-toy": ["Zap"], "toy": ["Fly"], "bee": ["Hum"]}})
    assert bound_with_ids(bound, IDS) == Bound(
        native_tools={"toy": ("Zap", "Fly"), "bee": ("Hum",)}
    )
    other = parse_bound({"nativeTools": {"bee": ["Hum"]}})
    assert bound_with_ids(other, IDS) is other
    assert bound_with_ids(Bound(), IDS) == Bound()


def trait(**harness_traits: str) -> AgentTrait:
    return AgentTrait.model_validate(
        {
            "name": "t",
            "access": "read",
            "namespaces": [],
            "harnessTraits": {key.replace("_", "-"): name for key, name in harness_traits.items()},
            "nativeTools": {"older-toy": ["Zap"]},
            "bound": {"nativeTools": {"old-toy": ["Fly"]}},
        }
    )


def test_grants_under_any_former_id_hold() -> None:
    found = trait_with_ids(trait(old_toy="more", bee="less"), IDS)
    assert found.harness_traits == {"toy": "more", "bee": "less"}
    assert found.native_tools == {"toy": ("Zap",)}
    assert found.bound == Bound(native_tools={"toy": ("Fly",)})
    more = AgentTrait(name="more", access="read", namespaces=())
    assert expand_trait_names(["t"], {"t": found, "more": more}, "toy") == ["t", "more"]


def test_two_traits_for_one_harness_are_refused() -> None:
    assert trait_with_ids(trait(old_toy="a", toy="a"), IDS).harness_traits == {"toy": "a"}
    with pytest.raises(PolicyProblem, match="two harnessTraits for toy: a and b"):
        trait_with_ids(trait(old_toy="a", toy="b"), IDS)


class Record:
    id = "acme"
    aliases = ("old",)
    native_tools = ("Shell", "Read")


@pytest.mark.parametrize("name", ["acme", "old"])
def test_a_harness_itself_answers_to_all_its_names(name: str) -> None:
    bound = parse_bound({"nativeTools": {name: ["shell"]}})
    assert native_tool_denials(bound, Record(), Record.native_tools) == ["Shell"]
    assert native_tool_denials(bound, name, Record.native_tools) == ["Shell"]
    assert native_tool_denials(bound, "other", Record.native_tools) == []
    plain = AgentTrait(name="own", access="read", namespaces=())
    trait = plain.model_copy(update={"name": "t", "harness_traits": {name: "own"}})
    known = {"t": trait, "own": plain}
    assert expand_trait_names(["t"], known, Record()) == ["t", "own"]
    assert expand_trait_names(["t"], known, name) == ["t", "own"]
    assert expand_trait_names(["t"], known, "other") == ["t"]
