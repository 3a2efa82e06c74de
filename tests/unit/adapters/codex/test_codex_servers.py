"""MCP servers: one table, no secret in it, and no mixing with Codex's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from codex_samples import Plan, setting

from barry_cli.contract.session import HttpMcpServer, StdioMcpServer

PLAIN = StdioMcpServer(command="/bin/server", args=("--flag", "a b"))


def own(home: Path, text: str) -> None:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text)


def test_a_server_that_codex_starts(plan: Plan) -> None:
    made = plan(mcp_servers={"files": PLAIN})
    assert setting(made, "mcp_servers") == {
        "files": {"command": "/bin/server", "args": ["--flag", "a b"], "enabled": True}
    }
    assert made.warnings == ()


def test_values_of_variables_are_in_the_environment_alone(plan: Plan) -> None:
    one = StdioMcpServer(command="/bin/one", env={"TOKEN": "first-secret", "EMPTY": ""})
    two = StdioMcpServer(command="/bin/two", env={"TOKEN": "second-secret"})
    made = plan(mcp_servers={"one": one, "two": two})
    assert made.env == {
        "BARRY_MCP_0": "first-secret",
        "BARRY_MCP_1": "",
        "BARRY_MCP_2": "second-secret",
    }
    assert made.secrets == ("first-secret", "second-secret")
    assert "secret" not in " ".join(made.args)
    table = setting(made, "mcp_servers")
    assert table["one"]["env_vars"] == ["BARRY_MCP_0", "BARRY_MCP_1"]
    assert setting(made, "shell_environment_policy.exclude") == list(made.env)


def test_the_server_gets_them_by_their_own_names(plan: Plan) -> None:
    value = 'it\'s "$HOME" `id`\n\\end'
    script = 'printf %s "$1 $TOKEN ${BARRY_MCP_0-gone}"'
    server = StdioMcpServer(
        command="/bin/sh", args=("-c", script, "sh", "a b"), env={"TOKEN": value}
    )
    made = plan(mcp_servers={"one": server})
    row = setting(made, "mcp_servers")["one"]
    said = subprocess.run(
        [row["command"], *row["args"]],
        env={**{name: value or "" for name, value in made.env.items()}, "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=10,
        check=True,
    )
    assert said.stdout == f"a b {value} gone"


def test_a_variable_that_no_shell_can_set_leaves_the_server_out(plan: Plan) -> None:
    server = StdioMcpServer(command="/bin/one", env={"A=$(id)": "x"})
    made = plan(mcp_servers={"one": server})
    assert setting(made, "mcp_servers") is None
    assert "left out" in made.warnings[0]
    assert made.servers_left_out == ("one",)
    assert dict(made.env) == {}


def test_a_server_that_codex_calls(plan: Plan) -> None:
    server = HttpMcpServer(type="http", url="https://example.test/mcp", headers={"X-Key": "hidden"})
    made = plan(mcp_servers={"web": server})
    assert setting(made, "mcp_servers") == {
        "web": {
            "url": "https://example.test/mcp",
            "enabled": True,
            "env_http_headers": {"X-Key": "BARRY_MCP_0"},
        }
    }
    assert made.env == {"BARRY_MCP_0": "hidden"}
    assert "hidden" not in " ".join(made.args)


def test_sse_is_not_spoken(plan: Plan) -> None:
    made = plan(mcp_servers={"web": HttpMcpServer(type="sse", url="https://example.test/sse")})
    assert setting(made, "mcp_servers") is None
    assert "no SSE" in made.warnings[0]
    assert made.servers_left_out == ("web",)


@pytest.mark.parametrize("name", ["a.b", "a b", "", 'a"b', "ä"])
def test_a_name_that_codex_does_not_take(plan: Plan, name: str) -> None:
    made = plan(mcp_servers={name: PLAIN})
    assert setting(made, "mcp_servers") is None
    assert "left out" in made.warnings[0]
    assert made.servers_left_out == (name,)


def test_a_name_that_codex_has_already(plan: Plan, home: Path) -> None:
    own(home, '[mcp_servers.files]\nurl = "https://example.test"\n')
    made = plan(mcp_servers={"files": PLAIN}, strict_mcp_config=False)
    assert setting(made, "mcp_servers") is None
    assert "another name" in made.warnings[0]
    assert made.servers_left_out == ("files",)
    assert plan(mcp_servers={"other": PLAIN}).servers_left_out == ()
    assert "left out" in plan(mcp_servers={"codex_tui": PLAIN}).warnings[0]


def test_codexs_own_servers_stay_unless_others_are_given(plan: Plan, home: Path) -> None:
    own(home, '[mcp_servers.a]\ncommand = "a"\n[mcp_servers.b]\nurl = "https://example.test"\n')
    off = {
        "a": {"command": "/bin/true", "enabled": False},
        "b": {"url": "http://127.0.0.1/", "enabled": False},
    }
    assert setting(plan(), "mcp_servers") is None
    assert setting(plan(strict_mcp_config=True), "mcp_servers") == off
    given = plan(mcp_servers={"files": PLAIN})
    assert set(setting(given, "mcp_servers")) == {"files", "a", "b"}
    assert "a, b" in given.warnings[0]
    relaxed = plan(mcp_servers={"files": PLAIN}, strict_mcp_config=False)
    assert set(setting(relaxed, "mcp_servers")) == {"files"}
    assert relaxed.warnings == ()


def test_denying_a_servers_tool(plan: Plan, home: Path) -> None:
    own(home, '[mcp_servers.a]\ncommand = "a"\ndisabled_tools = ["x"]\n')
    tools = ("mcp__files__write", "mcp__files__move", "mcp__a__y")
    made = plan(mcp_servers={"files": PLAIN}, strict_mcp_config=False, denied_tools=tools)
    table = setting(made, "mcp_servers")
    assert table["files"]["disabled_tools"] == ["write", "move"]
    assert table["a"] == {"disabled_tools": ["x", "y"]}
    assert made.guarantees.gating == "static"


def test_denying_a_server(plan: Plan, home: Path) -> None:
    own(home, '[mcp_servers.a]\ncommand = "a"\n')
    made = plan(
        mcp_servers={"files": PLAIN},
        strict_mcp_config=False,
        denied_tools=("mcp__files", "mcp__a"),
    )
    table = setting(made, "mcp_servers")
    assert table["files"]["enabled"] is False
    assert table["a"]["enabled"] is False


def test_denying_a_tool_of_nobodys(plan: Plan) -> None:
    made = plan(denied_tools=("mcp__other__x",))
    assert "no MCP server other" in made.warnings[0]
    assert made.guarantees.gating == "none"
