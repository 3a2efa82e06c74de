"""opencode's launch plan: every field becomes a flag, a setting, a variable or a warning."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barry_adapter_opencode import adapter
from barry_adapter_opencode.declared import NATIVE, NATIVE_TOOLS
from barry_adapter_opencode.launch import plan
from barry_cli.adapters import BarryError, LaunchPlan, check_adapter
from barry_cli.sessions import (
    Endpoint,
    HttpMcpServer,
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
    (folder / ".git").mkdir()
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


def settings(made: LaunchPlan) -> dict[str, Any]:
    """The inline settings, before opencode replaces any reference in them."""
    found = json.loads(made.env["OPENCODE_CONFIG_CONTENT"] or "")
    assert isinstance(found, dict)
    return found


def permissions(made: LaunchPlan) -> Any:
    return json.loads(made.env["OPENCODE_PERMISSION"] or "")


def endpoint(api: str = "openai-chat", key: str | None = KEY) -> Endpoint:
    return Endpoint.model_validate({"url": "http://127.0.0.1:1", "api": api, "key": key})


def found_by(made: LaunchPlan) -> str | None:
    """What the plan finds out about the conversation's id."""

    async def ask() -> str | None:
        assert made.discover_harness_session_id is not None
        return await made.discover_harness_session_id()

    return asyncio.run(ask())


def write_session(
    home: Path, cwd: Path, session: str, *, when: int, parent: str | None = None
) -> None:
    folder = home / ".local" / "share" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(folder / "opencode.db")
    connection.execute(
        "CREATE TABLE IF NOT EXISTS session (id TEXT, parent_id TEXT, directory TEXT, "
        "time_created INTEGER, time_updated INTEGER)"
    )
    row = (session, parent, str(cwd), when, when)
    connection.execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", row)
    connection.commit()
    connection.close()


def soon() -> int:
    return int(time.time() * 1000) + 60_000


def test_the_declaration_holds_up() -> None:
    assert check_adapter(adapter).problems == []


def test_a_plain_launch_changes_as_little_as_it_can(make: Make, home: Path) -> None:
    made = make()
    assert (made.command, made.args) == ("opencode", ())
    assert settings(made) == {"autoupdate": False}
    assert set(made.env) == {"OPENCODE_CONFIG_CONTENT", "OPENCODE_DISABLE_AUTOUPDATE"}
    assert (made.warnings, made.tmp_dirs, dict(made.lowered)) == ((), (), {})
    assert not any(home.iterdir())


def test_a_new_conversation_is_found_by_folder_and_time(make: Make, home: Path, cwd: Path) -> None:
    write_session(home, cwd, "ses_before", when=1)
    made = make()
    assert found_by(made) is None
    write_session(home, cwd, "ses_mine", when=soon())
    write_session(home, cwd, "ses_child", when=soon(), parent="ses_mine")
    write_session(home, cwd.parent, "ses_elsewhere", when=soon())
    assert found_by(made) == "ses_mine"
    write_session(home, cwd, "ses_other", when=soon())
    assert found_by(made) is None


def test_a_named_conversation_goes_on(make: Make) -> None:
    made = make(resume=Resume(harness_session_id="ses_1aB"))
    assert made.args == ("--session", "ses_1aB")
    assert made.harness_session_id == "ses_1aB"
    assert made.discover_harness_session_id is None


def test_an_id_that_could_be_a_flag_is_refused(make: Make) -> None:
    with pytest.raises(BarryError, match="is no id"):
        make(resume=Resume(harness_session_id="--port"))


def test_the_last_conversation_is_the_newest_of_this_folder(
    make: Make, home: Path, cwd: Path
) -> None:
    write_session(home, cwd, "ses_old", when=1)
    write_session(home, cwd, "ses_new", when=2)
    write_session(home, cwd.parent, "ses_elsewhere", when=3)
    made = make(resume=Resume(last=True))
    assert made.args == ("--session", "ses_new")
    assert made.harness_session_id == "ses_new"


