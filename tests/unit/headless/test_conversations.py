"""Going on with a conversation: never with another one, and never as if."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from barry_cli.contract.events import Text, ToolUse
from barry_cli.headless.agent_adapter import CommandResult
from barry_cli.headless.agent_input import Continuation
from barry_cli.headless.conversations import Place
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.file_conversations import FileConversations
from barry_cli.headless.harness import CliHarness
from barry_cli.headless.replay import LONGEST, replayed
from tests.unit.headless.toy_agent import agent, error, kinds, read, session, turn

GOES_ON = "say(init=asked or 'c0'); say(text='x'); say(done={})"
BEGINS = "say(init='c9'); say(text='acts'); time.sleep(60)"
COPIES = "say(init='c2' if '--fork' in given else asked); say(done={})"


def store(folder: Path) -> FileConversations:
    def where(name: str, place: Place) -> Path:
        return folder / place.cwd.strip("/").replace("/", "-") / f"{name}.jsonl"

    def find(name: str, place: Place) -> Path | None:
        path = where(name, place)
        return path if path.exists() else None

    return FileConversations(name="toy", find=find, where=where)


async def test_the_same_id_is_the_same_conversation(tmp_path: Path) -> None:
    harness, found = await turn(agent(tmp_path, GOES_ON, resumable=True), resume_session_id="c1")
    assert kinds(found) == ["init", "text", "result", "done"]
    assert harness.resumed_session
    assert harness.session_id == "c1"


async def test_another_id_is_a_lost_conversation_and_it_is_stopped(tmp_path: Path) -> None:
    harness, found = await turn(agent(tmp_path, BEGINS, resumable=True), resume_session_id="c1")
    assert kinds(found) == ["error", "done"]
    assert error(found).startswith("conversation_lost: ")
    assert not harness.resumed_session
    assert harness.session_id is None
    assert harness.last_turn is not None
    assert harness.last_turn.fault is not None
    assert harness.last_turn.fault.code == "session"


async def test_a_harness_that_names_nothing_has_resumed_nothing(tmp_path: Path) -> None:
    harness, found = await turn(
        agent(tmp_path, "say(text='x'); say(done={})", resumable=True), resume_session_id="c1"
    )
    assert kinds(found)[-1] == "done"
    assert not harness.resumed_session


async def test_the_next_turn_goes_on(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, GOES_ON, resumable=True))
    await harness.start_session(session())
    for _ in range(2):
        found = await read(harness.run_turn("x"))
        assert found[0].harness_session_id == "c0"
    assert not harness.resumed_session  # nobody asked it to
    await harness.close()


async def test_a_conversation_that_was_lost_between_two_turns(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, "say(init=f'c{os.getpid()}')", resumable=True))
    await harness.start_session(session())
    assert kinds(await read(harness.run_turn("x"))) == ["init", "done"]
    assert error(await read(harness.run_turn("y"))).startswith("conversation_lost: ")
    await harness.close()


@pytest.mark.parametrize("code", ["say(fail='no such conversation c1')", "sys.exit('no such c1')"])
async def test_what_it_says_itself(tmp_path: Path, code: str) -> None:
    adapter = agent(tmp_path, code, resumable=True, lost=lambda text: "no such" in text)
    _, found = await turn(adapter, resume_session_id="c1")
    assert error(found).startswith("conversation_lost: toy said: no such")
    _, found = await turn(adapter)  # who asked for none has lost none
    assert error(found).startswith("toy ")


async def test_a_transcript_that_is_gone_is_known_before_anything_runs(tmp_path: Path) -> None:
    script = "open('ran', 'w'); " + GOES_ON
    kept = store(tmp_path / "kept")
    adapter = agent(tmp_path, script, resumable=True, storage=kept)
    _, found = await turn(adapter, resume_session_id="c1", cwd=str(tmp_path))
    assert error(found).startswith("conversation_lost: toy has no conversation c1")
    assert not (tmp_path / "ran").exists()
    path = kept.where("c1", Place(cwd=str(tmp_path)))
    path.parent.mkdir(parents=True)
    path.write_text("{}\n")
    harness, _ = await turn(adapter, resume_session_id="c1", cwd=str(tmp_path))
    assert harness.resumed_session
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["", "-x", "--resume", "a b", "a/b", "a\n", "é", "x" * 201, "a;b"])
async def test_an_id_that_is_no_id_reaches_no_command_line(tmp_path: Path, name: str) -> None:
    with pytest.raises(AgentFault) as caught:
        Continuation(name)
    assert caught.value.code == "session"
    harness = CliHarness(agent(tmp_path, GOES_ON, resumable=True))
    with pytest.raises(AgentFault):
        await harness.start_session(session(resume_session_id=name))


async def test_a_copy_by_the_harness(tmp_path: Path) -> None:
    adapter = agent(tmp_path, COPIES, resumable=True, forkable=True)
    harness, found = await turn(adapter, resume_session_id="c1", fork=True)
    assert kinds(found) == ["init", "done"]
    assert (harness.session_id, harness.resumed_session) == ("c2", True)
    wrong = agent(tmp_path, "say(init=asked)", resumable=True, forkable=True)
    _, found = await turn(wrong, resume_session_id="c1", fork=True)
    assert error(found).startswith("conversation_lost: ")


async def test_a_copy_that_must_be_prepared(tmp_path: Path) -> None:
    from barry_cli.contract.plan import Command

    seen: list[CommandResult] = []

    async def fork(name: str, invoke: Any) -> str:
        seen.append(
            await invoke(Command(command="sh", args=("-c", f"cat; echo {name}"), stdin="in "))
        )
        return "child"

    adapter = agent(tmp_path, GOES_ON, resumable=True, forkable=True, fork=fork)
    harness, found = await turn(adapter, resume_session_id="c1", fork=True)
    assert kinds(found) == ["init", "text", "result", "done"]
    assert (harness.session_id, harness.resumed_session) == ("child", True)
    assert seen == [CommandResult(0, "in c1\n", "")]

    async def same(name: str, invoke: Any) -> str:
        return name

    adapter = agent(tmp_path, GOES_ON, resumable=True, forkable=True, fork=same)
    _, found = await turn(adapter, resume_session_id="c1", fork=True)
    assert "the conversation itself" in error(found)


async def test_what_is_cut_before_it_began_never_runs(tmp_path: Path) -> None:
    began, cut = asyncio.Event(), asyncio.Event()

    async def fork(name: str, invoke: Any) -> str:
        began.set()
        await cut.wait()
        return "child"

    adapter = agent(
        tmp_path, "open('ran', 'w')", resumable=True, forkable=True, fork=fork, usage="events"
    )
    harness = CliHarness(adapter)
    await harness.start_session(session(resume_session_id="c1", fork=True, cwd=str(tmp_path)))
    reading = asyncio.ensure_future(read(harness.run_turn("x")))
    await began.wait()
    stopping = asyncio.ensure_future(harness.interrupt())
    await asyncio.sleep(0)
    cut.set()
    await stopping
    found = await reading
    assert kinds(found) == ["error", "done"]
    assert error(found) == "interrupted"
    assert harness.last_turn is not None
    assert (harness.last_turn.stopped, harness.last_turn.usage) == ("aborted", None)
    assert not (tmp_path / "ran").exists()
    await harness.close()


@pytest.mark.parametrize(
    ("features", "asked", "says"),
    [
        ({"resumable": True, "forkable": False}, {"resume_session_id": "c", "fork": True}, "copy"),
        ({"resumable": False}, {"resume_session_id": "c"}, "can't go on"),
        ({"resumable": True}, {"fork": True}, "needs a conversation"),
    ],
)
async def test_what_cannot_go_on_is_refused_before_anything_runs(
    tmp_path: Path, features: Any, asked: Any, says: str
) -> None:
    harness = CliHarness(agent(tmp_path, GOES_ON, **features))
    with pytest.raises(AgentFault, match=says) as caught:
        await harness.start_session(session(**asked))
    assert caught.value.code == "session"


async def test_without_memory_it_is_told_again(tmp_path: Path) -> None:
    script = "heard = sys.stdin.read(); say(text=f'<{heard}>'); say(done=usage(input=len(heard)))"
    harness = CliHarness(agent(tmp_path, script, resumable=False))
    before = (Text(text="who?", role="user"), Text(text="me", role="assistant"))
    await harness.start_session(session(resume_session_id="old", history=before))
    first = await read(harness.run_turn("one"))
    heard = first[0].text
    assert heard.index("User: who?") < heard.index("Assistant: me") < heard.index("one>")
    assert first[-1].usage.input == len(heard) - 2  # the whole of it is paid for, and said
    second = (await read(harness.run_turn("two")))[0].text
    assert second.index("User: one") < second.index("two>")
    assert not harness.resumed_session
    await harness.close()


def test_a_long_conversation_keeps_its_end() -> None:
    history = [Text(text=str(n) * 1000, role="user") for n in range(10)] * 30
    text = replayed([*history, ToolUse(id="1", tool="shell", input={})], "now")
    assert len(text) < LONGEST + 500
    assert "beginning is left out" in text
    assert text.index("tool shell") < text.index("now")
    assert replayed([], "now") == "now"
    one = replayed([Text(text="x" * (LONGEST + 1), role="user")], "now")
    assert len(one) < LONGEST + 500


async def test_a_turn_is_captured(tmp_path: Path) -> None:
    kept, captures = store(tmp_path / "kept"), tmp_path / "captures"
    native = kept.where("c0", Place(cwd="/"))
    script = f"""
os.makedirs({str(native.parent)!r}, exist_ok=True)
open({str(native)!r}, "w").write(os.environ["TOY_KEY"] + "\\n")
say(init="c0"); say(done={{}})
"""
    adapter = agent(tmp_path, script, storage=kept)
    _, found = await turn(adapter, captures=captures, env={"TOY_KEY": "sk-very-secret"})
    assert kinds(found) == ["init", "done"]
    copy = captures / "toy" / "c0.jsonl"
    assert copy.read_text() == "********\n"
    assert copy.stat().st_mode & 0o777 == 0o600
    copy.unlink()
    await turn(agent(tmp_path, script, storage=kept, capture=False), captures=captures,
               env={"TOY_KEY": "sk-very-secret"})  # fmt: skip
    assert not copy.exists()


async def test_an_id_without_a_transcript_is_a_fault(tmp_path: Path) -> None:
    adapter = agent(tmp_path, "say(init='c0'); say(done={})", storage=store(tmp_path / "kept"))
    _, found = await turn(adapter, captures=tmp_path / "captures")
    assert "has no transcript" in error(found)
    _, found = await turn(adapter)  # nobody wanted it
    assert kinds(found) == ["init", "done"]
