"""How Qwen Code is started to be driven: its command line, its rules, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from barry_cli.agents import AgentAdapter, AgentFault, AgentInput, Continuation, Place, Variables
from barry_cli.contract.models import Endpoint
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.session import EgressPolicy, SessionConfig, StdioMcpServer
from barry_cli.headless.capabilities import PermissionPolicy

KNOWN = "0d6f2b3c-1111-4222-8333-444455556666"
KEY = "made-up-0123456789"
ENDPOINT = Endpoint.model_validate({"url": "http://there", "api": "openai", "key": KEY})


@pytest.fixture
def config(place: Any) -> Any:
    """A session's configuration with every tool granted that this mode can grant."""
    from barry_adapter_qwen import adapter

    def config(**given: Any) -> SessionConfig:
        env = {**place.env, **given.pop("env", {})}
        asked = SessionConfig(
            **{
                "session_id": "s",
                "cwd": str(place.cwd),
                "env": env,
                "allowed_native_tools": adapter.native_tools,
                **given,
            }
        )
        mode = adapter.modes["hosted"]
        assert mode is not None
        return configure_harness_session(asked, adapter.native_tools, mode.native)

    return config


def made(config: SessionConfig) -> AgentAdapter:
    from barry_adapter_qwen.hosted import agent

    return agent(config)


def command(config: SessionConfig, **asked: Any) -> Any:
    return made(config).request(AgentInput(text="a prompt", config=config, home="/own", **asked))


def values_of(command: Any, flag: str) -> list[str]:
    return [word.partition("=")[2] for word in command.args if word.split("=")[0] == flag]


def files_of(config: SessionConfig) -> dict[str, Any]:
    """The session's own files -> what each says."""
    plan = made(config).configuration
    assert plan is not None
    return {file.path: json.loads(file.text) for file in plan(Variables({})).files}  # type: ignore[union-attr] # all are generated


def warnings_of(config: SessionConfig) -> tuple[str, ...]:
    from barry_adapter_qwen.hosted import _warnings

    return _warnings(config)


# --- what it is held to ---


def test_every_word_is_a_flag_and_the_prompt_is_none(config: Any) -> None:
    given = command(config())
    assert all(word.startswith("--") for word in given.args)
    assert "a prompt" not in " ".join(given.args)
    assert given.args[:2] == ("--acp", "--approval-mode=default")
    assert given.stdin is None


def test_the_settings_have_it_ask_about_every_tool_that_is_left(config: Any) -> None:
    from barry_adapter_qwen.declared import HOSTED_NATIVE

    given = command(config())
    assert given.env["QWEN_CODE_SYSTEM_SETTINGS_PATH"] == "/own/system.json"
    above = files_of(config())["system.json"]
    assert above["permissions"]["ask"] == list(HOSTED_NATIVE.grantable)
    assert above["disableAllHooks"] is True
    assert above["memory"]["enableManagedAutoMemory"] is False
    assert above["general"]["enableAutoUpdate"] is False
    assert above["tools"] == {"discoveryCommand": "", "callCommand": ""}


def test_hooks_that_are_off_are_named(config: Any, place: Any) -> None:
    path = place.user_sets(hooks={"PreToolUse": []})
    (told,) = warnings_of(config())
    assert f"the hooks in {path} are off" in told


def test_an_administrators_settings_stay(config: Any, place: Any) -> None:
    machine = {"permissions": {"ask": ["Bash(rm *)"], "deny": ["Read(/etc/**)"]}}
    place.write(place.machine / "settings.json", machine)
    above = files_of(config())["system.json"]
    assert above["permissions"]["deny"] == ["Read(/etc/**)"]
    assert "Bash(rm *)" in above["permissions"]["ask"]
    assert "read_file" in above["permissions"]["ask"]


