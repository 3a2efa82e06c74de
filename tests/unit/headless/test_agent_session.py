"""A driven agent as a session, and as the handle of a turn: on a real agent that asks."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.problems import Refused
from barry_cli.base.processes import descendants
from barry_cli.contract.continuation import SegmentCompleted, SegmentInterrupted
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.plan import Command
from barry_cli.contract.session import (
    Allowed,
    DeliveryOptions,
    Denied,
    PermissionRequest,
    Resume,
    SessionConfig,
)
from barry_cli.headless.agent_adapter import AgentAdapter
from barry_cli.headless.agent_events import Usage
from barry_cli.headless.agent_input import AgentInput
from barry_cli.headless.agent_session import AgentSession, agent_session
from barry_cli.headless.capabilities import CapabilitySettings
from barry_cli.headless.continuation import agent_continuation
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.live import AgentLiveInput
from barry_cli.headless.wire.acp import AcpDialogue
from barry_cli.headless.wire.acp_profile import AcpProfile
from barry_cli.turns.unsupported import NotSupportedInMode
from tests.unit.headless.toy_agent import LIVE, agent, config, error, kinds

DEMO = Path(__file__).parents[3] / "adapters/demo/barry_adapter_demo/harness/main.py"
PROMISE = Guarantees(
    capture="total", delivery="wake", gating="per-call", identity="inherent",
    interrupt=True, keeps_vendor_ui=False, steer=True,
)  # fmt: skip


def count(result: dict[str, Any]) -> Usage:
    told = result["_meta"]["usage"]
    return Usage(input=told["inputTokens"], output=told["outputTokens"])


PROFILE = AcpProfile(
    usage=count, tool_of=lambda call: (call["_meta"]["tool"], call.get("rawInput"))
)


def asking_agent(*flags: str) -> AgentAdapter:
    def request(given: AgentInput) -> Command:
        return Command(command=sys.executable, args=("-I", "-S", str(DEMO), "--acp", *flags))

    return AgentAdapter(
        name="demo",
        request=request,
        events=lambda line: (),
        usage="events",
        live_input=AgentLiveInput(
            open=lambda given: AcpDialogue(given, PROFILE), asks=True, persistent=True
        ),
        resumable=True,
        capabilities=CapabilitySettings(session_resume=True, permission_hooks=True),
    )


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


async def one_turn(session: AgentSession, text: str) -> list[Any]:
    receipt = await session.deliver(text)
    assert receipt.status == "started"
    return await until_done(session)


async def until_done(session: Any) -> list[Any]:
    found = []
    async for event in session.events():
        found.append(event)
        if event.type == "done":
            break
    return found


async def allow(request: PermissionRequest) -> Allowed | Denied:
    return Allowed()


async def no_touch(request: PermissionRequest) -> Allowed | Denied:
    if "touch" in str(request.input):
        return Denied(reason="Barry refuses touch here")
    return Allowed()


async def test_turns_on_one_process(cwd: Path) -> None:
    session = await agent_session(
        asking_agent(), config(cwd=str(cwd), decide=no_touch), guarantees=PROMISE
    )
    assert (session.status(), session.harness_session_id) == ("idle", None)
    found = await one_turn(session, "hello")
    said = [kind for kind in kinds(found) if kind != "partial"]
    assert said == ["init", "text", "result", "usage", "done"]
    assert found[-3].result == "demo heard: hello"
    assert (found[-1].usage.input, session.harness_version) == (1, "1.0.0")
    first = descendants(os.getpid())
    found = await one_turn(session, "run echo yes > made")
    assert (cwd / "made").read_text() == "yes\n"
    use = next(event for event in found if event.type == "tool_use")
    assert (use.tool, use.input) == ("shell", {"command": "echo yes > made"})
    found = await one_turn(session, "run touch denied")
    assert not (cwd / "denied").exists()
    assert next(event for event in found if event.type == "tool_result").error
    assert found[-3].result.endswith("demo heard: Barry refuses touch here")  # it got to read why
    assert first == descendants(os.getpid())
    await session.close()
    await session.close()
    assert descendants(os.getpid()) == []
    with pytest.raises(Refused):
        await session.deliver("late")


async def test_nobody_rules_so_nothing_is_allowed(cwd: Path) -> None:
    session = await agent_session(asking_agent(), config(cwd=str(cwd)), guarantees=PROMISE)
    await one_turn(session, "run touch denied")
    assert not (cwd / "denied").exists()
    with pytest.raises(NotSupportedInMode):
        await session.answer(PermissionRequest(id="x", tool="shell", input={}), Allowed())
    await session.close()


@pytest.mark.parametrize("yes", [True, False])
async def test_a_caller_answers(cwd: Path, yes: bool) -> None:
    session = await agent_session(
        asking_agent(), config(cwd=str(cwd)), guarantees=PROMISE, review=True
    )
    await session.deliver("run touch it")
    found = []
    async for event in session.events():
        found.append(event)
        if event.type == "permission_request":
            request = PermissionRequest(id=event.id, tool=event.tool, input=event.input)
            await session.answer(request, Allowed() if yes else Denied(reason="no"))
            await session.answer(request, Allowed())  # too late for another word
        if event.type == "done":
            break
    assert "permission_request" in kinds(found)
    assert (cwd / "it").exists() is yes
    await session.close()


async def test_a_conversation_goes_on_in_another_session(cwd: Path) -> None:
    asked: dict[str, Any] = {"cwd": str(cwd)}
    session = await agent_session(asking_agent(), config(**asked), guarantees=PROMISE)
    await one_turn(session, "remember me")
    named = session.harness_session_id
    await session.close()
    again = await agent_session(
        asking_agent(),
        config(**asked, resume=Resume(harness_session_id=named)),
        guarantees=PROMISE,
    )
    assert again.harness_session_id == named
    found = await one_turn(again, "recall")
    assert "remember me" in next(event.result for event in found if event.type == "result")
    assert again.harness.resumed_session
    await again.close()
    lost = await agent_session(
        asking_agent(),
        config(**asked, resume=Resume(harness_session_id="gone")),
        guarantees=PROMISE,
    )
    found = await one_turn(lost, "x")
    assert error(found).startswith("conversation_lost: ")
    assert lost.status() == "error"
    assert lost.last_turn is not None
    assert lost.last_turn.fault is not None
    assert lost.last_turn.fault.code == "session"
    await lost.close()
    with pytest.raises(AgentFault, match="must be named"):
        await agent_session(
            asking_agent(), config(**asked, resume=Resume(last=True)), guarantees=PROMISE
        )


async def test_an_interrupt_and_what_waits_behind_it(cwd: Path) -> None:
    script = cwd.parent / "script.json"
    script.write_text('[{"when": "wait", "then": [{"text": "half"}, {"hang": true}]}]')
    session = await agent_session(
        asking_agent("--script", str(script)), config(cwd=str(cwd)), guarantees=PROMISE
    )
    await session.deliver("wait")
    assert (await session.deliver("after")).status == "queued"
    events = session.events()
    while (await anext(events)).type != "partial":
        pass
    assert session.status() == "active"
    await session.interrupt()
    found: list[Any] = []
    while kinds(found).count("done") < 2:
        found.append(await anext(events))
    assert error(found) == "interrupted"
    assert [event.result for event in found if event.type == "result"] == ["demo heard: after"]
    await session.interrupt()
    await session.close()


async def test_a_message_is_steered_where_it_can_be(tmp_path: Path) -> None:
    script = """
