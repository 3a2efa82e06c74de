"""A launch of Claude Code's own TUI with Barry's hooks in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.problems import Refused
from barry_cli.contract.instrument import HookCall, Instrument
from barry_cli.contract.models import Endpoint
from barry_cli.contract.plan import EvidentInbox, LaunchPlan
from barry_cli.contract.session import EgressPolicy, Resume, SessionConfig, StdioMcpServer

KEY = "a-key-of-the-hooks"
Make = Callable[..., LaunchPlan]


class Nobody:
    """Nothing runs inside."""

    def notices(self) -> Any:
        raise AssertionError("nobody asks while planning")

    async def hand(self, text: str, *, fits: Any = None) -> bool:
        return False

    async def ask(self, frame: Any, *, seconds: float = 5) -> None:
        return None


INSTRUMENT = Instrument(
    ruling=HookCall(command="/py /rule /policy 12 || exit 2", words=("/py", "/rule")),
    notice=HookCall(command="/py /tell /events 34 || exit 0", words=("/py", "/tell")),
    deadline_seconds=20,
    fingerprint="12",
    socket="/run/x.sock",
    key=KEY,
    inside=Nobody(),
)


@pytest.fixture
def instrumented(place: Any) -> Make:
    """A plan for a SessionConfig with these fields."""
    from barry_adapter_claude.declared import NATIVE_TOOLS
    from barry_adapter_claude.instrumented import plan

    def make(**given: Any) -> LaunchPlan:
        env = {**place.env, **given.pop("env", {})}
        config = SessionConfig(
            **{
                "session_id": "s",
                "cwd": str(place.cwd),
                "env": env,
                "allowed_native_tools": NATIVE_TOOLS,
                "instrument": INSTRUMENT,
                **given,
            }
        )
        return asyncio.run(plan(config))

    return make


def settings_of(plan: LaunchPlan) -> dict[str, Any]:
    (text,) = [word.partition("=")[2] for word in plan.args if word.startswith("--settings=")]
    found = json.loads(text if text.startswith("{") else Path(text).read_text("utf-8"))
    assert isinstance(found, dict)
    return found


@contextmanager
def managed(monkeypatch: pytest.MonkeyPatch, folder: Path, **settings: object) -> Iterator[None]:
    import barry_adapter_claude.places as places

    folder.mkdir(exist_ok=True)
    (folder / "managed-settings.json").write_text(json.dumps(settings))
    monkeypatch.setattr(places, "_MANAGED", folder)
    yield
    monkeypatch.undo()


def test_every_call_goes_to_the_ruling_and_every_event_to_the_notices(instrumented: Make) -> None:
    hooks = settings_of(instrumented())["hooks"]
    (ruling,) = hooks.pop("PreToolUse")
    assert ruling["matcher"] == "*"
    (call,) = ruling["hooks"]
    assert call["command"] == INSTRUMENT.ruling.command
    # It lets a call run whose hook has not answered by then.
    assert call["timeout"] >= 3 * INSTRUMENT.deadline_seconds
    assert set(hooks) == {
        "SessionStart", "UserPromptSubmit", "PermissionRequest", "Stop", "SessionEnd",
    }  # fmt: skip
    commands = {each["command"] for (entry,) in hooks.values() for each in entry["hooks"]}
    assert commands == {INSTRUMENT.notice.command}


def test_each_event_is_one_that_the_bag_describes(instrumented: Make, place: Any) -> None:
    from barry_cli.bags.manifest import read_bag

    place_of_bag = Path(__file__).parents[4] / "adapters" / "claude" / "barry_adapter_claude"
    formats = read_bag(place_of_bag).formats.values()
    (place.home / ".claude" / "settings.json").write_text('{"crossSessionInbound": "hold"}')
    assert {form.event for form in formats} == set(settings_of(instrumented())["hooks"])
    carrying = {form.event for form in formats if "message" in form.answers}
    assert carrying == {"Stop", "PostToolUse", "PostToolUseFailure"}


def test_nothing_of_the_folder_is_read_that_could_lift_it(instrumented: Make, place: Any) -> None:
    place.folder_sets(ANTHROPIC_BASE_URL="http://elsewhere")
    place.folder_sets("settings.local.json", X="1")
    plan = instrumented()
    settings = settings_of(plan)
    assert settings["disableAllHooks"] is False
    assert settings["disableSkillShellExecution"] is True
    assert "--setting-sources=user" in plan.args
    (warning,) = plan.warnings
    assert "settings.json and .claude/settings.local.json are left unread" in warning


def test_its_own_modes_without_hooks_are_held_off(instrumented: Make, place: Any) -> None:
    place.user_sets(CLAUDE_CODE_SIMPLE="1")
    plan = instrumented(env={"CLAUDE_CODE_SAFE_MODE": "1"})
    off = {"CLAUDE_CODE_SIMPLE": "0", "CLAUDE_CODE_SAFE_MODE": "0"}
    assert off.items() <= plan.env.items()
    assert off.items() <= settings_of(plan)["env"].items()


def test_what_would_get_into_the_hooks_is_kept_out(instrumented: Make, place: Any) -> None:
    place.user_sets(LD_PRELOAD="/x.so")
    plan = instrumented(env={"SHELLOPTS": "noexec"})
    held = settings_of(plan)["env"]
    assert held["LD_PRELOAD"] == held["SHELLOPTS"] == held["LD_AUDIT"] == ""
    (warning,) = plan.warnings
    assert warning == "LD_PRELOAD, SHELLOPTS would get into Barry's hooks, and is left out"


@pytest.mark.parametrize(
    "words",
    [
        ("--settings", "{}"),
        ("--settings={}",),
        ("--setting-sources=user,project",),
        ("--bare",),
        ("--safe-mode",),
        ("--bg",),
        ("--cloud", "do it"),
        ("--teleport",),
        ("attach", "3"),
        ("agents",),
    ],
    ids=" ".join,
)
def test_words_that_would_lift_it_are_refused(instrumented: Make, words: tuple[str, ...]) -> None:
    with pytest.raises(Refused) as refused:
        instrumented(extra_args=words)
    assert words[0].split("=")[0] in str(refused.value)
    assert refused.value.hint


def test_other_words_are_the_users(instrumented: Make) -> None:
    plan = instrumented(extra_args=("--verbose", "tell me about agents"))
    assert plan.args[-2:] == ("--verbose", "tell me about agents")
    assert plan.guarantees.gating == "hooks"


def test_no_secret_is_in_a_command_line(instrumented: Make) -> None:
    endpoint = Endpoint.model_validate(
        {"url": "http://127.0.0.1:2", "api": "anthropic", "key": "sk-secret"}
    )
    plan = instrumented(endpoint=endpoint)
    assert not [word for word in plan.args if KEY in word or "sk-secret" in word]


def test_it_promises_what_was_shown(instrumented: Make) -> None:
    from barry_adapter_claude.declared import INSTRUMENTED_GUARANTEES

    plan = instrumented()
    assert plan.guarantees == INSTRUMENTED_GUARANTEES
    assert plan.lowered == {}
    assert isinstance(plan.inbox, EvidentInbox)
    assert plan.inbox.guarantee == "wake-peer-framed"
    assert plan.harness_session_id


SETTINGS = {
    "held back": {"crossSessionInbound": "hold"},
    "refused": {"crossSessionInbound": "refuse"},
    "not known": {"crossSessionInbound": 3},
    "asks about nothing": {"permissions": {"defaultMode": "bypassPermissions"}},
}


@pytest.mark.parametrize("case", SETTINGS)
def test_where_it_keeps_messages_back_they_come_by_hooks(
    instrumented: Make, place: Any, case: str
) -> None:
    path = place.home / ".claude" / "settings.json"
    path.write_text(json.dumps(SETTINGS[case]))
    plan = instrumented()
    assert plan.guarantees.delivery == "tool-call"
    assert "messages back" in plan.lowered["delivery"]
    assert plan.inbox is not None
    assert plan.inbox.guarantee == "tool-call"
    assert {"PostToolUse", "PostToolUseFailure"} <= set(settings_of(plan)["hooks"])
    # The user's own word for it, and nothing is kept back.
    path.write_text(json.dumps({**SETTINGS[case], "crossSessionInbound": "accept"}))
    assert instrumented().guarantees.delivery == "wake-peer-framed"


@pytest.mark.parametrize(
    "asked",
    [
        {"options": {"permissionMode": "bypassPermissions"}},
        {"extra_args": ("--dangerously-skip-permissions",)},
        {"extra_args": ("--allow-dangerously-skip-permissions",)},
        {"extra_args": ("--permission-mode", "bypassPermissions")},
        {"extra_args": ("--permission-mode=bypassPermissions",)},
    ],
)
def test_a_session_that_asks_about_nothing_gets_them_by_hooks(
    instrumented: Make, asked: dict[str, Any]
) -> None:
    assert instrumented(**asked).guarantees.delivery == "tool-call"
    assert instrumented(options={"permissionMode": "plan"}).lowered == {}


@pytest.mark.parametrize("name", ["disableAllHooks", "allowManagedHooksOnly"])
def test_an_organisation_may_leave_the_hooks_out(
    instrumented: Make, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    with managed(monkeypatch, tmp_path / "etc", **{name: True}):
        plan = instrumented()
    held = plan.guarantees
    assert (held.gating, held.delivery, held.identity, held.steer) == (
        "static", "none", "none", False,
    )  # fmt: skip
    assert name in plan.lowered["gating"]
    with managed(monkeypatch, tmp_path / "etc", **{name: False}):
        assert instrumented().lowered == {}


def test_hooks_that_the_user_switched_off_are_said_to_be_on(instrumented: Make, place: Any) -> None:
    (place.home / ".claude" / "settings.json").write_text('{"disableAllHooks": true}')
    plan = instrumented()
    assert settings_of(plan)["disableAllHooks"] is False
    (warning,) = plan.warnings
    assert "your own too" in warning


def test_without_an_instrument_it_is_refused(instrumented: Make) -> None:
    with pytest.raises(Refused, match="without Barry's hooks"):
        instrumented(instrument=None)


SERVER = StdioMcpServer(command="/bin/true")


async def _decide(request: object) -> Any: ...


VALUES: dict[str, Any] = {
    "mcp_servers": {"x": SERVER},
    "allowed_native_tools": ("Read",),
    "denied_tools": ("Bash",),
    "decide": _decide,
    "egress_sandbox": EgressPolicy(allow_domains=()),
    "endpoint": Endpoint.model_validate(
        {"url": "http://127.0.0.1:2", "api": "anthropic", "key": "k"}
    ),
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
_NOT_ASKED = {"session_id", "cwd", "env", "executor", "instrument"}


@pytest.mark.parametrize(
    "field", [each.name for each in fields(SessionConfig) if each.name not in _NOT_ASKED]
)
def test_each_field_is_honoured_or_warned_about(instrumented: Make, field: str) -> None:
    plain, asked = instrumented(), instrumented(**{field: VALUES[field]})

    def words(plan: LaunchPlan) -> set[str]:
        return {word for word in plan.args if not word.startswith("--session-id=")}

    honoured = words(asked) != words(plain) or dict(asked.env) != dict(plain.env)
    warned = len(asked.warnings) > len(plain.warnings)
    assert honoured != warned
