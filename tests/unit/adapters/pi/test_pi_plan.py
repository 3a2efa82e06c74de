"""pi's launch plan: every field of the configuration becomes a flag, a variable or a warning."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barry_adapter_pi import adapter
from barry_adapter_pi.declared import NATIVE, NATIVE_TOOLS
from barry_adapter_pi.launch import plan
from barry_cli.adapters import BarryError, LaunchPlan, check_adapter
from barry_cli.sessions import (
    Endpoint,
    Resume,
    SessionConfig,
    StdioMcpServer,
    configure_harness_session,
)

KEY = "sk-secret-key"
Make = Callable[..., LaunchPlan]


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def make(home: Path, cwd: Path) -> Make:
    """Plans a launch in the folder with these fields."""

    def made(**fields: Any) -> LaunchPlan:
        env = {"HOME": str(home), **fields.pop("env", {})}
        config = SessionConfig(
            session_id="s1",
            cwd=str(cwd),
            env=env,
            **{"allowed_native_tools": NATIVE_TOOLS, **fields},
        )
        return asyncio.run(plan(configure_harness_session(config, NATIVE_TOOLS, NATIVE)))

    return made


def endpoint(api: str = "openai-chat", key: str | None = KEY) -> Endpoint:
    return Endpoint.model_validate({"url": "http://127.0.0.1:1/v1", "api": api, "key": key})


def without_session(made: LaunchPlan) -> list[str]:
    """The arguments without the session file that a new conversation is given."""
    args = list(made.args)
    at = args.index("--session")
    return args[:at] + args[at + 2 :]


def found_by(made: LaunchPlan) -> str | None:
    """What the plan finds out about the conversation's id."""

    async def ask() -> str | None:
        assert made.discover_harness_session_id is not None
        return await made.discover_harness_session_id()

    return asyncio.run(ask())


def write_session(home: Path, cwd: Path, session: str, *, when: int) -> Path:
    safe = str(cwd).lstrip("/").replace("/", "-")
    folder = home / ".pi" / "agent" / "sessions" / f"--{safe}--"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"2026_{session}.jsonl"
    path.write_text(json.dumps({"type": "session", "id": session, "cwd": str(cwd)}) + "\n")
    os.utime(path, (when, when))
    return path


def test_the_declaration_holds_up() -> None:
    assert check_adapter(adapter).problems == []


def test_a_plain_launch_changes_as_little_as_it_can(make: Make, home: Path, cwd: Path) -> None:
    made = make()
    assert made.command == "pi"
    assert without_session(made) == []
    assert made.env == {"PI_SKIP_VERSION_CHECK": "1"}
    assert (made.warnings, made.tmp_dirs, dict(made.lowered)) == ((), (), {})
    assert not (home / ".pi").exists()


def test_a_new_conversation_gets_a_file_of_its_own_and_its_id_is_read_there(
    make: Make, home: Path
) -> None:
    first, second = make(), make()
    path = Path(first.args[first.args.index("--session") + 1])
    assert path.parent.parent == home / ".pi" / "agent" / "sessions"
    assert path != Path(second.args[second.args.index("--session") + 1])
    assert found_by(first) is None
    path.parent.mkdir(parents=True)
    path.write_text('{"type": "session", "id": "01a2", "cwd": "/w"}\n')
    assert found_by(first) == "01a2"


@pytest.mark.parametrize(
    ("variable", "settings", "wanted"),
    [
        ({"PI_CODING_AGENT_SESSION_DIR": "~/mine"}, None, "home/mine"),
        ({}, {"sessionDir": "kept"}, "work/kept"),
        ({}, "{", "home/.pi/agent/sessions"),
    ],
)
def test_the_session_file_goes_where_pi_looks_for_it(
    make: Make, home: Path, cwd: Path, variable: dict[str, str], settings: object, wanted: str
) -> None:
    if settings is not None:
        (home / ".pi" / "agent").mkdir(parents=True)
        text = settings if isinstance(settings, str) else json.dumps(settings)
        (home / ".pi" / "agent" / "settings.json").write_text(text)
    made = make(env=variable)
    path = made.args[made.args.index("--session") + 1]
    place = wanted.replace("home", str(home), 1).replace("work", str(cwd), 1)
    assert path.startswith(f"{place}/")


def test_a_named_conversation_is_opened_by_its_file(make: Make, home: Path, cwd: Path) -> None:
    path = write_session(home, cwd, "0192-aa", when=1)
    made = make(resume=Resume(harness_session_id="0192-aa"))
    assert made.args == ("--session", str(path))
    assert made.harness_session_id == "0192-aa"
    assert made.discover_harness_session_id is None
    assert make(resume=Resume(harness_session_id="gone")).args == ("--session", "gone")


