"""Which native tools a launch switches off so that its bound holds."""

from __future__ import annotations

from typing import Any

import pytest

from barry_cli.contract.adapter import CALL_KINDS, CallKind
from barry_cli.contract.levels import GatingLevel
from barry_cli.policy.holding import Holding, holding, refuse_what_no_launch_holds
from barry_cli.policy.problems import NotAllowed
from barry_cli.policy.schema import AgentTrait, parse_bound

HARNESS: dict[str, Any] = {
    "id": "acme",
    "native_tools": ("Shell", "Read", "Write", "Fetch", "Think"),
    "default_mode": "guest",
    "modes": {
        "guest": {
            "native": {
                "grantable": ("Shell", "Read", "Write", "Fetch"),
                "uncontrolled": {"Think": "it is built in"},
                "operator_override": "a !command",
            }
        }
    },
    "bag": {
        "manifest": {
            "name": "acme",
            "categories": {
                "shell": ("Shell",), "file-reads": ("Read",), "file-writes": ("Write",),
                "network": ("Fetch", "Think"),
            },
        }
    },
}  # fmt: skip


def held(
    document: dict[str, Any],
    *,
    gating: GatingLevel = "static",
    traits: tuple[AgentTrait, ...] = (),
    listed: tuple[str, ...] | None = None,
    ruled: tuple[CallKind, ...] | None = None,
    agents: tuple[str, ...] = (),
) -> Holding:
    bound = parse_bound(document) if document else None
    return holding(
        bound, HARNESS, "guest", gating, traits=traits, listed=listed, ruled=ruled, agents=agents
    )


def trait(*tools: str) -> AgentTrait:
    return AgentTrait(name="t", access="read", namespaces=(), native_tools={"acme": tools})


TAKEN: list[tuple[dict[str, Any], set[str]]] = [
    ({}, set()),
    ({"description": "nothing"}, set()),
    ({"bash": {"denyPrograms": ["git"]}}, {"Shell"}),
    ({"bash": {"deny": ["x"]}}, {"Shell"}),
    ({"files": {"deny": [".env"]}}, {"Shell", "Read", "Write"}),
    ({"files": {"allowOnly": []}}, {"Shell", "Read", "Write"}),
    ({"deniedAccess": ["files"]}, {"Shell", "Write"}),
    ({"deniedAccess": ["other"]}, set()),
    ({"network": {"actions": ["git:push"]}}, {"Shell", "Fetch", "Think"}),
    ({"network": {"domains": ["a.b"]}}, {"Shell", "Fetch", "Think"}),
]


@pytest.mark.parametrize(("document", "tools"), TAKEN)
def test_what_is_taken_back(document: dict[str, Any], tools: set[str]) -> None:
    found = held(document)
    assert set(found.taken_back) == tools
    assert found.denied == ()
    assert set(found.off) == tools
    # Where single calls are ruled on, nothing needs to go.
    for gating in ("hooks", "per-call"):
        assert held(document, gating=gating).taken_back == {}


def test_what_can_not_be_switched_off_is_said() -> None:
    found = held({"network": {"actions": ["all"]}})
    assert found.uncontrolled == {"Think": "it is built in"}
    assert found.operator_override == "a !command"
    assert held({"bash": {"deny": ["x"]}}).uncontrolled == {}
    assert held({}).operator_override is None


def test_tools_that_a_bound_names() -> None:
    found = held({"nativeTools": {"acme": ["fetch"]}, "deniedTools": ["READ", "acme:Write"]})
    assert found.denied == ("Read", "Write", "Fetch")
    assert found.beyond == ()
    assert held({"nativeTools": {"other": ["Fetch"]}}).denied == ()


def test_a_trait_grants_alone() -> None:
    found = held({}, traits=(trait("Read", "Shell"),))
    assert set(found.denied) == {"Write", "Fetch", "Think"}
    assert found.conflicts == {}


def test_a_grant_that_is_taken_back_is_a_conflict() -> None:
    found = held({"bash": {"denyPrograms": ["git"]}}, traits=(trait("Read", "Shell"),))
    assert set(found.conflicts) == {"Shell"}
    assert held({"bash": {"denyPrograms": ["git"]}}, traits=(trait("Read"),)).conflicts == {}
    # By name it is denied as asked: nothing contradicts itself.
    assert held({"nativeTools": {"acme": ["Shell"]}}, traits=(trait("Shell"),)).conflicts == {}


