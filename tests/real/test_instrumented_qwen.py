"""Qwen Code's own TUI with Barry's hooks in it, on the real program."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from harness import Lab
from plugged import Plugged, at_random_moments, bound

from barry_cli.adapters import LaunchPlan

MODEL = ("--model", "openai/scripted-model")
SETTINGS = "QWEN_CODE_SYSTEM_SETTINGS_PATH"
HARD = (
    "/quit is a word,\n\tand so is !touch bang\N{SLIGHTLY SMILING FACE} #x @word.txt\n" + "x" * 6000
) + "\n"
UNRULED = "can't open file"


class Session(Plugged):
    def ready(self) -> None:
        self.job.terminal.wait_for("Type your message", seconds=60)

    def type(self, prompt: str) -> None:
        """Type a prompt and press Enter, apart: on a busy machine one burst is soon a paste."""
        self.ready()
        self.job.terminal.pump(0.3)
        self.job.terminal.type(prompt)
        self.job.terminal.wait_for(prompt)
        self.job.terminal.pump(0.7)
        self.job.terminal.type("\r")

    def ask(self, prompt: str, answer: str, *, seconds: float = 60) -> None:
        self.type(prompt)
        self.job.terminal.wait_for(answer, seconds=seconds)
        self.job.watch()

    def leave(self, *, status: int = 0) -> None:
        self.job.watch()
        self.type("/quit")
        for _ in range(20):  # its list of commands may take an Enter for itself
            self.job.terminal.pump(1.5)
            if self.job.over():
                break
            self.job.terminal.type("\r")
        assert self.job.status() == status
        before, after = self.job.modes()
        assert before == after
        assert self.job.left_running() == []

    def all_said(self) -> str:
        """Every user message of the newest long request, with what was said beside each."""
        return "\n".join(self.said())


def shell(command: str) -> dict[str, object]:
    given = {"command": command, "description": "a try", "is_background": False}
    return {"tool": "run_shell_command", "input": given}


@pytest.fixture
def qwen(lab: Callable[[str], Lab]) -> Lab:
    """The home of a user with a gateway, who lets nothing be done in the background."""
    made = lab("qwen")  # which makes the package importable
    from barry_adapter_qwen.inbox import BELL

    made.env |= {"OPENAI_BASE_URL": made.server.url("openai-chat"), "OPENAI_API_KEY": made.key}
    path = made.home / ".qwen" / "settings.json"
    quiet = {"memory": {"enableManagedAutoMemory": False}}
    path.write_text(json.dumps({**json.loads(path.read_text()), **quiet}))
    made.script(
        {"when": "say one", "then": ["first-answer"]},
        {"when": "try it", "then": [shell("touch denied"), "round-over"]},
        {"when": "do it", "then": [shell("mkdir allowed"), "work-done"]},
        {"when": "a while", "then": [shell("sleep 2"), "without-more"]},
        {"when": "number", "then": [{"text": "counted", "chunks": 3, "delay": 0.02}]},
        {"when": BELL, "then": ["woken-up"]},
    )
    made.add()
    return made


def hooks_of(plan: LaunchPlan, change: Callable[[str, dict[str, Any]], None]) -> LaunchPlan:
    """The plan, with each hook in its settings changed."""
    path = Path(plan.env[SETTINGS] or "")
    settings = json.loads(path.read_text())
    for event, groups in settings["hooks"].items():
        for hook in groups[0]["hooks"]:
            change(event, hook)
    path.write_text(json.dumps(settings))
    return plan


def without_ruling(plan: LaunchPlan) -> LaunchPlan:
    def change(event: str, hook: dict[str, Any]) -> None:
        if event == "PreToolUse":
            hook["command"] = "exit 1"  # a hook that crashes lets its call run

    return hooks_of(plan, change)


def without_calm(plan: LaunchPlan) -> LaunchPlan:
    return hooks_of(plan, lambda event, hook: hook.pop("env"))


def without_pin(plan: LaunchPlan) -> LaunchPlan:
    env = {name: value for name, value in plan.env.items() if name != "NODE_OPTIONS"}
    return replace(plan, env=env)


def without_bell(plan: LaunchPlan) -> LaunchPlan:
    (word,) = (word for word in plan.args if word.startswith("--input-file="))
    Path(word.partition("=")[2]).unlink()
    Path(word.partition("=")[2]).mkdir()
    return plan


async def test_the_evidence(qwen: Lab) -> None:
    proven = await qwen.prove(mode="instrumented")
    assert proven.shown, proven.reason


@pytest.mark.parametrize(
    ("bend", "reason"),
    [
        (without_ruling, "denied calls had an effect"),
        pytest.param(without_calm, "denied calls had an effect", marks=pytest.mark.long),
        pytest.param(without_pin, "denied calls had an effect", marks=pytest.mark.long),
        pytest.param(without_bell, "a message to an idle one is", marks=pytest.mark.long),
    ],
)
async def test_the_evidence_is_not_shown_without_its_guard(
    qwen: Lab, bend: Callable[[LaunchPlan], LaunchPlan], reason: str
) -> None:
    proven = await qwen.prove(mode="instrumented", bend=bend)
    assert not proven.shown
    assert reason in proven.reason


def test_a_session_from_its_first_message_to_its_end(qwen: Lab) -> None:
    """Just started, dialog open, idle, busy, just resumed, ended: each message once, and whole."""
    held = bound(qwen, {"bash": {"denyPrograms": ["touch"]}})
    session = Session(qwen, *MODEL, bound=held)
    assert session.send("the first word") == "consumed"  # the TUI has hardly begun
    session.ready()
    session.type("try it")
    session.job.terminal.wait_for("Allow execution of")
    session.job.terminal.pump(1)  # a question that has just appeared takes no answer yet
    assert session.send("while a dialog is open", wait="written", seconds=2) == "held"
    assert "Allow execution of" in session.job.terminal.screen()
    session.job.terminal.type("\r")
    session.job.terminal.wait_for("round-over")
    session.until(lambda: session.states() == ["consumed", "consumed"])
    assert not (qwen.work / "denied").exists()
    assert "Refused by the policy" in "".join(each.text for each in qwen.server.tool_results())
    session.type("say one")
    assert session.send(HARD) == "consumed"
    assert session.send("<now> & then\n", "--from", "alice") == "consumed"
    session.until(lambda: "<now> & then\n" in session.all_said())
    said = session.all_said()
    for text in ("the first word", "while a dialog is open", HARD, "<now> & then\n"):
        assert said.count(text) == 1, text
    assert "[message from alice, sent through Barry]\n<now>" in said
    assert not (qwen.work / "bang").exists()

    shown = session.show()["session"]
    assert shown["guarantees"]["gating"] == "hooks"
    assert shown["guarantees"]["delivery"] == "wake"
    session.leave()
    events = session.beside("events", session.id).stdout
    for word in ("the first word", "touch denied", "Refused by the policy", "round-over"):
        assert word in events
    late = session.beside("send", session.id, "too late")
    assert late.returncode == 2

    again = Session(qwen, *MODEL, "--last", bound=held)
    assert again.send("one more word") == "consumed"
    again.until(lambda: "one more word" in again.all_said())
    assert again.all_said().count(HARD) == 1
    again.leave()


def test_what_holds_the_agent_is_out_of_its_reach(qwen: Lab) -> None:
    session = Session(qwen, *MODEL, "--option", 'approvalMode="yolo"')
    session.ready()
    top = qwen.top / "barry"
    (program,) = top.rglob("hook-*.pyc")
    (system,) = (path for path in top.rglob("system.json") if "hooks" in path.read_text())
    (bell,) = top.rglob("input.jsonl")
    settings = qwen.home / ".qwen" / "settings.json"
    before = settings.read_text()

    def write(path: Path) -> dict[str, object]:
        given = {"file_path": str(path), "content": '{"disableAllHooks": true}'}
        return {"tool": "write_file", "input": given}

    tries = [
        *map(write, (settings, system, qwen.work / ".qwen" / "settings.json", bell)),
        shell(f"rm -f {program}"),
        shell(f"echo x >> {bell}"),
    ]
    qwen.script(
        {"when": "break out", "then": [*tries, "gave-up"]},
        {"when": "go on", "then": [shell("mkdir allowed"), "went-on"]},
    )
    session.ask("break out", "gave-up")
    results = [result.text for result in qwen.server.tool_results()[-len(tries) :]]
    assert all("Refused by" in text for text in results), results
    assert settings.read_text() == before
    assert bell.read_text() == ""
    assert not (qwen.work / ".qwen").exists()
    # A hook that is gone all the same refuses, and says that this was no ruling.
    program.unlink()
    session.ask("go on", "went-on")
    assert not (qwen.work / "allowed").exists()
    assert UNRULED in qwen.server.tool_results()[-1].text
    session.leave()


@pytest.mark.long
def test_hooks_of_the_users_own_go_on_beside_ours(qwen: Lab) -> None:
    """And those of a folder's are refused, before anything runs."""
    path = qwen.home / ".qwen" / "settings.json"
    own = {"hooks": [{"type": "command", "command": f"touch {qwen.top}/mine; exit 0"}]}
    path.write_text(json.dumps({**json.loads(path.read_text()), "hooks": {"PreToolUse": [own]}}))
    held = bound(qwen, {"bash": {"denyPrograms": ["mkdir"]}})
    session = Session(qwen, *MODEL, "--option", 'approvalMode="yolo"', bound=held)
    session.ask("do it", "work-done")
    assert not (qwen.work / "allowed").exists()
    assert (qwen.top / "mine").exists()
    session.leave()
    folder = qwen.work / ".qwen"
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"hooks": {"PreToolUse": [own]}}))
    refused = Session(qwen, *MODEL, bound=held)
    assert refused.job.status() == 2
    assert "has hooks" in refused.job.terminal.screen()


