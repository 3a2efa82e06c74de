"""What a driven session hands to Codex, and what it refuses beforehand."""

from __future__ import annotations

import asyncio
import json
import os
import tomllib
from collections.abc import Callable
from dataclasses import fields
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from codex_samples import ID, Record

from barry_adapter_codex import adapter, hosted
from barry_adapter_codex.hosted import CONVERSATIONS
from barry_adapter_codex.problems import LaunchRefused
from barry_adapter_codex.rules import allowing
from barry_adapter_codex.tools import HOSTED_NATIVE, HOSTED_OFF, NATIVE_TOOLS, UNCONTROLLED
from barry_cli.agents import AgentAdapter, AgentFault, AgentInput, Continuation, Place
from barry_cli.contract.models import Endpoint
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.session import (
    EgressPolicy,
    Resume,
    SessionConfig,
    StdioMcpServer,
)

KEY = "sk-secret-of-an-endpoint"
ENDPOINT = Endpoint.model_validate({"url": "http://127.0.0.1:9/v1", "api": "openai", "key": KEY})

Config = Callable[..., SessionConfig]


@pytest.fixture
def config(home: Path) -> Config:
    """Configurations of a driven session, as the host would ask for it."""
    mode = adapter.modes["hosted"]
    assert mode is not None
    (home / "work").mkdir()

    def make(**asked: Any) -> SessionConfig:
        given: dict[str, Any] = {
            "session_id": "barry-1",
            "cwd": str(home / "work"),
            "env": {"HOME": str(home)},
            "allowed_native_tools": adapter.native_tools,
        }
        return configure_harness_session(
            SessionConfig(**{**given, **asked}), adapter.native_tools, mode.native
        )

    return make


def command(config: SessionConfig, **asked: Any) -> Any:
    made: AgentAdapter = hosted.agent(config)
    return made.request(AgentInput(text="a prompt", config=config, live=True, **asked))


def setting(config: SessionConfig, key: str) -> Any:
    args = command(config).args
    said = [
        text.partition("=")[2]
        for flag, text in pairwise(args)
        if flag == "-c" and text.partition("=")[0] == key
    ]
    assert len(said) < 2, "a second one would replace the first"
    return tomllib.loads(f"it = {said[0]}")["it"] if said else None


def warnings_of(config: SessionConfig) -> tuple[str, ...]:
    async def started() -> tuple[str, ...]:
        session = await hosted.start(config, None)  # type: ignore[arg-type] # none is started
        try:
            return tuple(session.warnings)
        finally:
            await session.close()

    return asyncio.run(started())


# --- the command ---


def test_a_plain_session(config: Config) -> None:
    made = command(config())
    assert (made.command, made.args[:2]) == ("codex", ("app-server", "--stdio"))
    assert made.stdin is None
    assert dict(made.env) == {}
    off = {
        word for flag, word in zip(made.args, made.args[1:], strict=False) if flag == "--disable"
    }
    assert off >= {*HOSTED_OFF, "view_image", "goals", "sleep_tool"}
    assert setting(config(), "web_search") == "disabled"
    assert setting(config(), "agents.enabled") is False
    assert setting(config(), "check_for_update_on_startup") is False
    assert warnings_of(config()) == ()


def test_what_nobody_is_asked_about_is_not_granted() -> None:
    """A shell, changes of files, and what only shows, tells the time or runs scripts of calls."""
    left = set(HOSTED_NATIVE.grantable)
    assert left == {"exec_command", "write_stdin", "apply_patch", *UNCONTROLLED}
    assert set(HOSTED_NATIVE.uncontrolled or {}) == set(UNCONTROLLED) - {"apply_patch"}
    assert left < set(NATIVE_TOOLS)


def test_the_prompt_and_secrets_are_not_in_the_arguments(config: Config) -> None:
    server = StdioMcpServer(command="server", env={"TOKEN": "secret-of-a-server"})
    asked = config(endpoint=ENDPOINT, mcp_servers={"one": server})
    made = command(asked)
    text = " ".join(made.args)
    for secret in ("a prompt", KEY, "secret-of-a-server"):
        assert secret not in text
    assert made.env["BARRY_CODEX_KEY"] == KEY
    assert set(setting(asked, "shell_environment_policy.exclude")) == set(made.env)


def test_arguments_of_the_users_own_are_refused(config: Config) -> None:
    with pytest.raises(AgentFault) as refused:
        command(config(extra_args=("--listen", "ws://0.0.0.0:1")))
    assert refused.value.code == "configuration"


def test_a_refused_connection_is_never_tried_for_ever(config: Config) -> None:
    assert "unbounded_connection_retries" in command(config()).args


def test_options(config: Config) -> None:
    asked = config(
        options={"sandbox": "read-only", "approvalPolicy": "never", "reasoningEffort": "low",
                 "search": True}
    )  # fmt: skip
    assert setting(asked, "model_reasoning_effort") == "low"
    assert setting(asked, "web_search") == "disabled"
    told = " ".join(warnings_of(asked))
    for word in ("approvalPolicy is left out", "read-only", "search is left out"):
        assert word in told


