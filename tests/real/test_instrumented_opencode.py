"""opencode's own TUI with Barry's plugin in it, on the real program."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Lab
from plugged import Plugged, at_random_moments, bound

from barry_cli.adapters import LaunchPlan

MODEL = ("--model", "mine/scripted-model", "--env", "npm_config_registry")
# opencode looks for models and plugins when it starts: nothing may leave this machine.
CLOSED = {"OPENCODE_DISABLE_MODELS_FETCH": "1", "npm_config_registry": "http://127.0.0.1:9/"}
WORDS = "/compact is a word,\n\tand so is !touch bang\N{SLIGHTLY SMILING FACE} #x @word.txt\n"
HARD = WORDS + "x" * 6000 + "\n"
ASKS = {"permission": {"bash": {"*": "allow", "mkdir asked": "ask"}}}


@pytest.fixture
def opencode(lab: Callable[[str], Lab]) -> Lab:
    """A home whose own settings lead to the scripted model, and ask about one command."""
    made = lab("opencode")
    made.env.update(CLOSED)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": made.server.url("openai-chat"), "apiKey": made.key},
        "models": {"scripted-model": {"name": "scripted-model", "tool_call": True}},
    }
    settings = {"provider": {"mine": provider}, "small_model": "mine/scripted-model", **ASKS}
    folder = made.home / ".config" / "opencode"
    (folder / "opencode.jsonc").write_text(json.dumps(settings))
    made.script(
        {"when": "the inner task", "then": [bash("touch inner"), "inner-answer"]},
        {"when": "try it", "then": [bash("touch denied"), "round-over"]},
        {"when": "do it", "then": [bash("mkdir allowed"), "work-done"]},
        {"when": "ask me", "then": [bash("mkdir asked"), "was-asked"]},
        {"when": "wake up", "then": ["woken-up"]},
        {"when": "/compact is", "then": ["took-it-in"], "framed": True},
        {"when": "a while", "then": [bash("sleep 2"), "without-more"]},
        {"when": "number", "then": [{"text": "counted", "chunks": 3, "delay": 0.02}]},
    )
    made.add()
    return made


def bash(command: str) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": command, "description": "a try"}}


def edited(old: str, new: str) -> Callable[[LaunchPlan], LaunchPlan]:
    """A bend that changes the plugin where it lies."""

    def bend(plan: LaunchPlan) -> LaunchPlan:
        settings = json.loads(plan.env["OPENCODE_CONFIG_CONTENT"] or "")
        plugin = Path(settings["plugin"][-1].removeprefix("file://"))
        before = plugin.read_text()
        assert old in before
        plugin.write_text(before.replace(old, new))
        return plan

    return bend


BROKEN = edited('"tool.execute.before": (call, input) => ruled(directory, call, input),', "")
THROWS = edited("line.begin()\n", 'throw new Error("at load")\n')


async def test_the_evidence(opencode: Lab) -> None:
    proven = await opencode.prove(mode="instrumented")
    assert proven.shown, proven.reason
    bent = await opencode.prove(mode="instrumented", bend=BROKEN)
    assert not bent.shown
    assert "denied calls had an effect" in bent.reason


@pytest.mark.long
async def test_where_the_plugin_does_not_load_no_tool_can_be_used(opencode: Lab) -> None:
    """opencode leaves it out and says nothing: its own rules bar every tool then."""
    bent = await opencode.prove(mode="instrumented", bend=THROWS)
    assert not bent.shown
    assert "ended before 'all tried'" in bent.reason
    assert bent.model_requests > 0  # it was asked, and what it called for had no effect


def test_a_session_from_its_first_message_to_its_end(opencode: Lab) -> None:
    """Just started, idle, busy, at a dialog, just resumed: each message once, as it was written."""
    held = bound(opencode, {"bash": {"denyPrograms": ["touch"]}})
    session = Plugged(opencode, *MODEL, bound=held)
    assert session.send("wake up") == "consumed"  # the TUI has hardly begun
    session.job.terminal.wait_for("woken-up")  # and shows the conversation
    session.ask("try it", "round-over")
    assert not (opencode.work / "denied").exists()
    assert "Refused by the policy" in opencode.server.tool_results()[-1].text
    session.ask("do it", "work-done")
    assert (opencode.work / "allowed").is_dir()
    session.job.terminal.pump(1.0)
    session.job.terminal.submit("a while")
    session.job.terminal.pump(1.2)
    assert session.send(HARD) == "consumed"
    session.job.terminal.wait_for("took-it-in")
    assert any(HARD in text for text in session.said())
    assert not (opencode.work / "bang").exists()

    # The dialog waits for the person; the message waits for the dialog.
    session.job.terminal.pump(1.0)
    session.job.terminal.submit("ask me")
    session.job.terminal.wait_for("Permission required")
    assert session.send("wake up, and don't approve", wait="written") == "written"
    session.job.terminal.pump(1.0)
    assert session.row.activity == "waiting"
    assert not (opencode.work / "asked").exists()
    session.job.terminal.type("\r")
    session.until(lambda: session.states() == ["consumed"] * 3)
    assert (opencode.work / "asked").is_dir()

    shown = session.show()["session"]
    assert shown["guarantees"]["gating"] == "hooks"
    assert shown["guarantees"]["delivery"] == "wake"
    assert not list((opencode.top / "barry").rglob("line.json"))  # its key lies nowhere any more
    session.leave()
    text = session.beside("events", session.id).stdout
    for word in ("wake up", "woken-up", "touch denied", "Refused by the policy", "took-it-in"):
        assert word in text

    again = Plugged(opencode, *MODEL, "--last", bound=held)
    assert again.send("wake up, again") == "consumed"
    again.until(lambda: again.said()[-1:] == ["wake up, again"])
    assert again.said()[0] == "wake up"
    again.job.terminal.wait_for("woken-up")
    _breaks_out(again)
    again.leave()


@pytest.mark.long
def test_messages_at_random_moments_arrive_in_order_and_once(opencode: Lab) -> None:
    session = Plugged(opencode, *MODEL)
    session.ready()
    sent = [f"number {index}." for index in range(30)]
    at_random_moments(session, sent)
    session.until(lambda: session.said() == sent)
    session.leave()


def _breaks_out(session: Plugged) -> None:
    """The agent can't reach what holds it, nor what its harness reads next time."""
    work = session.lab.work
    (plugin,) = (session.lab.top / "barry").rglob("inside.js")
    before = plugin.read_text()
    session.lab.script(
        {
            "when": "break out",
            "then": [
                write(plugin, "export const Barry = async () => ({})"),
                write(work / ".opencode" / "plugin" / "own.js", "x"),
                write(work / "opencode.json", "{}"),
                bash(f"rm -f {plugin}"),
                "gave-up",
            ],
        },
    )
    session.job.terminal.pump(1.0)
    session.ask("break out", "gave-up")
    assert plugin.read_text() == before
    assert {each.name for each in work.iterdir()} == {"allowed", "asked"}
    results = [result.text for result in session.lab.server.tool_results()[-4:]]
    assert all("Refused" in text for text in results), results


