"""The hook in Claude Code itself: what a bound denies is refused, and so is what can't be ruled."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from harness import Lab

from barry_cli.bags.manifest import read_bag
from barry_cli.base.paths import folders
from barry_cli.contract.instrument import HookCall
from barry_cli.hook.install import Installed, install
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.schema import parse_bound
from barry_cli.verify.models import ToolResult

BAG = read_bag(Path(__file__).parents[2] / "adapters" / "claude" / "barry_adapter_claude")
UNRULED = "Barry could not rule on this call, so it is refused"


@dataclass
class Claude:
    """Claude Code without a terminal, under a hook of ours."""

    lab: Lab
    hook: Installed

    def settings(self, command: str | None, *, countered: bool = True) -> str:
        hooks = {} if command is None else {
            "PreToolUse": [
                {"matcher": "*", "hooks": [{"type": "command", "command": command, "timeout": 30}]}
            ]
        }  # fmt: skip
        held = {"disableAllHooks": False} if countered else {}
        return json.dumps({"hooks": hooks, **held})

    def calls(self, *commands: str, settings: str) -> list[ToolResult]:
        """What each call of Bash came to, as the model's next request tells it."""
        from barry_adapter_claude.checks import QUIET

        calls = [
            {"tool": "Bash", "input": {"command": each, "description": "a try"}}
            for each in commands
        ]
        self.lab.script({"when": "try it", "then": [*calls, {"text": "it was tried"}]})
        before = len(self.lab.server.tool_results())
        done = subprocess.run(
            [self.lab.program, "-p", "--settings", settings, "--allowedTools", "Bash",
             "--no-session-persistence", "--", "try it"],
            env={
                **self.lab.env,
                **QUIET,
                "ANTHROPIC_BASE_URL": self.lab.server.url("anthropic"),
                "ANTHROPIC_API_KEY": self.lab.key,
            },
            cwd=self.lab.work,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        assert "it was tried" in done.stdout
        return self.lab.server.tool_results()[before:]

    def made(self) -> set[str]:
        """The files that calls made; they are taken away again."""
        found = {path.name for path in self.lab.work.iterdir() if path.is_file()}
        for name in found:
            (self.lab.work / name).unlink()
        return found


@pytest.fixture
def claude(lab: Callable[[str], Lab]) -> Claude:
    here = lab("claude")
    told = subprocess.run(
        [here.program, "--version"], env=here.env, capture_output=True, text=True, timeout=30,
        check=True,
    )  # fmt: skip
    here.figures.version = re.findall(r"\d+\.\d+\.\d+", told.stdout)[0]
    ours = folders()
    policy = compile_policy(
        parse_bound({"bash": {"denyPrograms": ["touch"]}}),
        root=str(here.work),
        harness="claude",
        tools=BAG.tools,
        floor=floor_patterns(ours),
        home=str(here.home),
    )
    hook = install(ours.launches / "this session's", policy, BAG.formats.values())
    return Claude(here, hook)


def test_a_denied_call_is_refused_and_an_allowed_one_runs(claude: Claude) -> None:
    settings = claude.settings(claude.hook.command)
    denied, allowed = claude.calls("touch denied", ": > allowed", settings=settings)
    assert claude.made() == {"allowed"}
    assert denied.is_error
    assert "touch" in denied.text
    assert UNRULED not in denied.text
    assert not allowed.is_error


def test_the_hook_is_out_of_the_reach_of_what_it_rules_on(claude: Claude) -> None:
    settings = claude.settings(claude.hook.command)
    files = (claude.hook.policy, claude.hook.entry)
    tries = [f"rm -f {shlex.quote(str(each))}" for each in files]
    tries += [f": > {shlex.quote(str(each))}" for each in files]
    before = [each.read_bytes() for each in files]
    results = claude.calls(*tries, settings=settings)
    assert [each.is_error for each in results] == [True] * 4
    assert all(UNRULED not in each.text for each in results)
    assert [each.read_bytes() for each in files] == before


def test_without_the_hook_the_denied_call_runs(claude: Claude) -> None:
    (result,) = claude.calls("touch denied", settings=claude.settings(None))
    assert not result.is_error
    assert claude.made() == {"denied"}


def test_a_folder_cannot_switch_the_hook_off(claude: Claude) -> None:
    (claude.lab.work / ".claude").mkdir()
    off = claude.lab.work / ".claude" / "settings.json"
    off.write_text(json.dumps({"disableAllHooks": True}), encoding="utf-8")
    held = claude.settings(claude.hook.command)
    (result,) = claude.calls("touch denied", settings=held)
    assert result.is_error
    assert claude.made() == set()
    # Where nothing counters it, the folder has its way.
    (result,) = claude.calls(
        "touch denied", settings=claude.settings(claude.hook.command, countered=False)
    )
    assert not result.is_error
    assert claude.made() == {"denied"}


def policy_gone(hook: Installed) -> Installed:
    hook.policy.unlink()
    return hook


def policy_changed(hook: Installed) -> Installed:
    hook.policy.chmod(0o600)
    hook.policy.write_bytes(hook.policy.read_bytes() + b" ")
    return hook


def entry_gone(hook: Installed) -> Installed:
    hook.entry.unlink()
    return hook


def garbage_comes(hook: Installed) -> Installed:
    program, _, refuse = hook.command.rpartition(" || ")
    command = f"{{ echo garbage | {program}; }} || {refuse}"
    return replace(hook, ruling=HookCall(command=command, words=()))


BROKEN = {
    "policy gone": (policy_gone, f"{UNRULED}: the session's policy .* No such file"),
    "policy changed": (policy_changed, f"{UNRULED}: .* isn't the file that the session was"),
    "entry gone": (entry_gone, r"can't open file .*hook-cpython-\d+\.pyc"),
    "garbage comes": (garbage_comes, f"{UNRULED}: what the harness said .* isn't JSON"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_what_cannot_be_ruled_is_refused_and_says_so(claude: Claude, case: str) -> None:
    broken, says = BROKEN[case]
    hook = broken(claude.hook)
    (result,) = claude.calls(": > allowed", settings=claude.settings(hook.command))
    assert result.is_error
    assert re.search(says, result.text), result.text
    assert claude.made() == set()
