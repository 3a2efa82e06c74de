"""How Claude Code is started to be driven: its command line, its settings, what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from barry_cli.agents import AgentAdapter, AgentFault, AgentInput, Continuation, Variables
from barry_cli.base.problems import Refused
from barry_cli.contract.models import Endpoint
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.session import HttpMcpServer, Resume, SessionConfig, StdioMcpServer
from barry_cli.headless.capabilities import PermissionPolicy
from barry_cli.headless.conversations import Place

KNOWN = "0d6f2b3c-1111-4222-8333-444455556666"
KEY = "sk-made-up-0123456789"


@pytest.fixture
def config(place: Any) -> Any:
    """A session's configuration with every tool granted that this mode can grant."""
    from barry_adapter_claude import adapter

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
    from barry_adapter_claude.hosted import agent

    return agent(config)


def command(config: SessionConfig, **asked: Any) -> Any:
    return made(config).request(AgentInput(text="a prompt", config=config, home="/own", **asked))


def value_of(command: Any, flag: str) -> str | None:
    """What a flag says; None when it isn't there, and never twice."""
    found = [word for word in command.args if word.split("=")[0] == flag]
    assert len(found) <= 1
    return found[0].partition("=")[2] if found else None


def settings_of(command: Any) -> dict[str, Any]:
    found = json.loads(value_of(command, "--settings") or "{}")
    assert isinstance(found, dict)
    return found


def files_of(config: SessionConfig) -> dict[str, str]:
    plan = made(config).configuration
    assert plan is not None
    return {file.path: file.text for file in plan(Variables({})).files}  # type: ignore[union-attr] # all are generated


def warnings_of(config: SessionConfig) -> tuple[str, ...]:
    from barry_adapter_claude.hosted import _warnings

    return _warnings(config)


# --- what it is held to ---


def test_every_word_is_a_flag_and_the_prompt_is_none(config: Any) -> None:
    given = command(config())
    assert all(word.startswith("--") for word in given.args)
    assert "a prompt" not in " ".join(given.args)
    assert given.stdin is None


def test_the_folders_settings_are_not_read(config: Any, place: Any) -> None:
    place.folder_sets(ANTHROPIC_BASE_URL="http://elsewhere", ANTHROPIC_AUTH_TOKEN=KEY)
    given = command(config())
    assert value_of(given, "--setting-sources") == "user"
    assert "elsewhere" not in " ".join(given.args)
    (told,) = warnings_of(config())
    assert ".claude/settings.json is left unread" in told
    # Its words are no settings: CLAUDE.md is read all the same.
    assert value_of(given, "--add-dir") == str(place.cwd)
    assert given.env["CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD"] == "1"


def test_in_the_home_folder_the_settings_are_the_users_own(config: Any, place: Any) -> None:
    place.user_sets(ANTHROPIC_MODEL="one")
    asked = config(cwd=str(place.home))
    assert warnings_of(asked) == ()


def test_what_holds_it_is_repeated_where_a_settings_file_cannot_outrank_it(
    config: Any, place: Any
) -> None:
    place.user_sets(CLAUDE_CODE_DISABLE_FILE_MENTIONS="0", DISABLE_AUTOUPDATER="0")
    given = command(config())
    inline = settings_of(given)
    assert inline["disableAllHooks"] is False
    assert inline["disableSkillShellExecution"] is True
    for name in (
        "DISABLE_AUTOUPDATER",
        "CLAUDE_CODE_DISABLE_FILE_MENTIONS",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
        "CLAUDE_CODE_DISABLE_CRON",
    ):
        assert inline["env"][name] == given.env[name] == "1"


def test_barry_is_asked_whatever_the_permission_mode(config: Any) -> None:
    assert value_of(command(config()), "--permission-mode") == "manual"
    given = command(config(options={"permissionMode": "acceptEdits"}))
    assert value_of(given, "--permission-mode") == "acceptEdits"
    assert value_of(given, "--permission-prompt-tool") == "stdio"


def test_what_outlives_a_turn_or_asks_a_person_is_taken_back(config: Any) -> None:
    denied = (value_of(command(config()), "--disallowedTools") or "").split(",")
    assert "Monitor" in denied
    assert "AskUserQuestion" in denied
    assert "Bash" not in denied


