"""Ruling by a tool's name alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.turns.permissions import is_scoped_mcp_tool, refuse_denied_tools


def call(tool: str) -> PermissionRequest:
    return PermissionRequest(id="1", tool=tool, input={})


async def test_denied_tools_are_refused_and_the_rest_runs() -> None:
    decide = refuse_denied_tools(["Shell", "mcp__git__push"])
    for tool in ("Shell", "shell", "SHELL", "mcp__GIT__push"):
        decision = await decide(call(tool))
        assert isinstance(decision, Denied)
        assert decision.reason is not None
        assert tool in decision.reason
    for tool in ("Shel", "Shells", "mcp__git__pull", "push", ""):
        assert await decide(call(tool)) == Allowed()


async def test_without_denied_tools_everything_runs() -> None:
    assert await refuse_denied_tools()(call("Shell")) == Allowed()


async def test_the_list_is_taken_as_it_was() -> None:
    denied = ["Shell"]
    decide = refuse_denied_tools(denied)
    denied.clear()
    assert isinstance(await decide(call("shell")), Denied)


SPELLINGS = [
    "mcp__{}__{}",
    "mcp_{}_{}",
    "{}__{}",
    "{}.{}",
    "{}-{}",
    "{}_{}",
    "{}/{}",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(
    ("server", "spelt"),
    [("git", "git"), ("my-git", "my-git"), ("my git", "my_git"), ("a.b", "a_b")],
)
def test_every_spelling_of_a_configured_server(spelling: str, server: str, spelt: str) -> None:
    tool = spelling.format(spelt, "create_issue")
    assert is_scoped_mcp_tool(tool, [server])
    assert is_scoped_mcp_tool(tool, ["other", server])
    assert not is_scoped_mcp_tool(tool, ["other"])
    assert not is_scoped_mcp_tool(tool, [])


@pytest.mark.parametrize(
    ("tool", "servers"),
    [
        ("github__x", ["git"]),
        ("mcp__github__x", ["git"]),
        ("mcp_github_x", ["git"]),
        ("git_hub__x", ["git"]),
        ("mcp__git_hub__x", ["git"]),
        ("mcp__git__x", ["mcp"]),
        ("mcp_git_x", ["mcp"]),
        ("mcp__git__", ["git"]),
        ("git__", ["git"]),
        ("git.", ["git"]),
        ("git", ["git"]),
        ("Git__x", ["git"]),
        ("x__git", ["git"]),
        ("__x", [""]),
        ("mcp____x", [""]),
        ("anything", [""]),
        ("", ["git"]),
    ],
)
def test_no_accident_of_a_prefix(tool: str, servers: list[str]) -> None:
    assert not is_scoped_mcp_tool(tool, servers)


NAME = st.text("abcmp", min_size=1, max_size=4)


@given(server=NAME, other=NAME, tool=NAME, spelling=st.sampled_from(SPELLINGS))
def test_a_plain_name_belongs_to_its_server_alone(
    server: str, other: str, tool: str, spelling: str
) -> None:
    spelt = spelling.format(server, tool)
    if not (server == "mcp" and spelling == "{}_{}"):  # read as mcp_server_tool
        assert is_scoped_mcp_tool(spelt, [server])
    if other != server:
        assert not is_scoped_mcp_tool(spelt, [other])
