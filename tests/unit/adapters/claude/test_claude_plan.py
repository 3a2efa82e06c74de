"""Every field of a configuration is on the command line, in the environment, or warned about."""

from __future__ import annotations

import asyncio
import json
import os
import re
import stat
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from barry_cli.contract.models import Endpoint
from barry_cli.contract.session import (
    Allowed,
    EgressPolicy,
    HttpMcpServer,
    Resume,
    SessionConfig,
    StdioMcpServer,
)

ID = "0d6f2b3c-1111-4222-8333-444455556666"
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
ENDPOINT = Endpoint(url="http://127.0.0.1:1", api="anthropic", key=SecretStr("made-up-key"))
SERVER = StdioMcpServer(command="serve", args=("a b", "c,d"))


def flags(plan: Any) -> list[str]:
    """The arguments without the conversation's."""
    return [word for word in plan.args if not word.startswith("--session-id=")]


def test_a_plain_launch_needs_no_parent_and_reserves_an_id(make: Any) -> None:
    plan = make()
    assert plan.command == "claude"
    assert UUID.fullmatch(plan.harness_session_id)
    assert plan.args == (f"--session-id={plan.harness_session_id}",)
    assert plan.env == {"DISABLE_AUTOUPDATER": "1"}
    assert (plan.warnings, plan.tmp_dirs, plan.discover_harness_session_id) == ((), (), None)
    assert make().harness_session_id != plan.harness_session_id


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("model", "anthropic/claude-opus-5", ["--model=claude-opus-5"]),
        ("system_prompt", "Be brief.", ["--append-system-prompt=Be brief."]),
        ("system_prompt", "-p", ["--append-system-prompt=-p"]),
        ("denied_tools", ("bash", "Write"), ["--disallowedTools=Bash,Write"]),
        ("project_roots", ("/a", "/b c"), ["--add-dir=/a", "--add-dir=/b c"]),
        ("plugin_dirs", ("/p", "/q"), ["--plugin-dir=/p", "--plugin-dir=/q"]),
        ("strict_mcp_config", True, ["--strict-mcp-config"]),
        ("strict_mcp_config", False, []),
        ("extra_args", ("--verbose", "hello"), ["--verbose", "hello"]),
        ("options", {"permissionMode": "plan", "effort": "low"},
         ["--effort=low", "--permission-mode=plan"]),
        ("options", {"agent": "a", "name": "n", "fallbackModel": "f"},
         ["--agent=a", "--fallback-model=f", "--name=n"]),
    ],
)  # fmt: skip
def test_what_goes_on_the_command_line(
    make: Any, field: str, value: Any, expected: list[str]
) -> None:
    plan = make(**{field: value})
    assert flags(plan) == expected
    assert plan.warnings == ()
    assert plan.tmp_dirs == ()


def test_no_flag_can_swallow_the_users_words(make: Any) -> None:
    plan = make(
        denied_tools=("Bash",),
        project_roots=("/a",),
        plugin_dirs=("/p",),
        mcp_servers={"x": SERVER},
        extra_args=("a prompt",),
    )
    assert all(word.startswith("--") for word in plan.args[:-1])
    assert plan.args[-1] == "a prompt"


def test_small_model_and_telemetry_go_through_the_environment(make: Any) -> None:
    plan = make(
        small_model="anthropic/tiny",
        telemetry_endpoint="http://127.0.0.1:4318",
        telemetry_headers={"authorization": "Bearer abc"},
    )
    assert plan.env == {
        "DISABLE_AUTOUPDATER": "1",
        "ANTHROPIC_SMALL_FAST_MODEL": "tiny",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": "tiny",
        "CLAUDE_CODE_ENABLE_TELEMETRY": "1",
        "OTEL_LOGS_EXPORTER": "otlp",
        "OTEL_METRICS_EXPORTER": "otlp",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abc",
    }
    assert "Bearer abc" in plan.secrets
    assert plan.warnings == ()


def test_all_tools_denied_and_none_granted(make: Any) -> None:
    from barry_adapter_claude.declared import NATIVE_TOOLS

    plan = make(allowed_native_tools=())
    assert flags(plan) == [f"--disallowedTools={','.join(NATIVE_TOOLS)}"]


def test_an_mcp_tool_can_be_denied_and_an_unknown_name_is_said(make: Any) -> None:
    plan = make(denied_tools=("mcp__x__y", "Nonesuch"))
    assert flags(plan) == ["--disallowedTools=mcp__x__y"]
    assert ["Nonesuch" in text for text in plan.warnings] == [True]