def test_an_id_that_could_be_a_flag_is_refused(make: Make) -> None:
    with pytest.raises(BarryError, match="is no id"):
        make(resume=Resume(harness_session_id="--print"))


def test_the_last_conversation_is_the_newest_of_this_folder(
    make: Make, home: Path, cwd: Path
) -> None:
    write_session(home, cwd, "old", when=1)
    newest = write_session(home, cwd, "new", when=2)
    assert make(resume=Resume(last=True)).args == ("--session", str(newest))
    assert make(resume=Resume(last=True)).harness_session_id == "new"


def test_without_a_last_conversation_a_new_one_begins_and_is_announced(make: Make) -> None:
    made = make(resume=Resume(last=True))
    assert without_session(made) == []
    assert made.warnings == ("pi has no conversation in this folder yet: it starts a new one",)


def test_the_picker_is_pis_own_and_never_guessed_about(make: Make, home: Path, cwd: Path) -> None:
    made = make(resume=Resume(picker=True))
    assert made.args == ("--resume",)
    far = 4_000_000_000
    write_session(home, cwd, "before", when=1)
    assert found_by(made) is None
    write_session(home, cwd, "one", when=far)
    assert found_by(made) == "one"
    write_session(home, cwd, "two", when=far)
    assert found_by(made) is None


def test_nothing_is_kept_of_an_ephemeral_conversation(make: Make) -> None:
    made = make(ephemeral=True)
    assert made.args == ("--no-session",)
    assert made.discover_harness_session_id is None


def test_the_operators_own_session_flags_stand_alone_and_last(make: Make) -> None:
    made = make(extra_args=("--fork", "abc"))
    assert made.args == ("--fork", "abc")
    assert without_session(make(extra_args=("hello",)))[-1] == "hello"


def test_a_model_is_spelt_as_pi_spells_it(make: Make) -> None:
    assert without_session(make(model="anthropic/claude-sonnet-4-6")) == [
        "--model",
        "anthropic/claude-sonnet-4-6",
    ]


@pytest.mark.parametrize(
    ("api", "native", "address"),
    [
        ("openai-chat", "openai-completions", "http://127.0.0.1:1/v1"),
        ("openai", "openai-completions", "http://127.0.0.1:1/v1"),
        ("openai-responses", "openai-responses", "http://127.0.0.1:1/v1"),
        ("anthropic", "anthropic-messages", "http://127.0.0.1:1/v1"),
        ("gemini", "google-generative-ai", "http://127.0.0.1:1/v1/v1beta"),
    ],
)
def test_an_endpoint_is_a_provider_of_our_own(
    make: Make, api: str, native: str, address: str
) -> None:
    made = make(endpoint=endpoint(api), model="vendor/the-model")
    route = json.loads(made.env["BARRY_PI_ROUTE"] or "")
    assert (route["name"], route["api"], route["baseUrl"]) == ("barry", native, address)
    assert [model["id"] for model in route["models"]] == ["the-model"]
    args = without_session(made)
    assert args[0] == "--extension"
    assert Path(args[1]).is_file()
    assert args[2:] == ["--provider", "barry", "--model", "the-model", "--no-extensions"]


def test_a_key_is_in_one_variable_and_nowhere_else(make: Make) -> None:
    made = make(endpoint=endpoint(), model="vendor/m")
    assert [name for name, value in made.env.items() if KEY in (value or "")] == ["BARRY_PI_KEY"]
    assert KEY not in " ".join(made.args)
    assert made.secrets == (KEY,)
    assert json.loads(made.env["BARRY_PI_ROUTE"] or "")["apiKey"] == "BARRY_PI_KEY"
    assert make(endpoint=endpoint(key=None), model="vendor/m").env["BARRY_PI_KEY"] == "none"


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"endpoint": endpoint()}, "only together with a model"),
        ({"endpoint": endpoint("soap"), "model": "v/m"}, "does not speak the API 'soap'"),
        ({"endpoint": endpoint(key="!touch x"), "model": "v/m"}, "reads as a command"),
    ],
)
def test_what_pi_must_not_be_given_is_refused(make: Make, fields: dict[str, Any], why: str) -> None:
    with pytest.raises(BarryError, match=why) as refused:
        make(**fields)
    assert refused.value.hint
    assert "touch" not in str(refused.value)


def test_an_address_in_the_environment_that_pi_ignores_is_told(make: Make) -> None:
    made = make(env={"ANTHROPIC_BASE_URL": "http://proxy"})
    assert "pi does not read ANTHROPIC_BASE_URL" in made.warnings[0]


