"""pi's instrumented plan: Barry's extension, and nobody's code beside it."""

from __future__ import annotations

import asyncio
import json
import stat
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from barry_adapter_pi import adapter
from barry_adapter_pi.declared import INSTRUMENTED_GUARANTEES, NATIVE, NATIVE_TOOLS
from barry_adapter_pi.instrumented import plan
from barry_cli.adapters import (
    EvidentInbox,
    HookCall,
    Instrument,
    LaunchPlan,
    Refused,
    check_adapter,
)
from barry_cli.sessions import (
    EgressPolicy,
    Endpoint,
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
    return folder


@pytest.fixture
def make(home: Path, cwd: Path) -> Make:
    """Plans an instrumented launch in the folder with these fields."""

    def made(**given: Any) -> LaunchPlan:
        config = SessionConfig(
            **{
                "session_id": "s1",
                "cwd": str(cwd),
                "env": {"HOME": str(home)},
                "allowed_native_tools": NATIVE_TOOLS,
                "instrument": INSTRUMENT,
                **given,
            }
        )
        return asyncio.run(plan(configure_harness_session(config, NATIVE_TOOLS, NATIVE)))

    return made


def extension(made: LaunchPlan) -> Path:
    return Path(made.args[made.args.index("--extension") + 1])


def test_the_extension_lies_in_a_private_folder_with_all_that_it_needs(make: Make) -> None:
    made = make()
    assert made.reports_loaded
    assert made.guarantees == INSTRUMENTED_GUARANTEES
    placed = extension(made)
    assert str(placed.parent) in made.tmp_dirs
    assert stat.S_IMODE(placed.parent.stat().st_mode) == 0o700
    names = {each.name for each in placed.parent.iterdir()}
    assert names == {"inside.js", "paths.js", "line.js", "line.json"}
    line = json.loads(placed.with_name("line.json").read_text())
    assert line["fingerprint"] == "12"
    assert line["session"] == "s1"
    assert "shellCommandPrefix" in line["programs"]
    assert "--no-extensions" in made.args


def test_the_key_is_in_no_argument_and_no_variable(make: Make) -> None:
    made = make()
    assert KEY not in repr((made.args, made.env, made.warnings))


def test_messages_come_by_the_extension(make: Make) -> None:
    inbox = make().inbox
    assert isinstance(inbox, EvidentInbox)
    assert inbox.guarantee == "wake"
    assert "event" in inbox.evidence
    assert not asyncio.run(inbox.deliver({"id": "m", "content": "x"}))  # nobody is inside


def test_without_an_instrument_nothing_is_planned(make: Make) -> None:
    with pytest.raises(Refused, match="nothing to do it with"):
        make(instrument=None)


@pytest.mark.parametrize("text", ['{"shellPath": "/bin/sh"}', '{"packages": []}', "{", "[" * 9999])
def test_a_folder_whose_settings_run_programs_is_refused(make: Make, cwd: Path, text: str) -> None:
    (cwd / ".pi").mkdir()
    (cwd / ".pi" / "settings.json").write_text(text)
    with pytest.raises(Refused, match="this folder") as refused:
        make()
    assert "--mode guest" in str(refused.value.hint)


def test_a_folder_with_harmless_settings_is_not(make: Make, cwd: Path) -> None:
    (cwd / ".pi").mkdir()
    (cwd / ".pi" / "settings.json").write_text('{"theme": "dark"}')
    assert make().guarantees.gating == "hooks"


def test_other_extensions_are_left_out_and_that_is_said(make: Make, home: Path) -> None:
    folder = home / ".pi" / "agent" / "extensions"
    folder.mkdir(parents=True)
    (folder / "own.js").write_text("export default () => {}")
    made = make()
    assert "left out" in made.warnings[0]
    assert made.guarantees.gating == "hooks"


@pytest.mark.parametrize(
    "given",
    [
        {"options": {"extensions": True}},
        {"extra_args": ["--extension", "x.js"]},
        {"extra_args": ["--extension=x.js"]},
        {"extra_args": ["-e", "x.js"]},
    ],
)
def test_code_that_is_loaded_beside_it_lowers_the_promise(make: Make, given: Any) -> None:
    made = make(**given)
    assert made.guarantees.gating == "none"
    assert "after the ruling" in made.lowered["gating"]
    assert "after the ruling" in made.warnings[0]


def test_what_is_denied_is_not_offered_and_words_of_the_user_may_undo_that(make: Make) -> None:
    made = make(denied_tools=("bash",))
    assert made.args[made.args.index("--tools") + 1] == "read,edit,write,grep,find,ls"
    assert made.guarantees.gating == "hooks"
    undone = make(denied_tools=("bash",), extra_args=["--tools", "bash"])
    assert undone.guarantees.gating == "none"


VALUES: dict[str, Any] = {
    "denied_tools": ("bash",),
    "endpoint": Endpoint.model_validate(
        {"url": "http://127.0.0.1:1", "api": "openai-chat", "key": "sk-x"}
    ),
    "ephemeral": True,
    "extra_args": ("--thinking", "low"),
    "model": "anthropic/claude-x",
    "options": {"thinking": "low"},
    "plugin_dirs": ("/plugins",),
    "resume": Resume(harness_session_id="abc"),
    "system_prompt": "Be brief.",
}
WARNED: dict[str, Any] = {
    "decide": asyncio.sleep,
    "egress_sandbox": EgressPolicy(allow_domains=()),
    "max_turns": 3,
    "mcp_servers": {"one": StdioMcpServer(command="server")},
    "project_roots": ("/other",),
    "small_model": "anthropic/claude-y",
    "telemetry_endpoint": "http://127.0.0.1:1",
    "telemetry_headers": {"a": "b"},
}
# Where a driven session's processes run; pi has no servers to be strict about.
ELSEWHERE = {"allowed_native_tools", "executor", "instrument", "strict_mcp_config"}


def test_every_field_of_a_configuration_is_thought_of() -> None:
    names = {each.name for each in fields(SessionConfig)} - {"session_id", "cwd", "env"}
    assert names == set(VALUES) | set(WARNED) | ELSEWHERE


def shape(made: LaunchPlan) -> list[str]:
    """The arguments without the names of files, which differ from plan to plan."""
    return [word.rpartition("/")[2] if "/s" in word[:2] else word for word in made.args]


@pytest.mark.parametrize("name", VALUES)
def test_each_field_changes_the_plan(make: Make, name: str) -> None:
    more = {"model": "x/y"} if name == "endpoint" else {}
    made = make(**{name: VALUES[name]}, **more)
    plain = make()
    assert len(made.args) != len(plain.args) or shape(made) != shape(plain)
    assert made.warnings == ()


@pytest.mark.parametrize("name", WARNED)
def test_what_can_not_be_had_is_said(make: Make, name: str) -> None:
    assert len(make(**{name: WARNED[name]}).warnings) == 1


def test_the_adapter_passes_its_check() -> None:
    assert not check_adapter(adapter).problems
    mode = adapter.modes["instrumented"]
    assert mode is not None
    assert mode.ruled == ("shell", "write", "read")
