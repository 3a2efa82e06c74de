"""How Gemini CLI is started to be driven: its command line, its rules, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from barry_cli.agents import AgentAdapter, AgentFault, AgentInput, Place, Variables
from barry_cli.base.problems import BarryError
from barry_cli.contract.models import Endpoint
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.session import EgressPolicy, SessionConfig, StdioMcpServer
from barry_cli.headless.capabilities import PermissionPolicy

KNOWN = "0d6f2b3c-1111-4222-8333-444455556666"
KEY = "made-up-0123456789"
ENDPOINT = Endpoint.model_validate({"url": "http://there", "api": "gemini", "key": KEY})


@pytest.fixture
def config(place: Any) -> Any:
    """A session's configuration with every tool granted that this mode can grant."""
    from barry_adapter_gemini import adapter

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
    from barry_adapter_gemini.hosted import agent

    return agent(config)


def command(config: SessionConfig, **asked: Any) -> Any:
    return made(config).request(AgentInput(text="a prompt", config=config, home="/own", **asked))


def values_of(command: Any, flag: str) -> list[str]:
    return [word.partition("=")[2] for word in command.args if word.split("=")[0] == flag]


def rules_of(config: SessionConfig) -> list[dict[str, Any]]:
    plan = made(config).configuration
    assert plan is not None
    (file,) = plan(Variables({})).files
    assert file.path == "asking.toml"
    rules = tomllib.loads(file.text)["rule"]  # type: ignore[union-attr] # it is generated
    assert isinstance(rules, list)
    return rules


def warnings_of(config: SessionConfig) -> tuple[str, ...]:
    from barry_adapter_gemini.hosted import _warnings

    return _warnings(config)


# --- what it is held to ---


def test_every_word_is_a_flag_and_the_prompt_is_none(config: Any) -> None:
    given = command(config())
    assert all(word.startswith("--") for word in given.args)
    assert "a prompt" not in " ".join(given.args)
    assert given.args[:2] == ("--acp", "--approval-mode=default")
    assert given.stdin is None


def test_the_rules_ask_about_everything_that_is_not_denied(config: Any) -> None:
    assert values_of(command(config()), "--admin-policy") == ["/own/asking.toml"]
    denied, shell, everything = rules_of(config(denied_tools=("web_fetch",)))
    assert denied["decision"] == "deny"
    assert {"web_fetch", "invoke_agent", "activate_skill"} <= set(denied["toolName"])
    assert shell["toolName"] == "run_shell_command"
    assert shell["argsPattern"]  # without one, what counts as harmless is not asked about
    assert everything["toolName"] == "*"
    assert shell["decision"] == everything["decision"] == "ask_user"
    assert {rule["priority"] for rule in (denied, shell, everything)} == {999}


def test_an_administrators_rules_stay_beside_and_a_folders_do_not(config: Any, place: Any) -> None:
    place.write(place.machine / "settings.json", {"adminPolicyPaths": ["/admin.toml"]})
    place.folder_sets(adminPolicyPaths=["/folder.toml"])
    given = values_of(command(config()), "--admin-policy")
    assert given == ["/own/asking.toml", "/admin.toml"]


def test_a_policy_denies_by_names_that_are_known(config: Any) -> None:
    command(config(), policy=PermissionPolicy(denied_tools=("web_fetch", "mcp__small")))
    with pytest.raises(AgentFault) as refused:
        command(config(), policy=PermissionPolicy(denied_tools=("Bash(curl:*)",)))
    assert refused.value.code == "configuration"


@pytest.mark.parametrize("where", ["rules", "sandbox", "flag"])
def test_where_it_would_not_ask_it_is_not_started(config: Any, place: Any, where: str) -> None:
    asked = config()
    if where == "rules":
        place.write(place.machine / "policies" / "own.toml", "")
    elif where == "sandbox":
        asked = config(env={"GEMINI_SANDBOX": "docker"})
    else:
        place.user_sets(tools={"sandbox": True})
    with pytest.raises(AgentFault) as refused:
        command(asked)
    assert refused.value.code == "configuration"


