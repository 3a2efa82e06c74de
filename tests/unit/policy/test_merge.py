"""Joining bounds never permits more, whatever is joined in whatever order."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from pydantic import ValidationError

from barry_cli.contract.data import snapshot
from barry_cli.policy.merge import (
    bound_has_content,
    merge_bounds,
    merge_network,
    merge_with_notes,
)
from barry_cli.policy.ruling.domains import compile_domains, domain_rule
from barry_cli.policy.ruling.patterns import compile_allow, matches
from barry_cli.policy.schema import Bound, NetworkBound, parse_bound
from barry_cli.policy.strictness import excess, restrictions
from tests.unit.policy.bound_samples import BOUNDS


def nameless(bound: Bound | None) -> Bound | None:
    return bound and bound.model_copy(update={"name": None, "description": None})


@given(BOUNDS, BOUNDS)
def test_the_order_of_two_does_not_matter(one: Bound, other: Bound) -> None:
    assert merge_bounds(one, other) == merge_bounds(other, one)


@given(BOUNDS, BOUNDS, BOUNDS)
def test_the_grouping_of_three_does_not_matter(one: Bound, two: Bound, three: Bound) -> None:
    left = merge_bounds(merge_bounds(one, two), three)
    right = merge_bounds(one, merge_bounds(two, three))
    assert nameless(left) == nameless(right)
    assert nameless(left) == nameless(merge_with_notes([one, two, three]).bound)
    assert merge_with_notes([one, two, three]).bound == merge_with_notes([three, one, two]).bound


@given(BOUNDS)
def test_a_bound_joined_to_itself_or_to_nothing_is_itself(bound: Bound) -> None:
    assert merge_bounds(bound, bound) == bound
    assert merge_bounds(bound, None) == bound == merge_bounds(None, bound)


@given(BOUNDS, BOUNDS)
def test_joining_once_more_changes_nothing(one: Bound, other: Bound) -> None:
    both = merge_bounds(one, other)
    assert nameless(merge_bounds(both, one)) == nameless(both)
    assert nameless(merge_bounds(both, both)) == nameless(both)


PATHS = [
    tuple(path.split("/"))
    for path in "p p/src p/src/a p/src/a/x.py p/src/b/x p/x.py p/docs/a.md p/docs/x p/docs/a.md/x "
    "p/a p/a/x.py w/x w/x/y w/x/y/z h/a h/a/b p/a.py p/x p/x/y".split()
]
HOSTS = ["a.com", "x.a.com", "y.x.a.com", "b.org", "org", "1.2.3.4"]


def denied(bound: Bound | None) -> set[object]:
    """Everything of a small world that a bound denies."""
    if bound is None:
        return set()
    found: set[object] = {
        (field, entry)
        for field, entries in restrictions(bound).items()
        if field not in ("files.allowOnly", "nodes.allow", "network.allowDomains")
        for entry in entries
    }
    files, nodes, network = bound.files, bound.nodes, bound.network
    if files and files.allow_only is not None:
        allowed = [each for text in files.allow_only for each in compile_allow(text, "/p", "/h")]
        found |= {path for path in PATHS if not any(matches(each[1], path) for each in allowed)}
    if nodes and nodes.allow is not None:
        found |= {node for node in ("local", "far", "x") if node not in nodes.allow}
    if network and network.enforce == "sandbox":
        hosts = compile_domains(network.allow_domains or ())
        found |= {host for host in HOSTS if not domain_rule(host, hosts)}
    return found


@given(BOUNDS, BOUNDS)
def test_what_either_denies_both_deny(one: Bound, other: Bound) -> None:
    both = merge_with_notes([one, other])
    assert denied(one) | denied(other) <= denied(both.bound)
    if not any("can't be said" in note for note in both.notes):
        assert denied(both.bound) == denied(one) | denied(other)  # and nothing more


@given(BOUNDS, BOUNDS)
def test_what_is_joined_is_a_bound(one: Bound, other: Bound) -> None:
    both = merge_bounds(one, other)
    assert both is not None
    assert parse_bound(snapshot(both)) == both


@given(BOUNDS, BOUNDS)
def test_strictness_agrees_with_joining(one: Bound, other: Bound) -> None:
    both = merge_bounds(one, other)
    assert excess(one, both) == excess(other, both) == ""
    assert (excess(other, one) == "") == (restrictions(both) == restrictions(one))


@given(BOUNDS)
def test_content_is_what_restricts(bound: Bound) -> None:
    if restrictions(bound):
        assert bound_has_content(bound)
    elif bound.network is None or bound.network.enforce is None:
        assert not bound_has_content(bound)


def test_two_nothings_are_nothing() -> None:
    assert merge_bounds(None, None) is None
    assert merge_network() is None
    assert merge_network(None, None) is None
    assert merge_with_notes([]).bound is None


A = {"bash": {"denyPrograms": ["git"]}, "network": {"domains": ["*.internal.co"]}}
B = {"network": {"enforce": "sandbox", "allowDomains": ["packages.example.org", "x.internal.co"]}}
C = {"network": {"enforce": "sandbox", "allowDomains": ["*.org"]}}


def test_a_worked_example() -> None:
    both = merge_bounds(base=parse_bound(A), override=parse_bound(B))
    assert both is not None
    assert snapshot(both) == {
        "bash": {"denyPrograms": ["git"]},
        "network": {
            "allowDomains": ["packages.example.org", "x.internal.co"],
            "domains": ["*.internal.co"],
            "enforce": "sandbox",
        },
    }
    three = merge_bounds(both, C)
    assert three is not None
    assert three.network is not None
    assert three.network.allow_domains == ("packages.example.org",)


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        (["src/**"], ["src/a/**"], ["src/a/**"]),
        (["src/**"], ["src/app.py"], ["src/app.py"]),
        (["src/**"], ["*.py"], ["src/**/*.py"]),
        (["src/**"], ["docs/**"], []),
        (["src/**"], [], []),
        (["docs/*"], ["docs/a"], ["docs/\\a"]),  # the folder a, without its content
    ],
)
def test_allowed_files_are_what_both_allow(
    one: list[str], other: list[str], joined: list[str]
) -> None:
    both = merge_bounds({"files": {"allowOnly": one}}, {"files": {"allowOnly": other}})
    assert both is not None
    assert both.files is not None
    assert both.files.allow_only == tuple(joined)


@pytest.mark.parametrize(
    ("one", "other", "joined"),
    [
        (["*.a.com"], ["x.a.com"], ["x.a.com"]),
        (["*.a.com"], ["a.com"], []),
        (["A.com."], ["a.com", "b.com"], ["a.com"]),
        (None, ["a.com"], []),  # the sandbox without a list allows no host
        (None, None, None),
    ],
)
def test_allowed_hosts_are_what_both_allow(
    one: list[str] | None, other: list[str] | None, joined: list[str] | None
) -> None:
    def part(hosts: list[str] | None) -> dict[str, Any]:
        return {"enforce": "sandbox"} | ({} if hosts is None else {"allowDomains": hosts})

    both = merge_network(part(one), part(other))
    assert both is not None
    assert both.allow_domains == (None if joined is None else tuple(joined))
    assert both.enforce == "sandbox"


def test_a_side_without_the_sandbox_has_no_opinion_on_allowed_hosts() -> None:
    both = merge_network({"enforce": "guard", "domains": ["b.com"]}, NetworkBound(**C["network"]))
    assert both == NetworkBound(allow_domains=("*.org",), domains=("b.com",), enforce="sandbox")


def test_an_allowlist_without_the_sandbox_is_refused_before_it_is_joined() -> None:
    with pytest.raises(ValidationError, match=r"network\.allowDomains is enforced only by"):
        merge_bounds({"network": {"allowDomains": ["a.com"]}}, {"network": {"enforce": "sandbox"}})
    with pytest.raises(ValidationError, match=r"network\.allowDomains is enforced only by"):
        merge_network({"allowDomains": ["a.com"]}, {"enforce": "sandbox"})


def test_a_name_stays_where_there_is_only_one() -> None:
    named, other = Bound(name="one", description="d"), Bound(name="two")
    assert merge_bounds(named, Bound(denied_tools=("x",))).name == "one"  # type: ignore[union-attr]
    joined = merge_bounds(named, other)
    assert joined is not None
    assert (joined.name, joined.description) == (None, "d")


def test_the_bound_that_emptied_a_list_is_named() -> None:
    src = Bound.model_validate({"name": "src", "files": {"allowOnly": ["src/**"]}})
    docs = Bound.model_validate({"name": "docs", "files": {"allowOnly": ["docs/**"]}})
    both = merge_with_notes([src, None, docs])
    assert both.notes == (
        "files.allowOnly is empty, so no file is allowed: docs allows nothing that src allows",
    )
    box = {"network": {"enforce": "sandbox"}}
    three = merge_with_notes([B, box, src], labels=["b.toml", "box.toml", "src"])
    (note,) = three.notes
    assert note.startswith("network.allowDomains is empty, so no host is allowed: box.toml has")
    assert merge_with_notes([src, {"nodes": {"allow": []}}, {"nodes": {"allow": ["x"]}}]).notes == (
        "nodes.allow is empty, so no node is allowed: src, bound 2 allows none",
    )
    # The counter-case: nothing was emptied, nothing is noted.
    assert merge_with_notes([src, src, B]).notes == ()


def test_an_overlap_that_cannot_be_said_is_noted() -> None:
    both = merge_with_notes(
        [{"files": {"allowOnly": ["src/**", "x"]}}, {"files": {"allowOnly": ["/w/**", "x"]}}]
    )
    assert both.bound is not None
    assert both.bound.files is not None
    assert both.bound.files.allow_only == ("x",)
    assert (
        "files.allowOnly: what 'src/**' (bound 1) and '/w/**' (bound 2) share can't be said as a "
        "pattern, so it is not allowed"
    ) in both.notes


@pytest.mark.parametrize(
    ("document", "has"),
    [
        ({}, False),
        ({"name": "x", "description": "y"}, False),
        ({"bash": {}, "files": {}, "network": {}, "nodes": {}}, False),
        ({"bash": {"deny": []}, "deniedTools": [], "nativeTools": {"toy": []}}, False),
        ({"files": {"deny": []}, "network": {"actions": [], "domains": []}}, False),
        ({"bash": {"deny": ["x"]}}, True),
        ({"bash": {"denyPrograms": ["x"]}}, True),
        ({"deniedAccess": ["x"]}, True),
        ({"deniedTools": ["x"]}, True),
        ({"nativeTools": {"toy": ["Zap"]}}, True),
        ({"files": {"deny": ["x"]}}, True),
        ({"files": {"allowOnly": []}}, True),
        ({"nodes": {"allow": []}}, True),
        ({"nodes": {"deny": ["x"]}}, True),
        ({"network": {"domains": ["x"]}}, True),
        ({"network": {"enforce": "sandbox", "allowDomains": []}}, True),
        ({"network": {"enforce": "sandbox"}}, True),
        ({"network": {"enforce": "guard"}}, True),
    ],
)
def test_what_counts_as_content(document: dict[str, Any], has: bool) -> None:
    assert bound_has_content(parse_bound(document)) is has
    assert bound_has_content(bound=document) is has


def test_no_bound_has_no_content() -> None:
    assert bound_has_content() is False
    assert bound_has_content(None) is False
