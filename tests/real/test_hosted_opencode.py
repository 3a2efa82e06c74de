"""opencode driven by Barry, on the real program."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Lab
from hosted import FAULT_CASES, FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.agents import AgentFault
from barry_cli.contract.events import Init, Partial, SessionEvent, Text, ToolResult, ToolUse
from barry_cli.contract.session import Allowed, Denied, PermissionRequest

UNKNOWN = "ses_0123456789abcdefghijklmnop"


def bash(command: str) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": command, "description": "a try"}}


def task(prompt: str, **more: str) -> dict[str, object]:
    given = {"description": "a part", "prompt": prompt, "subagent_type": "general", **more}
    return {"tool": "task", "input": given}


RULES = (
    {"when": "first question", "then": [{"text": "the first answer"}]},
    {"when": "second question", "then": [{"text": "the second answer"}]},
    {"when": "touch it", "then": [bash("touch canary"), {"text": "it was touched"}]},
    {"when": "unasked", "then": [bash(">canary"), {"text": "it was made"}]},
    {"when": "slowly", "then": [{"text": "a b c d e f", "chunks": 6, "delay": 0.1}]},
    {"when": "the inner task", "then": [bash("touch inner"), {"text": "the inner task is done"}]},
    {"when": "share it", "then": [task("the inner task"), {"text": "it was shared"}]},
    {"when": "more of it", "then": [{"text": "and more"}], "framed": True},
    {"when": "for long", "then": [bash("python3 -c 'import time; time.sleep(60)'; touch late")]},
    {"when": "a while", "then": [bash("python3 -c 'import time; time.sleep(1)'"), {"text": "eh"}]},
    {"when": "/compact", "then": [{"text": "it read a command as text"}]},
    {
        "when": "tell it",
        "then": [
            bash("echo $OPENCODE_SERVER_PASSWORD$BARRY_OPENCODE_KEY, that is all"),
            {"text": "it was told"},
        ],
    },
)


@pytest.fixture
def opencode(lab: Callable[[str], Lab]) -> HostedLab:
    here = lab("opencode")
    from barry_adapter_opencode.checks import MODEL, QUIET
    from barry_adapter_opencode.hosted import agent

    told = subprocess.run(
        [here.program, "--version"], env=here.env, capture_output=True, text=True, timeout=60,
        check=True,
    )  # fmt: skip
    here.figures.version = re.findall(r"\d+\.\d+\.\d+", told.stdout)[0]
    here.script(*RULES)
    return HostedLab(here, agent, api="openai-chat", env=QUIET, model=MODEL)


def told(opencode: HostedLab) -> str:
    """The newest request to the model, as text."""
    return str(opencode.lab.server.model_requests()[-1].body)


def made(opencode: HostedLab, name: str) -> bool:
    """Whether a call made this file; it is taken away again."""
    path = opencode.lab.work / name
    found = path.exists()
    path.unlink(missing_ok=True)
    return found


# --- the evidence ---


async def test_the_check_shows_what_hosted_mode_declares(opencode: HostedLab) -> None:
    proven = await opencode.lab.prove(mode="hosted")
    assert proven.shown, proven.reason


async def test_the_check_fails_where_calls_are_not_put_to_barry(
    opencode: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the user's own rules allow then runs; the turn ends at the first such call."""
    from barry_adapter_opencode import hosted

    class Bent(hosted._Draft):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)  # type: ignore[arg-type] # the same
            before = self.files[hosted.GATE]
            self.files[hosted.GATE] = before.replace('"tool.execute.before": ruled,', "")
            assert self.files[hosted.GATE] != before

    monkeypatch.setattr(hosted, "_Draft", Bent)
    proven = await opencode.lab.prove(mode="hosted")
    assert not proven.shown
    assert "denied calls had an effect: ['made']" in proven.reason


# --- turns ---


