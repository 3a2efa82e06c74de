"""pi's own TUI with Barry's extension in it, on the real program."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from harness import Lab
from plugged import Plugged, at_random_moments, bound

from barry_cli.adapters import LaunchPlan

MODEL = ("--model", "mine/scripted-model")
SLOW = "python3 -c 'import time; time.sleep(2)'"
HARD = (
    "/compact is a word,\n\tand so is !touch bang\N{SLIGHTLY SMILING FACE} #x @word.txt\n"
    + "x" * 6000
) + "\n"


@pytest.fixture
def pi(lab: Callable[[str], Lab]) -> Lab:
    """A home whose own settings lead to the scripted model."""
    made = lab("pi")
    made.env["PI_OFFLINE"] = "1"
    provider = {
        "baseUrl": made.server.url("openai-chat"),
        "api": "openai-completions",
        "apiKey": made.key,
        "models": [{"id": "scripted-model"}],
    }
    models = made.home / ".pi" / "agent" / "models.json"
    models.write_text(json.dumps({"providers": {"mine": provider}}))
    made.script(
        {"when": "say one", "then": ["first-answer"]},
        {"when": "try it", "then": [bash("touch denied"), "round-over"]},
        {"when": "do it", "then": [bash("mkdir allowed"), "work-done"]},
        {"when": "wake up", "then": ["woken-up"]},
        {"when": "a while", "then": [bash(SLOW), "without-more"]},
        {"when": "/compact is", "then": ["took-it-in"]},
        {"when": "number", "then": [{"text": "counted", "chunks": 3, "delay": 0.02}]},
        {"when": "look into", "then": [bash("ls"), "looked-in"]},
    )
    made.add()
    return made


def bash(command: str) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": command}}


def edited(old: str, new: str) -> Callable[[LaunchPlan], LaunchPlan]:
    """A bend that changes the extension where it lies."""

    def bend(plan: LaunchPlan) -> LaunchPlan:
        extension = Path(plan.args[plan.args.index("--extension") + 1])
        before = extension.read_text()
        assert old in before
        extension.write_text(before.replace(old, new))
        return plan

    return bend


def left_out(plan: LaunchPlan) -> LaunchPlan:
    """A bend that takes the extension away."""
    at = plan.args.index("--extension")
    return replace(plan, args=plan.args[:at] + plan.args[at + 2 :])


async def test_the_evidence(pi: Lab) -> None:
    proven = await pi.prove(mode="instrumented")
    assert proven.shown, proven.reason


@pytest.mark.parametrize(
    ("bend", "reason"),
    [
        (edited('pi.on("tool_call", ruled)', ""), "denied calls had an effect"),
        # Each of these has to wait for a whole minute.
        pytest.param(
            edited('line.tell("taken", { message })', ""), "came to be", marks=pytest.mark.long
        ),
        pytest.param(left_out, "ended", marks=pytest.mark.long),
    ],
)
async def test_the_evidence_is_not_shown_without_its_guard(
    pi: Lab, bend: Callable[[LaunchPlan], LaunchPlan], reason: str
) -> None:
    proven = await pi.prove(mode="instrumented", bend=bend)
    assert not proven.shown
    assert reason in proven.reason


@pytest.mark.long
def test_pi_itself_ends_at_an_extension_that_it_can_not_load(pi: Lab) -> None:
    broken = pi.top / "broken.js"
    for text in ('throw new Error("at load")', "export default () => { throw new Error() }"):
        broken.write_text(text)
        job = pi.bare("--extension", str(broken))
        assert job.status() == 1
        assert "Failed to load extension" in job.terminal.screen()


def test_a_session_from_its_first_message_to_its_end(pi: Lab) -> None:
    """Just started, idle, busy, just resumed, ended: each message once, as it was written."""
    held = bound(pi, {"bash": {"denyPrograms": ["touch"]}})
    session = Plugged(pi, *MODEL, bound=held)
    assert session.send("wake up") == "consumed"  # the TUI has hardly begun
    session.ask("try it", "round-over")
    assert not (pi.work / "denied").exists()
    assert "Refused by the policy" in pi.server.tool_results()[-1].text
    session.ask("do it", "work-done")
    assert (pi.work / "allowed").is_dir()
    session.job.terminal.submit("a while")
    session.job.terminal.pump(0.7)
    assert session.send(HARD) == "consumed"
    session.job.terminal.wait_for("took-it-in")
    assert session.said() == ["wake up", "try it", "do it", "a while", HARD]
    assert not (pi.work / "bang").exists()

    assert session.states() == ["consumed", "consumed"]
    shown = session.show()["session"]
    assert shown["guarantees"]["gating"] == "hooks"
    assert shown["guarantees"]["delivery"] == "wake"
    assert shown["activity"] == "idle"
    assert not list((pi.top / "barry").rglob("line.json"))  # its key lies nowhere any more
    session.leave()
    events = [json.loads(row) for row in session.beside("events", session.id).stdout.splitlines()]
    text = json.dumps(events)
    for word in ("wake up", "woken-up", "touch denied", "Refused by the policy", "took-it-in"):
        assert word in text
    late = session.beside("send", session.id, "too late")
    assert late.returncode == 2
    assert "resume" in late.stderr

    again = Plugged(pi, *MODEL, "--last", bound=held)
    assert again.send("wake up, again") == "consumed"
    again.job.terminal.wait_for("woken-up")
    assert again.said()[-2:] == [HARD, "wake up, again"]
    again.leave()


def test_messages_at_random_moments_arrive_in_order_and_once(pi: Lab) -> None:
    session = Plugged(pi, *MODEL)
    session.ready()
    sent = [f"number {index}." for index in range(30)]
    at_random_moments(session, sent)
    assert session.said() == sent
    session.leave()


@pytest.mark.long
def test_a_queued_message_that_the_person_takes_back_is_not_said_to_have_arrived(pi: Lab) -> None:
    session = Plugged(pi, *MODEL)
    session.ready()
    session.job.terminal.pump(1.0)
    session.job.terminal.submit("a while")
    session.job.terminal.pump(0.7)
    session.post("wake up, later")
    session.until(lambda: session.states() == ["written"])
    session.job.terminal.type("\x1b")
    session.job.terminal.wait_for("Operation aborted")
    session.job.terminal.pump(1.0)
    assert session.states() == ["written"]
    session.job.terminal.type("\r")  # it was put into the editor
    session.until(lambda: session.states() == ["consumed"])
    assert session.said()[-1] == "wake up, later"
    session.leave()


def test_what_the_folder_brings_along_does_not_lift_the_bound(pi: Lab) -> None:
    held = bound(pi, {"bash": {"denyPrograms": ["touch"]}})
    own = pi.work / ".pi"
    own.mkdir()
    (own / "settings.json").write_text(json.dumps({"shellCommandPrefix": "touch denied;"}))
    refused = Plugged(pi, *MODEL, bound=held)
    assert refused.job.status() == 2
    assert "shellCommandPrefix" in refused.job.terminal.screen()
    (own / "settings.json").unlink()

    # In mid-session it comes too late for the ruling, and pi reads it with the next conversation.
    session = Plugged(pi, *MODEL, bound=held)
    session.ask("look into", "looked-in")
    (own / "settings.json").write_text(json.dumps({"shellCommandPrefix": "touch denied;"}))
    session.ask("/new", "New session")
    session.ask("look into", "looked-in")
    assert "programs of its own" in pi.server.tool_results()[-1].text
    assert not (pi.work / "denied").exists()
    (own / "settings.json").unlink()
    session.ask("look into it again", "looked-in")
    assert "programs of its own" not in pi.server.tool_results()[-1].text
    session.leave()


def test_the_agent_can_not_reach_what_holds_it(pi: Lab) -> None:
    session = Plugged(pi, *MODEL)
    session.ready()
    (extension,) = (pi.top / "barry").rglob("inside.js")
    before = extension.read_text()
    write = {"path": str(extension), "content": "export default () => {}"}
    settings = {"path": ".pi/settings.json", "content": "{}"}
    pi.script(
        {
            "when": "break out",
            "then": [
                {"tool": "write", "input": write},
                {"tool": "write", "input": settings},
                bash(f"rm -f {extension}"),
                bash("mkdir -p .pi/extensions"),
                "gave-up",
            ],
        },
    )
    session.ask("break out", "gave-up")
    assert extension.read_text() == before
    assert not (pi.work / ".pi").exists()
    results = [result.text for result in pi.server.tool_results()[-4:]]
    assert all("Refused" in text for text in results), results
    session.leave()


@pytest.mark.long
def test_without_barry_nothing_runs(pi: Lab) -> None:
    """Killed in the midst of it: pi ends with it, and no message is delivered twice."""
    session = Plugged(pi, *MODEL)
    session.ready()
    session.job.terminal.submit("a while")
    session.job.terminal.pump(0.7)
    session.post("wake up once")
    session.signal_barry(signal.SIGKILL)
    session.until(lambda: not session.job.left_running(), seconds=20)
    (message,) = session.show()["messages"]
    assert message["state"] in ("held", "uncertain", "consumed")
    again = Plugged(pi, *MODEL, "--last")
    again.ready()
    assert again.send("wake up again") == "consumed"
    assert again.said().count("wake up once") <= 1
    again.leave()


@pytest.mark.long
def test_a_barry_that_hangs_refuses_in_its_own_words(pi: Lab) -> None:
    """20 seconds are waited for it; the reason is no denial by the policy."""
    session = Plugged(pi, *MODEL)
    session.ready()
    session.signal_barry(signal.SIGSTOP)
    session.ask("do it", "work-done")
    assert not (pi.work / "allowed").exists()
    told = pi.server.tool_results()[-1].text
    assert "no answer came in time" in told
    assert "policy" not in told
    session.signal_barry(signal.SIGCONT)
    session.ask("do it", "work-done")
    session.until((pi.work / "allowed").is_dir)
    session.leave()
