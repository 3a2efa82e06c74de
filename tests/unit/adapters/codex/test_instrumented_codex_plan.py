"""A launch of Codex's TUI with Barry's hooks in it: trusted by Codex itself, or promised less."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from codex_inside import NOTICE, RULING, Inside, instrument, program
from codex_samples import ID, Record, setting

from barry_adapter_codex import adapter
from barry_adapter_codex.extra import unguarded
from barry_adapter_codex.problems import LaunchRefused
from barry_adapter_codex.tools import INSTRUMENTED_GUARANTEES, INSTRUMENTED_OFF, TUI_SERVER
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.plan import EvidentInbox, LaunchPlan
from barry_cli.contract.session import Resume, SessionConfig

Make = Callable[..., LaunchPlan]
EVENTS = (
    "SessionStart", "UserPromptSubmit", "PostToolUse", "PermissionRequest", "Stop", "Interrupt",
    "SessionEnd",
)  # fmt: skip
AS_A_GUEST = {"gating": "static", "capture": "post-hoc", "delivery": "none", "identity": "none"}


@pytest.fixture
def make(home: Path) -> Make:
    """Plans as the launcher would ask for it, with a Codex of our own."""
    mode = adapter.modes["instrumented"]
    assert mode is not None
    inside, codex = Inside(), program(home)

    def planned(behave: str = "", **fields: Any) -> LaunchPlan:
        own = {"HOME": str(home), "PATH": "/usr/bin:/bin", "ASKED": str(home / "asked")}
        env = {**own, "BEHAVE": behave, **fields.pop("env", {})}
        asked: dict[str, Any] = {
            "session_id": "barry-1",
            "cwd": str(home),
            "env": env,
            "allowed_native_tools": adapter.native_tools,
            "instrument": instrument(inside, codex),
        }
        config = configure_harness_session(
            SessionConfig(**{**asked, **fields}), adapter.native_tools, mode.native
        )

        async def run() -> LaunchPlan:
            return await mode.plan(config)

        return asyncio.run(run())

    return planned


def handler(plan: LaunchPlan, event: str) -> dict[str, Any]:
    (group,) = setting(plan, f"hooks.{event}")
    (row,) = group["hooks"]
    assert "matcher" not in group
    assert isinstance(row, dict)
    return row


def test_every_event_calls_its_hook(make: Make) -> None:
    plan = make()
    ruling = handler(plan, "PreToolUse")
    assert ruling["command"] == RULING
    assert ruling["timeout"] >= 3 * 20
    for event in EVENTS:
        row = handler(plan, event)
        assert (row["type"], row["command"]) == ("command", NOTICE)
        assert row["timeout"] >= 5
    # What takes a text takes it whole.
    assert handler(plan, "PostToolUse")["additionalContextLimit"] == 0
    assert handler(plan, "UserPromptSubmit")["additionalContextLimit"] == 0
    assert plan.guarantees == INSTRUMENTED_GUARANTEES
    assert plan.lowered == {}


def test_codex_trusts_ours_by_hash_and_runs_no_other_before_a_call(make: Make) -> None:
    plan = make()
    state = setting(plan, "hooks.state")
    ours = {key: row for key, row in state.items() if key.startswith("/<session-flags>/")}
    assert len(ours) == 1 + len(EVENTS)
    assert all(
        row["enabled"] and row["trusted_hash"].startswith("sha256:") for row in ours.values()
    )
    others = {key: row for key, row in state.items() if key not in ours}
    assert others == {"/home/of/hooks.json:PreToolUse:0:0": {"enabled": False}}
    assert any("PreToolUse hooks of /home/of/hooks.json are off" in each for each in plan.warnings)


def test_codex_is_asked_with_what_the_tui_gets(make: Make, home: Path) -> None:
    plan = make(extra_args=("-c", "model_verbosity='low'", "say hello"))
    rows = [json.loads(line) for line in (home / "asked").read_text().splitlines()]
    first, *_, last = [words for words, asked in rows if asked["method"] == "hooks/list"]
    assert first[:2] == ["app-server", "--stdio"]
    assert "model_verbosity='low'" in first
    assert "--no-daemon" not in first
    assert "say hello" not in first
    told = [word for word in plan.args if word.startswith("hooks.")]
    assert [word for word in last if word.startswith("hooks.")] == told


def test_what_was_not_shown_to_be_ruled_on_is_off(make: Make) -> None:
    plan = make()
    off = [plan.args[n + 1] for n, word in enumerate(plan.args) if word == "--disable"]
    assert set(INSTRUMENTED_OFF) <= set(off)
    assert "unified_exec_tty" in off  # what is typed into a terminal is shown to no hook
    assert "hooks" not in off
    assert "multi_agent" not in off
    assert setting(plan, "mcp_servers")[TUI_SERVER]["enabled"] is False
    assert plan.env["BASH_ENV"] is None


@pytest.mark.parametrize(
    ("behave", "reason"),
    [
        ("distrusts", "does not run Barry's hook for PreToolUse"),
        ("keeps-others", "a hook of /home/of/hooks.json stays"),
        ("gone", "could not be asked"),
        ("empty", "gave no list"),
    ],
)
def test_what_codex_does_not_run_is_not_promised(make: Make, behave: str, reason: str) -> None:
    plan = make(behave)
    assert reason in plan.lowered["gating"]
    assert {name: getattr(plan.guarantees, name) for name in AS_A_GUEST} == AS_A_GUEST
    assert set(plan.lowered) == set(AS_A_GUEST)
    assert plan.inbox is None


def test_a_program_that_is_not_there_is_no_traceback(make: Make, home: Path) -> None:
    plan = make(instrument=instrument(Inside(), home / "nowhere"))
    assert "could not be asked" in plan.lowered["gating"]


def test_a_home_that_no_floor_covers_is_not_promised(make: Make, home: Path) -> None:
    plan = make(env={"CODEX_HOME": str(home / "elsewhere")})
    assert "CODEX_HOME" in plan.lowered["gating"]
    usual = make(env={"CODEX_HOME": str(home / ".codex")})
    assert usual.lowered == {}


def test_without_hooks_there_is_no_such_launch(make: Make) -> None:
    with pytest.raises(LaunchRefused) as refused:
        make(instrument=None)
    assert "guest" in str(refused.value.hint)


def test_its_inbox_goes_on_where_the_conversation_does(make: Make, record: Record) -> None:
    record(ID)
    plan = make(resume=Resume(harness_session_id=ID))
    assert plan.harness_session_id == ID
    assert isinstance(plan.inbox, EvidentInbox)
    assert plan.inbox.guarantee == "wake"
    assert plan.args[plan.args.index("resume") :][0] == "resume"


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("say hello",),
        ("-m", "gpt-5.5", "--search", "-i", "a.png"),
        ("-c", "model_reasoning_effort=high"),
        ("--config=tui.theme='x'",),
        ("-cmodel='x'",),
        ("-a", "never", "-s", "read-only", "--add-dir=/x"),
        ("--", "exec"),
    ],
)
def test_arguments_of_ones_own_that_leave_the_hooks(words: tuple[str, ...]) -> None:
    assert unguarded(words) is None


@pytest.mark.parametrize(
    "words",
    [
        ("-c", "hooks.PreToolUse=[]"),
        ("-c", "features.hooks=false"),
        ("-c hooks={}",),
        ("-chooks={}",),
        ("--config=hooks.state={}",),
        ("-c", "profile='x'"),
        ("-c",),
        ("--disable", "hooks"),
        ("--enable", "apps"),
        ("--remote", "unix:///x"),
        ("-p", "mine"),
        ("--profile=mine",),
        ("--dangerously-bypass-hook-trust",),
        ("-C", "/elsewhere"),
        ("--worktree",),
        ("exec", "do it"),
        ("-m", "x", "app-server"),
        ("--invented",),
    ],
)
def test_arguments_of_ones_own_that_may_take_the_hooks_away(
    make: Make, words: tuple[str, ...]
) -> None:
    assert unguarded(words) is not None
    plan = make(extra_args=words)
    assert "among your own arguments" in plan.lowered["gating"]
    assert plan.guarantees.gating == "static"
    assert plan.inbox is None


def test_a_denied_tool_that_stays_is_refused_call_by_call(make: Make) -> None:
    plan = make(denied_tools=("apply_patch", "view_image"))
    assert plan.lowered == {}
    off = [plan.args[n + 1] for n, word in enumerate(plan.args) if word == "--disable"]
    assert "view_image" in off
    # No hook is told of this one.
    kept = make(denied_tools=("exec",))
    assert "keeps exec" in kept.lowered["gating"]