def test_without_a_last_conversation_a_new_one_begins_and_is_announced(make: Make) -> None:
    made = make(resume=Resume(last=True))
    assert made.args == ()
    assert "starts a new one" in made.warnings[0]


def test_there_is_no_picker_and_an_older_conversation_may_be_picked(
    make: Make, home: Path, cwd: Path
) -> None:
    made = make(resume=Resume(picker=True))
    assert made.args == ()
    assert "/sessions" in made.warnings[0]
    write_session(home, cwd, "ses_old", when=1)
    assert found_by(made) is None
    path = home / ".local" / "share" / "opencode" / "opencode.db"
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE session SET time_updated = ?", (soon(),))
    assert found_by(made) == "ses_old"
    assert found_by(make(extra_args=("--session=ses_old",))) == "ses_old"
    assert found_by(make()) is None


def test_a_database_in_memory_tells_nothing(make: Make) -> None:
    assert found_by(make(env={"OPENCODE_DB": ":memory:"})) is None


def test_extra_words_come_last(make: Make) -> None:
    made = make(model="anthropic/claude-sonnet-5", extra_args=("--prompt", "hi"))
    assert made.args == ("--model", "anthropic/claude-sonnet-5", "--prompt", "hi")


def test_a_model_for_background_calls_is_a_setting(make: Make) -> None:
    assert settings(make(small_model="google/small"))["small_model"] == "google/small"


@pytest.mark.parametrize(
    ("api", "package", "address"),
    [
        ("openai-chat", "@ai-sdk/openai-compatible", "http://127.0.0.1:1"),
        ("openai-responses", "@ai-sdk/openai", "http://127.0.0.1:1"),
        ("anthropic", "@ai-sdk/anthropic", "http://127.0.0.1:1/v1"),
        ("gemini", "@ai-sdk/google", "http://127.0.0.1:1/v1beta"),
    ],
)
def test_an_endpoint_is_a_provider_of_our_own(
    make: Make, api: str, package: str, address: str
) -> None:
    made = make(endpoint=endpoint(api), model="vendor/m")
    own = settings(made)
    provider = own["provider"]["barry"]
    assert (provider["npm"], provider["options"]["baseURL"]) == (package, address)
    assert provider["models"]["m"]["provider"] == {"npm": package, "api": address}
    assert (own["model"], own["small_model"]) == ("barry/m", "barry/m")
    assert made.args == ("--model", "barry/m")


def test_background_calls_go_to_the_endpoint_too(make: Make) -> None:
    own = settings(make(endpoint=endpoint(), model="vendor/m", small_model="vendor/s"))
    assert own["small_model"] == "barry/s"
    assert set(own["provider"]["barry"]["models"]) == {"m", "s"}
    other = settings(make(endpoint=endpoint(), model="vendor/m", small_model="other/s"))
    assert other["small_model"] == "other/s"


def test_a_key_is_in_one_variable_and_nowhere_else(make: Make) -> None:
    made = make(endpoint=endpoint(), model="vendor/m")
    assert [name for name, value in made.env.items() if KEY in (value or "")] == [
        "BARRY_OPENCODE_KEY"
    ]
    options = settings(made)["provider"]["barry"]["options"]
    assert options["apiKey"] == "{env:BARRY_OPENCODE_KEY}"
    assert KEY not in " ".join(made.args)
    assert made.secrets == (KEY,)


def test_a_key_is_taken_as_it_stands(make: Make) -> None:
    key = 'a"b\\{file:/etc/passwd}{env:HOME}'
    made = make(endpoint=endpoint(key=key), model="vendor/m")
    held = made.env["BARRY_OPENCODE_KEY"] or ""
    assert "{" not in held
    text = (made.env["OPENCODE_CONFIG_CONTENT"] or "").replace("{env:BARRY_OPENCODE_KEY}", held)
    assert json.loads(text)["provider"]["barry"]["options"]["apiKey"] == key