hear(); say(init="c1"); say(took=1); say(text="up")
second = hear(); say(took=1); say(text=second["say"]); say(done={})
while hear(): pass
"""
    session = await agent_session(agent(tmp_path, script, live=LIVE), config(), guarantees=PROMISE)
    await session.deliver("one")
    events = session.events()
    while (await anext(events)).type != "text":
        pass
    receipt = await session.deliver("two", DeliveryOptions(if_active="steer"))
    assert receipt.status == "steered"
    assert (await anext(events)).text == "two"
    await session.close()
    quiet = PROMISE.model_copy(update={"steer": False})
    session = await agent_session(agent(tmp_path, script, live=LIVE), config(), guarantees=quiet)
    await session.deliver("one")
    receipt = await session.deliver("two", DeliveryOptions(if_active="steer"))
    assert receipt.status == "queued"
    await session.close()


class Effects:
    """The authority, as a handle sees it."""

    async def authorize(self, call: PermissionRequest) -> Allowed | Denied:
        return Allowed()


async def handle(adapter: AgentAdapter, config: SessionConfig) -> Any:
    return await agent_continuation(adapter, config, adapter_id="demo", guarantees=PROMISE)


@pytest.mark.parametrize("yes", [True, False])
async def test_a_turn_waits_for_its_approval(cwd: Path, yes: bool) -> None:
    found: list[Any] = []

    async def emit(event: Any) -> None:
        found.append(event)

    driven = await handle(asking_agent(), config(cwd=str(cwd)))
    assert driven.approval_continuation == "live"
    outcome = await driven.begin("run touch it", emit)
    assert isinstance(outcome, SegmentInterrupted)
    (call,) = outcome.calls
    assert (call.tool, call.input) == ("shell", {"command": "touch it"})
    await asyncio.sleep(0.1)
    assert not (cwd / "it").exists()
    driven.validate(outcome.continuation)
    decision = Allowed() if yes else Denied(reason="not today")
    ended = await driven.restore(outcome.continuation, {call.id: decision}, Effects(), emit)
    assert isinstance(ended, SegmentCompleted)
    assert (cwd / "it").exists() is yes
    assert kinds(found)[-1] == "done"
    assert ended.conversation is not None
    await driven.close()
    assert descendants(os.getpid()) == []
    later = await handle(asking_agent(), config(cwd=str(cwd)))
    again = await later.begin("recall", emit, ended.conversation)
    assert isinstance(again, SegmentCompleted)
    assert again.conversation is not None
    assert again.conversation.payload == ended.conversation.payload
    await later.close()


async def test_an_agent_that_never_asks_never_waits(tmp_path: Path) -> None:
    async def emit(event: Any) -> None:
        pass

    driven = await handle(agent(tmp_path, "say(init='c1'); say(text='x'); say(done={})"), config())
    assert driven.approval_continuation == "unsupported"
    ended = await driven.begin("x", emit)
    assert isinstance(ended, SegmentCompleted)
    assert ended.result == "x"
    await driven.close()