@pytest.mark.parametrize("word", ["--bg", "--cloud", "--teleport=x"])
def test_a_session_elsewhere_does_not_hold_denials(make: Any, word: str) -> None:
    plan = make(denied_tools=("Bash",), extra_args=(word,))
    assert plan.guarantees.gating == "none"
    assert plan.lowered["gating"]
    assert any("not held" in text for text in plan.warnings)
    assert make(extra_args=(word,)).guarantees.gating == "static"


def test_mcp_servers_without_secrets_are_inline(make: Any) -> None:
    web = HttpMcpServer(type="sse", url="http://127.0.0.1:2/sse")
    plan = make(mcp_servers={"x": SERVER, "w": web})
    assert plan.args[-1] == "--strict-mcp-config"
    assert json.loads(plan.args[-2].removeprefix("--mcp-config=")) == {
        "mcpServers": {
            "x": {
                "type": "stdio", "command": "serve", "args": ["a b", "c,d"], "env": {},
                "alwaysLoad": True,
            },
            "w": {
                "type": "sse", "url": "http://127.0.0.1:2/sse", "headers": {}, "alwaysLoad": True,
            },
        }
    }  # fmt: skip
    assert plan.tmp_dirs == ()
    assert (
        "--strict-mcp-config" not in make(mcp_servers={"x": SERVER}, strict_mcp_config=False).args
    )


@pytest.mark.parametrize(
    "server",
    [
        StdioMcpServer(command="serve", env={"TOKEN": "s3cret-1"}),
        HttpMcpServer(type="http", url="http://127.0.0.1:2", headers={"authorization": "s3cret-1"}),
    ],
)
def test_secrets_of_mcp_servers_are_in_a_private_file(make: Any, server: Any) -> None:
    plan = make(mcp_servers={"x": server})
    assert "s3cret-1" not in " ".join(plan.args)
    path = Path(plan.args[-2].removeprefix("--mcp-config="))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "s3cret-1" in path.read_text("utf-8")
    assert str(path.parent) in plan.tmp_dirs
    assert "s3cret-1" in plan.secrets


def test_a_long_prompt_is_in_a_file(make: Any) -> None:
    plan = make(system_prompt="é" * 70_000)
    path = Path(plan.args[-1].removeprefix("--append-system-prompt-file="))
    assert path.read_text("utf-8") == "é" * 70_000
    assert plan.tmp_dirs == (str(path.parent),)


def test_resuming_by_id(make: Any) -> None:
    plan = make(resume=Resume(harness_session_id=ID))
    assert plan.args == (f"--resume={ID}",)
    assert plan.harness_session_id == ID
    assert plan.discover_harness_session_id is None


def test_a_resumed_conversation_takes_a_new_prompt(make: Any) -> None:
    plan = make(resume=Resume(harness_session_id=ID), system_prompt="New.")
    assert plan.args[1:] == ("--append-system-prompt=New.", "--system-prompt-snapshot=off")


@pytest.mark.parametrize("bad", ["--print", "../../x", "a b", ""])
def test_no_option_comes_in_as_an_id(make: Any, bad: str) -> None:
    from barry_cli.adapters import Refused

    with pytest.raises(Refused, match="no id"):
        make(resume=Resume(harness_session_id=bad))


@pytest.mark.parametrize(
    ("resume", "flag"), [(Resume(last=True), "--continue"), (Resume(picker=True), "--resume=")]
)
def test_the_last_one_and_the_picker_are_found_later(make: Any, resume: Resume, flag: str) -> None:
    plan = make(resume=resume)
    assert plan.args == (flag,)
    assert plan.harness_session_id is None
    assert plan.discover_harness_session_id is not None


@pytest.mark.parametrize("word", ["-c", "-r", "--resume=x", "--session-id", "--from-pr"])
def test_the_users_own_words_about_the_conversation_stand(make: Any, word: str) -> None:
    plan = make(extra_args=(word,))
    assert plan.args == (word,)
    assert plan.discover_harness_session_id is not None


def conversations(place: Any, *names: str, at: float | None = None) -> None:
    folder = place.home / ".claude" / "projects" / re.sub("[^a-zA-Z0-9]", "-", str(place.cwd))
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.jsonl").write_text("{}\n", encoding="utf-8")
        if at is not None:
            os.utime(folder / f"{name}.jsonl", (at, at))


def other(number: int) -> str:
    return f"{ID[:-1]}{number}"


