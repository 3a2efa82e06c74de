"""Gemini CLI driven by Barry, on the real program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from harness import Lab
from hosted import FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.base.processes import ProcessIdentity
from barry_cli.contract.events import Init, SessionEvent, ToolResult, ToolUse
from barry_cli.contract.session import Allowed, Denied, PermissionRequest, StdioMcpServer
from barry_cli.verify.proof import without

SHELL = "run_shell_command"
MODEL = "google/gemini-2.5-pro"
UNKNOWN = "0d6f2b3c-1111-4222-8333-444455556666"
MCP = Path(__file__).parent / "small_mcp.py"


def shell(command: str, **more: object) -> dict[str, object]:
    return {"tool": SHELL, "input": {"command": command, "description": "a try", **more}}


def reads(file: str) -> dict[str, object]:
    return {"tool": "read_file", "input": {"file_path": file}}


def changes(old: str, new: str) -> dict[str, object]:
    given = {"file_path": "word.txt", "instruction": "a try", "old_string": old, "new_string": new}
    return {"tool": "replace", "input": given}


FOUND = (
    {"tool": "list_directory", "input": {"dir_path": "deep"}},
    {"tool": "glob", "input": {"pattern": "*.txt", "dir_path": "deep"}},
    {"tool": "grep_search", "input": {"pattern": "zeb", "dir_path": "deep"}},
    {"tool": "glob", "input": {"pattern": "it's"}},
)
RULES = (
    {"when": "first question", "then": [{"text": "the first answer"}]},
    {"when": "second question", "then": [{"text": "the second answer"}]},
    {"when": "touch it", "then": [shell("touch canary"), {"text": "it was touched"}]},
    {"when": "list it", "then": [shell("ls", dir_path="deep"), {"text": "listed"}]},
    {"when": "read it", "then": [reads("word.txt"), {"text": "it was read"}]},
    {"when": "look around", "then": [*FOUND, {"text": "looked"}]},
    {"when": "change it", "then": [changes("zebra", "zebu"), {"text": "it was changed"}]},
    {"when": "miss it", "then": [changes("nowhere", "zebu"), {"text": "it was missed"}]},
    {"when": "greet", "then": [{"tool": "mcp_small_greet", "input": {}}, {"text": "greeted"}]},
    {"when": "for long", "then": [shell("python3 -c 'import time; time.sleep(60)'; touch late")]},
    {"when": "/about", "then": [{"text": "it read a command as text"}]},
)


@pytest.fixture
def gemini(lab: Callable[[str], Lab]) -> HostedLab:
    here = lab("gemini")
    from barry_adapter_gemini.hosted import agent

    if here.figures.version == "not run":
        told = subprocess.run(
            [here.program, "--version"], env=here.env, capture_output=True, text=True,
            timeout=60, check=True,
        )  # fmt: skip
        here.figures.version = re.findall(r"\d+\.\d+\.\d+", told.stdout)[0]
    here.script(*RULES)
    (here.work / "deep").mkdir()
    (here.work / "deep" / "below.txt").write_text("zebra", "utf-8")
    (here.work / "word.txt").write_text("zebra", "utf-8")
    (here.work / "GEMINI.md").write_text("The animal of this folder is the gnu.", "utf-8")
    return HostedLab(here, agent, api="gemini", model=MODEL)


def told(gemini: HostedLab) -> str:
    """The newest request to the model, as text."""
    return str(gemini.lab.server.model_requests()[-1].body)


def results(gemini: HostedLab) -> list[str]:
    """What the model was told of its calls."""
    return [result.text for result in gemini.lab.server.tool_results()]


def made(gemini: HostedLab, name: str) -> bool:
    """Whether a call made this file; it is taken away again."""
    path = gemini.lab.work / name
    found = path.exists()
    path.unlink(missing_ok=True)
    return found


def chats(gemini: HostedLab) -> dict[str, str]:
    """The transcripts on the disk -> what is in each."""
    paths = (gemini.lab.home / ".gemini" / "tmp").glob("*/chats/*")
    return {path.name: path.read_text("utf-8") for path in paths}


# --- the evidence ---


async def test_the_check_shows_what_hosted_mode_declares(gemini: HostedLab) -> None:
    proven = await gemini.lab.prove(mode="hosted")
    assert proven.shown, proven.reason


async def test_the_check_fails_without_the_rules(gemini: HostedLab) -> None:
    proven = await gemini.lab.prove(mode="hosted", bend=without("--admin-policy"))
    assert not proven.shown
    assert "was taken back, and yet it was offered" in proven.reason


@pytest.mark.long
async def test_the_check_fails_where_harmless_commands_are_not_asked_about(
    gemini: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_gemini import asking

    monkeypatch.setattr(asking, "_SHELL", asking._ALL)
    proven = await gemini.lab.prove(mode="hosted")
    assert not proven.shown
    assert "denied calls had an effect: ['ls']" in proven.reason


# --- turns ---


async def test_one_process_takes_turn_after_turn(gemini: HostedLab) -> None:
    rulings = Rulings()
    servers = {"small": StdioMcpServer(command=sys.executable, args=(str(MCP),))}
    async with gemini.open(decide=rulings, mcp_servers=servers) as harness:
        turn = await gemini.turn(harness, "first question")
        assert (turn.called, turn.text) == ("done", "the first answer")
        assert turn.outcome.usage is not None
        assert turn.outcome.usage.output > 0
        assert "the gnu" in told(gemini)

        turn = await gemini.turn(harness, "touch it")
        assert rulings.tools == [SHELL]
        assert made(gemini, "canary")
        assert [each.error for each in turn.of(ToolResult)] == [None]

        rulings.denied = {"*": SENTENCE}
        turn = await gemini.turn(harness, "touch it")
        assert not made(gemini, "canary")
        assert SENTENCE in told(gemini)
        assert turn.called == "done"
        await gemini.turn(harness, "list it")  # what it would allow by itself is asked as well
        assert rulings.asked[-1].input == {"command": "ls", "dir_path": "deep"}
        assert "canceled by the user" in results(gemini)[-1]
        await gemini.turn(harness, "read it")
        assert rulings.asked[-1].input == {"file_path": str(gemini.lab.work / "word.txt")}
        assert "canceled by the user" in results(gemini)[-1]

        rulings.denied, rulings.asked = {}, []
        turn = await gemini.turn(harness, "look around")
        given = [(each.tool, each.input) for each in rulings.asked]
        assert given == [
            ("list_directory", {"dir_path": "deep"}),
            ("glob", {"pattern": "*.txt", "dir_path": "deep"}),
            ("grep_search", {"pattern": "zeb", "dir_path": "deep"}),
        ]
        assert "Barry can't tell" in told(gemini)  # the last one's pattern breaks its text
        assert turn.called == "done"
        turn = await gemini.turn(harness, "greet")
        assert rulings.asked[-1].tool == "mcp__small__greet"
        assert [each.result for each in turn.of(ToolResult)] == ["hello"]
        turn = await gemini.turn(harness, "change it")
        assert (gemini.lab.work / "word.txt").read_text("utf-8") == "zebu"
        assert rulings.asked[-1].input["content"] == "zebu"
        turn = await gemini.turn(harness, "miss it")  # it fails before anybody is asked
        assert (turn.called, turn.text) == ("done", "it was missed")

        turn = await gemini.turn(harness, "/about")  # a message is no command
        assert turn.text == "it read a command as text"

        async def cut(event: SessionEvent) -> None:
            if isinstance(event, ToolUse):
                await gemini.executor.child("time.sleep(60)")
                await harness.interrupt()

        turn = await gemini.turn(harness, "for long", on=cut)
        assert turn.called == "aborted"
        assert await gemini.gone(but=own(gemini)) == []
        assert not made(gemini, "late")
        turn = await gemini.turn(harness, "second question")
        assert turn.text == "the second answer"
    assert len(gemini.executor.started) == 1
    assert await gemini.gone() == []


def own(gemini: HostedLab) -> list[ProcessIdentity]:
    """Gemini CLI itself, which starts itself a second time with more memory, and its server."""
    return [
        each
        for each in gemini.executor.left_running()
        if any(word in command_line(each) for word in (b"--acp", b"small_mcp"))
    ]


def command_line(process: ProcessIdentity) -> bytes:
    return Path(f"/proc/{process.pid}/cmdline").read_bytes()


async def test_a_call_waits_for_a_person(gemini: HostedLab) -> None:
    mode = gemini.lab.adapter.modes["hosted"]
    assert mode is not None
    assert mode.open_continuation is not None
    seen: list[SessionEvent] = []

    async def emit(event: SessionEvent) -> None:
        seen.append(event)

    class Effects:
        async def authorize(self, call: PermissionRequest) -> Allowed | Denied:
            return Allowed()

    handle = await mode.open_continuation(gemini.config(decide=None), None)
    try:
        for decision in (Denied(reason=SENTENCE), Allowed()):
            waits = await handle.begin("touch it", emit)
            assert [call.tool for call in waits.calls] == [SHELL]
            assert not made(gemini, "canary")
            decisions = {call.id: decision for call in waits.calls}
            over = await handle.restore(waits.continuation, decisions, Effects(), emit)
            assert over.type == "completed", over
            assert made(gemini, "canary") == decision.allow
    finally:
        await handle.close()


async def test_a_conversation_goes_on_in_other_processes_and_stays(gemini: HostedLab) -> None:
    async with gemini.open() as harness:
        await gemini.turn(harness, "first question")
        known = harness.session_id
    # At once, and again: the same minute would empty its file, and the next start delete it.
    for question in ("second question", "touch it"):
        async with gemini.open(resume=known) as harness:
            turn = await gemini.turn(harness, question)
            assert harness.resumed_session
            assert [each.harness_session_id for each in turn.of(Init)] == [known]
            assert "the first answer" in told(gemini)
            assert "the first answer" not in turn.text
    assert "the second answer" in told(gemini)
    assert known is not None
    (kept,) = [text for name, text in chats(gemini).items() if name.endswith(f"{known[:8]}.jsonl")]
    assert "the first answer" in kept
    assert "it was touched" in kept
    # One that is gone: seen before anything starts, and else by what Gemini CLI says of it.
    plain, before = gemini.agent, len(gemini.lab.server.model_requests())
    for started in (0, 1):
        processes = len(gemini.executor.started)
        async with gemini.open(resume=UNKNOWN) as harness:
            turn = await gemini.turn(harness, "first question")
            assert turn.called == "session", turn.outcome
            assert not harness.resumed_session
        assert len(gemini.executor.started) == processes + started
        gemini.agent = lambda config: replace(plain(config), storage=None)
    assert len(gemini.lab.server.model_requests()) == before
    assert await gemini.gone() == []


@pytest.mark.long
async def test_what_a_load_would_do_without_its_guard(
    gemini: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_gemini import dialogue

    async with gemini.open() as harness:
        await gemini.turn(harness, "first question")
        known = harness.session_id
    monkeypatch.setattr(dialogue, "APART", "")
    async with gemini.open(resume=known) as harness:
        turn = await gemini.turn(harness, "second question")
    if turn.called != "session" and "the first answer" in told(gemini):  # the minute was over
        async with gemini.open() as harness:  # then the next start deletes it
            await gemini.turn(harness, "second question")
        assert not any("the first answer" in text for text in chats(gemini).values())


@pytest.mark.long
async def test_a_fault_of_the_service_is_called_by_its_name(
    gemini: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_gemini import hosted

    # It tries anything again, seconds later: here it doesn't.
    settings = json.loads(hosted._SYSTEM.read_text("utf-8"))
    settings["general"]["maxAttempts"] = 1
    at_once = gemini.lab.top / "at-once.json"
    at_once.write_text(json.dumps(settings), "utf-8")
    monkeypatch.setattr(hosted, "_SYSTEM", at_once)
    for name, fault in FAULTS.items():
        turn = await gemini.fail(name)
        assert turn.called == fault.called, turn.outcome
        assert turn.seconds < 30
    assert await gemini.gone() == []