def test_denied_tools_leave_a_list_of_the_others(make: Make) -> None:
    made = make(denied_tools=("Bash",))
    assert without_session(made) == ["--tools", "read,edit,write,grep,find,ls", "--no-extensions"]
    assert made.guarantees.gating == "static"
    assert made.warnings == ()
    assert without_session(make(denied_tools=NATIVE_TOOLS)) == ["--no-tools", "--no-extensions"]
    assert without_session(make(allowed_native_tools=("grep",)))[:2] == ["--tools", "grep"]


def test_a_denial_of_nothing_is_told(make: Make) -> None:
    made = make(denied_tools=("telnet",))
    assert "no tool named telnet" in made.warnings[0]
    assert without_session(made) == []


@pytest.mark.parametrize("flag", ["--tools", "-t", "-e", "--extension"])
def test_words_after_the_dashes_that_undo_a_denial_lower_the_promise(make: Make, flag: str) -> None:
    made = make(denied_tools=("bash",), extra_args=(flag, "x"))
    assert made.guarantees.gating == "none"
    assert flag in made.lowered["gating"]
    assert any("not held" in warning for warning in made.warnings)
    assert make(extra_args=(flag, "x")).guarantees.gating == "static"


def test_left_out_extensions_are_told_and_can_be_kept(make: Make, cwd: Path) -> None:
    (cwd / ".pi" / "extensions").mkdir(parents=True)
    (cwd / ".pi" / "extensions" / "mine.ts").touch()
    left_out = make(denied_tools=("bash",))
    assert "--no-extensions" in left_out.args
    assert "extensions=true keeps them" in left_out.warnings[0]
    kept = make(denied_tools=("bash",), options={"extensions": True})
    assert "--no-extensions" not in kept.args
    assert kept.guarantees.gating == "none"
    assert "--no-extensions" not in make().args


def test_what_a_folder_has_pi_install_must_not_run_beside_an_endpoints_key(
    make: Make, cwd: Path
) -> None:
    (cwd / ".pi").mkdir()
    settings = cwd / ".pi" / "settings.json"
    asked = {"endpoint": endpoint(), "model": "v/m"}
    for text in ('{"packages": ["npm:x"]}', '{"npmCommand": ["./x"]}', "{", '{"__proto__": {}}'):
        settings.write_text(text)
        with pytest.raises(BarryError, match="could read the endpoint's key"):
            make(**asked)
        assert make(**asked, options={"extensions": True})
        assert make(denied_tools=("bash",))
    settings.write_text('{"shellPath": "/bin/zsh"}')
    assert make(**asked)


def test_a_package_in_the_settings_counts_as_an_extension(make: Make, cwd: Path) -> None:
    (cwd / ".pi").mkdir()
    (cwd / ".pi" / "settings.json").write_text('{"packages": ["npm:x"]}')
    assert "are left out" in make(denied_tools=("bash",)).warnings[0]


def test_a_system_prompt_is_a_private_file_beside_the_users_own(make: Make, home: Path) -> None:
    own = home / ".pi" / "agent" / "APPEND_SYSTEM.md"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    made = make(system_prompt="be brief")
    args = without_session(made)
    assert args[:3] == ["--append-system-prompt", str(own), "--append-system-prompt"]
    path = Path(args[3])
    assert path.read_text() == "be brief"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert made.tmp_dirs == (str(path.parent),)


def test_plugin_folders_are_folders_of_skills(make: Make) -> None:
    assert without_session(make(plugin_dirs=("/a", "/b"))) == ["--skill", "/a", "--skill", "/b"]


def test_the_option_for_thinking_is_a_flag(make: Make) -> None:
    assert without_session(make(options={"thinking": "high"})) == ["--thinking", "high"]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"mcp_servers": {"x": StdioMcpServer(command="x")}}, "MCP servers"),
        ({"project_roots": ("/other",)}, "these roots"),
        ({"small_model": "v/small"}, "background calls"),
        ({"max_turns": 3}, "limit of turns"),
        ({"telemetry_endpoint": "http://x"}, "telemetry endpoint"),
        ({"telemetry_headers": {"a": "b"}}, "telemetry headers"),
    ],
)
def test_what_pi_can_not_be_told_is_a_warning(
    make: Make, fields: dict[str, Any], told: str
) -> None:
    made = make(**fields)
    assert any(told in warning for warning in made.warnings)
    assert without_session(made) == []


@pytest.mark.parametrize("strict", [True, False])
def test_pi_loads_no_mcp_servers_from_anywhere(make: Make, strict: bool) -> None:
    assert make(strict_mcp_config=strict).warnings == ()