def test_denials_of_the_session_and_of_its_policy_both_count(config: Any) -> None:
    policy = PermissionPolicy(denied_tools=("Bash(curl:*)", "WebFetch"))
    given = command(config(denied_tools=("WebSearch",)), policy=policy)
    denied = (value_of(given, "--disallowedTools") or "").split(",")
    assert {"WebSearch", "WebFetch", "Bash(curl:*)"} <= set(denied)
    assert len(denied) == len(set(denied))


def test_only_the_servers_of_the_session_are_started(config: Any) -> None:
    assert "--strict-mcp-config" in command(config()).args
    assert "--strict-mcp-config" not in command(config(strict_mcp_config=False)).args
    servers = {"one": StdioMcpServer(command="server")}
    given = command(config(mcp_servers=servers))
    assert given.args.count("--strict-mcp-config") == 1
    assert json.loads(value_of(given, "--mcp-config") or "")["mcpServers"]["one"]


def test_arguments_of_the_users_own_are_refused(config: Any) -> None:
    with pytest.raises(AgentFault) as refused:
        command(config(extra_args=("--dangerously-skip-permissions",)))
    assert refused.value.code == "configuration"


# --- secrets ---


def test_a_key_is_in_the_environment_alone(config: Any) -> None:
    endpoint = Endpoint.model_validate({"url": "http://there", "api": "anthropic", "key": KEY})
    asked = config(endpoint=endpoint)
    given = command(asked)
    assert given.env["ANTHROPIC_AUTH_TOKEN"] == KEY
    assert KEY not in " ".join(given.args)
    assert KEY not in repr(made(asked).configuration)


def test_secrets_of_servers_and_of_the_environment_go_into_files_of_the_sessions_own(
    config: Any, place: Any
) -> None:
    place.user_sets(ANTHROPIC_API_KEY="sk-another-0123456789")
    servers = {"one": HttpMcpServer(type="http", url="http://x", headers={"Authorization": KEY})}
    asked = config(mcp_servers=servers, env={"ANTHROPIC_API_KEY": KEY})
    given = command(asked)
    assert KEY not in " ".join(given.args)
    assert value_of(given, "--mcp-config") == "/own/mcp.json"
    assert value_of(given, "--settings") == "/own/settings.json"
    files = files_of(asked)
    assert json.loads(files["mcp.json"])["mcpServers"]["one"]["headers"]["Authorization"] == KEY
    assert json.loads(files["settings.json"])["env"]["ANTHROPIC_API_KEY"] == KEY
    assert files_of(config()) == {}


def test_an_endpoint_that_cannot_be_used_is_refused_before_anything_runs(config: Any) -> None:
    with pytest.raises(Refused):
        command(config(endpoint=Endpoint(url="http://there", api="gemini")))


# --- conversations ---


def test_a_conversation_goes_on_by_its_id_or_as_a_copy(config: Any) -> None:
    assert value_of(command(config()), "--resume") is None
    given = command(config(), continuation=Continuation(KNOWN))
    assert value_of(given, "--resume") == KNOWN
    assert "--fork-session" not in given.args
    given = command(config(), continuation=Continuation(KNOWN, fork=True))
    assert "--fork-session" in given.args


def test_an_id_is_never_taken_for_a_title(config: Any) -> None:
    with pytest.raises(AgentFault) as lost:
        command(config(), continuation=Continuation("my-talk"))
    assert lost.value.code == "session"
    assert "conversation_lost" in str(lost.value)


def test_an_ephemeral_session_has_nothing_to_go_on_with(config: Any) -> None:
    asked = config(ephemeral=True)
    assert "--no-session-persistence" in command(asked).args
    assert made(asked).resumable is False
    assert made(asked).storage is None
    assert made(config()).resumable is True


