"""A launch of Gemini CLI's TUI with Barry's hooks in it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from barry_cli.base.problems import BarryError
from barry_cli.contract.instrument import HookCall, Instrument
from barry_cli.contract.plan import EvidentInbox, LaunchPlan
from barry_cli.contract.session import SessionConfig

KEY = "a-key-of-the-hooks"
Make = Callable[..., LaunchPlan]
Read = Callable[[LaunchPlan], dict[str, Any]]
OWN = {"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "mine"}]}]}}


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
def instrumented(root: Any) -> Make:
    """A plan for a SessionConfig with these fields; the folder is plain, and nobody decided."""
    from barry_adapter_gemini.declared import NATIVE_TOOLS
    from barry_adapter_gemini.instrumented import plan

    (root.cwd / ".gemini").rmdir()

    def make(**given: Any) -> LaunchPlan:
        env = {**root.env, **given.pop("env", {})}
        config = SessionConfig(
            **{
                "session_id": "s",
                "cwd": str(root.cwd),
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
    assert settings["hooksConfig"] == {"enabled": True}
    (ruling,) = hooks(settings, "BeforeTool")
    assert ruling["command"] == INSTRUMENT.ruling.command
    assert ruling["timeout"] >= 3000 * INSTRUMENT.deadline_seconds
    told = ("AfterTool", "BeforeAgent", "AfterAgent", "Notification", "SessionStart", "SessionEnd")
    for event in told:
        (hook,) = hooks(settings, event)
        assert hook["command"] == INSTRUMENT.notice.command
    assert set(settings["hooks"]) == {"BeforeTool", *told}


def test_no_variable_and_no_file_leads_its_shell_astray(
    instrumented: Make, system_settings: Read
) -> None:
    for event, groups in system_settings(instrumented())["hooks"].items():
        for hook in groups[0]["hooks"]:
            for name in ("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "LD_PRELOAD", "LD_AUDIT"):
                assert hook["env"][name] == "", event
            assert hook["env"]["SHLVL"] == "1"
            assert hook["env"]["PATH"].startswith("/")


def test_nobody_can_list_its_name_beforehand(instrumented: Make, system_settings: Read) -> None:
    one, other = (hooks(system_settings(instrumented()), "BeforeTool")[0] for _ in range(2))
    assert one["name"] != other["name"]


def test_an_administrators_settings_are_carried_along(
    instrumented: Make, system_settings: Read, root: Any
) -> None:
    root.write(
        root.machine / "settings.json",
        {**OWN, "hooksConfig": {"enabled": False}, "tools": {"core": ["read_file"]}},
    )
    settings = system_settings(instrumented())
    assert settings["tools"]["core"] == ["read_file"]
    assert settings["hooksConfig"]["enabled"] is True
    assert [hook["command"] for hook in hooks(settings, "BeforeTool")] == [
        "mine",
        INSTRUMENT.ruling.command,
    ]


def test_where_system_settings_are_not_taken_it_is_refused(
    instrumented: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_gemini import system

    monkeypatch.setattr(system, "honoured", lambda path: False)
    with pytest.raises(BarryError, match="nobody but root") as refused:
        instrumented()
    assert refused.value.exit_code == 2


def test_what_would_undo_the_hooks_is_refused(instrumented: Make, root: Any) -> None:
    for given in (
        {"extra_args": ("--sandbox",)},
        {"extra_args": ("-s",)},
        {"env": {"GEMINI_SANDBOX": "docker"}},
        {"env": {"GEMINI_RESTRICTED_MODE": "true"}},
        {"env": {"GEMINI_CLI_TRUST_WORKSPACE": "false"}},
        {"instrument": None},
    ):
        with pytest.raises(BarryError):
            instrumented(**given)
    assert instrumented(extra_args=("--yolo",)).guarantees.gating == "hooks"


def test_hooks_of_the_folders_are_refused(instrumented: Make, root: Any) -> None:
    root.user_sets(security={"folderTrust": {"enabled": False}})
    path = root.folder_sets(**OWN)
    with pytest.raises(BarryError, match="after Barry ruled"):
        instrumented()
    root.folder_sets(ui={"theme": "GitHub"})
    assert instrumented().guarantees.gating == "hooks"
    assert path.exists()


@pytest.mark.parametrize("where", ["settings.json", "extensions/one/hooks/hooks.json"])
def test_another_hook_before_a_tool_lowers_gating(
    instrumented: Make, root: Any, where: str
) -> None:
    root.write(root.home / ".gemini" / where, {"hooks": {"AfterTool": []}})
    assert instrumented().guarantees.gating == "hooks"
    root.write(root.home / ".gemini" / where, OWN)
    plan = instrumented()
    assert plan.guarantees.gating == "static"
    assert where in plan.lowered["gating"]


def test_a_plain_folder_is_taken_as_trusted(instrumented: Make) -> None:
    plan = instrumented()
    assert plan.env["GEMINI_CLI_TRUST_WORKSPACE"] == "true"
    assert plan.env["GEMINI_RESTRICTED_MODE"] == ""


TRUSTED: dict[str, tuple[dict[str, str] | None, bool]] = {
    "itself": ({"{cwd}": "TRUST_FOLDER"}, True),
    "its parent": ({"{top}": "TRUST_FOLDER"}, True),
    "by a sibling's parent": ({"{top}/other": "TRUST_PARENT"}, True),
    "not, below what is": ({"{top}": "TRUST_FOLDER", "{cwd}": "DO_NOT_TRUST"}, False),
    "another": ({"{cwd}-too": "TRUST_FOLDER"}, False),
    "nothing decided": (None, False),
}


@pytest.mark.parametrize("case", TRUSTED)
def test_a_folder_that_brings_something_has_to_be_trusted(
    instrumented: Make, root: Any, case: str
) -> None:
    rules, trusted = TRUSTED[case]
    (root.cwd / ".env").write_text("DEBUG=1\n")
    if rules is not None:
        cwd, top = str(root.cwd), str(root.cwd.parent)
        root.write(
            root.home / ".gemini" / "trustedFolders.json",
            {path.format(cwd=cwd, top=top): level for path, level in rules.items()},
        )
    if trusted:
        assert instrumented().env["GEMINI_CLI_TRUST_WORKSPACE"] == "true"
        return
    with pytest.raises(BarryError, match="have not trusted"):
        instrumented()
    # For this one launch the user may say so.
    assert instrumented(env={"GEMINI_CLI_TRUST_WORKSPACE": "true"})


def test_a_folder_that_is_not_to_be_trusted_is_not(instrumented: Make, root: Any) -> None:
    root.write(root.home / ".gemini" / "trustedFolders.json", {str(root.cwd): "DO_NOT_TRUST"})
    with pytest.raises(BarryError, match="have not trusted"):
        instrumented()


def test_the_key_is_nowhere(instrumented: Make, system_settings: Read) -> None:
    plan = instrumented()
    assert KEY not in json.dumps([plan.args, dict(plan.env), system_settings(plan)])


def test_it_keeps_an_inbox_and_denies_by_rule_as_well(instrumented: Make) -> None:
    plan = instrumented(denied_tools=("web_fetch",))
    assert isinstance(plan.inbox, EvidentInbox)
    assert plan.inbox.guarantee == plan.guarantees.delivery == "turn-end"
    assert any(word.startswith("--admin-policy=") for word in plan.args)
    assert plan.harness_session_id