# --- the folder ---


def trust(config: SessionConfig) -> set[str]:
    return {row["trust_level"] for row in setting(config, "projects").values()}


def test_a_folder_without_settings_is_trusted_for_this_once(config: Config, home: Path) -> None:
    here = str((home / "work").resolve())
    assert setting(config(), "projects") == {here: {"trust_level": "trusted"}}
    (home / "work" / ".codex").mkdir()  # Codex's sandbox leaves such a one behind
    assert trust(config()) == {"trusted"}


@pytest.mark.parametrize("place", ["work", "."])
def test_settings_of_a_folder_or_of_one_above_are_left_unread(
    config: Config, home: Path, place: str
) -> None:
    """And no folder above it may be trusted: what lies there would be loaded."""
    below = home / "other" / "work"
    below.mkdir(parents=True)
    settings = (home / "other" / place if place == "." else below) / ".codex"
    settings.mkdir(parents=True)
    (settings / "hooks.json").write_text("{}", "utf-8")
    asked = config(cwd=str(below))
    assert trust(asked) == {"untrusted"}
    assert set(setting(asked, "projects")) == {
        str(each) for each in (below.resolve(), *below.resolve().parents)
    }
    assert f"{settings} is left unread" in " ".join(warnings_of(asked))


def test_the_users_own_folder_is_not_a_projects(config: Config, home: Path) -> None:
    mine = home / ".codex"
    mine.mkdir(exist_ok=True)
    (mine / "config.toml").write_text("", "utf-8")
    assert trust(config(cwd=str(home))) == {"trusted"}


# --- the user's rules ---

ALLOWS = 'prefix_rule(pattern=["git", "push"], decision="allow")\n'
PROMPTS = 'prefix_rule(pattern=["git", "push"], decision="prompt")\n'
FORBIDS = "prefix_rule(\n  pattern = ['rm'],\n  decision = 'forbidden',\n)\n"


@pytest.mark.parametrize(
    ("text", "allows"),
    [
        (ALLOWS, True),
        (PROMPTS, False),
        (FORBIDS + PROMPTS, False),
        (PROMPTS + ALLOWS, True),
        ('prefix_rule(pattern=["ls"])\n', True),  # Codex's own default
        (f"# {PROMPTS}{ALLOWS}", True),
        (f"# {ALLOWS}{PROMPTS}", False),
        ("# nothing\n\n", False),
        ("", False),
        ("x = 1\n", True),
        (f"for it in ['a']:\n  {PROMPTS}{ALLOWS}", True),
    ],
)
def test_rules_that_may_allow(home: Path, text: str, allows: bool) -> None:
    folder = home / ".codex" / "rules"
    folder.mkdir(parents=True)
    (folder / "default.rules").write_text(text, "utf-8")
    assert bool(allowing({"HOME": str(home)})) is allows


def test_rules_that_allow_are_refused_by_name(config: Config, home: Path) -> None:
    command(config())
    folder = home / ".codex" / "rules"
    folder.mkdir(parents=True)
    (folder / "default.rules").write_text(ALLOWS, "utf-8")
    with pytest.raises(LaunchRefused) as refused:
        command(config())
    assert str(folder / "default.rules") in refused.value.message
    (folder / "default.rules").rename(folder / "default.rules.aside")
    command(config())


def test_rules_that_are_no_text_may_allow(home: Path) -> None:
    folder = home / ".codex" / "rules"
    folder.mkdir(parents=True)
    (folder / "odd.rules").write_bytes(b"\xff\xfe")
    assert allowing({"HOME": str(home)}) == [folder / "odd.rules"]


# --- MCP servers ---


def test_every_server_is_asked_about(config: Config, home: Path) -> None:
    mine = home / ".codex"
    mine.mkdir(exist_ok=True)
    approves = 'command = "x"\n[mcp_servers.mine.tools.act]\napproval_mode = "approve"\n'
    (mine / "config.toml").write_text(f"[mcp_servers.mine]\n{approves}", "utf-8")
    server = {"one": StdioMcpServer(command="server")}
    table = setting(config(mcp_servers=server), "mcp_servers")
    assert table["one"]["default_tools_approval_mode"] == "prompt"
    assert table["mine"]["enabled"] is False
    assert any("(--relax loads them, too)" in each for each in warnings_of(config()))
    table = setting(config(mcp_servers=server, strict_mcp_config=False), "mcp_servers")
    assert table["one"]["default_tools_approval_mode"] == "prompt"
    assert table["mine"] == {
        "default_tools_approval_mode": "prompt",
        "tools": {"act": {"approval_mode": "prompt"}},
    }


def test_servers_that_cannot_be_known_are_refused(config: Config, home: Path) -> None:
    mine = home / ".codex"
    mine.mkdir(exist_ok=True)
    (mine / "config.toml").write_text("[mcp_servers.mine]\ncommand = \n", "utf-8")
    for relaxed in (None, False):
        with pytest.raises(LaunchRefused):
            command(config(strict_mcp_config=relaxed))
    (mine / "config.toml").write_text("", "utf-8")
    folder = home / "work" / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text("a folder's = no matter", "utf-8")
    command(config())


