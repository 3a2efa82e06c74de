"""Codex's own settings, as far as a launch has to know them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from codex_samples import Plan, setting

from barry_adapter_codex.own import own_settings
from barry_adapter_codex.problems import LaunchRefused
from barry_cli.contract.models import Endpoint
from barry_cli.contract.session import StdioMcpServer


def settings_of(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "config.toml"
    path.write_text(text)
    return path


def test_none_at_all(home: Path) -> None:
    found = own_settings(str(home), {"HOME": str(home)})
    assert dict(found.servers) == {}
    assert found.key_variable is None


def test_codex_home_decides_where_they_are(home: Path) -> None:
    settings_of(home / ".codex", "[mcp_servers.a]\ncommand = 'a'\n")
    settings_of(home / "elsewhere", "[mcp_servers.b]\ncommand = 'b'\n")
    env = {"HOME": str(home), "CODEX_HOME": str(home / "elsewhere")}
    assert set(own_settings("/", env).servers) == {"b"}


def test_those_of_the_project_and_of_the_folders_above_count(home: Path) -> None:
    deep = home / "project" / "sub"
    deep.mkdir(parents=True)
    settings_of(home / ".codex", "[shell_environment_policy]\nexclude = ['A']\n")
    settings_of(
        home / "project" / ".codex",
        "[mcp_servers.a]\nurl = 'http://x'\n[shell_environment_policy]\nexclude = ['B']\n",
    )
    found = own_settings(str(deep), {"HOME": str(home)})
    assert set(found.servers) == {"a"}
    assert found.hidden_variables == ("A", "B")


def test_a_project_names_no_provider(home: Path) -> None:
    provider = "model_provider = 'x'\n[model_providers.x]\nenv_key = 'X_KEY'\n"
    settings_of(home / "project" / ".codex", provider)
    env = {"HOME": str(home)}
    assert own_settings(str(home / "project"), env).key_variable is None
    settings_of(home / ".codex", provider)
    assert own_settings(str(home / "project"), env).key_variable == "X_KEY"


# The last one is good for Codex, which reads a newer TOML than Python does.
UNREAD = (b"not = toml = at all", b"a = " + b"[" * 5000, b"a = '\xff'", b"a = {\n b = 1,\n}\n")


@pytest.mark.parametrize("text", UNREAD)
def test_settings_that_can_not_be_read_matter_only_where_they_are_needed(
    home: Path, plan: Plan, text: bytes
) -> None:
    settings_of(home / ".codex", "").write_bytes(text)
    assert plan(denied_tools=("exec_command",)).warnings == ()
    server = {"files": StdioMcpServer(command="/bin/server")}
    for fields in (
        {"mcp_servers": server, "strict_mcp_config": False},
        {"strict_mcp_config": True},
        {"denied_tools": ("mcp__files__x",)},
    ):
        with pytest.raises(LaunchRefused, match=r"config\.toml is not TOML"):
            plan(**fields)


def test_what_settings_hide_is_not_replaced_when_they_can_not_be_read(
    home: Path, plan: Plan
) -> None:
    settings_of(home / ".codex", "a = {\n b = 1,\n}\n")
    endpoint = Endpoint.model_validate({"url": "http://127.0.0.1:9", "api": "openai", "key": "k"})
    made = plan(endpoint=endpoint)
    assert setting(made, "shell_environment_policy.exclude") is None
    assert "can read BARRY_CODEX_KEY" in made.warnings[0]


def test_settings_of_another_shape_are_passed_over(home: Path, plan: Plan) -> None:
    settings_of(
        home / ".codex",
        "mcp_servers = 3\nmodel_providers = 'x'\nshell_environment_policy = [1]\n"
        "model_provider = false\n",
    )
    assert plan().warnings == ()


def test_settings_that_nobody_may_read(
    open_folder: Path, as_nobody: Callable[[Callable[[], Any]], Any]
) -> None:
    path = settings_of(open_folder / ".codex", "")
    path.chmod(0)

    def work() -> str | None:
        with pytest.raises(PermissionError):
            path.read_text()
        return own_settings("/", {"HOME": str(open_folder)}).unread

    assert "can't be read" in as_nobody(work)


def test_a_key_that_would_be_missing_is_said(home: Path, plan: Plan) -> None:
    settings_of(home / ".codex", "model_provider = 'x'\n[model_providers.x]\nenv_key = 'X_KEY'\n")
    assert "X_KEY" in plan().warnings[0]
    assert plan(env={"HOME": str(home), "X_KEY": "k"}).warnings == ()
    endpoint = Endpoint.model_validate({"url": "http://127.0.0.1:9", "api": "openai", "key": "k"})
    assert plan(endpoint=endpoint).warnings == ()


def test_variables_that_are_hidden_already_stay_hidden(home: Path, plan: Plan) -> None:
    settings_of(home / ".codex", "[shell_environment_policy]\nexclude = ['AWS_*']\n")
    endpoint = Endpoint.model_validate({"url": "http://127.0.0.1:9", "api": "openai", "key": "k"})
    hidden = setting(plan(endpoint=endpoint), "shell_environment_policy.exclude")
    assert hidden == ["AWS_*", "BARRY_CODEX_KEY"]


def test_instructions_that_are_replaced_are_said(home: Path, plan: Plan) -> None:
    settings_of(home / ".codex", "developer_instructions = 'mine'\n")
    assert plan().warnings == ()
    assert "takes the place" in plan(system_prompt="ours").warnings[0]