async def test_one_process_takes_turn_after_turn(opencode: HostedLab) -> None:
    rulings = Rulings()
    async with opencode.open(decide=rulings) as harness:
        turn = await opencode.turn(harness, "first question")
        assert (turn.called, turn.outcome.text) == ("done", "the first answer")
        assert turn.text == "the first answer"
        assert turn.outcome.usage is not None
        assert turn.outcome.usage.complete

        turn = await opencode.turn(harness, "touch it")
        assert rulings.tools == ["bash"]
        assert made(opencode, "canary")
        assert [each.error for each in turn.of(ToolResult)] == [None]

        rulings.denied = {"bash": SENTENCE}
        for asked in ("touch it", "unasked"):  # opencode itself does not ask about the second
            turn = await opencode.turn(harness, asked)
            assert not made(opencode, "canary")
            assert [(each.error, each.result) for each in turn.of(ToolResult)] == [(True, SENTENCE)]
            assert SENTENCE in told(opencode)
        assert rulings.tools == ["bash", "bash", "bash"]

        turn = await opencode.turn(harness, "share it")  # a subagent's call is ruled on as well
        assert rulings.tools[3:] == ["task", "bash"]
        assert not made(opencode, "inner")
        outer, inner = turn.of(ToolUse)
        assert inner.parent_tool_use_id == outer.id
        said = [each.text for each in turn.of(Text) if each.parent_tool_use_id]
        assert said == ["the inner task is done"]
        assert turn.outcome.text == "it was shared"

        rulings.denied = {}
        turn = await opencode.turn(harness, "share it")
        assert made(opencode, "inner")
        *_, shared = turn.of(ToolResult)
        subagent = re.findall(r"ses_\w+", str(shared.result))[0]

        turn = await opencode.turn(harness, "/compact")  # a message is no command
        assert turn.text == "it read a command as text"

        turn = await opencode.turn(harness, "tell it")  # no key is for the agent's commands
        assert [each.result for each in turn.of(ToolResult)] == [", that is all\n"]

        async def steer(event: SessionEvent) -> None:
            if isinstance(event, ToolUse):
                await opencode.executor.child("time.sleep")
                assert await harness.steer("more of it")

        turn = await opencode.turn(harness, "a while", on=steer)
        assert turn.text == "and more"

        sent: list[bool] = []

        async def steer_late(event: SessionEvent) -> None:
            if isinstance(event, Partial) and not sent:
                sent.append(True)
                assert await harness.steer("second question")

        turn = await opencode.turn(harness, "slowly", on=steer_late)
        assert turn.text == "a b c d e fthe second answer"

        async def cut(event: SessionEvent) -> None:
            if isinstance(event, ToolUse):
                await opencode.executor.child("time.sleep(60)")
                await harness.interrupt()

        turn = await opencode.turn(harness, "for long", on=cut)
        assert turn.called == "aborted"
        assert not made(opencode, "late")
        assert await opencode.gone(but=opencode.executor.started) == []

        turn = await opencode.turn(harness, "second question")
        assert turn.text == "the second answer"
        known = harness.session_id
    assert len(opencode.executor.started) == 1
    assert await opencode.gone() == []

    # The conversation goes on in another process, and as a copy of itself.
    async with opencode.open(resume=known) as harness:
        turn = await opencode.turn(harness, "touch it")
        assert harness.resumed_session
        assert [each.harness_session_id for each in turn.of(Init)] == [known]
        assert "the second answer" in told(opencode)
        assert turn.text == "it was touched"
        # So does a subagent's, whose session this process has not begun.
        goes_on = [task("the inner task", task_id=subagent), {"text": "it went on"}]
        opencode.lab.script({"when": "go on with it", "then": goes_on}, *RULES)
        await opencode.turn(harness, "go on with it")
        assert made(opencode, "inner")
    async with opencode.open(resume=known, fork=True) as harness:
        turn = await opencode.turn(harness, "first question")
        assert harness.session_id not in (None, known)
        assert told(opencode).count("it was touched") > 2
        assert turn.text == "the first answer"
    # One that is gone is seen before anything starts.
    async with opencode.open(resume=UNKNOWN) as harness:
        turn = await opencode.turn(harness, "first question")
        assert turn.called == "session"
        assert not harness.resumed_session
    assert len(opencode.executor.started) == 3
    assert await opencode.gone() == []