# --- conversations ---


def test_a_conversation_has_an_id_of_codexs(config: Config) -> None:
    command(config(), continuation=Continuation(ID))
    with pytest.raises(AgentFault) as refused:
        command(config(), continuation=Continuation("last"))
    assert refused.value.code == "session"


def test_a_conversation_of_another_provider_is_refused(
    config: Config, record: Record, home: Path
) -> None:
    record(ID, cwd=home / "work", provider="openai")
    command(config(), continuation=Continuation(ID))
    with pytest.raises(LaunchRefused):
        command(config(endpoint=ENDPOINT), continuation=Continuation(ID))


def test_an_ephemeral_session_can_not_go_on(config: Config) -> None:
    made = hosted.agent(config(ephemeral=True))
    assert (made.resumable, made.forkable, made.storage) == (False, False, None)
    assert hosted.agent(config()).storage is CONVERSATIONS


def test_a_conversation_is_captured_and_restored(
    record: Record, home: Path, tmp_path: Path
) -> None:
    said = {"type": "response_item", "payload": {"text": f"with {KEY} in {home}/x"}}
    path = record(ID, cwd=home, more=(said,))
    here = Place(cwd=str(home), env={"HOME": str(home)}, secrets=(KEY,))
    kept = CONVERSATIONS.capture(ID, here, tmp_path / "kept")
    assert KEY not in Path(kept.path).read_text("utf-8")
    other = tmp_path / "other"
    (other / "work").mkdir(parents=True)
    there = Place(cwd=str(other / "work"), env={"HOME": str(other)})
    restored = CONVERSATIONS.restore(kept, there)
    assert CONVERSATIONS.locate(ID, there) == restored
    head, line = map(json.loads, restored.read_text("utf-8").splitlines())
    assert head["payload"]["cwd"] == str(other / "work")
    assert line["payload"]["text"].endswith(f"in {other / 'work'}/x")
    # The time in an id is that of its beginning: Codex would have chosen this very name.
    assert restored.relative_to(other) == path.relative_to(home)


def test_a_copy_that_is_not_whole_is_not_captured(
    record: Record, home: Path, tmp_path: Path
) -> None:
    path = record(ID, cwd=home)
    head = json.loads(path.read_text("utf-8"))
    head["payload"]["history_base"] = {"thread_id": "the-other-one"}
    path.write_text(json.dumps(head) + "\n", "utf-8")
    with pytest.raises(AgentFault) as refused:
        CONVERSATIONS.capture(ID, Place(cwd=str(home), env={"HOME": str(home)}), tmp_path / "kept")
    assert "the-other-one" in str(refused.value)
    assert not os.path.exists(tmp_path / "kept")


# --- the rest of a session ---

# Field -> a value that asks for something; what it changes is the command, or what is said.
VALUES: dict[str, Any] = {
    "mcp_servers": {"one": StdioMcpServer(command="server")},
    "endpoint": ENDPOINT,
    "model": "openai/gpt-x",
    "options": {"reasoningEffort": "low"},
    "system_prompt": "Be brief.",
    "allowed_native_tools": ("apply_patch",),
    "denied_tools": ("exec_command",),
}
SAID: dict[str, Any] = {
    "egress_sandbox": EgressPolicy(allow_domains=()),
    "max_turns": 3,
    "plugin_dirs": ("/plugins",),
    "small_model": "openai/gpt-y",
    "telemetry_endpoint": "http://127.0.0.1:1",
}
# The driver deals with these, or the dialogue does; see their tests.
DRIVEN = {"decide", "executor", "resume", "extra_args", "ephemeral", "instrument", "project_roots"}
# See above; and headers mean nothing without an endpoint for them.
OTHER = {"strict_mcp_config", "telemetry_headers"}


def test_every_field_of_a_configuration_is_thought_of() -> None:
    names = {each.name for each in fields(SessionConfig)} - {"session_id", "cwd", "env"}
    assert names == set(VALUES) | set(SAID) | DRIVEN | OTHER


@pytest.mark.parametrize("name", VALUES)
def test_each_field_changes_the_command(config: Config, name: str) -> None:
    plain, asked = command(config()), command(config(**{name: VALUES[name]}))
    assert (plain.args, plain.env) != (asked.args, asked.env)


@pytest.mark.parametrize("name", SAID)
def test_what_cannot_be_had_is_said(config: Config, name: str) -> None:
    assert len(warnings_of(config(**{name: SAID[name]}))) == 1


def test_the_drivers_fields_are_not_warned_about(config: Config) -> None:
    async def decide(request: object) -> Any: ...

    asked = config(
        decide=decide,
        resume=Resume(harness_session_id=ID),
        project_roots=("/other",),
        ephemeral=False,
    )
    assert warnings_of(asked) == ()


def test_the_declaration_of_the_mode_holds_up() -> None:
    mode = adapter.modes["hosted"]
    assert mode is not None
    assert mode.structured_output == "native"
    assert mode.guarantees.gating == "per-call"
    assert mode.approval_continuation == "live"
