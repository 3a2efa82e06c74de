"""Gemini CLI's plan: every field of the configuration becomes a flag, a setting or a warning."""

from __future__ import annotations

import asyncio
import tomllib
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


def rules(plan: LaunchPlan) -> list[dict[str, Any]]:
    (path, *_) = values(plan, "--admin-policy")
    assert path.startswith(plan.tmp_dirs[0])
    assert Path(path).stat().st_mode & 0o777 == 0o600
    found: list[dict[str, Any]] = tomllib.loads(Path(path).read_text("utf-8"))["rule"]
    return found


def values(plan: LaunchPlan, flag: str) -> list[str]:
    return [word.partition("=")[2] for word in plan.args if word.startswith(f"{flag}=")]


def test_a_plain_launch_reserves_a_conversation_and_needs_no_folder(make: Plan) -> None:
    plan = make()
    assert plan.command == "gemini"
    assert plan.args == (f"--session-id={plan.harness_session_id}",)
    assert uuid.UUID(plan.harness_session_id or "").version == 4
    assert plan.env == {}
    assert plan.tmp_dirs == ()
    assert plan.discover_harness_session_id is None
    assert plan.guarantees.gating == "static"


def test_every_flag_in_its_place(make: Plan) -> None:
    plan = make(
        model="google/gemini-2.5-pro",
        project_roots=("/one", "/two"),
        options={"approvalMode": "plan", "extensions": ["a", "b"]},
        extra_args=("-i", "hello"),
    )
    assert plan.args[:-3] == (
        "--model=gemini-2.5-pro",
        "--include-directories=/one",
        "--include-directories=/two",
        "--approval-mode=plan",
        "--extensions=a",
        "--extensions=b",
    )
    assert plan.args[-2:] == ("-i", "hello")
    assert make(options={"extensions": []}).args[0] == "--extensions=none"


def test_a_folder_with_a_comma_is_left_out_and_told(make: Plan) -> None:
    plan = make(project_roots=("/a,b",))
    assert values(plan, "--include-directories") == []
    assert any("/a,b is left out" in warning for warning in plan.warnings)


@pytest.mark.parametrize("model", ["gemini-2.5-pro", "openai/gpt-5"])
def test_another_vendors_model_needs_an_endpoint(make: Plan, model: str) -> None:
    with pytest.raises(BarryError):
        make(model=model)


def test_denied_tools_are_rules_of_the_highest_weight(make: Plan) -> None:
    plan = make(denied_tools=("run_shell_command", "Web_Fetch", "mcp__docs__find", "mcp__all"))
    native = ["run_shell_command", "web_fetch"]
    assert rules(plan) == [
        {"toolName": native, "decision": "deny", "priority": 999},
        {"mcpName": "docs", "toolName": "find", "decision": "deny", "priority": 999},
        {"mcpName": "all", "toolName": "*", "decision": "deny", "priority": 999},
    ]
    assert plan.guarantees.gating == "static"
    assert plan.lowered == {}


def test_what_is_not_granted_is_denied(make: Plan) -> None:
    (rule,) = rules(make(allowed_native_tools=("read_file",)))
    assert "read_file" not in rule["toolName"]
    assert "run_shell_command" in rule["toolName"]


def test_a_tool_that_no_rule_can_name_is_refused(make: Plan) -> None:
    with pytest.raises(BarryError, match="mcp__a b"):
        make(denied_tools=("mcp__a b",))


def test_an_unknown_tool_is_told(make: Plan) -> None:
    plan = make(denied_tools=("Bash",))
    assert values(plan, "--admin-policy") == []
    assert any("no tool named Bash" in warning for warning in plan.warnings)


def test_an_administrators_rules_take_the_denial_back(make: Plan, place: Any) -> None:
    place.write(place.machine / "policies" / "own.toml", "")
    plan = make(denied_tools=("run_shell_command",))
    assert plan.guarantees.gating == "none"
    assert "policies" in plan.lowered["gating"]
    assert any("not held" in warning for warning in plan.warnings)
    assert make().guarantees.gating == "static"


@pytest.mark.parametrize(
    "how", [{"extra_args": ("-s",)}, {"env": {"GEMINI_SANDBOX": "docker"}}, {"settings": True}]
)
def test_its_sandbox_takes_the_denial_back(make: Plan, place: Any, how: dict[str, Any]) -> None:
    if how.pop("settings", False):
        place.folder_sets(tools={"sandbox": "docker"})
    assert make(denied_tools=("run_shell_command",), **how).guarantees.gating == "none"


def test_rules_that_the_settings_name_stay_in_force_behind_ours(make: Plan, place: Any) -> None:
    place.user_sets(adminPolicyPaths=["~/own.toml"])
    paths = values(make(denied_tools=("run_shell_command",)), "--admin-policy")
    assert paths[0].endswith("denied.toml")
    assert paths[1:] == ["~/own.toml"]


def test_conversations(make: Plan, place: Any) -> None:
    known = "0d6f2b3c-1111-4222-8333-444455556666"
    plan = make(resume=Resume(harness_session_id=known))
    assert (plan.args, plan.harness_session_id) == ((f"--resume={known}",), known)
    fresh = make(resume=Resume(last=True))
    assert fresh.harness_session_id is not None
    assert any("no conversation in this folder" in warning for warning in fresh.warnings)
    place.write(place.home / ".gemini" / "projects.json", {"projects": {str(place.cwd): "work"}})
    chats = place.home / ".gemini" / "tmp" / "work" / "chats"
    place.write(chats / "session-1.jsonl", {"sessionId": known, "kind": "main"})
    assert make(resume=Resume(last=True)).args == (f"--resume={known}",)
    with pytest.raises(BarryError, match="no id"):
        make(resume=Resume(harness_session_id="--yolo"))