def test_a_conversation_is_taken_to_another_folder(config: Any, place: Any, tmp_path: Path) -> None:
    storage = made(config()).storage
    assert storage is not None
    from barry_adapter_claude.places import new_conversation_file

    native = new_conversation_file(KNOWN, str(place.cwd), place.env)
    assert native is not None
    native.parent.mkdir(parents=True)
    row = {"type": "user", "cwd": str(place.cwd), "message": {"content": f"it is {KEY}"}}
    native.write_text(json.dumps(row) + "\n", "utf-8")
    here = Place(cwd=str(place.cwd), env=place.env, secrets=(KEY,))
    assert storage.locate(KNOWN, here) == native
    assert storage.locate(KNOWN.replace("0", "1"), here) is None
    record = storage.capture(KNOWN, here, tmp_path / "kept")
    assert KEY not in Path(record.path).read_text("utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    there = Place(cwd=str(elsewhere), env=place.env)
    restored = storage.restore(record, there)
    assert storage.locate(KNOWN, there) == restored
    assert json.loads(restored.read_text("utf-8"))["cwd"] == str(elsewhere)


def test_a_folder_whose_conversations_cannot_be_placed_is_refused(
    config: Any, place: Any, tmp_path: Path
) -> None:
    storage = made(config()).storage
    assert storage is not None
    kept = tmp_path / "kept.jsonl"
    kept.write_text("{}\n", "utf-8")
    from barry_cli.headless.conversations import StoredConversation

    record = StoredConversation(store="claude", id=KNOWN, root="/x", path=str(kept))
    with pytest.raises(AgentFault) as refused:
        storage.restore(record, Place(cwd="/" + "deep/" * 50, env=place.env))
    assert refused.value.code == "session"


# --- the rest of a session ---

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}

# Field -> a value that asks for something.
VALUES: dict[str, Any] = {
    "mcp_servers": {"one": StdioMcpServer(command="server")},
    "allowed_native_tools": ("Read",),
    "denied_tools": ("Bash",),
    "egress_sandbox": None,
    "endpoint": Endpoint.model_validate({"url": "http://x", "api": "anthropic", "key": KEY}),
    "ephemeral": True,
    "max_turns": 3,
    "model": "anthropic/claude-x",
    "options": {"effort": "low"},
    "plugin_dirs": ("/plugins",),
    "project_roots": ("/other",),
    "small_model": "anthropic/claude-y",
    "strict_mcp_config": False,
    "system_prompt": "Be brief.",
    "telemetry_endpoint": "http://127.0.0.1:1",
}
# The driver deals with these, or another mode.
DRIVEN = {"decide", "executor", "resume", "extra_args", "instrument", "telemetry_headers"}


def test_every_field_of_a_configuration_is_thought_of() -> None:
    names = {each.name for each in fields(SessionConfig)} - {"session_id", "cwd", "env"}
    assert names == set(VALUES) | DRIVEN


@pytest.mark.parametrize("name", [name for name, value in VALUES.items() if value is not None])
def test_each_field_changes_the_command(config: Any, name: str) -> None:
    plain, asked = command(config()), command(config(**{name: VALUES[name]}))
    assert (plain.args, plain.env) != (asked.args, asked.env)
    assert warnings_of(config(**{name: VALUES[name]})) == ()


def test_what_cannot_be_had_is_said(config: Any) -> None:
    from barry_cli.contract.session import EgressPolicy

    (told,) = warnings_of(config(egress_sandbox=EgressPolicy(allow_domains=())))
    assert "an egress sandbox" in told


def test_the_drivers_fields_are_not_warned_about(config: Any) -> None:
    async def decide(request: object) -> Any: ...

    asked = config(decide=decide, resume=Resume(harness_session_id=KNOWN))
    assert warnings_of(asked) == ()


def test_a_schema_is_handed_over(config: Any) -> None:
    given = command(config(), output_schema=SCHEMA)
    assert json.loads(value_of(given, "--json-schema") or "") == SCHEMA
    assert value_of(command(config()), "--json-schema") is None


def test_a_launch_does_not_import_the_driver() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import barry_adapter_claude; "
        "sys.exit(any(name.startswith('barry_cli.headless') for name in sys.modules))"
    )
    package = Path(__file__).resolve().parents[4] / "adapters" / "claude"
    assert subprocess.run([sys.executable, "-c", code, str(package)], check=False).returncode == 0


def test_the_declaration_of_the_mode_holds_up() -> None:
    from barry_adapter_claude import adapter

    mode = adapter.modes["hosted"]
    assert mode is not None
    assert mode.structured_output == "native"
    assert mode.guarantees.gating == "per-call"
    assert set(mode.native.grantable if mode.native else ()) < set(adapter.native_tools)
