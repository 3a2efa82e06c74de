"""The real Codex TUI with Barry's hooks in it: calls are ruled on, messages arrive."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from harness import Lab, tree
from plugged import Plugged, at_random_moments, bound
from test_codex import CLOSED, MODEL, OPEN, READY, lasting, touch, use

from barry_cli.adapters import LaunchPlan

TOUCH = {"bash": {"denyPrograms": ["touch"]}}
SLOW = "python3 -c 'import time; time.sleep(2)'"
HARD = (
    "/status is a word,\n\tand so is !touch bang \N{CRAB} #x @word <b>&amp;\n" + "x" * 6000
) + "\n\n"
ASKING = ("--option", 'sandbox="read-only"', "--option", 'approvalPolicy="on-request"')


class Session(Plugged):
    """One session of Codex in a terminal."""

    def ready(self) -> None:
        self.job.terminal.wait_for(READY, seconds=60)

    def leave(self, *, status: int = 0) -> None:
        self.job.watch()
        self.job.terminal.submit("/quit")
        assert self.job.status() == status
        before, after = self.job.modes()
        assert before == after
        assert self.job.left_running() == []

    def told(self, word: str) -> list[str]:
        """What the conversation's newest request tells the model with this word in it."""
        request = self._requests()[-1]
        texts = [
            part["text"]
            for item in request.body["input"]
            if item.get("role") in ("user", "developer")
            for part in item["content"]
        ]
        return [text for text in texts if word in text]

    def results(self, since: int = 0) -> list[str]:
        return [result.text for result in self.lab.server.tool_results()[since:]]

    def _requests(self) -> list[Any]:
        # Codex asks for a title beside it, and offers hardly a tool there.
        return [each for each in self.lab.server.model_requests() if len(each.tools) > 3]


@pytest.fixture
def codex(lab: Callable[[str], Lab]) -> Lab:
    """A home whose own settings lead to the scripted model."""
    made = lab("codex")
    made.env.update(CLOSED)
    use(made.home, made.server.url("openai-responses"))
    made.script(
        {"when": "say one", "then": ["first-answer"]},
        {"when": "try it", "then": [touch("denied"), "round-over"]},
        {"when": "do it", "then": [run("mkdir allowed"), "work-done"]},
        {"when": "a while", "then": [run(SLOW), "without-more"]},
        {"when": "wake up", "then": ["woken-up"]},
        {"when": "/status is", "then": ["took-it-in"]},
        {"when": "note-", "then": ["counted"]},
    )
    made.add()
    return made


def run(command: str, **more: object) -> dict[str, object]:
    return {"tool": "exec_command", "input": {"cmd": command, **more}}


def unhooked(event: str) -> Callable[[LaunchPlan], LaunchPlan]:
    """A bend that takes the hook of one event away."""

    def bend(plan: LaunchPlan) -> LaunchPlan:
        (at,) = (n for n, word in enumerate(plan.args) if word.startswith(f"hooks.{event}="))
        return replace(plan, args=plan.args[: at - 1] + plan.args[at + 1 :])

    return bend


async def test_the_evidence(codex: Lab) -> None:
    proven = await codex.prove(mode="instrumented")
    assert proven.shown, proven.reason


@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ("PreToolUse", "denied calls had their effect"),
        pytest.param("UserPromptSubmit", "did not come with", marks=pytest.mark.long),
        pytest.param("PostToolUse", "hooks told of", marks=pytest.mark.long),
    ],
)
@pytest.mark.long
async def test_the_evidence_is_not_shown_without_its_guard(
    codex: Lab, event: str, reason: str
) -> None:
    proven = await codex.prove(mode="instrumented", bend=unhooked(event))
    assert not proven.shown
    assert reason in proven.reason


