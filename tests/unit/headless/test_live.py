"""A turn that is talked to: rulings, steering, interrupts, a process that is kept."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.processes import descendants
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.headless.harness import CliHarness
from barry_cli.headless.rulings import DENIED, NOBODY, OVER, UNRULED
from tests.unit.headless.toy_agent import LIVE, agent, error, kinds, read, session, turn

ASKS = """
said = hear()["say"]
say(init="c1"); say(took=1)
say(ask="p1", input={"command": said})
said = hear()
say(text=json.dumps(said)); say(done={})
hear()
"""
SERVES = """
names = 0
while (said := hear()) is not None:
    if "say" not in said: continue
    names += 1
    say(init="c1"); say(took=1); say(text=f"{os.getpid()} {names} {said['say']}"); say(done={})
"""


def told(harness: CliHarness) -> Any:
    assert harness.last_turn is not None
    return json.loads(harness.last_turn.text or "null")


async def allow(request: PermissionRequest) -> Allowed | Denied:
    return Allowed(persist=True)


async def deny(request: PermissionRequest) -> Allowed | Denied:
    return Denied(reason=f"no {request.tool} {request.input['command']}")


async def bare(request: PermissionRequest) -> Allowed | Denied:
    return Denied()


async def broken(request: PermissionRequest) -> Allowed | Denied:
    raise ValueError("a secret thing")


@pytest.mark.parametrize(
    ("decide", "answer"),
    [
        (allow, {"answer": "p1", "allow": True, "persist": None}),
        (deny, {"answer": "p1", "allow": False, "reason": "no shell rm"}),
        (bare, {"answer": "p1", "allow": False, "reason": DENIED}),
        (broken, {"answer": "p1", "allow": False, "reason": UNRULED}),
        (None, {"answer": "p1", "allow": False, "reason": NOBODY}),
    ],
)
async def test_a_ruling(tmp_path: Path, decide: Any, answer: object, caplog: Any) -> None:
    harness, found = await turn(agent(tmp_path, ASKS, live=LIVE), "rm", decide=decide)
    assert kinds(found) == ["init", "text", "result", "done"]
    assert told(harness) == answer
    assert "secret thing" not in caplog.text


async def test_calls_are_ruled_on_side_by_side(tmp_path: Path) -> None:
    script = """
hear(); say(took=1)
say(ask="a", input=1); say(ask="b", input=2)
say(text=json.dumps([hear()["answer"], hear()["answer"]])); say(done={}); hear()
"""
    first = asyncio.Event()

    async def decide(request: PermissionRequest) -> Allowed | Denied:
        if request.id == "a":
            await first.wait()
        else:
            first.set()
        return Allowed()

    harness, _ = await turn(agent(tmp_path, script, live=LIVE), decide=decide)
    assert told(harness) == ["b", "a"]


async def test_the_time_of_a_ruling_is_nobodys(tmp_path: Path) -> None:
    async def decide(request: PermissionRequest) -> Allowed | Denied:
        await asyncio.sleep(1.2)
        return Allowed()

    adapter = agent(tmp_path, ASKS, live=LIVE)
    _, found = await turn(adapter, decide=decide, idle_seconds=0.6, deadline_seconds=0.8)
    assert kinds(found) == ["init", "text", "result", "done"]


async def reviewed(
    tmp_path: Path, answer: Callable[[CliHarness, Any], Any], **more: Any
) -> tuple[CliHarness, list[Any]]:
    harness = CliHarness(agent(tmp_path, ASKS, live=LIVE))
    await harness.start_session(session(review=True, **more))
    found = []
    async for event in harness.run_turn("rm"):
        found.append(event)
        if event.type == "permission_request":
            await answer(harness, event)
    await harness.close()
    return harness, found


async def test_a_person_is_asked_and_answers(tmp_path: Path) -> None:
    async def answer(harness: CliHarness, event: Any) -> None:
        assert (event.id, event.tool, event.input) == ("p1", "shell", {"command": "rm"})
        assert not await harness.respond_to_permission("p2", Allowed())
        assert await harness.respond_to_permission("p1", Denied(), "not today")
        assert not await harness.respond_to_permission("p1", Allowed())

    harness, found = await reviewed(tmp_path, answer, decide=allow)
    assert kinds(found) == ["init", "permission_request", "text", "result", "done"]
    assert told(harness) == {"answer": "p1", "allow": False, "reason": "not today"}


async def test_what_is_denied_is_put_to_nobody(tmp_path: Path) -> None:
    async def answer(harness: CliHarness, event: Any) -> None:
        raise AssertionError

    harness, found = await reviewed(tmp_path, answer, decide=deny)
    assert "permission_request" not in kinds(found)
    assert told(harness)["reason"] == "no shell rm"


async def test_an_interrupt_while_a_person_thinks(tmp_path: Path) -> None:
    script = """