def write(path: Path, content: str) -> dict[str, object]:
    return {"tool": "write", "input": {"filePath": str(path), "content": content}}


def test_what_the_folder_brings_along_does_not_lift_the_bound(opencode: Lab) -> None:
    held = bound(opencode, {"bash": {"denyPrograms": ["touch"]}})
    own = opencode.work / ".opencode" / "plugin"
    own.mkdir(parents=True)
    (own / "own.js").write_text("export const Own = async () => ({})")
    refused = Plugged(opencode, *MODEL, bound=held)
    assert refused.job.status() == 2
    assert "own.js" in refused.job.terminal.screen()
    for words in (["--pure"], ["--port", "4096"], ["serve"]):
        refused = Plugged(opencode, *MODEL, "--", *words)
        assert refused.job.status() == 2
        assert words[0] in refused.job.terminal.screen()


@pytest.mark.long
def test_without_barry_nothing_runs(opencode: Lab) -> None:
    """Killed in the midst of it: opencode ends with it, and no message is delivered twice."""
    session = Plugged(opencode, *MODEL)
    session.ready()
    session.job.terminal.pump(1.0)
    session.job.terminal.submit("a while")
    session.job.terminal.pump(1.2)
    session.post("wake up once")
    session.signal_barry(signal.SIGKILL)
    session.until(lambda: not session.job.left_running(), seconds=20)
    (message,) = session.show()["messages"]
    assert message["state"] in ("held", "uncertain", "consumed")
    again = Plugged(opencode, *MODEL, "--last")
    again.ready()
    assert again.send("wake up again") == "consumed"
    assert sum("wake up once" in text for text in again.said()) <= 1
    again.leave()
