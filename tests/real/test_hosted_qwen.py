"""Qwen Code driven by Barry, on the real program."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from harness import Lab
from hosted import FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.base.processes import ProcessIdentity
from barry_cli.contract.events import Init, SessionEvent, ToolResult, ToolUse
from barry_cli.contract.session import Allowed, Denied, PermissionRequest

SHELL = "run_shell_command"
MODEL = "openai/scripted-model"
UNKNOWN = "0d6f2b3c-1111-4222-8333-444455556666"
SOON = {"NODE_OPTIONS": f"--require={Path(__file__).parent / 'fast_clock.cjs'}"}
"""It tries a failed request again, up to a minute later, and no setting shortens that."""

CANCELLED = f'Tool "{SHELL}" was canceled by the user.'


def shell(command: str, **more: object) -> dict[str, object]:
    given = {"command": command, "description": "a try", "is_background": False, **more}
    return {"tool": SHELL, "input": given}


def rules(work: Path) -> tuple[dict[str, object], ...]:
    deep, word = str(work / "deep"), str(work / "word.txt")
    reads = {"tool": "read_file", "input": {"file_path": word}}
    found = (
        {"tool": "list_directory", "input": {"path": deep}},
        {"tool": "grep_search", "input": {"pattern": "zeb", "path": deep}},
        {
            "tool": "todo_write",
            "input": {"todos": [{"id": "1", "content": "a", "status": "completed"}]},
        },
    )

    def changes(old: str) -> dict[str, object]:
        given = {"file_path": word, "old_string": old, "new_string": "zebu"}
        return {"tool": "edit", "input": given}

    long = "python3 -c 'import time; time.sleep(60)'; touch late"
    return (
        {"when": "second question", "then": [{"text": "the second answer"}]},
        {"when": "first question", "then": [{"text": "the first answer"}]},
        {"when": "touch it", "then": [shell("touch canary"), {"text": "it was touched"}]},
        {"when": "list it", "then": [shell("ls", directory=deep), {"text": "listed"}]},
        {"when": "read it", "then": [reads, {"text": "it was read"}]},
        {"when": "look around", "then": [*found, {"text": "looked"}]},
        {"when": "change it", "then": [reads, changes("zebra"), {"text": "it was changed"}]},
        {"when": "miss it", "then": [changes("nowhere"), {"text": "it was missed"}]},
        {"when": "for long", "then": [shell(long)]},
        {"when": "/help", "then": [{"text": "it read a command as text"}]},
    )


@pytest.fixture
def qwen(lab: Callable[[str], Lab]) -> HostedLab:
    here = lab("qwen")
    from barry_adapter_qwen.hosted import agent

    if here.figures.version == "not run":
        told = subprocess.run(
            [here.program, "--version"], env=here.env, capture_output=True, text=True,
            timeout=60, check=True,
        )  # fmt: skip
        here.figures.version = re.findall(r"\d+\.\d+\.\d+", told.stdout)[0]
    here.script(*rules(here.work))
    (here.work / "deep").mkdir()
    (here.work / "deep" / "below.txt").write_text("zebra", "utf-8")
    (here.work / "word.txt").write_text("zebra", "utf-8")
    return HostedLab(here, agent, api="openai-chat", model=MODEL)


def told(qwen: HostedLab) -> str:
    """The newest request to the model, as text."""
    return str(qwen.lab.server.model_requests()[-1].body)


def results(qwen: HostedLab) -> list[str]:
    """What the model was told of its calls."""
    return [result.text for result in qwen.lab.server.tool_results()]


def made(qwen: HostedLab, name: str) -> bool:
    """Whether a call made this file; it is taken away again."""
    path = qwen.lab.work / name
    found = path.exists()
    path.unlink(missing_ok=True)
    return found


# --- the evidence ---


async def test_the_check_shows_what_hosted_mode_declares(qwen: HostedLab) -> None:
    proven = await qwen.lab.prove(mode="hosted")
    assert proven.shown, proven.reason


async def test_the_check_fails_where_it_decides_itself_what_to_ask(
    qwen: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_qwen import asking

    monkeypatch.setattr(asking, "asked", lambda others: {})
    proven = await qwen.lab.prove(mode="hosted")
    assert not proven.shown
    assert "denied calls had an effect: ['made'" in proven.reason


@pytest.mark.long
async def test_the_check_fails_where_a_hook_may_allow(
    qwen: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_qwen import asking

    monkeypatch.delitem(asking.HELD, "disableAllHooks")
    proven = await qwen.lab.prove(mode="hosted")
    assert not proven.shown
    assert "denied calls had an effect: ['made'" in proven.reason


# --- turns ---


async def test_one_process_takes_turn_after_turn(qwen: HostedLab) -> None:
    rulings = Rulings()
    async with qwen.open(decide=rulings, system_prompt="You are a gnu.") as harness:
        turn = await qwen.turn(harness, "first question")
        assert (turn.called, turn.text) == ("done", "the first answer")
        assert turn.outcome.usage is not None
        assert turn.outcome.usage.complete
        assert "You are a gnu." in told(qwen)

        turn = await qwen.turn(harness, "touch it")
        assert rulings.tools == [SHELL]
        assert made(qwen, "canary")
        assert [each.error for each in turn.of(ToolResult)] == [None]

        rulings.denied = {"*": SENTENCE}
        turn = await qwen.turn(harness, "touch it")
        assert not made(qwen, "canary")
        assert SENTENCE in told(qwen)
        assert turn.called == "done"
        await qwen.turn(harness, "list it")  # what it would allow by itself is asked as well
        assert rulings.asked[-1].input["directory"] == str(qwen.lab.work / "deep")
        assert results(qwen)[-1] == CANCELLED
        await qwen.turn(harness, "read it")
        assert rulings.asked[-1].input == {"file_path": str(qwen.lab.work / "word.txt")}
        assert results(qwen)[-1] == CANCELLED.replace(SHELL, "read_file")

        rulings.denied, rulings.asked = {}, []
        turn = await qwen.turn(harness, "look around")
        assert rulings.tools == ["list_directory", "grep_search", "todo_write"]
        assert turn.called == "done"
        turn = await qwen.turn(harness, "change it")
        assert (qwen.lab.work / "word.txt").read_text("utf-8") == "zebu"
        assert rulings.tools[-2:] == ["read_file", "edit"]
        turn = await qwen.turn(harness, "miss it")  # it fails before anybody is asked
        assert (turn.called, turn.text) == ("done", "it was missed")

        turn = await qwen.turn(harness, "/help")  # a message is no command
        assert turn.text == "it read a command as text"

        async def cut(event: SessionEvent) -> None:
            if isinstance(event, ToolUse):
                await qwen.executor.child("time.sleep(60)")
                await harness.interrupt()

        turn = await qwen.turn(harness, "for long", on=cut)
        assert turn.called == "aborted"
        assert await qwen.gone(but=own(qwen)) == []
        assert not made(qwen, "late")
        turn = await qwen.turn(harness, "second question")
        assert turn.text == "the second answer"
    assert len(qwen.executor.started) == 1
    assert await qwen.gone() == []


def own(qwen: HostedLab) -> list[ProcessIdentity]:
    """Qwen Code itself, which may start itself a second time with more memory."""
    return [each for each in qwen.executor.left_running() if b"--acp" in command_line(each)]


def command_line(process: ProcessIdentity) -> bytes:
    return Path(f"/proc/{process.pid}/cmdline").read_bytes()


async def test_a_call_waits_for_a_person(qwen: HostedLab) -> None:
    mode = qwen.lab.adapter.modes["hosted"]
    assert mode is not None
    assert mode.open_continuation is not None
    seen: list[SessionEvent] = []

    async def emit(event: SessionEvent) -> None:
        seen.append(event)

    class Effects:
        async def authorize(self, call: PermissionRequest) -> Allowed | Denied:
            return Allowed()

    handle = await mode.open_continuation(qwen.config(decide=None), None)
    try:
        for decision in (Denied(reason=SENTENCE), Allowed()):
            waits = await handle.begin("touch it", emit)
            assert [call.tool for call in waits.calls] == [SHELL]
            assert not made(qwen, "canary")
            decisions = {call.id: decision for call in waits.calls}
            over = await handle.restore(waits.continuation, decisions, Effects(), emit)
            assert over.type == "completed", over
            assert made(qwen, "canary") == decision.allow
    finally:
        await handle.close()


async def test_a_conversation_goes_on_in_other_processes(qwen: HostedLab) -> None:
    async with qwen.open() as harness:
        await qwen.turn(harness, "first question")
        known = harness.session_id
    for question in ("touch it", "second question"):
        async with qwen.open(resume=known) as harness:
            turn = await qwen.turn(harness, question)
            assert harness.resumed_session
            assert [each.harness_session_id for each in turn.of(Init)] == [known]
            assert "the first answer" in told(qwen)
            assert "the first answer" not in turn.text
    assert "it was touched" in told(qwen)
    # It would begin another conversation under the same id: one that is gone is seen before that.
    before = len(qwen.executor.started)
    async with qwen.open(resume=UNKNOWN) as harness:
        turn = await qwen.turn(harness, "first question")
        assert turn.called == "session", turn.outcome
        assert not harness.resumed_session
    assert len(qwen.executor.started) == before
    assert await qwen.gone() == []


@pytest.mark.long
async def test_an_ephemeral_session_leaves_no_conversation(qwen: HostedLab) -> None:
    from barry_adapter_qwen.transcript import QwenTranscripts

    async with qwen.open(ephemeral=True) as harness:
        turn = await qwen.turn(harness, "first question")
        assert turn.called == "done"
    assert list(QwenTranscripts().list(str(qwen.lab.work), qwen.env)) == []


@pytest.mark.long
async def test_a_fault_of_the_service_is_called_by_its_name(qwen: HostedLab) -> None:
    for name, fault in FAULTS.items():
        turn = await qwen.fail(name, env={**qwen.env, **SOON})
        assert turn.called == fault.called, turn.outcome
        assert turn.seconds < 30
    assert await qwen.gone() == []