def test_a_session_from_its_first_prompt_to_its_end(codex: Lab) -> None:
    """Just started, busy, just resumed, ended: each message once, as it was written."""
    held = bound(codex, TOUCH)
    session = Session(codex, *MODEL, *OPEN, bound=held)
    session.ready()
    session.post("with the first")
    session.ask("try it", "round-over")
    assert not (codex.work / "denied").exists()
    assert "by the policy" in session.results()[-1]
    assert session.told("with the first") == ["with the first"]
    session.ask("do it", "work-done")
    assert (codex.work / "allowed").is_dir()
    session.job.terminal.submit("a while")
    session.job.terminal.pump(0.7)
    assert session.send(HARD, "--from", "a friend") == "consumed"
    session.job.terminal.wait_for("without-more")
    assert session.told("/status is") == [f"[message from a friend, sent through Barry]\n{HARD}"]
    assert not (codex.work / "bang").exists()
    session.until(lambda: session.show()["session"]["activity"] == "idle")
    shown = session.show()["session"]
    assert shown["guarantees"]["gating"] == "hooks"
    assert shown["guarantees"]["delivery"] == "wake"
    (kept,) = (codex.home / ".codex" / "sessions").rglob("rollout-*.jsonl")
    assert shown["harnessSessionId"] in kept.name
    assert session.states() == ["consumed", "consumed"]
    session.leave()
    written = tree(codex.home)
    text = session.beside("events", session.id).stdout
    for word in ("try it", "touch denied", "by the policy", "without-more"):
        assert word in text, word
    late = session.beside("send", session.id, "too late")
    assert late.returncode == 2

    # Going on: the message need not wait for a prompt.
    again = Session(codex, "--resume", session.id, bound=held)
    assert again.send("wake up, again", seconds=25) == "consumed"
    again.job.terminal.wait_for("woken-up")
    assert again.told("wake up") == ["wake up, again"]
    again.leave()

    # It leaves nothing behind in the home that Codex doesn't leave behind by itself.
    bare_home = codex.top / "bare"
    bare_home.mkdir(mode=0o700)
    codex.settle(bare_home)
    use(bare_home, codex.server.url("openai-responses"))
    bare = codex.bare("--no-daemon", "-m", "gpt-5.5", env={"HOME": str(bare_home)})
    bare.terminal.wait_for(READY, seconds=30)
    bare.terminal.submit("do it")
    bare.terminal.wait_for("work-done", seconds=30)
    bare.terminal.submit("/quit")
    bare.status()
    assert lasting(written) <= lasting(tree(bare_home))


def test_messages_at_random_moments_arrive_in_order_and_once(codex: Lab) -> None:
    session = Session(codex, *MODEL, *OPEN)
    session.ready()
    sent = [f"note-{index}." for index in range(30)]
    session.post(sent[0])
    session.ask("say one", "first-answer")
    session.job.terminal.submit("a while")
    at_random_moments(session, sent[1:])
    # What one hook took is one text, joined by blank lines.
    assert re.findall(r"note-\d+\.", "\n".join(session.told("note-"))) == sent
    session.leave()


@pytest.mark.long
def test_a_message_waits_at_a_question_and_does_not_answer_it(codex: Lab) -> None:
    codex.script(
        {
            "when": "ask me",
            "then": [
                run("mkdir asked", sandbox_permissions="require_escalated", justification="please"),
                "was-answered",
            ],
        },
        {"when": "yes, y", "then": ["message-heard"]},
    )
    session = Session(codex, *MODEL, *ASKING)
    session.ready()
    session.job.terminal.submit("ask me")
    session.job.terminal.wait_for("Yes, proceed", seconds=30)
    session.post("yes, y\r\n1\n")
    session.job.terminal.pump(3)
    assert session.states() == ["held"]
    assert not (codex.work / "asked").exists()
    assert session.show()["session"]["activity"] == "waiting"
    session.job.terminal.type("y")
    session.job.terminal.wait_for("was-answered", seconds=30)
    session.until(lambda: session.states() == ["consumed"], seconds=30)
    assert session.told("yes, y") == ["yes, y\r\n1\n"]
    session.leave()


def hook_of(lab: Lab, name: str, answer: Mapping[str, object]) -> list[dict[str, object]]:
    """A hook of the user's own that answers every call alike."""
    program = lab.top / name
    program.write_text(f"#!/bin/sh\necho '{json.dumps(answer)}'\n")
    program.chmod(0o755)
    return [{"hooks": [{"type": "command", "command": str(program)}]}]