def test_limits_of_an_unknown_model_are_options(make: Make) -> None:
    options = {"contextWindow": 1000, "outputLimit": 10}
    made = make(endpoint=endpoint(), model="vendor/m", options=options)
    assert settings(made)["provider"]["barry"]["models"]["m"]["limit"] == {
        "context": 1000,
        "output": 10,
    }


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"endpoint": endpoint()}, "only together with a model"),
        ({"endpoint": endpoint("soap"), "model": "v/m"}, "does not speak the API 'soap'"),
    ],
)
def test_what_opencode_must_not_be_given_is_refused(
    make: Make, fields: dict[str, Any], why: str
) -> None:
    with pytest.raises(BarryError, match=why) as refused:
        make(**fields)
    assert refused.value.hint


def test_addresses_and_keys_of_the_environment_are_repeated_inline(make: Make) -> None:
    env = {"ANTHROPIC_BASE_URL": "http://proxy/", "ANTHROPIC_API_KEY": KEY}
    made = make(env=env)
    options = settings(made)["provider"]["anthropic"]["options"]
    assert options == {
        "baseURL": "http://proxy/v1",
        "apiKey": "{env:BARRY_OPENCODE_ANTHROPIC_KEY}",
    }
    assert made.env["BARRY_OPENCODE_ANTHROPIC_KEY"] == KEY
    assert made.secrets == (KEY,)
    assert "provider" not in settings(make(env={"ANTHROPIC_API_KEY": KEY}))


def test_a_denial_is_written_where_no_other_rule_comes_after_it(make: Make, home: Path) -> None:
    folder = home / ".config" / "opencode"
    (folder / "agent" / "deep").mkdir(parents=True)
    (folder / "agent" / "deep" / "mine.md").write_text("---\nmode: all\n---\nname: not this")
    (folder / "agent" / "other.md").write_text("---\nname: 'renamed'  # so called\n---\nhi")
    linked = home / "dotfiles"
    linked.mkdir()
    (linked / "far.md").write_text("hi")
    (folder / "agent" / "linked").symlink_to(linked)
    (linked / "round").symlink_to(folder / "agent")
    (folder / "modes").mkdir()
    (folder / "modes" / "quick.md").write_text("hi")
    (folder / "opencode.jsonc").write_text(
        '{ // "agent": {"not": {}}\n "agent": {"json": {"prompt": "see // here",}}, '
        '"mode": {"old": {}},}'
    )
    made = make(denied_tools=("bash",))
    assert permissions(made) == {"bash**": "deny"}
    own = settings(made)
    assert set(own["agent"]) == {
        *("build", "plan", "general", "explore"),
        *("json", "deep/mine", "renamed", "linked/far", "quick"),
    }
    assert all(each == {"permission": {"bash**": "deny"}} for each in own["agent"].values())
    assert own["mode"] == {"old": {"permission": {"bash***": "deny"}}}
    assert made.env["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    assert (made.guarantees.gating, made.warnings) == ("static", ())


def test_the_three_writing_tools_go_together(make: Make) -> None:
    made = make(denied_tools=("write",))
    assert permissions(made) == {"edit**": "deny"}
    assert made.guarantees.gating == "static"


def test_tools_of_mcp_servers_are_denied_by_opencodes_name(make: Make) -> None:
    made = make(denied_tools=("mcp__files__read_it", "mcp__web"))
    assert permissions(made) == {"files_read_it**": "deny", "web**": "deny"}


def test_only_what_was_granted_stays(make: Make) -> None:
    made = make(allowed_native_tools=("read",))
    assert "read**" not in permissions(made)
    assert len(permissions(made)) == len(NATIVE_TOOLS) - 3


def test_rules_of_the_users_environment_stay_before_ours(make: Make) -> None:
    own = '{"bash": "ask", "*": "allow"}'
    made = make(denied_tools=("bash",), env={"OPENCODE_PERMISSION": own})
    assert list(permissions(made)) == ["bash", "*", "bash**"]
    bad = make(denied_tools=("bash",), env={"OPENCODE_PERMISSION": "[1"})
    assert permissions(bad) == {"bash**": "deny"}
    assert "OPENCODE_PERMISSION" in bad.warnings[0]
    assert "OPENCODE_PERMISSION" not in make(env={"OPENCODE_PERMISSION": own}).env


def test_project_settings_are_left_out_under_a_denial_and_instructions_are_kept(
    make: Make, cwd: Path
) -> None:
    (cwd / "opencode.json").write_text("{}")
    (cwd / "AGENTS.md").write_text("hi")
    inner = cwd / "inner"
    inner.mkdir()
    made = make(denied_tools=("bash",))
    assert "could undo what is denied" in made.warnings[0]
    assert settings(made)["instructions"] == [str(cwd / "AGENTS.md")]
    plain = make()
    assert plain.warnings == ()
    assert "instructions" not in settings(plain)
    assert "OPENCODE_DISABLE_PROJECT_CONFIG" not in plain.env
    assert settings(make(denied_tools=("bash",)))["instructions"]


def test_settings_that_can_not_be_read_lower_the_promise(make: Make, home: Path) -> None:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text("{ agent: }")
    made = make(denied_tools=("bash",))
    assert made.guarantees.gating == "none"
    assert "can't be read" in made.lowered["gating"]
    assert make().guarantees.gating == "static"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".opencode/plugin/trap.js", "x"),
        (".opencode/plugins/trap.ts", "x"),
        ("opencode.json", '{"plugin": ["a-package"]}'),
        ("opencode.jsonc", '{"plugins": ["./trap.js"], /* here */ }'),
        (".opencode/opencode.json", '{"references": {"x": "https://example.org/x.git"}}'),
        ("opencode.json", '{"skills": ["https://example.org/skills"]}'),
        ("opencode.json", "{ what is this"),
    ],
)
def test_code_of_the_project_that_runs_all_the_same_lowers_the_promise(
    make: Make, cwd: Path, file: str, text: str
) -> None:
    assert make(denied_tools=("bash",)).guarantees.gating == "static"
    (cwd / file).parent.mkdir(parents=True, exist_ok=True)
    (cwd / file).write_text(text)
    made = make(denied_tools=("bash",))
    assert made.guarantees.gating == "none"
    assert file in made.lowered["gating"]
    assert make().guarantees.gating == "static"  # nothing was promised to be denied


