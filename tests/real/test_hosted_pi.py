"""pi driven by Barry, on the real program."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from harness import Lab
from hosted import FAULT_CASES, FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.agents import AgentFault
from barry_cli.contract.adapter import SessionMode
from barry_cli.contract.events import (
    Init,
    Partial,
    SessionEvent,
    Text,
    ToolResult,
    ToolUse,
)
from barry_cli.contract.session import Allowed, Denied, PermissionRequest, Session
from barry_cli.turns.structured import StructuredRun, run_structured
from barry_cli.verify.proof import without

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
UNKNOWN = "01a22dff-289a-7356-a7ee-1fe253ccdd1b"


def bash(command: str) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": command}}


def read(path: str) -> dict[str, object]:
    return {"tool": "read", "input": {"path": path}}


def fenced(text: str) -> str:
    return f"Here it is.\n\n````json\n{text}\n````\n"


RULES = (
    {"when": "first question", "then": [{"text": "the first answer"}]},
    {"when": "second question", "then": [{"text": "the second answer"}]},
    {"when": "touch it", "then": [bash("touch canary"), {"text": "it was touched"}]},
    {
        "when": "touch both",
        "then": [{"tools": [*(bash(f"touch {name}") for name in ("one", "two"))]}, "both"],
    },
    {"when": "slowly", "then": [{"text": "a b c d e f", "chunks": 6, "delay": 0.1}]},
    {"when": "more of it", "then": [{"text": "and more"}]},
    {"when": "for long", "then": [bash("python3 -c 'import time; time.sleep(60)'; touch late")]},
    {"when": "a while", "then": [bash("python3 -c 'import time; time.sleep(1)'"), {"text": "eh"}]},
    {"when": "/skill:trap", "then": [{"text": "it read a command as text"}]},
    {"when": "look at", "then": [{"text": "looked"}]},
    {"when": "two steps", "then": [bash("touch step"), bash("touch far"), {"text": "never"}]},
    {"when": "It was not accepted", "then": [fenced('{"n": 4}')]},
    {"when": "count", "then": [fenced('{"n": "four"}')]},
)


@cache
def version(program: str, path: str) -> str:
    """What the program says that it is; without a terminal it says so on stderr."""
    told = subprocess.run(
        [program, "--version"], env={"PATH": path}, stdin=subprocess.DEVNULL, text=True, timeout=30,
        capture_output=True, check=True,
    )  # fmt: skip
    return str(re.findall(r"\d+\.\d+\.\d+", told.stdout + told.stderr)[0])


@pytest.fixture
def pi(lab: Callable[[str], Lab]) -> HostedLab:
    here = lab("pi")
    from barry_adapter_pi.hosted import agent

    here.figures.version = version(str(here.program), here.env["PATH"])
    here.script(*RULES)
    settings(here.home / ".pi" / "agent", {"retry": {"maxRetries": 1, "baseDelayMs": 10}})
    return HostedLab(
        here,
        agent,
        api="openai-chat",
        env={"PI_OFFLINE": "1"},
        model="scripted/scripted-model",
    )


def settings(folder: Path, values: dict[str, object]) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / "settings.json"
    before = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**before, **values}), "utf-8")


def told(pi: HostedLab) -> str:
    """The newest request to the model, as text."""
    return str(pi.lab.server.model_requests()[-1].body)


def made(pi: HostedLab, name: str) -> bool:
    """Whether a call made this file; it is taken away again."""
    path = pi.lab.work / name
    found = path.exists()
    path.unlink(missing_ok=True)
    return found


# --- the evidence ---


async def test_the_check_shows_what_hosted_mode_declares(pi: HostedLab) -> None:
    proven = await pi.lab.prove(mode="hosted")
    assert proven.shown, proven.reason


@pytest.mark.parametrize(
    ("flag", "reason"),
    [
        ("--no-extensions", "code of the folder's own was loaded"),
        ("--tools", "all but find was to be offered"),
    ],
)
@pytest.mark.long
async def test_the_check_fails_without_a_guard(pi: HostedLab, flag: str, reason: str) -> None:
    proven = await pi.lab.prove(mode="hosted", bend=without(flag))
    assert not proven.shown
    assert reason in proven.reason


async def test_the_check_fails_where_calls_are_not_asked_about(
    pi: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_pi import hosted

    open_gate = pi.lab.top / "open.js"
    whole = hosted.GATE.read_text("utf-8")
    open_gate.write_text(whole.replace('"tool_call"', '"turn_start"'), "utf-8")
    shutil.copy(hosted.GATE.with_name("paths.js"), open_gate.parent)
    monkeypatch.setattr(hosted, "GATE", open_gate)
    proven = await pi.lab.prove(mode="hosted")
    assert not proven.shown
    assert "denied calls had an effect: ['made'" in proven.reason
    # The first call that nobody allowed was the last: it ended its turn.
    async with pi.open(decide=Rulings(["*"])) as harness:
        turn = await pi.turn(harness, "touch it")
    assert turn.called == "process"
    assert "Barry had not allowed" in str(turn.outcome.fault)


async def test_without_its_gate_it_gets_no_prompt(
    pi: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_pi import hosted

    empty, broken = pi.lab.top / "empty.js", pi.lab.top / "broken.js"
    empty.write_text("export default function () {}\n", "utf-8")
    broken.write_text("export default function () { throw new Error('no') }\n", "utf-8")
    for gate, reason in (
        (empty, "did not load what asks Barry"),
        (broken, "Failed to load extension"),
    ):
        monkeypatch.setattr(hosted, "GATE", gate)
        async with pi.open() as harness:
            turn = await pi.turn(harness, "first question")
        assert turn.called == "process"
        assert reason in str(turn.outcome.fault)
    assert pi.lab.server.model_requests() == []


# --- turns ---


async def test_one_process_takes_turn_after_turn(pi: HostedLab) -> None:
    (pi.lab.work / "word.txt").write_text("zebra", "utf-8")
    skill = pi.lab.work / ".pi" / "skills" / "trap" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: trap\ndescription: a trap\n---\nquagga\n", "utf-8")
    rulings = Rulings()
    async with pi.open(decide=rulings) as harness:
        turn = await pi.turn(harness, "first question")
        assert (turn.called, turn.outcome.text) == ("done", "the first answer")
        assert turn.text == "the first answer"
        assert turn.outcome.usage is not None
        assert turn.outcome.usage.complete
        assert turn.outcome.usage.input > 1000
        assert harness.observed_model == "scripted-model"

        turn = await pi.turn(harness, "touch it")
        assert rulings.tools == ["bash"]
        assert made(pi, "canary")
        assert [each.error for each in turn.of(ToolResult)] == [None]

        rulings.denied = {"bash": SENTENCE}
        turn = await pi.turn(harness, "touch it")
        assert not made(pi, "canary")
        assert [each.error for each in turn.of(ToolResult)] == [True]
        assert SENTENCE in told(pi)

        await pi.turn(harness, "touch both")  # of one answer, each by itself
        assert rulings.tools[2:] == ["bash", "bash"]
        assert not made(pi, "one")
        assert not made(pi, "two")

        rulings.denied = {}
        turn = await pi.turn(harness, "/skill:trap")  # a message is no command
        assert turn.text == "it read a command as text"
        assert "a trap" in told(pi)
        assert "quagga" not in told(pi)
        await pi.turn(harness, "look at @word.txt")  # and reads no file
        assert "zebra" not in told(pi)

        async def steer(event: SessionEvent) -> None:
            if isinstance(event, ToolUse):
                await pi.executor.child("time.sleep")
                assert await harness.steer("more of it")

        turn = await pi.turn(harness, "a while", on=steer)
        assert turn.text == "and more"

        async def cut(event: SessionEvent) -> None:
            if isinstance(event, ToolUse):
                await pi.executor.child("time.sleep(60)")
                await harness.interrupt()

        turn = await pi.turn(harness, "for long", on=cut)
        assert turn.called == "aborted"
        assert not made(pi, "late")
        assert await pi.gone(but=pi.executor.started) == []

        async def cut_at_once(event: SessionEvent) -> None:
            if isinstance(event, Init):
                await harness.interrupt()

        turn = await pi.turn(harness, "for long", on=cut_at_once)
        assert turn.called == "aborted"

        turn = await pi.turn(harness, "second question")
        assert turn.text == "the second answer"
        assert [each.harness_session_id for each in turn.of(Init)] == [harness.session_id]
    assert len(pi.executor.started) == 1
    assert await pi.gone() == []


@pytest.mark.long
async def test_a_message_that_came_late_is_answered_in_the_same_turn(pi: HostedLab) -> None:
    sent: list[bool] = []
    async with pi.open() as harness:

        async def steer(event: SessionEvent) -> None:
            if isinstance(event, Partial) and not sent:
                sent.append(await harness.steer("second question"))

        turn = await pi.turn(harness, "slowly", on=steer)
        assert sent == [True]
        assert turn.text == "a b c d e fthe second answer"

        async def after(event: SessionEvent) -> None:
            if isinstance(event, Text) and event.text == "the first answer":
                sent.append(await harness.steer("second question"))

        turn = await pi.turn(harness, "first question", on=after)
        assert turn.text == "the first answer" + "the second answer" * sent[-1]

        # What a turn had queued when it was cut does not come up in the next one.
        sent.clear()

        async def steer_and_cut(event: SessionEvent) -> None:
            if isinstance(event, Partial) and not sent:
                sent.append(await harness.steer("more of it"))
                await harness.interrupt()

        turn = await pi.turn(harness, "slowly", on=steer_and_cut)
        assert (sent, turn.called) == ([True], "aborted")
        turn = await pi.turn(harness, "first question")
        assert turn.text == "the first answer"
        assert "more of it" not in told(pi)


@pytest.mark.long
async def test_a_turn_is_cut_while_a_call_is_asked_about(pi: HostedLab) -> None:
    asked = asyncio.Event()

    async def never(request: PermissionRequest) -> Allowed:
        asked.set()
        await asyncio.sleep(60)
        return Allowed()

    async with pi.open(decide=never) as harness:

        async def cut(event: SessionEvent) -> None:
            if isinstance(event, ToolUse):
                await asked.wait()
                await harness.interrupt()

        turn = await pi.turn(harness, "touch it", on=cut)
        assert turn.called == "aborted"
        assert turn.seconds < 15
        assert not made(pi, "canary")
        turn = await pi.turn(harness, "first question")
        assert turn.text == "the first answer"
        assert len(pi.executor.started) == 1


async def test_a_call_waits_for_a_person(pi: HostedLab) -> None:
    mode = pi.lab.adapter.modes["hosted"]
    assert mode is not None
    assert mode.open_continuation is not None
    seen: list[SessionEvent] = []

    async def emit(event: SessionEvent) -> None:
        seen.append(event)

    class Effects:
        async def authorize(self, call: PermissionRequest) -> Allowed | Denied:
            return Allowed()

    handle = await mode.open_continuation(pi.config(decide=None), None)
    try:
        for decision in (Denied(reason=SENTENCE), Allowed()):
            waits = await handle.begin("touch it", emit)
            assert [call.tool for call in waits.calls] == ["bash"]
            assert not made(pi, "canary")
            decisions = {call.id: decision for call in waits.calls}
            over = await handle.restore(waits.continuation, decisions, Effects(), emit)
            assert over.type == "completed", over
            assert made(pi, "canary") == decision.allow
    finally:
        await handle.close()
    assert [each.error for each in seen if isinstance(each, ToolResult)] == [True, None]


async def test_a_conversation_goes_on_and_is_copied(pi: HostedLab) -> None:
    async with pi.open(keep=False) as harness:
        await pi.turn(harness, "first question")
        known = harness.session_id
        await pi.turn(harness, "second question")  # another process
        assert "the first answer" in told(pi)
        assert harness.session_id == known
    async with pi.open(resume=known) as harness:
        turn = await pi.turn(harness, "touch it")
        assert harness.resumed_session
        assert [each.harness_session_id for each in turn.of(Init)] == [known]
        assert "the second answer" in told(pi)
    async with pi.open(resume=known, fork=True) as harness:
        await pi.turn(harness, "first question")
        assert harness.session_id not in (None, known)
        assert "it was touched" in told(pi)
    # One that is gone is seen before anything starts.
    processes, before = len(pi.executor.started), len(pi.lab.server.model_requests())
    async with pi.open(resume=UNKNOWN) as harness:
        turn = await pi.turn(harness, "first question")
        assert turn.called == "session"
        assert not harness.resumed_session
    assert len(pi.executor.started) == processes
    assert len(pi.lab.server.model_requests()) == before
    assert await pi.gone() == []


@pytest.mark.long
async def test_an_answer_with_a_shape_is_asked_for_in_words(pi: HostedLab) -> None:
    from barry_adapter_pi.transcript import PiTranscripts

    mode = pi.lab.adapter.modes["hosted"]
    assert isinstance(mode, SessionMode)
    start = mode.start

    async def fresh() -> Session:
        return await start(pi.config(ephemeral=True, executor=pi.executor), None)

    asked = StructuredRun(prompt="count", schema=SCHEMA, start=fresh, structured_output="prompted")
    reply = await run_structured(asked)
    assert reply.data == {"n": 4}
    assert "four" in told(pi)  # what did not fit is shown to it with its errors
    # Sessions without a trace leave none.
    assert list(PiTranscripts().list(str(pi.lab.work), pi.env)) == []
    assert await pi.gone() == []


@pytest.mark.long
async def test_a_limit_of_turns_ends_it(pi: HostedLab) -> None:
    async with pi.open(max_turns=1) as harness:
        turn = await pi.turn(harness, "first question")
        assert turn.called == "done"
        turn = await pi.turn(harness, "two steps")
        assert turn.called == "process"
        assert "limit of 1 turns" in str(turn.outcome.fault)
    assert made(pi, "step")
    assert not made(pi, "far")


@pytest.mark.parametrize("name", FAULT_CASES)
async def test_a_fault_of_the_service_is_called_by_its_name(pi: HostedLab, name: str) -> None:
    # The library below pi tries again as well, after half a second and more.
    once = {"maxRetries": 1, "baseDelayMs": 10, "provider": {"maxRetries": 0}}
    settings(pi.lab.home / ".pi" / "agent", {"retry": once})
    turn = await pi.fail(name)
    assert turn.called == FAULTS[name].called, turn.outcome
    assert turn.seconds < 30
    assert await pi.gone() == []


@pytest.mark.long
async def test_a_line_as_long_as_a_picture_is_read(pi: HostedLab) -> None:
    content = "z" * 250_000  # some of pi's lines hold it five times
    writes = {"tool": "write", "input": {"path": "long.txt", "content": content}}
    pi.lab.script({"when": "write it", "then": [writes, {"text": "written"}]})
    async with pi.open() as harness:
        turn = await pi.turn(harness, "write it")
        assert (turn.called, turn.text) == ("done", "written")
    assert max(map(len, pi.executor.lines())) > 1024 * 1024
    assert made(pi, "long.txt")


# --- what is ruled on is what runs ---


async def test_a_path_is_ruled_on_as_pi_reads_it(pi: HostedLab) -> None:
    """pi drops a leading @, knows ~, and looks for a file under names that look alike."""
    curly = pi.lab.work / "it\N{RIGHT SINGLE QUOTATION MARK}s.txt"
    curly.write_text("the curly one", "utf-8")
    (pi.lab.home / "mine.txt").write_text("the one at home", "utf-8")
    (pi.lab.top / "outside.txt").write_text("the one outside", "utf-8")
    places = {
        f"@{pi.lab.top}/outside.txt": (pi.lab.top / "outside.txt", "the one outside"),
        "@~/mine.txt": (pi.lab.home / "mine.txt", "the one at home"),
        "it's.txt": (curly, "the curly one"),
        "../outside.txt": (pi.lab.top / "outside.txt", "the one outside"),
    }
    pi.lab.script({"when": "read them", "then": [*map(read, places), {"text": "read"}]})
    rulings = Rulings()
    async with pi.open(decide=rulings) as harness:
        turn = await pi.turn(harness, "read them")
    asked = [each.input["path"] for each in rulings.asked]
    assert asked == [str(path) for path, _ in places.values()]
    given = [str(each.result).strip() for each in turn.of(ToolResult)]
    assert given == [text for _, text in places.values()]  # and it was that file


async def test_programs_that_a_folder_names_are_not_run(
    pi: HostedLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_pi import hosted

    prefix = {"shellCommandPrefix": "touch prefixed"}
    own = pi.lab.work / ".pi" / "settings.json"
    own.parent.mkdir()
    # As it is, and by the way in which pi lets a file set what nobody looks for.
    for values in (prefix, {"__proto__": prefix}):
        own.write_text(json.dumps(values), "utf-8")
        with pytest.raises(AgentFault, match="nobody is asked"):
            async with pi.open():
                pass
    with monkeypatch.context() as open_folder:
        open_folder.setattr(hosted, "refused_programs", lambda cwd: None)
        async with pi.open() as harness:
            await pi.turn(harness, "touch it")
    assert made(pi, "prefixed")
    # The same in the user's own settings is the user's own.
    own.unlink()
    settings(pi.lab.home / ".pi" / "agent", dict(prefix))
    async with pi.open() as harness:
        await pi.turn(harness, "touch it")
    assert made(pi, "prefixed")


async def test_neither_models_nor_extensions_move_the_endpoint(pi: HostedLab) -> None:
    nowhere = {
        "baseUrl": "http://127.0.0.1:9/v1",
        "api": "openai-completions",
        "apiKey": "mine",
        "models": [{"id": "scripted-model"}],
    }
    models: dict[str, Any] = {"providers": {"barry": nowhere}}
    (pi.lab.home / ".pi" / "agent" / "models.json").write_text(json.dumps(models), "utf-8")
    settings(pi.lab.work / ".pi", {"defaultProvider": "google", "defaultModel": "other"})
    async with pi.open() as harness:
        turn = await pi.turn(harness, "first question")
        assert turn.text == "the first answer"
        assert not any(pi.lab.key in word for argv in pi.executor.argvs for word in argv)
    (asked,) = pi.lab.server.model_requests()
    assert asked.key_matches(pi.lab.key)