def test_nobody_answers_in_barrys_place(codex: Lab) -> None:
    """Hooks, rules and settings of the user's and of the folder's: what is denied stays so."""
    from barry_adapter_codex.hooks import _listed
    from barry_adapter_codex.toml import toml

    name = "PermissionRequest"
    yes = {"hookSpecificOutput": {"hookEventName": name, "decision": {"behavior": "allow"}}}
    rewrites = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "allow",
            "updatedInput": {"command": "touch rewritten"},
        }
    }
    settings = codex.home / ".codex" / "config.toml"
    rows = {
        "PreToolUse": hook_of(codex, "rewrites", rewrites),
        "PermissionRequest": hook_of(codex, "allows", yes),
    }
    hooks = "".join(f"{event} = {toml(row)}\n" for event, row in rows.items())
    plain = settings.read_text()
    settings.write_text(f"{plain}\n[hooks]\n{hooks}")
    program = str(codex.program)
    listed = asyncio.run(_listed(program, [], env=codex.env, cwd=str(codex.work)))
    trust = "".join(
        f"{toml(each['key'])} = {{trusted_hash = {toml(each['currentHash'])}}}\n" for each in listed
    )
    ours = '"/<session-flags>/config.toml:pre_tool_use:0:0" = {enabled = false}\n'
    settings.write_text(
        f"features.hooks = false\n{plain}\n[hooks]\n{hooks}[hooks.state]\n{trust}{ours}"
    )
    rules = codex.home / ".codex" / "rules"
    rules.mkdir()
    (rules / "all.rules").write_text('prefix_rule(pattern=["touch"], decision="allow")\n')
    folder = codex.work / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text("features.hooks = false\n")
    codex.script(
        {
            "when": "try both",
            "then": [touch("denied"), run("mkdir allowed"), "round-over"],
        },
    )
    session = Session(codex, *MODEL, *OPEN, bound=bound(codex, TOUCH))
    session.ask("try both", "round-over")
    assert "by the policy" in session.results()[-2]
    assert {path.name for path in codex.work.iterdir()} == {".codex", "allowed"}
    warned = " ".join(session.show()["session"]["warnings"])
    assert "PreToolUse hooks of" in warned
    # Nor in mid-session, with a conversation that reads all of it anew.
    (folder / "config.toml").write_text(f"features.hooks = false\n[hooks.state]\n{ours}")
    (codex.work / "allowed").rmdir()
    before = len(session.results())
    session.job.terminal.settle()
    session.job.terminal.submit("/new")
    # It asks where, since this folder lies in a repository.
    session.job.terminal.wait_for("Where should the new conversation run?", seconds=20)
    session.job.terminal.type("\r")
    session.until(lambda: "round-over" not in session.job.terminal.screen(), seconds=20)
    session.job.terminal.settle()
    session.job.terminal.submit("try both")
    session.until((codex.work / "allowed").is_dir, seconds=20)
    assert any("by the policy" in text for text in session.results(before))
    assert not (codex.work / "denied").exists()
    assert not (codex.work / "rewritten").exists()
    session.leave()

    # The counter-case: with Codex alone that hook has its way.
    (folder / "config.toml").unlink()
    settings.write_text(f"{plain}\n[hooks]\n{hooks}[hooks.state]\n{trust}")
    bare = codex.bare("--no-daemon", "-m", "gpt-5.5", "-s", "danger-full-access", "-a", "never")
    bare.terminal.wait_for(READY, seconds=30)
    bare.terminal.submit("try both")
    bare.terminal.wait_for("round-over", seconds=30)
    assert (codex.work / "rewritten").exists()


def test_the_agent_can_not_reach_what_holds_it(codex: Lab) -> None:
    session = Session(codex, *MODEL, *OPEN)
    session.ready()
    (entry,) = (codex.top / "barry").rglob("hook-*.pyc")
    (policy,) = (codex.top / "barry").rglob("policy-*.marshal")
    settings = codex.home / ".codex" / "config.toml"
    new = "*** Begin Patch\n*** Add File: .codex/config.toml\n+x\n*** End Patch\n"
    codex.script(
        {
            "when": "break out",
            "then": [
                run(f"rm -f {entry}"),
                run(f": > {policy}"),
                run(f"echo 'features.hooks = false' >> {settings}"),
                {"tool": "apply_patch", "input": new},
                run("rm config.toml", workdir=str(settings.parent)),
                run("echo exit >> ~/.zshenv"),
                "gave-up",
            ],
        },
        {"when": "try it", "then": [touch("unruled"), "round-over"]},
    )
    session.ask("break out", "gave-up")
    assert "features.hooks" not in settings.read_text()
    assert not (codex.work / ".codex").exists()
    assert not (codex.home / ".zshenv").exists()
    results = session.results()[-6:]
    assert all("Refused by the policy" in text for text in results), results

    # Whoever took the hook away: nothing runs then, and the agent reads that this is no ruling.
    os.unlink(entry)
    session.ask("try it", "round-over")
    assert not (codex.work / "unruled").exists()
    assert str(entry.name) in session.results()[-1]
    session.job.watch()
    stopped = session.beside("stop", session.id)
    assert stopped.returncode == 0, stopped.stderr
    session.job.status()
    before, after = session.job.modes()
    assert before == after
    assert session.job.left_running() == []


@pytest.mark.long
def test_a_launch_that_could_lose_its_hooks_says_so_or_is_refused(codex: Lab) -> None:
    held = ("--bound", bound(codex, TOUCH))
    command = ("session", "launch", "codex", "--mode", "instrumented", *MODEL, "--dry-run")
    taking = ("--", "-c", "features.hooks=false")
    refused = codex.barry(*command, *held, *taking)
    assert refused.returncode == 2
    assert "the bound can't be held: with -c features.hooks" in refused.stderr
    told = codex.barry(*command, *taking)
    assert told.returncode == 0
    assert "gating is only static in this launch: with -c features.hooks" in told.stdout


def test_a_message_on_its_way_when_barry_is_killed_is_not_sent_twice(codex: Lab) -> None:
    session = Session(codex, *MODEL, *OPEN)
    session.ask("say one", "first-answer")
    session.post("wake up once")
    session.until(lambda: session.states() != ["held"])
    session.signal_barry(signal.SIGKILL)
    session.job.terminal.pump(1)
    (message,) = session.show()["messages"]
    assert message["state"] in ("uncertain", "written", "writing", "consumed")
    again = Session(codex, *MODEL, *OPEN, "--resume", session.id)
    assert again.send("wake up again", seconds=30) == "consumed"
    assert len(again.told("wake up once")) <= 1
    again.leave()