def test_attaching_elsewhere_lowers_the_promise(make: Make) -> None:
    made = make(denied_tools=("bash",), extra_args=("attach", "http://127.0.0.1:1"))
    assert made.guarantees.gating == "none"
    assert "attach" in made.lowered["gating"]


def test_a_system_prompt_is_a_private_file(make: Make) -> None:
    made = make(system_prompt="be brief")
    (name,) = settings(made)["instructions"]
    path = Path(name)
    assert path.read_text() == "be brief"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert made.tmp_dirs == (str(path.parent),)


def test_mcp_servers_are_spelt_as_opencode_spells_them_and_taken_as_they_stand(make: Make) -> None:
    made = make(
        mcp_servers={
            "local": StdioMcpServer(command="/bin/x", args=("{env:HOME}",), env={"T": "tok-1"}),
            "far": HttpMcpServer(type="http", url="http://h", headers={"A": "Bearer 1"}),
            "stream": HttpMcpServer(type="sse", url="http://s"),
        }
    )
    assert settings(made)["mcp"] == {
        "local": {
            "type": "local",
            "command": ["/bin/x", "{env:HOME}"],
            "environment": {"T": "tok-1"},
            "enabled": True,
        },
        "far": {
            "type": "remote",
            "url": "http://h",
            "headers": {"A": "Bearer 1"},
            "enabled": True,
        },
        "stream": {"type": "remote", "url": "http://s", "headers": {}, "enabled": True},
    }
    assert "{env:" not in (made.env["OPENCODE_CONFIG_CONTENT"] or "")
    assert set(made.secrets) == {"tok-1", "Bearer 1"}


@pytest.fixture
def with_servers(home: Path, cwd: Path) -> None:
    """The user's settings and the project's name an MCP server each."""
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text('{"mcp": {"users": {}}}')
    (cwd / ".opencode").mkdir()
    (cwd / ".opencode" / "opencode.jsonc").write_text('{"mcp": {"folders": {},},}')