@pytest.mark.parametrize(
    "settings", [{"tools": {"disableLLMCorrection": False}}, {"experimental": {"autoMemory": True}}]
)
def test_what_would_act_unasked_is_refused_where_it_cannot_be_outranked(
    config: Any, place: Any, settings: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_gemini import system

    place.user_sets(**settings)
    with pytest.raises(AgentFault, match=r"settings\.json has it"):
        command(config())
    monkeypatch.setattr(system, "honoured", lambda path: True)
    given = command(config())
    above = json.loads(Path(given.env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"]).read_text("utf-8"))
    assert above["tools"]["disableLLMCorrection"] is True
    assert above["experimental"]["autoMemory"] is False
    assert above["general"]["enableAutoUpdate"] is False


def test_a_folder_with_settings_of_its_own_is_not_trusted(config: Any, place: Any) -> None:
    assert command(config()).env["GEMINI_CLI_TRUST_WORKSPACE"] == "true"
    path = place.folder_sets(hooks={})
    servers = {"one": StdioMcpServer(command="server")}
    given = command(config(mcp_servers=servers))
    assert given.env["GEMINI_CLI_TRUST_WORKSPACE"] == "false"
    assert values_of(given, "--allowed-mcp-server-names") == ["barry:none"]
    told = warnings_of(config(mcp_servers=servers))
    assert str(path) in told[0]
    assert "one are left out" in told[-1]
    # In the home folder they are the user's own.
    assert command(config(cwd=str(place.home))).env["GEMINI_CLI_TRUST_WORKSPACE"] == "true"


def test_a_distrust_of_the_users_own_stays(config: Any) -> None:
    given = command(config(env={"GEMINI_CLI_TRUST_WORKSPACE": "false"}))
    assert given.env["GEMINI_CLI_TRUST_WORKSPACE"] == "false"


def test_only_the_servers_of_the_session_may_be_used(config: Any) -> None:
    assert values_of(command(config()), "--allowed-mcp-server-names") == ["barry:none"]
    servers = {name: StdioMcpServer(command="server") for name in ("two", "one")}
    given = command(config(mcp_servers=servers))
    assert values_of(given, "--allowed-mcp-server-names") == ["one", "two"]
    told = warnings_of(config(strict_mcp_config=False))
    assert "the session's own MCP servers alone" in told[-1]
    with pytest.raises(AgentFault):
        command(config(mcp_servers={"a,b": StdioMcpServer(command="server")}))


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
    given = command(config(endpoint=ENDPOINT))
    assert given.env["GEMINI_API_KEY"] == KEY
    assert given.env["GOOGLE_GEMINI_BASE_URL"] == "http://there"
    assert KEY not in " ".join(given.args)


def test_another_kind_of_login_is_outranked_or_refused(
    config: Any, place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_gemini import system

    asked = config(endpoint=ENDPOINT)
    command(asked)  # nobody has chosen one: it takes the endpoint's
    assert warnings_of(asked) == warnings_of(config())
    place.user_sets(security={"auth": {"selectedType": "oauth-personal"}})
    with pytest.raises(BarryError, match="oauth-personal"):
        command(asked)
    monkeypatch.setattr(system, "honoured", lambda path: True)
    given = command(asked)
    above = json.loads(Path(given.env["GEMINI_CLI_SYSTEM_SETTINGS_PATH"]).read_text("utf-8"))
    assert above["security"]["auth"]["selectedType"] == "gemini-api-key"


# --- conversations ---


def test_a_conversation_is_found_taken_along_and_put_back(
    config: Any, place: Any, tmp_path: Path
) -> None:
    storage = made(config()).storage
    assert storage is not None
    here = Place(cwd=str(place.cwd), env=place.env, secrets=(KEY,))
    chats = place.home / ".gemini" / "tmp" / "work" / "chats"
    place.write(place.home / ".gemini" / "projects.json", {"projects": {str(place.cwd): "work"}})
    assert storage.locate(KNOWN, here) is None
    rows = [{"sessionId": KNOWN, "kind": "main"}, {"id": "1", "type": "user", "content": KEY}]
    native = place.write(
        chats / f"session-2026-11-30T19-50-{KNOWN[:8]}.jsonl",
        "".join(json.dumps(row) + "\n" for row in rows),
    )
    left_over = {"sessionId": f" {KNOWN}", "kind": "main"}
    place.write(chats / f"session-2026-11-30T19-51-_{KNOWN[:7]}.jsonl", json.dumps(left_over))
    assert storage.locate(KNOWN, here) == native
    record = storage.capture(KNOWN, here, tmp_path / "kept")
    assert KEY not in Path(record.path).read_text("utf-8")
    native.unlink()
    restored = storage.restore(record, here)
    assert storage.locate(KNOWN, here) == restored
    # Never under the present minute, whose file it would begin anew.
    assert restored.name == f"session-2000-01-01T00-00-{KNOWN[:8]}.jsonl"
    with pytest.raises(AgentFault):
        storage.restore(record, Place(cwd=str(tmp_path / "elsewhere"), env=place.env))


# --- the rest of a session ---

# Field -> a value that asks for something.
VALUES: dict[str, Any] = {
    "mcp_servers": {"one": StdioMcpServer(command="server")},
    "endpoint": ENDPOINT,
    "model": "google/gemini-x",
    "options": {"extensions": []},
    "project_roots": ("/other",),
}
IN_RULES = {"allowed_native_tools", "denied_tools"}
# The driver deals with these, or another mode.
DRIVEN = {
    "decide", "executor", "resume", "extra_args", "instrument", "system_prompt",
    "strict_mcp_config",
}  # fmt: skip
NOT_HAD: dict[str, Any] = {
    "egress_sandbox": EgressPolicy(allow_domains=()),
    "ephemeral": True,
    "max_turns": 3,
    "plugin_dirs": ("/plugins",),
    "small_model": "google/gemini-y",
    "telemetry_endpoint": "http://127.0.0.1:1",
    "telemetry_headers": {"a": "b"},
}


def test_every_field_of_a_configuration_is_thought_of() -> None:
    names = {each.name for each in fields(SessionConfig)} - {"session_id", "cwd", "env"}
    assert names == set(VALUES) | IN_RULES | DRIVEN | set(NOT_HAD)


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
        "import sys; sys.path.insert(0, sys.argv[1]); import barry_adapter_gemini; "
        "sys.exit(any(name.startswith('barry_cli.headless') for name in sys.modules))"
    )
    package = Path(__file__).resolve().parents[4] / "adapters" / "gemini"
    assert subprocess.run([sys.executable, "-c", code, str(package)], check=False).returncode == 0


def test_the_declaration_of_the_mode_holds_up() -> None:
    from barry_adapter_gemini import adapter

    mode = adapter.modes["hosted"]
    assert mode is not None
    assert mode.structured_output == "prompted"
    assert mode.guarantees.gating == "per-call"
    assert set(mode.native.grantable if mode.native else ()) < set(adapter.native_tools)
