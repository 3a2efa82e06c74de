"""opencode's instrumented plan: Barry's plugin, and what could undo it kept out."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from barry_adapter_opencode.declared import INSTRUMENTED_GUARANTEES, NATIVE, NATIVE_TOOLS
from barry_adapter_opencode.instrumented import plan
from barry_adapter_opencode.typed import typed
from barry_cli.adapters import EvidentInbox, HookCall, Instrument, LaunchPlan, Refused
from barry_cli.sessions import (
    EgressPolicy,
    Endpoint,
    HttpMcpServer,
    Resume,
    SessionConfig,
    StdioMcpServer,
    configure_harness_session,
)

KEY = "a-key-of-the-line"
Make = Callable[..., LaunchPlan]


class Nobody:
    """Nothing runs inside."""

    def notices(self) -> Any:
        raise AssertionError("nobody asks while planning")

    async def hand(self, text: str, **how: Any) -> bool:
        return False

    async def ask(self, frame: Any, *, seconds: float = 5) -> None:
        return None


NO_HOOK = HookCall(command="exit 2", words=("/bin/false",))
INSTRUMENT = Instrument(
    ruling=NO_HOOK,
    notice=NO_HOOK,
    deadline_seconds=20,
    fingerprint="12",
    socket="/run/x.sock",
    key=KEY,
    inside=Nobody(),
)


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / ".git").mkdir()
    return folder


@pytest.fixture
def make(home: Path, cwd: Path) -> Make:
    """Plans an instrumented launch in the folder with these fields."""

    def made(**given: Any) -> LaunchPlan:
        env = {"HOME": str(home), **given.pop("env", {})}
        config = SessionConfig(
            **{
                "session_id": "s1",
                "cwd": str(cwd),
                "env": env,
                "allowed_native_tools": NATIVE_TOOLS,
                "instrument": INSTRUMENT,
                **given,
            }
        )
        return asyncio.run(plan(configure_harness_session(config, NATIVE_TOOLS, NATIVE)))

    return made


def inline(made: LaunchPlan) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(made.env["OPENCODE_CONFIG_CONTENT"] or "")
    return found


def plugin(made: LaunchPlan) -> Path:
    return Path(inline(made)["plugin"][-1].removeprefix("file://"))


def given_to(made: LaunchPlan) -> dict[str, Any]:
    """What the plugin is told."""
    found: dict[str, Any] = json.loads(plugin(made).with_name("line.json").read_text())
    return found


def test_the_plugin_lies_in_a_private_folder_with_all_that_it_needs(make: Make) -> None:
    made = make()
    assert made.reports_loaded
    assert made.guarantees == INSTRUMENTED_GUARANTEES
    placed = plugin(made)
    assert str(placed.parent) in made.tmp_dirs
    assert stat.S_IMODE(placed.parent.stat().st_mode) == 0o700
    assert {each.name for each in placed.parent.iterdir()} == {"inside.js", "line.js", "line.json"}
    assert given_to(made)["fingerprint"] == "12"
    assert inline(made)["experimental"] == {"batch_tool": False}


def test_no_secret_is_in_an_argument_or_told(make: Make) -> None:
    made = make()
    password = made.env["OPENCODE_SERVER_PASSWORD"]
    assert password is not None
    assert password in made.secrets
    assert password not in repr((made.args, made.warnings))
    assert KEY not in repr((made.args, made.env, made.warnings))
    assert made.env["OPENCODE_SERVER_PASSWORD"] != make().env["OPENCODE_SERVER_PASSWORD"]


def test_a_password_of_the_users_own_stays(make: Make) -> None:
    made = make(env={"OPENCODE_SERVER_PASSWORD": "mine"})
    assert "OPENCODE_SERVER_PASSWORD" not in made.env
    assert "mine" in made.secrets


def test_messages_come_by_the_plugin(make: Make) -> None:
    inbox = make().inbox
    assert isinstance(inbox, EvidentInbox)
    assert inbox.guarantee == "wake"
    assert not asyncio.run(inbox.deliver({"id": "m", "content": "x"}))  # nobody is inside


def test_without_an_instrument_nothing_is_planned(make: Make) -> None:
    with pytest.raises(Refused, match="nothing to do it with"):
        make(instrument=None)


def test_what_leaves_plugins_out_or_adds_tools_is_taken_away(make: Make) -> None:
    made = make(env={"OPENCODE_PURE": "1", "OPENCODE_EXPERIMENTAL_X": "1"})
    assert made.env["OPENCODE_PURE"] is None
    assert made.env["OPENCODE_EXPERIMENTAL_X"] is None
    assert "OPENCODE_EXPERIMENTAL_X" in made.warnings[0]
    assert "OPENCODE_PURE" not in make().env


def test_until_the_plugin_rules_every_tool_is_barred(make: Make, home: Path) -> None:
    """By the last rule of all, for every agent; the plugin knows which one to take away."""
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    own = {"agent": {"mine": {"permission": "allow"}}, "mode": {"old": {}}}
    (folder / "opencode.json").write_text(json.dumps(own))
    made = make(denied_tools=("bash",), env={"OPENCODE_PERMISSION": '{"*": "allow"}'})
    barrier = given_to(made)["barrier"]
    general = json.loads(made.env["OPENCODE_PERMISSION"] or "")
    agents = inline(made)["agent"] | inline(made)["mode"]
    assert {"mine", "old", "build", "plan"} <= agents.keys()
    for rules in (general, *(agent["permission"] for agent in agents.values())):
        assert list(rules)[-1] == barrier
        assert rules[barrier] == "deny"
        assert set(barrier) == {"*"}
        assert any(name.startswith("bash") for name in rules)


def test_the_projects_settings_are_left_out(make: Make, cwd: Path) -> None:
    (cwd / "opencode.json").write_text('{"permission": "allow"}')
    made = make()
    assert made.env["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"
    assert "left out" in made.warnings[0]
    assert made.guarantees.gating == "hooks"


def test_code_of_the_projects_own_lowers_the_promise(make: Make, cwd: Path) -> None:
    folder = cwd / ".opencode" / "plugin"
    folder.mkdir(parents=True)
    (folder / "own.ts").write_text("")
    made = make()
    assert made.guarantees.gating == "none"
    assert "own.ts" in made.lowered["gating"]


def test_the_wait_for_a_registry_is_short_and_none_of_the_commands_business(make: Make) -> None:
    made = make()
    assert made.env["npm_config_fetch_retries"] == "0"
    assert given_to(made)["hidden"] == ["npm_config_fetch_retries", "npm_config_fetch_timeout"]
    mine = make(env={"npm_config_fetch_retries": "5"})
    assert "npm_config_fetch_retries" not in mine.env
    assert given_to(mine)["hidden"] == ["npm_config_fetch_timeout"]


def test_servers_are_known_by_their_own_names(make: Make, home: Path) -> None:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text('{"mcp": {"my server": {}}}')
    servers = {"far off": HttpMcpServer(type="http", url="http://elsewhere")}
    made = make(mcp_servers=servers, strict_mcp_config=False)
    assert given_to(made)["servers"] == {"far_off": "far off", "my_server": "my server"}


def test_settings_that_can_not_be_read_lower_the_promise(make: Make, home: Path) -> None:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.json").write_text("{")
    assert make().guarantees.gating == "none"


@pytest.mark.parametrize(
    ("config", "conversation", "fresh"),
    [
        ({}, None, True),
        ({"resume": Resume(harness_session_id="ses_1")}, "ses_1", False),
        ({"resume": Resume(last=True)}, None, True),
        ({"resume": Resume(picker=True)}, None, False),
        ({"extra_args": ["--session", "ses_2"]}, None, False),
        ({"extra_args": ["-c"]}, None, False),
        ({"extra_args": ["--prompt=hello"]}, None, False),
        ({"extra_args": ["--auto"]}, None, True),
    ],
)
def test_where_messages_go_before_the_first_prompt(
    make: Make, config: Any, conversation: str | None, fresh: bool
) -> None:
    told = given_to(make(**config))
    assert (told["conversation"], told["fresh"]) == (conversation, fresh)


def test_a_new_conversation_gets_the_model_and_agent_of_the_launch(make: Make) -> None:
    endpoint = Endpoint.model_validate(
        {"url": "http://127.0.0.1:1", "api": "openai-chat", "key": "sk-x"}
    )
    assert given_to(make())["model"] is None
    assert given_to(make(model="a/b"))["model"] == "a/b"
    assert given_to(make(model="a/b", extra_args=["-m", "c/d"]))["model"] == "c/d"
    assert given_to(make(model="a/b", endpoint=endpoint))["model"] == "barry/b"
    assert given_to(make(options={"agent": "plan"}))["agent"] == "plan"
    assert given_to(make(extra_args=["--agent", "mine"]))["agent"] == "mine"


@pytest.mark.parametrize(
    "words",
    [
        ["--pure"],
        ["--pure=true"],
        ["--port", "1"],
        ["--hostname=0.0.0.0"],
        ["--mdns"],
        ["attach", "http://x"],
        ["run", "x"],
        ["/other/folder"],
        ["--", "x"],
        ["--model"],
        ["-cs", "x"],
        ["--auto", "serve"],
    ],
)
def test_words_that_could_take_the_plugin_away_are_refused(make: Make, words: list[str]) -> None:
    with pytest.raises(Refused, match="can't be given"):
        make(extra_args=words)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["-m", "--agent=x", "--fork", "--pure", "--port=1", "x", "-c"])))
def test_no_word_passes_but_a_known_flag_or_its_value(words: list[str]) -> None:
    try:
        found = typed(words)
    except Refused:
        return
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "-m":
            rest.pop(0)
        assert word in ("-m", "--agent=x", "--fork", "-c")
    assert found.keys() <= {"--model", "--agent", "--fork", "--continue"}


VALUES: dict[str, Any] = {
    "denied_tools": ("bash",),
    "extra_args": ("--auto",),
    "mcp_servers": {"one": StdioMcpServer(command="server")},
    "model": "anthropic/claude-x",
    "options": {"agent": "plan"},
    "plugin_dirs": ("/plugins",),
    "project_roots": ("/other",),
    "resume": Resume(harness_session_id="ses_1"),
    "small_model": "anthropic/claude-y",
    "system_prompt": "Be brief.",
}
WARNED: dict[str, Any] = {
    "decide": asyncio.sleep,
    "egress_sandbox": EgressPolicy(allow_domains=()),
    "ephemeral": True,
    "max_turns": 3,
    "telemetry_endpoint": "http://127.0.0.1:1",
    "telemetry_headers": {"a": "b"},
}
ELSEWHERE = {"allowed_native_tools", "executor", "instrument", "endpoint", "strict_mcp_config"}


def test_every_field_of_a_configuration_is_thought_of() -> None:
    names = {each.name for each in fields(SessionConfig)} - {"session_id", "cwd", "env"}
    assert names == set(VALUES) | set(WARNED) | ELSEWHERE


@pytest.mark.parametrize("name", VALUES)
def test_each_field_changes_the_plan(make: Make, name: str) -> None:
    def shape(made: LaunchPlan) -> tuple[Any, ...]:
        found = {**inline(made), "plugin": None}
        return made.args, found, made.env.get("OPENCODE_PERMISSION")

    assert shape(make(**{name: VALUES[name]})) != shape(make())


@pytest.mark.parametrize("name", WARNED)
def test_what_can_not_be_had_is_said(make: Make, name: str) -> None:
    assert len(make(**{name: WARNED[name]}).warnings) == 1