@pytest.mark.usefixtures("with_servers")
@pytest.mark.parametrize("strict", [None, True])
def test_servers_of_settings_are_off_beside_ours(make: Make, strict: bool | None) -> None:
    mine = {"mine": StdioMcpServer(command="x")}
    made = make(mcp_servers=mine, strict_mcp_config=strict)
    found = settings(made)["mcp"]
    assert found["mine"]["command"] == ["x"]
    assert found["users"] == found["folders"] == {"enabled": False}
    assert "folders, users (--relax" in made.warnings[0]


@pytest.mark.usefixtures("with_servers")
def test_servers_of_settings_stay_when_nobody_asked(make: Make) -> None:
    mine = {"mine": StdioMcpServer(command="x")}
    assert set(settings(make(mcp_servers=mine, strict_mcp_config=False))["mcp"]) == {"mine"}
    assert "mcp" not in settings(make())
    assert set(settings(make(strict_mcp_config=True))["mcp"]) == {"users", "folders"}


@pytest.mark.usefixtures("with_servers")
def test_a_server_that_settings_would_be_mixed_with_is_left_out(make: Make) -> None:
    far = HttpMcpServer(type="http", url="http://elsewhere")
    made = make(mcp_servers={"users": far}, strict_mcp_config=False)
    assert "mcp" not in settings(made)
    assert "give it another name" in made.warnings[0]
    assert made.servers_left_out == ("users",)
    # Nor does theirs stand in for it where they have to stay out.
    held = make(mcp_servers={"users": far}, strict_mcp_config=True)
    assert settings(held)["mcp"]["users"] == {"enabled": False}


def test_settings_that_can_not_be_read_may_name_more_servers(make: Make, cwd: Path) -> None:
    (cwd / "opencode.json").write_text("{,")
    assert "more MCP servers" in make(strict_mcp_config=True).warnings[0]


def test_roots_are_allowed_and_other_folders_rules_stay(make: Make) -> None:
    made = make(project_roots=("/one", "/two/"))
    assert permissions(made) == {"external_director?": {"/one/*": "allow", "/two/*": "allow"}}


def test_plugin_folders_are_folders_of_skills(make: Make) -> None:
    made = make(plugin_dirs=("/a", "/b"))
    assert settings(made)["skills"] == {"paths": ["/a", "/b"]}
    assert "skills.paths" in made.warnings[0]


def test_the_agent_is_an_option(make: Make) -> None:
    assert make(options={"agent": "plan"}).args == ("--agent", "plan")


def test_inline_settings_of_the_users_own_stay_below_ours(make: Make) -> None:
    own = '{"theme": "x", "autoupdate": true, "instructions": ["a.md"], "agent": {"z": {"a": 1}}}'
    made = make(env={"OPENCODE_CONFIG_CONTENT": own}, system_prompt="hi", denied_tools=("bash",))
    found = settings(made)
    assert (found["theme"], found["autoupdate"]) == ("x", False)
    assert found["instructions"][0] == "a.md"
    assert len(found["instructions"]) == 2
    assert found["agent"]["z"] == {"a": 1, "permission": {"bash**": "deny"}}
    bad = make(env={"OPENCODE_CONFIG_CONTENT": "{"})
    assert "OPENCODE_CONFIG_CONTENT" in bad.warnings[0]
    assert settings(bad) == {"autoupdate": False}


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"ephemeral": True}, "leaves no trace"),
        ({"max_turns": 3}, "limit of turns"),
        ({"telemetry_endpoint": "http://x"}, "telemetry endpoint"),
        ({"telemetry_headers": {"a": "b"}}, "telemetry headers"),
    ],
)
def test_what_opencode_can_not_be_told_is_a_warning(
    make: Make, fields: dict[str, Any], told: str
) -> None:
    made = make(**fields)
    assert any(told in warning for warning in made.warnings)
    assert made.args == ()