def test_the_conversation_that_appeared_is_found(make: Any, place: Any) -> None:
    conversations(place, other(1), at=1_000_000.0)
    discover = make(resume=Resume(last=True)).discover_harness_session_id
    assert asyncio.run(discover()) is None
    conversations(place, other(2), at=4_000_000_000.0)
    assert asyncio.run(discover()) == other(2)


def test_two_candidates_are_none(make: Any, place: Any) -> None:
    discover = make(resume=Resume(picker=True)).discover_harness_session_id
    conversations(place, other(1), other(2), at=4_000_000_000.0)
    assert asyncio.run(discover()) is None


def test_a_session_that_ran_already_is_no_candidate(make: Any, place: Any) -> None:
    sessions = place.home / ".claude" / "sessions"
    sessions.mkdir()
    (sessions / "1.json").write_text(json.dumps({"sessionId": other(1)}), encoding="utf-8")
    (sessions / "2.json").write_text("[" * 100_000, encoding="utf-8")
    discover = make(resume=Resume(picker=True)).discover_harness_session_id
    conversations(place, other(1), other(2), at=4_000_000_000.0)
    assert asyncio.run(discover()) == other(2)


@pytest.mark.parametrize(
    ("model", "said"),
    [("opus", "vendor/model"), ("other/thing", "only through an endpoint"), ("/x", "vendor/model")],
)
def test_a_model_that_cannot_be_reached_is_refused(make: Any, model: str, said: str) -> None:
    from barry_cli.adapters import Refused

    for field in ("model", "small_model"):
        with pytest.raises(Refused, match=said):
            make(**{field: model})


def test_another_vendors_models_come_with_their_endpoint(make: Any) -> None:
    plan = make(model="other/big", small_model="other/small", endpoint=ENDPOINT)
    assert flags(plan) == ["--model=big"]
    names = {name: value for name, value in plan.env.items() if name.endswith("_MODEL")}
    assert names == {
        "ANTHROPIC_SMALL_FAST_MODEL": "small",
        "ANTHROPIC_DEFAULT_FABLE_MODEL": "big",
        "ANTHROPIC_DEFAULT_HAIKU_MODEL": "small",
        "ANTHROPIC_DEFAULT_OPUS_MODEL": "big",
        "ANTHROPIC_DEFAULT_SONNET_MODEL": "big",
    }
    assert plan.warnings == ()
    elsewhere = make(model="other/big", small_model="anthropic/tiny", endpoint=ENDPOINT)
    assert "tiny" not in elsewhere.env.values()
    assert any("anthropic/tiny" in text for text in elsewhere.warnings)


@pytest.mark.parametrize("words", [("--model", "x"), ("--model=x",)])
def test_a_flag_of_the_users_that_replaces_ours_is_said(make: Any, words: tuple[str, ...]) -> None:
    plan = make(model="anthropic/y", extra_args=words)
    assert ["your own --model" in text for text in plan.warnings] == [True]
    assert make(project_roots=("/a",), extra_args=("--add-dir=/b",)).warnings == ()


async def _decide(request: object) -> Allowed:
    return Allowed()


VALUES: dict[str, Any] = {
    "mcp_servers": {"x": SERVER},
    "allowed_native_tools": ("Read",),
    "denied_tools": ("Bash",),
    "decide": _decide,
    "egress_sandbox": EgressPolicy(allow_domains=()),
    "endpoint": ENDPOINT,
    "ephemeral": True,
    "extra_args": ("--verbose",),
    "max_turns": 3,
    "model": "anthropic/m",
    "options": {"effort": "low"},
    "plugin_dirs": ("/p",),
    "project_roots": ("/r",),
    "resume": Resume(last=True),
    "small_model": "anthropic/s",
    "strict_mcp_config": True,
    "system_prompt": "p",
    "telemetry_endpoint": "http://127.0.0.1:3",
    "telemetry_headers": {"a": "b"},
}


@pytest.mark.parametrize(
    "field", [each.name for each in fields(SessionConfig)
              if each.name not in ("session_id", "cwd", "env", "executor", "instrument")]
)  # fmt: skip
def test_each_field_is_honoured_or_warned_about(make: Any, field: str) -> None:
    plain, asked = make(), make(**{field: VALUES[field]})
    honoured = flags(asked) != flags(plain) or dict(asked.env) != dict(plain.env)
    warned = len(asked.warnings) > len(plain.warnings)
    assert honoured != warned