async def test_a_call_waits_for_a_person(opencode: HostedLab) -> None:
    mode = opencode.lab.adapter.modes["hosted"]
    assert mode is not None
    assert mode.open_continuation is not None
    seen: list[SessionEvent] = []

    async def emit(event: SessionEvent) -> None:
        seen.append(event)

    class Effects:
        async def authorize(self, call: PermissionRequest) -> Allowed | Denied:
            return Allowed()

    handle = await mode.open_continuation(opencode.config(decide=None), None)
    try:
        for decision in (Denied(reason=SENTENCE), Allowed()):
            waits = await handle.begin("touch it", emit)
            assert [call.tool for call in waits.calls] == ["bash"]
            assert not made(opencode, "canary")
            decisions = {call.id: decision for call in waits.calls}
            over = await handle.restore(waits.continuation, decisions, Effects(), emit)
            assert over.type == "completed", over
            assert made(opencode, "canary") == decision.allow
    finally:
        await handle.close()
    results = [each.error for each in seen if isinstance(each, ToolResult)]
    assert results == [True, None]


@pytest.mark.parametrize("name", FAULT_CASES)
async def test_a_fault_of_the_service_is_called_by_its_name(
    opencode: HostedLab, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_opencode import events

    if name != "429":
        monkeypatch.setattr(events, "ATTEMPTS", 1)
    turn = await opencode.fail(name)
    assert turn.called == FAULTS[name].called, turn.outcome
    assert turn.seconds < 45
    assert await opencode.gone() == []


# --- what the user's and the folder's files say ---


@pytest.mark.long
async def test_what_the_user_denies_stays_denied(opencode: HostedLab) -> None:
    rules = {"bash": {"*": "allow", "touch *": "deny"}}
    file = opencode.lab.home / ".config" / "opencode" / "opencode.json"
    file.write_text(json.dumps({"permission": rules}), "utf-8")
    async with opencode.open() as harness:
        await opencode.turn(harness, "touch it")
        assert "specified a rule which prevents you" in told(opencode)
        assert not made(opencode, "canary")
        await opencode.turn(harness, "unasked")
        assert made(opencode, "canary")


@pytest.mark.long
async def test_the_folders_own_plugin_is_refused_because_nothing_holds_it(
    opencode: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_opencode import hosted
    from barry_adapter_opencode.transcript import OpencodeTranscripts

    plugin = opencode.lab.work / ".opencode" / "plugin" / "trap.js"
    plugin.parent.mkdir(parents=True)
    sign = Path("ran")
    plugin.write_text(
        f'import fs from "node:fs"\nfs.writeFileSync("{sign}", "")\n'
        "export default async () => ({})\n",
        "utf-8",
    )
    with pytest.raises(AgentFault, match=r"\.opencode/plugin/trap\.js"):
        async with opencode.open():
            pass
    assert opencode.executor.started == []
    monkeypatch.setattr(hosted, "own_code", lambda *given: [])
    async with opencode.open(ephemeral=True) as harness:
        turn = await opencode.turn(harness, "first question")
        assert turn.called == "done"
    assert made(opencode, sign.name)
    # That session was one that leaves nothing behind, besides.
    assert list(OpencodeTranscripts().list(str(opencode.lab.work), opencode.env)) == []


async def test_without_the_gate_nothing_is_begun(
    opencode: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What opencode leaves out silently, here by a variable of its own."""
    from barry_adapter_opencode import parts

    monkeypatch.setattr(parts, "_WITHOUT_PLUGINS", "OPENCODE_NOTHING")
    async with opencode.open(env={**opencode.env, "OPENCODE_PURE": "1"}) as harness:
        turn = await opencode.turn(harness, "touch it")
    assert turn.called == "process"
    assert "did not load the plugin" in str(turn.outcome.fault)
    assert opencode.lab.server.model_requests() == []
