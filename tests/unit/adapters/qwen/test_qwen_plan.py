"""Qwen Code's plan: every field of the configuration becomes a flag, a setting or a warning."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.problems import BarryError
from barry_cli.contract.plan import LaunchPlan
from barry_cli.contract.session import HttpMcpServer, Resume, StdioMcpServer

Plan = Callable[..., LaunchPlan]
Read = Callable[[LaunchPlan], dict[str, Any]]
KNOWN = "0d6f2b3c-1111-4222-8333-444455556666"


def values(plan: LaunchPlan, flag: str) -> list[str]:
    return [word.partition("=")[2] for word in plan.args if word.startswith(f"{flag}=")]


def test_a_plain_launch_reserves_a_conversation_and_needs_no_folder(
    make: Plan, system_settings: Read
) -> None:
    plan = make()
    assert plan.command == "qwen"
    assert plan.args == (f"--session-id={plan.harness_session_id}",)
    assert uuid.UUID(plan.harness_session_id or "").version == 4
    assert list(plan.env) == ["QWEN_CODE_SYSTEM_SETTINGS_PATH"]
    # The version keeps Qwen Code from writing into the file.
    assert system_settings(plan) == {"$version": 4, "general": {"enableAutoUpdate": False}}
    assert (plan.tmp_dirs, plan.warnings, plan.discover_harness_session_id) == ((), (), None)
    assert plan.guarantees.gating == "static"


def test_every_flag_in_its_place_and_a_single_value_last(make: Plan) -> None:
    plan = make(
        model="openai/gpt-5",
        denied_tools=("run_shell_command", "Web_Fetch", "mcp__docs__find"),
        project_roots=("/one", "/two"),
        options={"approvalMode": "plan", "extensions": ["a", "b"]},
        system_prompt="be\nkind",
        max_turns=3,
        extra_args=("-i", "hello"),
    )
    assert plan.args == (
        "--auth-type=openai",
        "--model=gpt-5",
        "--exclude-tools=run_shell_command,web_fetch,mcp__docs__find",
        "--include-directories=/one",
        "--include-directories=/two",
        "--extensions=a,b",
        "--approval-mode=plan",
        "--append-system-prompt=be\nkind",
        "--max-session-turns=3",
        f"--session-id={plan.harness_session_id}",
        "-i",
        "hello",
    )
    assert values(make(options={"extensions": []}), "--extensions") == ["none"]


@pytest.mark.parametrize(
    ("model", "args"),
    [
        ("anthropic/claude-x", ("--auth-type=anthropic", "--model=claude-x")),
        ("google/gemini-x", ("--auth-type=gemini", "--model=gemini-x")),
        ("qwen/qwen3-coder-plus", ("--model=qwen3-coder-plus",)),
        ("router/some/model", ("--model=some/model",)),
    ],
)
def test_a_models_vendor_chooses_the_login(make: Plan, model: str, args: tuple[str, ...]) -> None:
    assert make(model=model).args[:-1] == args


def test_what_can_not_be_written_as_a_flag_is_refused_or_told(make: Plan) -> None:
    for wrong in (
        {"model": "gpt-5"},
        {"denied_tools": ("mcp__a,b",)},
        {"mcp_servers": {"a,b": StdioMcpServer(command="x")}},
        {"system_prompt": "x" * 100_000},
        {"resume": Resume(harness_session_id="--yolo")},
    ):
        with pytest.raises(BarryError):
            make(**wrong)
    assert any("/a,b is left out" in warning for warning in make(project_roots=("/a,b",)).warnings)


def test_what_is_not_granted_is_denied(make: Plan) -> None:
    (denied,) = values(make(allowed_native_tools=("read_file",)), "--exclude-tools")
    assert "read_file" not in denied.split(",")
    assert "run_shell_command" in denied.split(",")


@pytest.mark.parametrize(
    "how", [{"extra_args": ("-s",)}, {"env": {"QWEN_SANDBOX": "true"}}, {"settings": True}]
)
def test_its_sandbox_takes_the_denial_back(make: Plan, place: Any, how: dict[str, Any]) -> None:
    if how.pop("settings", False):
        place.user_sets(tools={"sandbox": True})
    plan = make(denied_tools=("run_shell_command",), **how)
    assert plan.guarantees.gating == "none"
    assert "sandbox" in plan.lowered["gating"]
    assert make(**how).guarantees.gating == "static"


def test_conversations(make: Plan, place: Any) -> None:
    plan = make(resume=Resume(harness_session_id=KNOWN))
    assert (plan.args, plan.harness_session_id) == ((f"--resume={KNOWN}",), KNOWN)
    fresh = make(resume=Resume(last=True))
    assert fresh.harness_session_id is not None
    assert any("no conversation in this folder" in warning for warning in fresh.warnings)
    place.write(place.chats / f"{KNOWN}.jsonl", {})
    assert make(resume=Resume(last=True)).args == (f"--resume={KNOWN}",)


@pytest.mark.parametrize(
    ("how", "args"),
    [
        ({"resume": Resume(picker=True)}, ("--resume=",)),
        ({"extra_args": ("--continue",)}, ("--continue",)),
    ],
)
def test_an_unknown_conversation_is_found_once_it_is_written(
    make: Plan, place: Any, how: dict[str, Any], args: tuple[str, ...]
) -> None:
    plan = make(**how)
    assert (plan.args, plan.harness_session_id) == (args, None)
    discover: Any = plan.discover_harness_session_id
    assert discover is not None
    found = []
    for name in (None, KNOWN, KNOWN.replace("0d6f", "1d6f")):
        if name is not None:
            place.write(place.chats / f"{name}.jsonl", {})
        found.append(asyncio.run(_awaited(discover)))
    assert found == [None, KNOWN, None]


async def _awaited(discover: Any) -> Any:
    return await discover()


SERVERS = {
    "docs": StdioMcpServer(command="docs", args=("--now",), env={"TOKEN": "hush"}),
    "web": HttpMcpServer(type="http", url="http://127.0.0.1:1", headers={"X": "quiet"}),
    "old": HttpMcpServer(type="sse", url="http://127.0.0.1:2"),
}


def test_servers_with_secrets_go_through_a_private_file(make: Plan) -> None:
    plan = make(mcp_servers=SERVERS)
    (path,) = values(plan, "--mcp-config")
    assert Path(path).stat().st_mode & 0o777 == 0o600
    assert json.loads(Path(path).read_text("utf-8")) == {
        "mcpServers": {
            "docs": {"command": "docs", "args": ["--now"], "env": {"TOKEN": "hush"}},
            "web": {"httpUrl": "http://127.0.0.1:1", "headers": {"X": "quiet"}},
            "old": {"url": "http://127.0.0.1:2", "headers": {}},
        }
    }
    assert set(plan.secrets) == {"hush", "quiet"}
    assert values(plan, "--allowed-mcp-server-names") == ["docs,web,old"]


def test_servers_without_secrets_need_no_file(make: Plan) -> None:
    plan = make(mcp_servers={"docs": StdioMcpServer(command="docs")}, strict_mcp_config=False)
    (text,) = values(plan, "--mcp-config")
    assert list(json.loads(text)["mcpServers"]) == ["docs"]
    assert values(plan, "--allowed-mcp-server-names") == []
    assert plan.tmp_dirs == ()


def test_users_servers_stay_unless_that_was_asked(make: Plan) -> None:
    assert values(make(), "--allowed-mcp-server-names") == []
    assert values(make(strict_mcp_config=True), "--allowed-mcp-server-names") == [""]


def test_an_administrators_settings_stay_in_force_under_ours(
    make: Plan, place: Any, system_settings: Read
) -> None:
    own = {"tools": {"exclude": ["web_fetch"]}, "general": {"vimMode": True}}
    place.write(place.machine / "settings.json", own)
    assert system_settings(make()) == {
        "$version": 4,
        "tools": {"exclude": ["web_fetch"]},
        "general": {"vimMode": True, "enableAutoUpdate": False},
    }
    named = place.write(place.home / "named.json", {"general": {"vimMode": False}})
    plan = make(env={"QWEN_CODE_SYSTEM_SETTINGS_PATH": str(named)})
    assert system_settings(plan)["general"] == {"vimMode": False, "enableAutoUpdate": False}
    place.write(place.machine / "settings.json", "{")
    with pytest.raises(BarryError, match="can't be read"):
        make()


def test_defaults_beside_an_administrators_settings_stay_in_force(make: Plan, place: Any) -> None:
    defaults = place.write(place.machine / "system-defaults.json", {})
    assert make().env["QWEN_CODE_SYSTEM_DEFAULTS_PATH"] == str(defaults)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("plugin_dirs", ("/p",), "plugin folders"),
        ("small_model", "qwen/small", "only if its own settings"),
        ("ephemeral", True, "leaves no trace"),
        ("telemetry_endpoint", "http://127.0.0.1:1", "a telemetry endpoint"),
    ],
)
def test_what_it_can_not_be_given_is_told(make: Plan, field: str, value: Any, said: str) -> None:
    assert any(said in warning for warning in make(**{field: value}).warnings)