def test_what_cannot_be_told_apart_or_outlives_a_turn_is_taken_back(config: Any) -> None:
    denied = values_of(command(config()), "--exclude-tools")[0].split(",")
    assert {"agent", "skill", "glob", "monitor", "cron_create"} <= set(denied)
    assert "read_file" not in denied


def test_denials_of_the_session_and_of_its_policy_both_count(config: Any) -> None:
    policy = PermissionPolicy(denied_tools=("Bash(curl:*)", "web_fetch"))
    given = command(config(denied_tools=("edit",)), policy=policy)
    denied = values_of(given, "--exclude-tools")[0].split(",")
    assert {"edit", "web_fetch", "Bash(curl:*)"} <= set(denied)
    assert len(denied) == len(set(denied))


@pytest.mark.parametrize("where", ["variable", "settings"])
def test_where_it_was_not_shown_to_ask_it_is_not_started(
    config: Any, place: Any, where: str
) -> None:
    asked = config()
    if where == "variable":
        asked = config(env={"QWEN_SANDBOX": "docker"})
    else:
        place.user_sets(tools={"sandbox": True})
    with pytest.raises(AgentFault) as refused:
        command(asked)
    assert refused.value.code == "configuration"


def test_a_folder_with_settings_of_its_own_is_not_trusted(config: Any, place: Any) -> None:
    plain = command(config())
    assert "QWEN_CODE_TRUSTED_FOLDERS_PATH" not in plain.env
    path = place.folder_sets(hooks={})
    given, files = command(config()), files_of(config())
    assert given.env["QWEN_CODE_TRUSTED_FOLDERS_PATH"] == "/own/trusted.json"
    assert list(files["trusted.json"].values()) == ["DO_NOT_TRUST"]
    assert files["system.json"]["security"]["folderTrust"]["enabled"] is True
    assert str(path) in warnings_of(config())[0]
    # In the home folder they are the user's own.
    assert "QWEN_CODE_TRUSTED_FOLDERS_PATH" not in command(config(cwd=str(place.home))).env
    place.user_sets(security={"folderTrust": {"enabled": False}})
    with pytest.raises(AgentFault, match="folderTrust"):
        command(config())


def test_no_server_is_connected(config: Any) -> None:
    assert values_of(command(config()), "--allowed-mcp-server-names") == [""]
    servers = {"one": StdioMcpServer(command="server")}
    given = command(config(mcp_servers=servers))
    assert values_of(given, "--allowed-mcp-server-names") == [""]
    assert "without one" in warnings_of(config(mcp_servers=servers))[-1]
    assert made(config()).capabilities.mcp_client is False


def test_the_users_mode_does_not_count(config: Any) -> None:
    asked = config(options={"approvalMode": "yolo"})
    assert values_of(command(asked), "--approval-mode") == ["default"]
    assert "approvalMode is left out" in " ".join(warnings_of(asked))


def test_arguments_of_the_users_own_are_refused(config: Any) -> None:
    with pytest.raises(AgentFault) as refused:
        command(config(extra_args=("--yolo",)))
    assert refused.value.code == "configuration"


# --- where requests go ---


def test_a_key_is_in_the_environment_alone(config: Any) -> None:
    asked = config(endpoint=ENDPOINT, model="openai/one")
    given = command(asked)
    assert given.env["BARRY_QWEN_KEY"] == KEY
    assert KEY not in " ".join(given.args)
    assert KEY not in json.dumps(files_of(asked))


def test_a_limit_is_told_soon(config: Any) -> None:
    above = files_of(config(endpoint=ENDPOINT, model="openai/one"))["system.json"]
    (served,) = above["modelProviders"]["openai"]
    assert served["generationConfig"]["maxRetries"] == 0
    assert above["model"]["generationConfig"]["maxRetries"] == 0


# --- conversations ---


