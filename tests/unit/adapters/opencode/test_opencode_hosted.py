"""How opencode is started without its TUI, and what holds it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barry_adapter_opencode import adapter, hosted
from barry_adapter_opencode.declared import NATIVE_TOOLS
from barry_cli.agents import AgentFault, AgentInput, Command, Continuation, Variables
from barry_cli.contract.session import EgressPolicy
from barry_cli.sessions import (
    Endpoint,
    Resume,
    SessionConfig,
    StdioMcpServer,
    configure_harness_session,
)

KEY = "sk-secret-key"
Make = Callable[..., SessionConfig]


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    return folder


@pytest.fixture
def config(home: Path, cwd: Path) -> Make:
    def made(**fields: Any) -> SessionConfig:
        env = {"HOME": str(home), **fields.pop("env", {})}
        asked = SessionConfig(
            session_id="s1",
            cwd=str(cwd),
            env=env,
            **{"allowed_native_tools": NATIVE_TOOLS, **fields},
        )
        mode = adapter.modes["hosted"]
        return configure_harness_session(asked, NATIVE_TOOLS, mode.native if mode else None)

    return made


def command(config: SessionConfig, **asked: Any) -> Command:
    given = AgentInput(text="", config=config, home="/private", **asked)
    return hosted.agent(config).request(given)


def settings(config: SessionConfig, **asked: Any) -> dict[str, Any]:
    found = json.loads(command(config, **asked).env["OPENCODE_CONFIG_CONTENT"] or "")
    assert isinstance(found, dict)
    return found


def rules(config: SessionConfig) -> list[tuple[str, Any]]:
    """The general rules in their order: the last that fits decides."""
    found = json.loads(command(config).env["OPENCODE_PERMISSION"] or "")
    return list(found.items())


def files(config: SessionConfig) -> dict[str, str]:
    configuration = hosted.agent(config).configuration
    assert configuration is not None
    planned = configuration(Variables({}, ()))
    return {file.path: file.text for file in planned.files}


def warnings(config: SessionConfig) -> tuple[str, ...]:
    return hosted._warnings(config)


def write(home: Path, text: object) -> None:
    file = home / ".config" / "opencode" / "opencode.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")


# --- the gate ---


def test_the_gate_is_a_private_file_and_a_plugin(config: Make) -> None:
    assert settings(config())["plugin"] == ["file:///private/gate.js"]
    text = files(config())["gate.js"]
    assert "tool.execute.before" in text
    assert text == Path(hosted.__file__).with_name("gate.js").read_text("utf-8")


def test_plugins_of_the_users_stay_before_it(config: Make) -> None:
    inline = json.dumps({"plugin": ["mine"], "theme": "x"})
    found = settings(config(env={"OPENCODE_CONFIG_CONTENT": inline}))
    assert found["plugin"] == ["mine", "file:///private/gate.js"]
    assert found["theme"] == "x"


@pytest.mark.parametrize(
    "name", ["OPENCODE_PURE", "OPENCODE_ENABLE_QUESTION_TOOL", "OPENCODE_SERVER_USERNAME"]
)
def test_variables_that_would_undo_it_are_unset(config: Make, name: str) -> None:
    env = command(config(env={name: "1"})).env
    assert name in env
    assert env[name] is None
    assert name not in command(config()).env


def test_experiments_are_off_and_that_is_said(config: Make) -> None:
    asked = config(env={"OPENCODE_EXPERIMENTAL_CODE_MODE": "1", "OPENCODE_EXPERIMENTAL": "1"})
    env = command(asked).env
    assert env["OPENCODE_EXPERIMENTAL_CODE_MODE"] is env["OPENCODE_EXPERIMENTAL"] is None
    (said,) = warnings(asked)
    assert "OPENCODE_EXPERIMENTAL_CODE_MODE" in said
    assert settings(asked)["experimental"]["batch_tool"] is False


def test_its_server_has_a_password_of_the_sessions_own(config: Make) -> None:
    agent = hosted.agent(config())
    given = AgentInput(text="", config=config())
    first, again = (agent.request(given).env["OPENCODE_SERVER_PASSWORD"] for _ in range(2))
    assert first
    assert len(first) > 20
    assert first == again
    assert first != command(config()).env["OPENCODE_SERVER_PASSWORD"]
    assert command(config()).args == ("acp", "--hostname=127.0.0.1", "--port=0")


def test_arguments_of_the_users_own_are_refused(config: Make) -> None:
    with pytest.raises(AgentFault, match="arguments of your own"):
        hosted.agent(config(extra_args=("--print-logs",))).request(
            AgentInput(text="", config=config(extra_args=("--print-logs",)))
        )


@pytest.mark.parametrize("file", [".opencode/plugin/x.js", ".opencode/plugins/x.ts"])
def test_code_of_the_folders_own_is_refused(config: Make, cwd: Path, file: str) -> None:
    command(config())
    (cwd / file).parent.mkdir(parents=True)
    (cwd / file).write_text("x")
    with pytest.raises(AgentFault, match=file) as caught:
        command(config())
    assert caught.value.code == "configuration"


def test_settings_of_the_folder_are_left_unread_and_its_instructions_kept(
    config: Make, cwd: Path
) -> None:
    (cwd / "opencode.json").write_text('{"permission": {"bash": "allow"}}')
    (cwd / "AGENTS.md").write_text("hi")
    assert command(config()).env["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    assert settings(config())["instructions"] == [str(cwd / "AGENTS.md")]
    (said,) = warnings(config())
    assert "left unread" in said


# --- rules ---


def test_every_call_is_asked_about_and_another_folder_is_no_call(config: Make) -> None:
    found = rules(config())
    assert found[0] == ("*****", "ask")
    assert ("external_directory**", "allow") in found
    assert ("question****", "deny") in found


def test_rules_of_the_users_come_after_that_in_their_order_and_allow_nothing(
    config: Make, home: Path
) -> None:
    mine = {"*": "allow", "bash": {"*": "allow", "git push*": "deny"}, "edit": "ask"}
    write(home, {"permission": mine, "tools": {"webfetch": False, "write": True}})
    variable = json.dumps({"read": {"*.env": "deny"}})
    found = rules(config(env={"OPENCODE_PERMISSION": variable}))
    ours = [each for each in found if each[0].endswith("***") and each[0] != "*****"]
    assert ours == [
        ("webfetch***", "deny"),
        ("edit***", "ask"),
        ("****", "ask"),
        ("bash***", {"*": "ask", "git push*": "deny"}),
        ("read***", {"*.env": "deny"}),
        ("question****", "deny"),
    ]


def test_a_rule_for_everything_is_one(config: Make, home: Path) -> None:
    write(home, {"permission": "deny"})
    assert ("****", "deny") in rules(config())
    write(home, "no settings")
    assert ("****", "deny") not in rules(config())


def test_denied_tools_are_the_last_rules(config: Make, home: Path) -> None:
    write(home, {"permission": {"bash": "allow"}})
    asked = config(denied_tools=("bash", "mcp__small__greet"))
    assert rules(asked)[-3:] == [
        ("bash****", "deny"),
        ("question****", "deny"),
        ("small_greet****", "deny"),
    ]
    agents = settings(asked)["agent"]
    assert agents["build"]["permission"]["bash**"] == "deny"


def test_its_own_agents_keep_their_limits(config: Make) -> None:
    agents = settings(config())["agent"]
    assert agents["plan"]["permission"]["edit**"]["*"] == "deny"
    assert agents["explore"]["permission"]["***"] == "deny"
    assert agents["explore"]["permission"]["grep**"] == "ask"
    explored = settings(config(denied_tools=("bash",)))["agent"]["explore"]["permission"]
    assert explored["bash**"] == "deny"


# --- what else a session is ---


def test_a_key_is_in_one_variable_and_in_no_argument(config: Make) -> None:
    endpoint = Endpoint.model_validate(
        {"url": "http://127.0.0.1:1", "api": "openai-chat", "key": KEY}
    )
    made = command(config(endpoint=endpoint, model="a/b"))
    holders = [name for name, value in made.env.items() if value and KEY in value]
    assert holders == ["BARRY_OPENCODE_KEY"]
    assert not any(KEY in word for word in made.args)


def test_servers_of_the_users_are_off_unless_asked_for(config: Make, home: Path) -> None:
    write(home, {"mcp": {"theirs": {"type": "local", "command": ["x"]}}})
    assert settings(config())["mcp"] == {"theirs": {"enabled": False}}
    assert "mcp" not in settings(config(strict_mcp_config=False))
    small = StdioMcpServer(command="y")
    found = settings(config(mcp_servers={"small": small}))["mcp"]
    assert found["small"]["command"] == ["y"]
    assert found["theirs"] == {"enabled": False}


def test_a_conversation_that_is_gone_is_seen_before_anything_starts(
    config: Make, home: Path
) -> None:
    goes_on = Continuation("ses_1")
    with pytest.raises(AgentFault, match="conversation_lost"):
        command(config(), continuation=goes_on)
    folder = home / ".local" / "share" / "opencode"
    folder.mkdir(parents=True)
    with sqlite3.connect(folder / "opencode.db") as database:
        database.execute("CREATE TABLE session (id TEXT)")
        database.execute("INSERT INTO session VALUES ('ses_1')")
    command(config(), continuation=goes_on)
    with pytest.raises(AgentFault, match="ses_2"):
        command(config(), continuation=Continuation("ses_2"))
    # Another build's tables tell nothing: opencode itself will say.
    (folder / "opencode.db").write_bytes(b"nothing of the kind")
    command(config(), continuation=Continuation("ses_2"))


def test_an_ephemeral_session_is_kept_in_memory_and_does_not_go_on(config: Make) -> None:
    assert command(config(ephemeral=True)).env["OPENCODE_DB"] == ":memory:"
    assert hosted.agent(config(ephemeral=True)).resumable is False
    assert "OPENCODE_DB" not in command(config()).env
    assert hosted.agent(config()).forkable is True


def test_a_system_prompt_is_a_private_file(config: Make) -> None:
    asked = config(system_prompt="be brief")
    assert files(asked)["system-prompt.md"] == "be brief"
    assert settings(asked)["instructions"] == ["/private/system-prompt.md"]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"max_turns": 3}, "a limit of turns"),
        ({"telemetry_endpoint": "http://x"}, "a telemetry endpoint"),
        ({"egress_sandbox": EgressPolicy(allow_domains=())}, "an egress sandbox"),
    ],
)
def test_what_cannot_be_had_is_said(config: Make, fields: dict[str, Any], told: str) -> None:
    (said,) = warnings(config(**fields))
    assert told in said


def test_the_drivers_fields_are_not_warned_about(config: Make) -> None:
    async def decide(request: object) -> Any: ...

    asked = config(
        decide=decide,
        resume=Resume(harness_session_id="ses_1"),
        ephemeral=True,
        project_roots=("/other",),
        options={"agent": "plan"},
    )
    assert warnings(asked) == ()


def test_a_launch_does_not_import_the_driver() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import barry_adapter_opencode; "
        "sys.exit(any(name.startswith('barry_cli.headless') for name in sys.modules))"
    )
    package = Path(__file__).resolve().parents[4] / "adapters" / "opencode"
    assert subprocess.run([sys.executable, "-c", code, str(package)], check=False).returncode == 0


def test_the_declaration_of_the_mode_holds_up() -> None:
    mode = adapter.modes["hosted"]
    assert mode is not None
    assert mode.structured_output == "prompted"
    assert mode.guarantees.gating == "per-call"
    assert set(mode.native.grantable if mode.native else ()) == {*NATIVE_TOOLS} - {"question"}