hear(); say(init="c1"); say(took=1); say(ask="p1", input={})
said = hear(); say(text=json.dumps(said)); say(stopped="aborted"); hear()
"""
    harness = CliHarness(agent(tmp_path, script, live=LIVE))
    await harness.start_session(session(review=True))
    found: list[Any] = []
    async for event in harness.run_turn("x"):
        found.append(event)
        if event.type == "permission_request":
            asyncio.ensure_future(harness.interrupt())  # noqa: RUF006 - it waits for this turn
    assert kinds(found) == ["init", "permission_request", "text", "error", "done"]
    assert told(harness) == {"stop": True}
    assert harness.last_turn is not None
    assert harness.last_turn.stopped == "aborted"
    await harness.close()


async def test_an_interrupt_after_an_end_that_was_another_turns(tmp_path: Path) -> None:
    script = """
hear(); say(init="c1"); say(took=1); say(text="up"); hear()
say(ask="p1", input={}); say(stopped="stuck"); say(took=1); time.sleep(0.2); say(text="on")
time.sleep(60)
"""
    harness = CliHarness(agent(tmp_path, script, live=LIVE))
    await harness.start_session(session(review=True, grace_seconds=0.1))
    found: list[Any] = []
    async with asyncio.timeout(20):
        async for event in harness.run_turn("x"):
            found.append(event)
            if getattr(event, "text", "") == "up":
                assert await harness.steer("two")
            if getattr(event, "text", "") == "on":
                asyncio.ensure_future(harness.interrupt())  # noqa: RUF006 - as above
    assert "permission_request" in kinds(found)
    assert error(found) == "interrupted"
    await harness.close()


async def test_a_message_during_a_turn_is_folded_in(tmp_path: Path) -> None:
    script = """
first = hear()["say"]; say(init="c1"); say(took=1); say(text=first)
second = hear()["say"]; say(took=1); say(text=second); say(done={})
hear()
"""
    harness = CliHarness(agent(tmp_path, script, live=LIVE))
    await harness.start_session(session())
    texts = []
    async for event in harness.run_turn("one"):
        if event.type == "text":
            texts.append(event.text)
            if event.text == "one":
                assert await harness.steer("two")
    assert texts == ["one", "two"]
    assert not await harness.steer("late")
    await harness.close()


async def test_input_ends_only_once_everything_is_taken_in(tmp_path: Path) -> None:
    """A message that came too late for the turn is answered in one that follows by itself."""
    script = """
first = hear()["say"]; say(init="c1"); say(took=1); say(text=first)
second = hear()["say"]; say(done={}); time.sleep(0.2)
say(took=1); time.sleep(1.2); say(text=second); say(done={})
say(text=json.dumps(hear()))
"""
    harness = CliHarness(agent(tmp_path, script, live=LIVE))
    await harness.start_session(session())
    texts = []
    async for event in harness.run_turn("one"):
        if event.type == "text":
            texts.append(event.text)
            if event.text == "one":
                assert await harness.steer("two")
    assert texts == ["one", "two", "null"]
    await harness.close()


@pytest.mark.parametrize("keep", [True, False])
async def test_a_message_that_is_never_taken_in_is_not_passed_over(
    tmp_path: Path, keep: bool
) -> None:
    script = """
