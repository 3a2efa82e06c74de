"""A launch of Qwen Code's TUI with Barry's hooks in it."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.problems import BarryError
from barry_cli.contract.instrument import HookCall, Instrument
from barry_cli.contract.plan import EvidentInbox, LaunchPlan
from barry_cli.contract.session import SessionConfig

KEY = "a-key-of-the-hooks"
Make = Callable[..., LaunchPlan]
Read = Callable[[LaunchPlan], dict[str, Any]]
MINE = {"hooks": [{"type": "command", "command": "mine"}]}


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
def instrumented(place: Any, monkeypatch: pytest.MonkeyPatch) -> Make:
    """A plan for a SessionConfig with these fields."""
    from barry_adapter_qwen.declared import NATIVE_TOOLS
    from barry_adapter_qwen.instrumented import plan

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


def hooks(settings: dict[str, Any], event: str) -> list[dict[str, Any]]:
    return [hook for group in settings["hooks"][event] for hook in group["hooks"]]


def test_every_event_calls_its_hook(instrumented: Make, system_settings: Read) -> None:
    settings = system_settings(instrumented())
    assert settings["disableAllHooks"] is False
    assert settings["$version"] == 4
    (ruling,) = hooks(settings, "PreToolUse")
    assert ruling["command"] == INSTRUMENT.ruling.command
    assert ruling["timeout"] >= 3000 * INSTRUMENT.deadline_seconds
    for event in set(settings["hooks"]) - {"PreToolUse"}:
        (hook,) = hooks(settings, event)
        assert hook["command"] == INSTRUMENT.notice.command
    assert {"UserPromptSubmit", "Stop", "SessionStart"} < set(settings["hooks"])


def test_no_variable_and_no_file_leads_its_shell_astray(
    instrumented: Make, system_settings: Read
) -> None:
    for event, groups in system_settings(instrumented())["hooks"].items():
        for hook in groups[0]["hooks"]:
            for name in ("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "LD_PRELOAD", "LD_AUDIT"):
                assert hook["env"][name] == "", event
            assert hook["env"]["SHLVL"] == "1"
            assert hook["env"]["PATH"].startswith("/")


def test_an_administrators_settings_are_carried_along(
    instrumented: Make, system_settings: Read, place: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write(
        place.machine / "settings.json",
        {"disableAllHooks": True, "hooks": {"PreToolUse": [MINE]}, "tools": {"core": ["edit"]}},
    )
    settings = system_settings(instrumented())
    assert settings["tools"]["core"] == ["edit"]
    assert settings["disableAllHooks"] is False
    assert [hook["command"] for hook in hooks(settings, "PreToolUse")] == [
        "mine",
        INSTRUMENT.ruling.command,
    ]


def test_what_would_undo_the_hooks_is_refused(instrumented: Make) -> None:
    for given in (
        {"extra_args": ("--sandbox",)},
        {"extra_args": ("--bare",)},
        {"env": {"QWEN_SANDBOX": "docker"}},
        {"env": {"QWEN_CODE_SIMPLE": "Yes"}},
        {"instrument": None},
    ):
        with pytest.raises(BarryError) as refused:
            instrumented(**given)
        assert refused.value.exit_code == 2
    plan = instrumented(extra_args=("--yolo",))
    assert plan.guarantees.gating == "hooks"
    assert plan.env["QWEN_CODE_SIMPLE"] == ""


def test_hooks_of_the_folders_are_refused(instrumented: Make, place: Any) -> None:
    place.folder_sets(hooks={})
    with pytest.raises(BarryError, match="ruled on that is not made"):
        instrumented()
    place.folder_sets(disableAllHooks=True)
    assert instrumented().guarantees.gating == "hooks"


def test_hooks_of_the_users_own_count_where_folders_need_no_trust(
    instrumented: Make, place: Any
) -> None:
    place.user_sets(hooks={"PreToolUse": [MINE]})
    assert instrumented().guarantees.gating == "hooks"
    place.user_sets(hooks={"PreToolUse": [MINE]}, security={"folderTrust": {"enabled": True}})
    with pytest.raises(BarryError, match="your own hooks alone"):
        instrumented()


@pytest.mark.parametrize(
    "where",
    ["settings.json", "extensions/one/qwen-extension.json", "extensions/o/hooks/hooks.json"],
)
def test_hooks_that_hand_a_call_on_lower_gating(instrumented: Make, place: Any, where: str) -> None:
    one_by_one = {"hooks": {"PreToolUse": [{**MINE, "sequential": True}]}}
    place.write(place.home / ".qwen" / where, one_by_one)
    plan = instrumented()
    assert plan.guarantees.gating == "static"
    assert where in plan.lowered["gating"]


def test_it_is_woken_by_a_file_of_its_own(instrumented: Make) -> None:
    plan = instrumented(denied_tools=("web_fetch",))
    (word,) = (word for word in plan.args if word.startswith("--input-file="))
    path = Path(word.partition("=")[2])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert str(path.parent) in plan.tmp_dirs
    assert isinstance(plan.inbox, EvidentInbox)
    assert plan.inbox.guarantee == plan.guarantees.delivery == "wake"
    assert "--exclude-tools=web_fetch" in plan.args


def test_with_a_file_of_the_users_own_nothing_wakes_it(instrumented: Make) -> None:
    plan = instrumented(extra_args=("--input-file=mine.jsonl",))
    assert plan.guarantees.delivery == "turn-end"
    assert "your own" in plan.lowered["delivery"]
    assert isinstance(plan.inbox, EvidentInbox)
    assert plan.inbox.guarantee == "turn-end"
    assert [word for word in plan.args if "--input-file" in word] == ["--input-file=mine.jsonl"]


def test_the_key_is_nowhere(instrumented: Make, system_settings: Read) -> None:
    plan = instrumented()
    assert KEY not in json.dumps([plan.args, dict(plan.env), system_settings(plan)])