def test_a_conversation_is_found_taken_along_and_put_back(
    config: Any, place: Any, tmp_path: Path
) -> None:
    storage = made(config()).storage
    assert storage is not None
    here = Place(cwd=str(place.cwd), env=place.env, secrets=(KEY,))
    assert storage.locate(KNOWN, here) is None
    row = {"cwd": str(place.cwd), "type": "user", "message": {"parts": [{"text": KEY}]}}
    native = place.write(place.chats / f"{KNOWN}.jsonl", json.dumps(row) + "\n")
    assert storage.locate(KNOWN, here) == native
    record = storage.capture(KNOWN, here, tmp_path / "kept")
    assert KEY not in Path(record.path).read_text("utf-8")
    there = Place(cwd=str(tmp_path / "elsewhere"), env=place.env)
    restored = storage.restore(record, there)
    assert storage.locate(KNOWN, there) == restored
    assert json.loads(restored.read_text("utf-8"))["cwd"] == str(tmp_path / "elsewhere")


def test_a_name_that_is_no_id_begins_no_conversation(config: Any) -> None:
    command(config(), continuation=Continuation(KNOWN))
    with pytest.raises(AgentFault) as lost:
        command(config(), continuation=Continuation("my-talk"))
    assert lost.value.code == "session"
    assert "conversation_lost" in str(lost.value)


def test_an_ephemeral_session_has_nothing_to_go_on_with(config: Any) -> None:
    asked = config(ephemeral=True)
    assert "--chat-recording=false" in command(asked).args
    assert made(asked).resumable is False
    assert made(asked).storage is None
    assert made(config()).resumable is True


# --- the rest of a session ---

# Field -> a value that asks for something.
VALUES: dict[str, Any] = {
    "allowed_native_tools": ("read_file",),
    "denied_tools": ("edit",),
    "ephemeral": True,
    "model": "openai/one",
    "options": {"extensions": []},
    "project_roots": ("/other",),
    "system_prompt": "Be brief.",
}
ROUTED = {"endpoint", "small_model"}
# The driver deals with these, or another mode.
DRIVEN = {"decide", "executor", "resume", "extra_args", "instrument", "strict_mcp_config"}
NOT_HAD: dict[str, Any] = {
    "egress_sandbox": EgressPolicy(allow_domains=()),
    "max_turns": 3,
    "mcp_servers": {"one": StdioMcpServer(command="server")},
    "plugin_dirs": ("/plugins",),
    "telemetry_endpoint": "http://127.0.0.1:1",
    "telemetry_headers": {"a": "b"},
}


def test_every_field_of_a_configuration_is_thought_of() -> None:
    names = {each.name for each in fields(SessionConfig)} - {"session_id", "cwd", "env"}
    assert names == set(VALUES) | ROUTED | DRIVEN | set(NOT_HAD)


@pytest.mark.parametrize("name", VALUES)
def test_each_field_changes_the_command(config: Any, name: str) -> None:
    plain, asked = command(config()), command(config(**{name: VALUES[name]}))
    assert (plain.args, plain.env) != (asked.args, asked.env)
    assert warnings_of(config(**{name: VALUES[name]})) == warnings_of(config())


@pytest.mark.parametrize("name", NOT_HAD)
def test_what_cannot_be_had_is_said(config: Any, name: str) -> None:
    told = set(warnings_of(config(**{name: NOT_HAD[name]}))) - set(warnings_of(config()))
    assert len(told) == 1


def test_a_launch_does_not_import_the_driver() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import barry_adapter_qwen; "
        "sys.exit(any(name.startswith('barry_cli.headless') for name in sys.modules))"
    )
    package = Path(__file__).resolve().parents[4] / "adapters" / "qwen"
    assert subprocess.run([sys.executable, "-c", code, str(package)], check=False).returncode == 0


def test_the_declaration_of_the_mode_holds_up() -> None:
    from barry_adapter_qwen import adapter

    mode = adapter.modes["hosted"]
    assert mode is not None
    assert mode.structured_output == "prompted"
    assert mode.guarantees.gating == "per-call"
    assert set(mode.native.grantable if mode.native else ()) < set(adapter.native_tools)