first = hear()["say"]; say(init="c1"); say(took=1); say(text=first)
hear(); say(done={})
time.sleep(60)
"""
    harness = CliHarness(agent(tmp_path, script, live=LIVE))
    await harness.start_session(session(grace_seconds=0.05, keep_process=keep))
    found = []
    async for event in harness.run_turn("one"):
        found.append(event)
        if event.type == "text":
            assert await harness.steer("two")
    assert "did not take in a message" in error(found)
    await harness.close()


async def test_a_failure_ends_the_input_at_once(tmp_path: Path) -> None:
    script = "hear(); say(fail='broken'); say(text=json.dumps(hear()))"
    _, found = await turn(agent(tmp_path, script, live=LIVE), grace_seconds=5)
    assert error(found) == "toy failed: broken"
    assert found[0].text == "null"


async def test_replies_are_written_as_they_are(tmp_path: Path) -> None:
    script = """
hear(); say(reply={"a": [1]}); said = hear(); say(took=1); say(text=json.dumps(said)); say(done={})
hear()
"""
    harness, _ = await turn(agent(tmp_path, script, live=LIVE))
    assert told(harness) == {"a": [1]}


async def test_a_process_is_kept_for_the_next_turn(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, SERVES, live=LIVE, resumable=True))
    await harness.start_session(session(keep_process=True))
    answers = []
    for text in ("a", "b", "c"):
        found = await read(harness.run_turn(text))
        assert kinds(found) == ["init", "text", "result", "done"]
        answers.append(found[1].text.split())
    assert len({pid for pid, _, _ in answers}) == 1
    assert [rest for _, *rest in answers] == [["1", "a"], ["2", "b"], ["3", "c"]]
    await harness.close()
    assert descendants(os.getpid()) == []


async def test_a_kept_process_is_not_told_again_what_it_remembers(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, SERVES, live=LIVE, resumable=False))
    await harness.start_session(session(keep_process=True))
    await read(harness.run_turn("a"))
    found = await read(harness.run_turn("b"))
    assert found[1].text.split()[1:] == ["2", "b"]
    for each in descendants(os.getpid()):
        os.kill(each.pid, 9)
    while descendants(os.getpid()):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    found = await read(harness.run_turn("c"))
    assert "User: a" in found[1].text  # another process was not there
    await harness.close()


async def test_a_process_is_not_kept_unasked_nor_for_another_shape(tmp_path: Path) -> None:
    for keep, schemas, processes in ((False, [None, None], 2), (True, [None, {}, None], 3)):
        harness = CliHarness(agent(tmp_path, SERVES, live=LIVE, resumable=True))
        await harness.start_session(session(keep_process=keep))
        pids = set()
        for schema in schemas:
            found = await read(harness.run_turn("a", output_schema=schema))
            pids.add(found[1].text.split()[0])
        assert len(pids) == processes
        await harness.close()


async def test_a_kept_process_that_died_is_begun_anew(tmp_path: Path) -> None:
    harness = CliHarness(agent(tmp_path, SERVES, live=LIVE, resumable=True))
    await harness.start_session(session(keep_process=True))
    await read(harness.run_turn("a"))
    for each in descendants(os.getpid()):
        os.kill(each.pid, 9)
    while descendants(os.getpid()):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    found = await read(harness.run_turn("b"))
    assert kinds(found) == ["init", "text", "result", "done"]
    assert found[1].text.split()[1:] == ["1", "b"]
    await harness.close()


async def test_what_a_kept_process_says_between_turns_is_not_lost_and_ends_nothing(
    tmp_path: Path,
) -> None:
    script = """
hear(); say(init="c1"); say(took=1); say(text="one"); say(done={})
time.sleep(0.1); say(text="between"); say(done={}); say(ask="p1", input={})
said = [hear(), hear()]; say(took=1); say(text=json.dumps(said)); say(done={})
hear()
"""
    harness = CliHarness(agent(tmp_path, script, live=LIVE))
    await harness.start_session(session(keep_process=True))
    await read(harness.run_turn("a"))
    await asyncio.sleep(0.4)
    found = await read(harness.run_turn("b"))
    texts = [event.text for event in found if event.type == "text"]
    assert texts[0] == "between"
    denial = {"answer": "p1", "allow": False, "reason": NOBODY}
    assert sorted(json.loads(texts[1]), key=str) == sorted([{"say": "b"}, denial], key=str)
    await harness.close()


async def test_a_call_that_outlasts_its_turn_is_denied(tmp_path: Path) -> None:
    script = """
