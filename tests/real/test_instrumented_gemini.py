"""Gemini CLI's own TUI with Barry's hooks in it, on the real program."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from harness import Lab
from plugged import Plugged, bound

from barry_cli.adapters import LaunchPlan

MODEL = ("--model", "google/gemini-2.5-pro")
SETTINGS = "GEMINI_CLI_SYSTEM_SETTINGS_PATH"
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

    def said(self) -> list[str]:
        requests = self.lab.server.model_requests()
        return [
            part["text"]
            for message in (requests[-1].body["contents"] if requests else ())
            if message["role"] == "user"
            for part in message["parts"]
            if "text" in part
        ]

    def all_said(self) -> str:
        """Every user message of the newest request, with what was said beside each."""
        return "\n".join(self.said())


def shell(command: str) -> dict[str, object]:
    given = {"command": command, "description": "a try"}
    return {"tool": "run_shell_command", "input": given}


@pytest.fixture
def gemini(lab: Callable[[str], Lab], monkeypatch: pytest.MonkeyPatch) -> Lab:
    """The home of a user with a gateway."""
    made = lab("gemini")
    # It takes no settings that lie below a folder where anybody may write.
    monkeypatch.setenv("BARRY_HOME", made.env["BARRY_HOME"])
    made.env |= {
        "GOOGLE_GEMINI_BASE_URL": made.server.url("gemini"),
        "GEMINI_API_KEY": made.key,
    }
    made.script(
        {"when": "say one", "then": ["first-answer"]},
        {"when": "try it", "then": [shell("touch denied"), "round-over"]},
        {"when": "do it", "then": [shell("mkdir allowed"), "work-done"]},
        {"when": "a while", "then": [shell("sleep 2"), "without-more"]},
        {"when": "and now the next", "then": ["next-answer"]},
        {"when": "x" * 60, "then": ["took-it-in"]},
        {"when": "& then", "then": ["took-that-too"]},
        {"when": "number", "then": [{"text": "counted", "chunks": 3, "delay": 0.02}]},
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
        if event == "BeforeTool":
            hook["command"] = "exit 1"  # a hook that crashes lets its call run

    return hooks_of(plan, change)


def without_calm(plan: LaunchPlan) -> LaunchPlan:
    return hooks_of(plan, lambda event, hook: hook.pop("env"))


def without_stop(plan: LaunchPlan) -> LaunchPlan:
    def change(event: str, hook: dict[str, Any]) -> None:
        if event == "AfterAgent":
            hook["command"] = "true"

    return hooks_of(plan, change)


async def test_the_evidence(gemini: Lab) -> None:
    proven = await gemini.prove(mode="instrumented")
    assert proven.shown, proven.reason


@pytest.mark.parametrize(
    ("bend", "reason"),
    [
        (without_ruling, "denied calls had an effect"),
        pytest.param(without_calm, "denied calls had an effect", marks=pytest.mark.long),
        pytest.param(without_stop, "a message to a busy one is held", marks=pytest.mark.long),
    ],
)
@pytest.mark.long
async def test_the_evidence_is_not_shown_without_its_guard(
    gemini: Lab, bend: Callable[[LaunchPlan], LaunchPlan], reason: str
) -> None:
    proven = await gemini.prove(mode="instrumented", bend=bend)
    assert not proven.shown
    assert reason in proven.reason


def test_a_session_from_its_first_message_to_its_end(gemini: Lab) -> None:
    """Just started, dialog open, busy, idle, just resumed, ended: each message once, and whole."""
    held = bound(gemini, {"bash": {"denyPrograms": ["touch"]}})
    session = Session(gemini, *MODEL, bound=held)
    assert session.send("the first word", wait="written", seconds=1) == "held"
    session.ask("say one", "first-answer")
    session.until(lambda: session.states() == ["consumed"])
    session.ask("try it", "round-over")
    assert not (gemini.work / "denied").exists()
    assert "Refused by the policy" in gemini.server.tool_results()[-1].text
    session.type("do it")
    session.job.terminal.wait_for("Allow execution of")
    session.job.terminal.pump(1)  # a question that has just appeared takes no answer yet
    assert session.send(HARD, wait="written", seconds=1) == "held"
    assert "Allow execution of" in session.job.terminal.screen()
    assert session.show()["session"]["activity"] == "waiting"
    session.job.terminal.type("\r")
    session.job.terminal.wait_for("took-it-in")
    assert (gemini.work / "allowed").exists()
    assert session.send("<now> & then\n", "--from", "alice", wait="written", seconds=1) == "held"
    session.ask("go to what is next", "took-that-too")
    session.until(lambda: set(session.states()) == {"consumed"})
    said = session.all_said()
    for text in ("the first word", HARD, "<now> & then\n"):
        assert said.count(text) == 1, text
    assert "[message from alice, sent through Barry]\n<now>" in said
    assert not (gemini.work / "bang").exists()
    shown = session.show()["session"]
    assert shown["guarantees"]["gating"] == "hooks"
    assert shown["guarantees"]["delivery"] == "turn-end"
    assert shown["activity"] == "idle"
    session.leave()
    events = session.beside("events", session.id).stdout
    for word in ("first-answer", "touch denied", "Refused by the policy", "took-it-in"):
        assert word in events
    assert session.beside("send", session.id, "too late").returncode == 2

    again = Session(gemini, *MODEL, "--last", bound=held)
    assert again.send("one more word", wait="written", seconds=1) == "held"
    again.job.terminal.wait_for("took-that-too")
    again.ask("and now the next", "next-answer")
    again.until(lambda: again.states() == ["consumed"])
    # Of what was said before it leaves out what begins like a command of its own.
    assert again.all_said().count("<now> & then") == 1
    assert again.all_said().count("one more word") == 1
    again.leave()


def test_what_holds_the_agent_is_out_of_its_reach(gemini: Lab) -> None:
    session = Session(gemini, *MODEL, "--option", 'approvalMode="yolo"')
    session.ready()
    top = gemini.top / "barry"
    (program,) = top.rglob("hook-*.pyc")
    (system,) = (path for path in top.rglob("system.json") if "hooks" in path.read_text())
    mine = gemini.home / ".gemini"
    settings = mine / "settings.json"
    before = settings.read_text()

    def write(path: Path) -> dict[str, object]:
        given = {"file_path": str(path), "content": '{"hooksConfig": {"enabled": false}}'}
        return {"tool": "write_file", "input": given}

    trusted = mine / "trustedFolders.json"
    tries = [
        *map(write, (settings, system, gemini.work / ".gemini" / "settings.json", trusted)),
        shell(f"rm -f {program}"),
        shell(f"echo {{}} > {trusted}"),
    ]
    gemini.script(
        {"when": "break out", "then": [*tries, "gave-up"]},
        {"when": "go on", "then": [shell("mkdir allowed"), "went-on"]},
    )
    session.ask("break out", "gave-up")
    results = [result.text for result in gemini.server.tool_results()[-len(tries) :]]
    # It refuses by itself to write outside of the folder.
    assert all("Refused by" in text or "not in workspace" in text for text in results), results
    assert sum("Refused by" in text for text in results) >= 3
    assert settings.read_text() == before
    assert not (gemini.work / ".gemini").exists()
    # A hook that is gone all the same refuses, and says that this was no ruling.
    program.unlink()
    session.ask("go on", "went-on")
    assert not (gemini.work / "allowed").exists()
    assert UNRULED in gemini.server.tool_results()[-1].text
    session.leave()


def test_a_folder_does_not_lift_the_bound(gemini: Lab) -> None:
    """Its settings are counted where the user trusts it; its hooks are refused; and a folder that
    nobody decided on is refused where it brings anything."""
    held = bound(gemini, {"bash": {"denyPrograms": ["mkdir"]}})
    folder = gemini.work / ".gemini"
    folder.mkdir()
    off = {"hooksConfig": {"enabled": False}, "security": {"folderTrust": {"enabled": True}}}
    (folder / "settings.json").write_text(json.dumps(off))
    session = Session(gemini, *MODEL, "--option", 'approvalMode="yolo"', bound=held)
    session.ask("do it", "work-done")
    assert not (gemini.work / "allowed").exists()
    session.leave()
    hook = {"hooks": [{"type": "command", "command": "true"}]}
    (folder / "settings.json").write_text(json.dumps({"hooks": {"BeforeTool": [hook]}}))
    refused = Session(gemini, *MODEL, bound=held)
    assert refused.job.status() == 2
    assert "has hooks" in refused.job.terminal.screen()
    (folder / "settings.json").write_text(json.dumps(off))
    path = gemini.home / ".gemini" / "settings.json"
    own = json.loads(path.read_text())
    del own["security"]["folderTrust"]
    path.write_text(json.dumps(own))
    undecided = Session(gemini, *MODEL, bound=held)
    assert undecided.job.status() == 2
    assert "have not trusted" in undecided.job.terminal.screen()


@pytest.mark.long
def test_messages_at_random_moments_arrive_in_order_and_once(gemini: Lab) -> None:
    """Beside prompts, and at the ends of turns: nothing else takes one."""
    session = Session(gemini, *MODEL)
    session.ready()
    chance = random.Random(7)
    sent = [f"number {index}." for index in range(30)]
    for text in sent:
        if chance.random() < 0.3:
            session.type("say one")
        session.post(text)
    session.job.terminal.pump(2)
    session.type("say one")
    session.until(lambda: set(session.states()) == {"consumed"})
    said = session.all_said()
    places = [said.index(text) for text in sent]
    assert places == sorted(places)
    assert all(said.count(text) == 1 for text in sent)
    session.leave()


@pytest.mark.long
def test_what_outlives_barry_is_still_held(gemini: Lab) -> None:
    """The TUI is a child of a child, and goes on when Barry is killed: its calls are ruled on as
    before, and no message is delivered twice."""
    held = bound(gemini, {"bash": {"denyPrograms": ["touch"]}})
    session = Session(gemini, *MODEL, bound=held)
    session.ask("say one", "first-answer")
    session.post("number one and only")
    session.kill_barry()
    session.ask("try it", "round-over")
    assert not (gemini.work / "denied").exists()
    assert "Refused by the policy" in gemini.server.tool_results()[-1].text
    session.type("/quit")
    session.until(lambda: not session.job.left_running(), seconds=20)
    (message,) = session.show()["messages"]
    assert message["state"] in ("held", "uncertain", "consumed")
    again = Session(gemini, *MODEL, "--last")
    again.job.terminal.wait_for("round-over")
    again.ask("say one more", "first-answer")
    assert again.all_said().count("number one and only") <= 1
    again.leave()
