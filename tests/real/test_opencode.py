"""The real opencode, started by Barry's own command line in a terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness import Job, Lab, tree

from barry_cli.adapters import LaunchPlan
from barry_cli.verify.models import ModelServer

READY = "scripted-model"
MODEL = ("--model", "mine/scripted-model")
# opencode looks for models and plugins when it starts: nothing may leave this machine.
CLOSED = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "npm_config_registry": "http://127.0.0.1:9/"}
PASSED = ("--env", "npm_config_registry")


@pytest.fixture
def opencode(lab: Callable[[str], Lab]) -> Lab:
    """A home whose own settings lead to the scripted model."""
    made = lab("opencode")
    made.env.update(CLOSED)
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
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": lab.server.url("openai-chat"), "apiKey": lab.key},
        "models": {"scripted-model": {"name": "scripted-model", "tool_call": True}},
    }
    settings = {"provider": {"mine": provider}, "small_model": "mine/scripted-model"}
    (home / ".config" / "opencode" / "opencode.jsonc").write_text(
        json.dumps({"$schema": "https://opencode.ai/config.json", **settings})
    )


def touch(name: str) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": f"touch {name}", "description": "a file"}}


def ask(job: Job, prompt: str, answer: str) -> None:
    job.terminal.wait_for(READY, seconds=30)
    job.terminal.submit(prompt)
    job.terminal.wait_for(answer, seconds=30)
    job.watch()


def leave(job: Job) -> None:
    """End it as a person does, and see that all is as it was before."""
    job.terminal.pump(1.0)  # the turn ends a moment after its last word
    job.terminal.type("\x04")
    assert job.status() == 0
    before, after = job.modes()
    assert before == after
    assert job.left_running() == []


def sessions(lab: Lab) -> list[dict[str, Any]]:
    listed = json.loads(lab.barry("session", "list", "--json").stdout)
    found: list[dict[str, Any]] = listed["sessions"]
    return found


def test_a_launch_from_the_first_prompt_to_going_on(opencode: Lab) -> None:
    opencode.add()
    # The project's settings allow everything, for the agent in use too, and take the address.
    with ModelServer() as elsewhere:
        unkind = {
            "permission": {"bash": "ask", "*": "allow"},
            "agent": {"build": {"permission": {"bash": "allow"}}},
            "provider": {"mine": {"options": {"baseURL": elsewhere.url("openai-chat")}}},
        }
        (opencode.work / "opencode.json").write_text(json.dumps(unkind))
        job = opencode.launch(*MODEL, *PASSED, "--deny-tool", "bash", "--require", "gating=static")
        ask(job, "say one", "first-answer")
        ask(job, "try it", "round-over")
        leave(job)
        assert elsewhere.requests == ()
    (opencode.work / "opencode.json").unlink()
    assert not (opencode.work / "denied").exists()
    assert "bash" not in opencode.server.offered_tools()
    (ended,) = sessions(opencode)
    assert ended["exitStatus"] == 0
    conversation = ended["harnessSessionId"]
    source = opencode.adapter.transcript
    assert source is not None
    env = {"HOME": str(opencode.home)}
    assert list(source.list(str(opencode.work), env)) == [conversation]
    written = lasting(opencode.home)

    # Going on keeps the denial; the model gets what was said before.
    going_on = opencode.launch("--resume", str(ended["id"]), *PASSED)
    going_on.terminal.wait_for("first-answer", seconds=30)
    ask(going_on, "try it again", "round-over")
    assert not (opencode.work / "denied").exists()
    leave(going_on)
    assert sessions(opencode)[0]["harnessSessionId"] == conversation
    assert opencode.server.model_requests()[-1].contains("say one")

    # Without the denial the same call has its effect.
    last = opencode.launch(*MODEL, *PASSED, "--last")
    last.terminal.wait_for("first-answer", seconds=30)
    ask(last, "do it", "work-done")
    assert (opencode.work / "allowed").exists()
    leave(last)
    assert sessions(opencode)[0]["harnessSessionId"] == conversation

    # What a launch leaves behind in the home is what opencode leaves behind by itself.
    bare_home = opencode.top / "bare"
    bare_home.mkdir(mode=0o700)
    opencode.settle(bare_home)
    use(opencode, bare_home)
    alone = {"HOME": str(bare_home), "OPENCODE_DISABLE_AUTOUPDATE": "1"}
    bare = opencode.bare(*MODEL, env=alone)
    ask(bare, "say one", "first-answer")
    ask(bare, "do it", "work-done")
    leave(bare)
    assert written == lasting(bare_home)


def without_agents_rules(plan: LaunchPlan) -> LaunchPlan:
    """The plan with the general rules alone."""
    settings = json.loads(plan.env["OPENCODE_CONFIG_CONTENT"] or "")
    bent = {name: value for name, value in settings.items() if name not in ("agent", "mode")}
    return replace(plan, env={**plan.env, "OPENCODE_CONFIG_CONTENT": json.dumps(bent)})


def with_plain_keys(plan: LaunchPlan) -> LaunchPlan:
    """The plan with rules under the tool's own name, where others' rules can come after them."""
    plain = {name: re.sub(r"bash\*+", "bash", value or "") for name, value in plan.env.items()}
    return replace(plan, env=plain)


@pytest.mark.long
async def test_the_evidence(opencode: Lab) -> None:
    opencode.add()
    proven = await opencode.prove()
    assert proven.shown, proven.reason
    for bend in (without_agents_rules, with_plain_keys):
        bent = await opencode.prove(bend=bend)
        assert not bent.shown
        assert "denied" in bent.reason


def lasting(home: Path) -> set[str]:
    """The files below a home, its locks apart: they are there while something is under way."""
    return {name for name in tree(home) if "/locks/" not in name}