hear(); say(init="c1"); say(took=1); say(ask="p1", input={}); say(done={})
said = [hear(), hear()]; say(took=1); say(text=json.dumps(said)); say(done={})
hear()
"""

    async def slow(request: PermissionRequest) -> Allowed | Denied:
        await asyncio.sleep(60)
        return Allowed()

    harness = CliHarness(agent(tmp_path, script, live=LIVE))
    await harness.start_session(session(keep_process=True, decide=slow))
    await read(harness.run_turn("a"))
    await read(harness.run_turn("b"))
    assert told(harness) == [{"answer": "p1", "allow": False, "reason": OVER}, {"say": "b"}]
    await harness.close()


async def test_after_an_interrupt_the_kept_process_goes_on(tmp_path: Path) -> None:
    script = """
while (said := hear()) is not None:
    if "stop" in said: say(stopped="aborted"); continue
    say(init="c1"); say(took=1); say(text=f"{os.getpid()} {said['say']}")
    if said["say"] != "wait": say(done={})
"""
    harness = CliHarness(agent(tmp_path, script, live=LIVE, resumable=True))
    await harness.start_session(session(keep_process=True))
    pids = []
    for text in ("wait", "go"):
        async for event in harness.run_turn(text):
            if event.type == "text":
                pids.append(event.text.split()[0])
                if text == "wait":
                    asyncio.ensure_future(harness.interrupt())  # noqa: RUF006 - as above
    assert pids[0] == pids[1]
    await harness.close()


async def test_steering_by_resuming(tmp_path: Path) -> None:
    """Without a way in, the turn is cut and its conversation goes on with the message."""
    script = """
heard = sys.stdin.read()
say(init=asked or "c1"); say(text=heard)
if asked is None: time.sleep(60)
say(done=usage(input=5))
"""
    harness = CliHarness(agent(tmp_path, script, resumable=True))
    await harness.start_session(session(grace_seconds=0.3))
    found = []
    async for event in harness.run_turn("one"):
        found.append(event)
        if getattr(event, "text", "") == "one":
            assert await harness.steer("two")
            assert await harness.steer("three")
    assert kinds(found) == ["init", "text", "text", "result", "usage", "done"]
    assert [event.text for event in found[1:3]] == ["one", "two\n\nthree"]
    assert harness.last_turn is not None
    assert harness.last_turn.stopped is None
    await harness.close()


async def test_a_harness_without_memory_is_not_steered(tmp_path: Path) -> None:
    harness = CliHarness(
        agent(tmp_path, "say(text='x'); time.sleep(0.3); say(done={})", resumable=False)
    )
    await harness.start_session(session())
    async for event in harness.run_turn("one"):
        if event.type == "text":
            assert not await harness.steer("two")
    await harness.close()


async def test_a_message_that_cannot_be_put_is_not_taken(tmp_path: Path) -> None:
    class Broken(LIVE.open):  # type: ignore[misc, name-defined] - a class all the same
        def start(self) -> str:
            return super().encode("x\ud800") + "\ud800\n"  # what can't be written is replaced

        def encode(self, text: str) -> str:
            raise KeyError("a secret thing")

    script = "hear(); say(text='up'); time.sleep(0.3); say(done={}); hear()"
    harness = CliHarness(agent(tmp_path, script, live=replace(LIVE, open=Broken)))
    await harness.start_session(session())
    async for event in harness.run_turn("one"):
        if event.type == "text":
            assert not await harness.steer("two")
    await harness.close()


async def test_a_dialogue_that_breaks_fails_its_turn(tmp_path: Path, caplog: Any) -> None:
    class Broken(LIVE.open):  # type: ignore[misc, name-defined] - a class all the same
        def answer(self, id: str, decision: object) -> str:
            raise KeyError("a secret thing")

    adapter = agent(tmp_path, ASKS, live=replace(LIVE, open=Broken))
    _, found = await turn(adapter, "rm", decide=allow)
    assert "could not be answered" in error(found)
    assert "secret thing" not in caplog.text