def test_rules_that_nothing_holds_are_said() -> None:
    assert len(held({"deniedTools": ["linear:delete"]}).beyond) == 1
    assert held({"deniedTools": ["linear:delete"]}, gating="per-call").beyond == ()
    assert "Think" in held({"bash": {"deny": ["x"]}}, listed=("Shell", "Read")).beyond[0]
    assert held({"bash": {"deny": ["x"]}}, listed=HARNESS["native_tools"]).beyond == ()


def test_bounds_that_no_launch_starts_under() -> None:
    for document in ({"nodes": {"deny": ["local"]}}, {"network": {"enforce": "sandbox"}}):
        with pytest.raises(NotAllowed):
            refuse_what_no_launch_holds(parse_bound(document), sandbox=False)
    refuse_what_no_launch_holds(parse_bound({"network": {"enforce": "sandbox"}}), sandbox=True)
    refuse_what_no_launch_holds(parse_bound({"nodes": {"allow": ["local"]}}), sandbox=False)
    refuse_what_no_launch_holds(None, sandbox=False)


PUSH: dict[str, Any] = {"network": {"actions": ["git:push"]}}
ENV: dict[str, Any] = {"files": {"deny": [".env"]}}


@pytest.mark.parametrize(
    ("document", "ruled", "back", "unruled"),
    [
        (PUSH, CALL_KINDS, set(), ()),
        (PUSH, ("shell", "write", "read"), {"Fetch", "Think"}, ("fetch", "mcp", "subagent")),
        (PUSH, ("fetch", "mcp", "subagent"), {"Shell"}, ("shell",)),
        (PUSH, ("mcp",), {"Shell", "Fetch", "Think"}, ("shell", "fetch", "subagent")),
        (ENV, ("shell", "read", "subagent"), {"Write"}, ("write", "mcp")),
        (ENV, ("shell", "write", "read", "fetch"), set(), ("mcp", "subagent")),
        ({}, (), set(), ()),
        ({"description": "nothing"}, (), set(), ()),
        # Whatever names a tool, a server of the user's or an agent could bring.
        ({"deniedTools": ["linear:delete"]}, ("mcp",), set(), ("subagent",)),
        ({"deniedAccess": ["linear"]}, ("subagent",), set(), ("mcp",)),
    ],
)
def test_kinds_that_nobody_was_shown_to_rule_on(
    document: dict[str, Any],
    ruled: tuple[CallKind, ...],
    back: set[str],
    unruled: tuple[CallKind, ...],
) -> None:
    found = held(document, gating="hooks", ruled=ruled)
    assert set(found.taken_back) == back
    assert found.unruled == unruled
    # Where nothing rules on single calls, what was shown of kinds changes nothing.
    assert held(document, ruled=ruled).taken_back == held(document).taken_back
    assert held(document, gating="per-call").unruled == ()


def test_tools_that_start_agents_go_where_their_calls_are_not_ruled_on() -> None:
    agents = ("Think",)
    without: tuple[CallKind, ...] = ("shell", "write", "read", "fetch", "mcp")
    found = held(ENV, gating="hooks", ruled=without, agents=agents)
    assert found.taken_back == {"Think": "files.deny"}
    assert found.uncontrolled == {"Think": "it is built in"}
    assert held(ENV, gating="hooks", ruled=CALL_KINDS, agents=agents).taken_back == {}
    assert held({}, gating="hooks", ruled=without, agents=agents).taken_back == {}
    # Granted by name and not ruled on: no session has both.
    granted = held(ENV, gating="hooks", ruled=without, agents=agents, traits=(trait("Think"),))
    assert set(granted.conflicts) == {"Think"}


def test_categories_that_lost_their_tools() -> None:
    assert held(PUSH).kinds_back == ("shell", "network")
    assert held(ENV).kinds_back == ("shell", "file-reads", "file-writes")
    assert held(PUSH, gating="hooks", ruled=("shell",)).kinds_back == ("network",)
    assert held(PUSH, gating="hooks").kinds_back == ()
    # Who denies a tool by name doesn't want another in its place.
    assert held({**PUSH, "nativeTools": {"acme": ["Fetch"]}}).kinds_back == ("shell",)
    assert held({"nativeTools": {"acme": ["Shell"]}}).kinds_back == ()
