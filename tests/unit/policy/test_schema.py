"""A bound that does not parse is loud, and one that parses restricts what it says."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from barry_cli.contract.data import snapshot
from barry_cli.policy.impossible import impossible
from barry_cli.policy.schema import (
    ALLOW_DOMAINS_NEEDS_SANDBOX,
    NATIVE_CATEGORIES,
    AgentTrait,
    BashBound,
    Bound,
    BoundSchema,
    FilesBound,
    NativeCategory,
    NetworkAction,
    NetworkBound,
    NodesBound,
    bound_problems,
    parse_bound,
)

WHOLE: dict[str, Any] = {
    "name": "whole",
    "description": "everything at once",
    "bash": {"deny": ["rm -rf"], "denyPrograms": ["git:push"]},
    "deniedAccess": ["sentry"],
    "deniedTools": ["git:push"],
    "files": {"allowOnly": ["src/**"], "deny": [".env"]},
    "nativeTools": {"toy": ["Shell"]},
    "network": {
        "actions": ["write"],
        "allowDomains": ["example.org"],
        "domains": ["*.internal.co"],
        "enforce": "sandbox",
    },
    "nodes": {"allow": ["local"], "deny": ["far"]},
}


def test_a_whole_bound_reads_back_as_it_was() -> None:
    assert snapshot(parse_bound(WHOLE)) == WHOLE
    assert BoundSchema is Bound


def test_an_empty_bound_is_valid() -> None:
    assert bound_problems({}) == []
    assert parse_bound({}) == Bound()


@pytest.mark.parametrize(
    ("document", "place", "meant"),
    [
        ({"denyTools": []}, "denyTools", "deniedTools"),
        ({"denied_tools": []}, "denied_tools", "deniedTools"),
        ({"bash": {"denyProgram": []}}, "bash.denyProgram", "denyPrograms"),
        ({"bash": {"deny_programs": []}}, "bash.deny_programs", "denyPrograms"),
        ({"files": {"allowonly": []}}, "files.allowonly", "allowOnly"),
        ({"network": {"allow-domains": []}}, "network.allow-domains", "allowDomains"),
        ({"network": {"enforced": "guard"}}, "network.enforced", "enforce"),
        ({"nodes": {"denied": []}}, "nodes.denied", "deny"),
    ],
)
def test_an_unknown_key_names_the_nearest_right_one(
    document: object, place: str, meant: str
) -> None:
    assert bound_problems(document) == [f"{place} is not a known key; did you mean {meant}?"]


def test_a_key_like_no_other_names_what_there_is() -> None:
    assert bound_problems({"bash": {"zzz": 1}}) == [
        "bash.zzz is not a known key; known here: deny, denyPrograms"
    ]


@pytest.mark.parametrize("enforce", [None, "guard"])
@pytest.mark.parametrize("domains", [[], ["example.org"]])
def test_an_allowlist_of_hosts_needs_the_sandbox(enforce: str | None, domains: list[str]) -> None:
    network: dict[str, Any] = {"allowDomains": domains}
    if enforce is not None:
        network["enforce"] = enforce
    assert bound_problems({"network": network}) == [ALLOW_DOMAINS_NEEDS_SANDBOX]
    # The counter-case: the same list under the sandbox is a bound.
    assert bound_problems({"network": {**network, "enforce": "sandbox"}}) == []


def test_the_sentence_is_the_seeds() -> None:
    assert ALLOW_DOMAINS_NEEDS_SANDBOX == (
        "network.allowDomains is enforced only by the egress sandbox: add network.enforce: "
        '"sandbox", or deny hosts with network.domains instead'
    )
    with pytest.raises(ValidationError) as caught:
        NetworkBound(allow_domains=())
    assert caught.value.errors()[0]["msg"] == ALLOW_DOMAINS_NEEDS_SANDBOX


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([], "the document must be a table"),
        ("git", "the document must be a table"),
        (None, "the document must be a table"),
        ({"bash": {"deny": "git"}}, "bash.deny must be a list"),
        ({"bash": {"deny": [""]}}, "bash.deny[0] must not be empty"),
        ({"bash": {"denyPrograms": ["git", 3]}}, "bash.denyPrograms[1] must be a text"),
        ({"bash": []}, "bash must be a table"),
        ({"nativeTools": {"toy": [""]}}, "nativeTools.toy[0] must not be empty"),
    ],
)
def test_the_wrong_shape_is_named(document: object, problem: str) -> None:
    assert problem in bound_problems(document)


@pytest.mark.parametrize(
    "document", [{"bash": None}, {"files": {"deny": None}}, {"network": {"enforce": None}}]
)
def test_null_is_not_a_way_to_leave_a_restriction_out(document: object) -> None:
    (problem,) = bound_problems(document)
    assert problem.endswith("is null: leave it out instead")
    with pytest.raises(ValueError, match="is null"):
        parse_bound(document)


def test_a_wrong_word_names_the_words_there_are() -> None:
    (problem,) = bound_problems({"network": {"actions": ["writ"]}})
    assert problem.startswith("network.actions[0] is 'writ', and must be 'all', ")
    assert problem.endswith("did you mean write?")


def test_every_problem_is_told_at_once() -> None:
    problems = bound_problems({"bash": {"deny": 3, "no": 1}, "filse": {}, "nodes": {"deny": [""]}})
    assert len(problems) == 4


def test_bounds_and_traits_do_not_change() -> None:
    with pytest.raises(ValidationError):
        parse_bound(WHOLE).name = "other"  # type: ignore[misc]  # the refusal is what is tested


def test_a_trait_needs_a_name_an_access_and_namespaces() -> None:
    trait = AgentTrait(name="coding", access="readwrite", namespaces=("git",), bound=Bound())
    assert snapshot(trait) == {
        "name": "coding",
        "access": "readwrite",
        "namespaces": ["git"],
        "bound": {},
    }
    with pytest.raises(ValidationError) as caught:
        AgentTrait.model_validate({"name": "coding", "acess": "write"})
    assert {error["loc"] for error in caught.value.errors()} == {
        ("access",),
        ("namespaces",),
        ("acess",),
    }


def test_the_categories_are_the_seeds() -> None:
    assert get_args(NativeCategory) == NATIVE_CATEGORIES
    assert NATIVE_CATEGORIES == ("shell", "file-reads", "file-writes", "network")


RULES = st.none() | st.lists(st.text(min_size=1), max_size=3).map(tuple)

BOUNDS = st.builds(
    Bound,
    bash=st.none() | st.builds(BashBound, deny=RULES, deny_programs=RULES),
    denied_access=RULES,
    denied_tools=RULES,
    description=st.none() | st.text(),
    files=st.none() | st.builds(FilesBound, allow_only=RULES, deny=RULES),
    name=st.none() | st.text(),
    native_tools=st.none()
    | st.dictionaries(st.text(), st.lists(st.text(min_size=1), max_size=2).map(tuple), max_size=2),
    network=st.none()
    | st.builds(
        NetworkBound,
        actions=st.none() | st.lists(st.sampled_from(get_args(NetworkAction))).map(tuple),
        allow_domains=RULES,
        domains=RULES,
        enforce=st.just("sandbox"),
    ),
    nodes=st.none() | st.builds(NodesBound, allow=RULES, deny=RULES),
)


@given(BOUNDS)
def test_every_bound_survives_its_file(bound: Bound) -> None:
    if impossible(bound):
        with pytest.raises(ValueError, match=r"."):
            parse_bound(snapshot(bound))
    else:
        assert parse_bound(snapshot(bound)) == bound


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["bash", "deny", "network", "allowDomains", "nativeTools", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(JSON)
def test_whatever_is_given_there_is_a_bound_or_a_problem(document: object) -> None:
    problems = bound_problems(document)
    assert all(isinstance(problem, str) and problem for problem in problems)
    if problems:
        with pytest.raises(ValueError, match=r"."):
            parse_bound(document)
    else:
        assert isinstance(document, dict)
        parse_bound(document)
