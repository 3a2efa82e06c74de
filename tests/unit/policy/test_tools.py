"""Which tools a policy leaves, and which of them reach the network."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from barry_cli.bags.manifest import read_bag
from barry_cli.policy.classify import classify_bash_command
from barry_cli.policy.commands import classify_network_actions
from barry_cli.policy.native import NativeHarness, taken_back, validate_native_tools
from barry_cli.policy.network_tools import NETWORK_TOOL_ACTIONS, NETWORK_TOOL_URL_PARAMS
from barry_cli.policy.ruling.actions import LEAVES, expand_actions
from barry_cli.policy.schema import AgentTrait, parse_bound
from barry_cli.policy.tools import (
    CORE_NAMESPACES,
    McpAnnotations,
    ToolMeta,
    filter_tools,
    filter_tools_qualified,
    get_implied_denied_tools,
    qualify_tool_id,
)

ROOT = Path(__file__).resolve().parents[3]

TOOLS = [
    ToolMeta(namespace=namespace, tool_name=name, access=access)
    for namespace, name, access in (
        ("git", "status", "read"),
        ("git", "push", "write"),
        ("git", "pull", "write"),
        ("git", "commit", "write"),
        ("system", "status", "read"),
        ("sentry", "search", "read"),
        ("sentry", "resolve", "write"),
    )
]

TRAITS = {
    "git": AgentTrait(name="git", access="readwrite", namespaces=("git",)),
    "look": AgentTrait(name="look", access="read", namespaces=("git", "sentry")),
    "one": AgentTrait(name="one", access="read", namespaces=(), tools=("sentry:search",)),
}


def left(traits: list[str], bound: dict[str, Any] | None = None) -> str:
    given = None if bound is None else parse_bound(bound)
    return " ".join(filter_tools_qualified(TOOLS, traits, TRAITS, given))


def test_an_id_is_namespace_and_name() -> None:
    assert qualify_tool_id(namespace="git", tool_name="status") == "git:status"


@pytest.mark.parametrize(
    ("traits", "bound", "kept"),
    [
        ([], None, ""),
        (["git"], None, "git:status git:push git:pull git:commit"),
        (["look"], None, "git:status sentry:search"),
        (["one"], None, "sentry:search"),
        (["git", "look"], {"deniedTools": ["git"]}, "sentry:search"),
        (["git"], {"deniedTools": ["git:push"]}, "git:status git:pull git:commit"),
        (["git"], {"deniedTools": ["push", "STATUS"]}, "git:pull git:commit"),
        (["git"], {"deniedTools": ["system:status"]}, "git:status git:push git:pull git:commit"),
        (["git"], {"deniedAccess": ["git"]}, "git:status"),
        (["git"], {"deniedAccess": ["git:push", "status"]}, "git:status git:pull git:commit"),
        (["git"], {"network": {"actions": ["git:push"]}}, "git:status git:pull git:commit"),
        (["git"], {"network": {"actions": ["read"]}}, "git:status git:push git:commit"),
        (["git"], {"network": {"actions": ["all"]}}, "git:status git:commit"),
        (["git"], {"network": {"actions": ["dns"]}}, "git:status git:push git:pull git:commit"),
        (["git"], {"bash": {"denyPrograms": ["git"]}}, "git:status git:push git:pull git:commit"),
    ],
)
def test_which_tools_are_left(traits: list[str], bound: dict[str, Any] | None, kept: str) -> None:
    assert left(traits, bound) == kept


def test_one_status_does_not_admit_the_other() -> None:
    traits = {"system": AgentTrait(name="system", access="read", namespaces=("system",))}
    assert filter_tools_qualified(TOOLS, ["system"], traits) == ["system:status"]
    assert filter_tools(
        tools=TOOLS, trait_names=["system"], all_traits=traits, bound=None, harness=None
    ) == ["status"]


def test_names_alone_are_said_once() -> None:
    traits = {"all": AgentTrait(name="all", access="read", namespaces=("git", "system"))}
    assert filter_tools(TOOLS, ["all"], traits) == ["status"]


def test_a_harness_brings_its_trait() -> None:
    traits = {
        **TRAITS,
        "base": AgentTrait(
            name="base", access="read", namespaces=(), harness_traits={"toy": "one"}
        ),
    }
    assert filter_tools_qualified(TOOLS, ["base"], traits, harness="toy") == ["sentry:search"]
    assert filter_tools_qualified(TOOLS, ["base"], traits, harness="bee") == []


@pytest.mark.parametrize(
    ("actions", "expanded"),
    [
        ([], ""),
        (["write"], "git:push http:write ssh:write write"),
        (["read"], "dns git:fetch http:read read"),
        (["git:push"], "git:push"),
        (["dns", "dns"], "dns"),
        (["unheard-of"], "unheard-of"),
    ],
)
def test_actions_include_what_is_below(actions: list[str], expanded: str) -> None:
    assert expand_actions(actions) == set(expanded.split())


def test_all_is_everything() -> None:
    assert expand_actions(["all"]) == {"all", "read", "write", *LEAVES}


def test_implied_denials() -> None:
    assert get_implied_denied_tools([]) == []
    assert get_implied_denied_tools(["git:push"]) == ["push"]
    assert set(get_implied_denied_tools(["git:fetch"])) == {"fetch", "pull", "clone"}
    assert "fetch" in get_implied_denied_tools(["http:read"])
    assert set(get_implied_denied_tools(["all"])) == set(NETWORK_TOOL_ACTIONS)


def test_every_network_tool_is_defined_somewhere() -> None:
    defined = {"fetch"}  # Barry's own
    git = {"push", "fetch", "pull", "clone"}
    urls = {}
    for path in (ROOT / "adapters").glob("*/*/bag.toml"):
        for name, row in tomllib.loads(path.read_text(encoding="utf-8"))["tools"].items():
            if row["kind"] == "url":
                urls[name] = row.get("field")
    assert urls, "the shipped adapters list no URL tool at all"
    assert set(NETWORK_TOOL_ACTIONS) == defined | git | set(urls)
    assert set(NETWORK_TOOL_URL_PARAMS) <= set(NETWORK_TOOL_ACTIONS)
    for name, field in urls.items():
        assert NETWORK_TOOL_URL_PARAMS.get(name) == (field if isinstance(field, str) else None)
        assert "http:read" in NETWORK_TOOL_ACTIONS[name]
    for tags in NETWORK_TOOL_ACTIONS.values():
        assert set(tags) <= set(LEAVES)


@pytest.mark.parametrize("subcommand", ["push", "fetch", "pull", "clone"])
def test_gits_tools_do_what_git_does(subcommand: str) -> None:
    command = f"git {subcommand} origin"
    performed = classify_network_actions(classify_bash_command(command), command)
    own = [tag for tag in NETWORK_TOOL_ACTIONS[subcommand] if tag.startswith("git:")]
    assert performed == own


@pytest.mark.parametrize("path", sorted((ROOT / "adapters").glob("*/*/bag.toml")), ids=str)
def test_every_shipped_bag_says_what_a_restriction_takes_back(path: Path) -> None:
    manifest = read_bag(path.parent)
    harness = NativeHarness.model_validate(
        {"id": manifest.name, "native_tools": tuple(manifest.tools), "bag": {"manifest": manifest}}
    )
    for restriction in (
        {"bash": {"deny": ["x"]}},
        {"files": {"deny": ["x"]}},
        {"network": {"domains": ["x"]}},
    ):
        back = taken_back(parse_bound(restriction), harness)
        assert back.notes == ()
        assert back.why
    validate_native_tools(manifest, harness)


def test_barrys_own_namespace() -> None:
    assert set(CORE_NAMESPACES) == {"barry"}


def test_what_is_known_of_a_tool() -> None:
    hints = McpAnnotations.model_validate({"readOnlyHint": True, "title": "Look"})
    tool = ToolMeta.model_validate(
        {
            "namespace": "git",
            "toolName": "log",
            "access": "read",
            "annotations": hints,
            "contractHash": "c",
        }
    )
    assert tool.annotations == hints
    assert (tool.tool_name, tool.contract_hash) == ("log", "c")