@pytest.mark.parametrize(
    "how", [{"resume": Resume(picker=True)}, {"extra_args": ("--resume", "latest")}]
)
def test_an_unknown_conversation_is_found_once_it_is_written(
    make: Plan, place: Any, how: dict[str, Any]
) -> None:
    place.write(place.home / ".gemini" / "projects.json", {"projects": {str(place.cwd): "work"}})
    plan = make(**how)
    assert plan.harness_session_id is None
    discover = plan.discover_harness_session_id
    assert discover is not None
    assert asyncio.run(_awaited(discover)) is None
    chats = place.home / ".gemini" / "tmp" / "work" / "chats"
    place.write(chats / "session-1.jsonl", {"sessionId": "one", "kind": "main"})
    assert asyncio.run(_awaited(discover)) == "one"
    place.write(chats / "session-2.jsonl", {"sessionId": "two", "kind": "main"})
    assert asyncio.run(_awaited(discover)) is None


async def _awaited(discover: Any) -> Any:
    return await discover()


SERVERS = {
    "docs": StdioMcpServer(command="docs", args=("--now",), env={"TOKEN": "hush"}),
    "web": HttpMcpServer(type="http", url="http://127.0.0.1:1", headers={"X": "quiet"}),
    "old": HttpMcpServer(type="sse", url="http://127.0.0.1:2"),
}


def test_servers_come_as_system_settings(make: Plan, root: Any, system_settings: Read) -> None:
    plan = make(mcp_servers=SERVERS)
    found = system_settings(plan)
    assert found["general"] == {"enableAutoUpdate": False}
    assert found["mcpServers"] == {
        "docs": {"command": "docs", "args": ["--now"], "env": {"TOKEN": "hush"}},
        "web": {"type": "http", "url": "http://127.0.0.1:1", "headers": {"X": "quiet"}},
        "old": {"type": "sse", "url": "http://127.0.0.1:2", "headers": {}},
    }
    assert set(plan.secrets) == {"hush", "quiet"}
    assert not any("hush" in word or "quiet" in word for word in plan.args)
    assert values(plan, "--allowed-mcp-server-names") == ["docs", "old", "web"]
    assert plan.servers_left_out == ()
    assert any("does not ask" in warning for warning in plan.warnings)


def test_users_servers_stay_where_that_was_asked(make: Plan, root: Any) -> None:
    relaxed = make(mcp_servers=SERVERS, strict_mcp_config=False)
    assert values(relaxed, "--allowed-mcp-server-names") == []
    assert values(make(), "--allowed-mcp-server-names") == []
    assert values(make(strict_mcp_config=True), "--allowed-mcp-server-names") == ["barry:none"]


def test_servers_are_left_out_where_system_settings_are_not_taken(make: Plan) -> None:
    plan = make(mcp_servers=SERVERS)
    assert sorted(plan.servers_left_out) == sorted(SERVERS)
    assert any("docs, old, web are left out" in warning for warning in plan.warnings)
    (folder,) = plan.tmp_dirs
    assert list(Path(folder).iterdir()) == []


def test_self_update_is_off_or_told(make: Plan, place: Any, monkeypatch: Any) -> None:
    def told() -> bool:
        return any("replace itself" in warning for warning in make().warnings)

    assert told()
    place.user_sets(general={"enableAutoUpdate": False})
    assert not told()
    place.folder_sets(general={"enableAutoUpdate": True})
    assert told()


def test_where_system_settings_are_taken_the_shipped_ones_are_enough(
    make: Plan, root: Any, system_settings: Read
) -> None:
    plan = make()
    assert system_settings(plan) == {"general": {"enableAutoUpdate": False}}
    assert (plan.tmp_dirs, plan.warnings) == ((), ())


def test_an_administrators_settings_are_not_replaced(make: Plan, root: Any) -> None:
    root.write(root.machine / "settings.json", {"general": {"enableAutoUpdate": False}})
    plan = make(mcp_servers=SERVERS)
    assert "GEMINI_CLI_SYSTEM_SETTINGS_PATH" not in plan.env
    assert not any("replace itself" in warning for warning in plan.warnings)
    assert any("are left out" in warning for warning in plan.warnings)


def test_defaults_beside_an_administrators_settings_stay_in_force(make: Plan, root: Any) -> None:
    defaults = root.write(root.machine / "system-defaults.json", {})
    assert make().env["GEMINI_CLI_SYSTEM_DEFAULTS_PATH"] == str(defaults)


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("system_prompt", "be kind", "a system prompt"),
        ("plugin_dirs", ("/p",), "plugin folders"),
        ("small_model", "google/small", "background calls"),
        ("max_turns", 3, "a limit of turns"),
        ("ephemeral", True, "leaves no trace"),
        ("telemetry_endpoint", "http://127.0.0.1:1", "a telemetry endpoint"),
    ],
)
def test_what_it_can_not_be_given_is_told(make: Plan, field: str, value: Any, said: str) -> None:
    assert any(said in warning for warning in make(**{field: value}).warnings)


def test_a_file_is_taken_only_where_root_alone_could_have_written_it(
    tmp_path: Path, as_nobody: Any, open_folder: Path
) -> None:
    from barry_adapter_gemini.system import honoured

    assert honoured(Path("/etc/passwd"))
    assert not honoured(tmp_path / "missing.json")
    shared = tmp_path / "system.json"  # below /tmp, where anybody may write
    shared.write_text("{}", "utf-8")
    assert not honoured(shared)

    def others() -> bool:
        path = open_folder / "own.json"
        path.write_text("{}", "utf-8")
        return honoured(path)

    assert as_nobody(others) is False
