"""Claude Code through Barry's own command line, on the real program."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness import Job, Lab, tree

from barry_cli.contract.plan import LaunchPlan
from barry_cli.verify.models import ModelServer
from barry_cli.verify.proof import without

PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
MANUAL = ("--option", 'permissionMode="manual"')
RULES = (
    {"when": "first question", "then": [{"text": "the first answer"}]},
    {
        "when": "try it",
        "then": [
            {"tool": "Bash", "input": {"command": "touch canary", "description": "a file"}},
            {"text": "it was tried"},
        ],
    },
    {"when": "second question", "then": [{"text": "the second answer"}]},
)


def surroundings(lab: Lab) -> dict[str, str]:
    """The environment of a user with a gateway; nothing else is to be reached."""
    from barry_adapter_claude.checks import QUIET

    return {
        **QUIET,
        "ANTHROPIC_BASE_URL": lab.server.url("anthropic"),
        "ANTHROPIC_API_KEY": lab.key,
    }


def leave(job: Job) -> None:
    """End it as its user would; its own status, a terminal as before, nothing left behind."""
    job.watch()
    for _ in range(2):
        job.terminal.type("\x04")
        job.terminal.pump(0.4)
    assert job.status() == 0
    before, after = job.modes()
    assert before == after
    assert job.left_running() == []


def talk(job: Job) -> None:
    job.terminal.wait_for(PROMPT)
    job.terminal.submit("first question")
    job.terminal.wait_for("the first answer")
    job.terminal.submit("try it")
    job.terminal.wait_for("it was tried")


def arguments(job: Job) -> str:
    """Every command line below the shell."""
    lines = []
    for each in job.watch():
        try:
            lines.append(Path(f"/proc/{each.pid}/cmdline").read_text("utf-8"))
        except OSError:
            continue
    return "\n".join(lines)


async def test_the_check_shows_what_guest_mode_declares(lab: Callable[[str], Lab]) -> None:
    here = lab("claude")
    proven = await here.prove()
    assert proven.shown, proven.reason
    assert proven.model_requests > 0


async def test_the_check_fails_without_the_denial(lab: Callable[[str], Lab]) -> None:
    here = lab("claude")
    proven = await here.prove(bend=without("--disallowedTools"))
    assert not proven.shown
    assert "denied" in proven.reason


async def test_the_check_fails_where_settings_lead_requests_astray(
    lab: Callable[[str], Lab],
) -> None:
    from barry_adapter_claude.routing import MANAGED

    def bend(plan: LaunchPlan) -> LaunchPlan:
        kept = {name: value for name, value in plan.env.items() if name != MANAGED}
        return replace(plan, env=kept)

    here = lab("claude")
    proven = await here.prove(bend=bend)
    assert not proven.shown
    assert "no answer came from the endpoint" in proven.reason


def test_one_session_from_start_to_resume(lab: Callable[[str], Lab]) -> None:
    here = lab("claude")
    here.script(*RULES)
    here.add()
    env = surroundings(here)
    with ModelServer() as users, ModelServer() as folders:
        # The user's and the folder's settings each lead to a server of their own.
        for folder, server in ((here.home, users), (here.work, folders)):
            settings = {"env": {"ANTHROPIC_BASE_URL": server.url("anthropic")}}
            (folder / ".claude").mkdir()
            (folder / ".claude" / "settings.json").write_text(json.dumps(settings))
        # Without Barry the folder gets the request, and the key with it.
        bare = here.bare("-p", "--no-session-persistence", "first question", env=env)
        assert bare.status() == 0
        astray = len(folders.requests)
        assert folders.model_requests()
        job = here.launch("--deny-tool", "Bash", *MANUAL, env=env)
        talk(job)
        assert here.key not in arguments(job)
        assert not (here.work / "canary").exists()
        assert "Bash" not in here.server.offered_tools()
        leave(job)
        (session,) = json.loads(here.barry("session", "list", "--json").stdout)["sessions"]
        conversation = session["harnessSessionId"]
        again = here.launch("--resume", session["id"], *MANUAL, env=env)
        again.terminal.wait_for("the first answer")
        again.terminal.submit("second question")
        again.terminal.wait_for("the second answer")
        assert "Bash" not in here.server.offered_tools()
        leave(again)
        assert users.requests == ()
        assert len(folders.requests) == astray
    found = list(here.adapter.transcript.list(str(here.work), {"HOME": str(here.home)}))
    assert found == [conversation]


def test_it_writes_what_it_writes_alone(lab: Callable[[str], Lab]) -> None:
    ours, alone = lab("claude"), lab("claude")
    for here in (ours, alone):
        here.script(*RULES)
    ours.add()
    job = ours.launch("--deny-tool", "Bash", *MANUAL, env=surroundings(ours))
    talk(job)
    leave(job)
    flags = ("--permission-mode=manual", "--disallowedTools=Bash")
    bare = alone.bare(*flags, env={**surroundings(alone), "DISABLE_AUTOUPDATER": "1"})
    talk(bare)
    leave(bare)
    assert _alike(ours) == _alike(alone)


def _alike(lab: Lab) -> set[str]:
    """The files below the home, the name of the folder worked in apart."""
    return {re.sub("(?<=projects/)[^/]+", "WORK", name) for name in tree(lab.home)}


def test_its_own_exit_status_is_barrys(lab: Callable[[str], Lab]) -> None:
    here = lab("claude")
    here.add()
    words = ("--resume=0d6f2b3c-1111-4222-8333-444455556666",)
    job = here.launch("--", *words, env=surroundings(here))
    assert job.status() == 1
    assert "No conversation found" in job.terminal.screen()