@pytest.mark.long
def test_messages_at_random_moments_arrive_in_order_and_once(qwen: Lab) -> None:
    session = Session(qwen, *MODEL)
    session.ready()
    sent = [f"number {index}." for index in range(30)]
    at_random_moments(session, sent)
    said = session.all_said()
    places = [said.index(text) for text in sent]
    assert places == sorted(places)
    assert all(said.count(text) == 1 for text in sent)
    session.leave()


@pytest.mark.long
def test_a_message_to_the_shell_of_a_user_runs_nothing(qwen: Lab) -> None:
    session = Session(qwen, *MODEL)
    session.ready()
    session.job.terminal.type("!")
    session.job.terminal.wait_for("shell mode enabled")
    state = session.send("touch bang", wait="written", seconds=4)
    assert state == "held"
    assert not (qwen.work / "bang").exists()
    session.job.terminal.type("\x1b")
    session.until(lambda: session.states() == ["consumed"])
    assert not (qwen.work / "bang").exists()
    session.leave()


@pytest.mark.long
def test_what_outlives_barry_is_still_held(qwen: Lab) -> None:
    """The TUI is a child of a child, and goes on when Barry is killed: its calls are ruled on as
    before, and no message is delivered twice."""
    held = bound(qwen, {"bash": {"denyPrograms": ["touch"]}})
    session = Session(qwen, *MODEL, "--option", 'approvalMode="yolo"', bound=held)
    session.ask("say one", "first-answer")
    session.post("number one and only")
    session.kill_barry()
    session.ask("try it", "round-over")
    assert not (qwen.work / "denied").exists()
    assert "Refused by the policy" in qwen.server.tool_results()[-1].text
    session.type("/quit")
    session.until(lambda: not session.job.left_running(), seconds=20)
    (message,) = session.show()["messages"]
    assert message["state"] in ("held", "uncertain", "consumed")
    again = Session(qwen, *MODEL, "--last")
    again.job.terminal.wait_for("round-over")
    again.ask("say one more", "first-answer")
    assert again.all_said().count("number one and only") <= 1
    again.leave()
