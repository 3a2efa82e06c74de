"""The real pi, started by Barry's own command line in a terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import Job, Lab, tree

from barry_cli.verify.proof import without

READY = "scripted-model"
MODEL = ("--model", "mine/scripted-model")


@pytest.fixture
def pi(lab: Callable[[str], Lab]) -> Lab:
    """A home whose own settings lead to the scripted model."""
    made = lab("pi")
    made.env["PI_OFFLINE"] = "1"
    use(made, made.home)
    made.script(
        {"when": "say one", "then": ["first-answer"]},
        {"when": "try it", "then": [touch("denied"), "round-over"]},
        {"when": "do it", "then": [touch("allowed"), "work-done"]},
    )
    return made


def use(lab: Lab, home: Path) -> None:
    """The user's own settings name a provider at the server's address."""
    provider = {
        "baseUrl": lab.server.url("openai-chat"),
        "api": "openai-completions",
        "apiKey": lab.key,
        "models": [{"id": "scripted-model"}],
    }
    models = home / ".pi" / "agent" / "models.json"
    models.write_text(json.dumps({"providers": {"mine": provider}}))


def touch(name: str) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": f"touch {name}"}}


def ask(job: Job, prompt: str, answer: str) -> None:
    job.terminal.wait_for(READY, seconds=30)
    job.terminal.submit(prompt)
    job.terminal.wait_for(answer, seconds=30)
    job.watch()


def leave(job: Job) -> None:
    """End it as a person does, and see that all is as it was before."""
    job.terminal.type("\x04")
    assert job.status() == 0
    before, after = job.modes()
    assert before == after
    assert job.left_running() == []


def sessions(lab: Lab) -> list[dict[str, Any]]:
    listed = json.loads(lab.barry("session", "list", "--json").stdout)
    found: list[dict[str, Any]] = listed["sessions"]
    return found


def test_a_launch_from_the_first_prompt_to_going_on(pi: Lab) -> None:
    pi.add()
    # A folder's own extension would be code in the session: under a denial it is not loaded.
    (pi.work / ".pi" / "extensions").mkdir(parents=True)
    mark = 'import { writeFileSync } from "node:fs"\n'
    code = mark + 'export default function (pi) { writeFileSync("loaded", "x") }\n'
    (pi.work / ".pi" / "extensions" / "own.js").write_text(code)
    job = pi.launch(*MODEL, "--deny-tool", "bash", "--require", "gating=static")
    ask(job, "say one", "first-answer")
    ask(job, "try it", "round-over")
    assert not (pi.work / "denied").exists()
    assert not (pi.work / "loaded").exists()
    assert "bash" not in pi.server.offered_tools()
    leave(job)
    (ended,) = sessions(pi)
    assert ended["exitStatus"] == 0
    conversation = ended["harnessSessionId"]
    (kept,) = (pi.home / ".pi" / "agent" / "sessions").rglob("*.jsonl")
    assert json.loads(kept.read_text().partition("\n")[0])["id"] == conversation
    written = tree(pi.home)

    # Going on keeps the denial; the model gets what was said before.
    going_on = pi.launch("--resume", str(ended["id"]))
    going_on.terminal.wait_for("first-answer", seconds=30)
    ask(going_on, "try it again", "round-over")
    assert not (pi.work / "denied").exists()
    leave(going_on)
    assert sessions(pi)[0]["harnessSessionId"] == conversation
    assert pi.server.model_requests()[-1].contains("say one")

    # Without the denial the same call has its effect, and the extension is the user's again.
    last = pi.launch(*MODEL, "--last")
    last.terminal.wait_for("first-answer", seconds=30)
    ask(last, "do it", "work-done")
    assert (pi.work / "allowed").exists()
    assert (pi.work / "loaded").exists()
    leave(last)
    assert sessions(pi)[0]["harnessSessionId"] == conversation

    # What a launch leaves behind in the home is what pi leaves behind by itself.
    bare_home = pi.top / "bare"
    bare_home.mkdir(mode=0o700)
    pi.settle(bare_home)
    use(pi, bare_home)
    bare = pi.bare(*MODEL, env={"HOME": str(bare_home)})
    ask(bare, "say one", "first-answer")
    ask(bare, "do it", "work-done")
    leave(bare)
    assert written == tree(bare_home)


def test_its_own_exit_status_is_barrys(pi: Lab) -> None:
    pi.add()
    job = pi.launch(*MODEL, "--", "--session", "no-such-conversation")
    assert job.status() == 1
    assert "No session found" in job.terminal.screen()


async def test_the_evidence(pi: Lab) -> None:
    pi.add()
    proven = await pi.prove()
    assert proven.shown, proven.reason
    unguarded = await pi.prove(bend=without("--tools"))
    assert not unguarded.shown
    assert "denied" in unguarded.reason
