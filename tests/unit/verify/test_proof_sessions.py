"""Checks of driven sessions: started, delivered to, ended, and bent."""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from barry_cli.agents import AgentAdapter, AgentInput, agent_session, read_line, read_string
from barry_cli.base.processes import identify, is_alive
from barry_cli.contract.adapter import Adapter, Evidence, LaunchMode, SessionMode
from barry_cli.contract.engine import EngineSpec
from barry_cli.contract.events import Done, Result, Text
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.plan import Command
from barry_cli.contract.session import SessionConfig
from barry_cli.registry.sample import test_adapter
from barry_cli.verify.proof import Proven, prove, without

GUARANTEES = Guarantees(
    capture="total", delivery="wake", gating="none", identity="none", interrupt=True,
    keeps_vendor_ui=False, steer=False,
)  # fmt: skip

# Says who it is, whether it was held, and what it was told; "wait" keeps it there.
PROGRAM = """#!/bin/sh
text=$(tr '\\n' ' ')
echo "{\\"said\\": \\"$$ $* $SECRET_KEY $text\\"}"
case "$text" in wait*) exec sleep 60 ;; esac
"""

Shown = Callable[..., Awaitable[Proven]]


def agent() -> AgentAdapter:
    def request(input: AgentInput) -> Command:
        return Command(command="sample", args=("--held",), stdin=input.text)

    def events(line: str) -> tuple[Any, ...]:
        said = read_string(read_line(line), "said") or ""
        over = () if said.split()[-1] == "wait" else (Done(),)
        return (Text(text=said), Result(result=said), *over)

    return AgentAdapter(name="sample", request=request, events=events, resumable=False)


async def start(config: SessionConfig, engine: Any) -> Any:
    if config.model == "sample/engine":
        await engine(
            EngineSpec(kind="web", session_id="s", transport="tcp", command=lambda a: None)
        )  # type: ignore[arg-type, return-value] # never called
    return await agent_session(agent(), config, guarantees=GUARANTEES)


def sample() -> Adapter:
    plain = test_adapter()
    guest = plain.modes["guest"]
    assert isinstance(guest, LaunchMode)
    hosted = SessionMode(
        guarantees=GUARANTEES,
        verified_on="1.0.0",
        evidence=Evidence(check="checks:hosted", proves="that it answers"),
        structured_output="prompted",
        start=start,
    )
    modes = {"guest": guest, "instrumented": None, "hosted": hosted}
    return dataclasses.replace(plain, modes=modes)


@pytest.fixture
def shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """Proves the sample's hosted mode by the given check."""
    program = tmp_path / "real-sample"
    program.write_text(PROGRAM, "utf-8")
    program.chmod(0o755)

    async def shown(check: Any, *, bend: Any = None) -> Proven:
        module = types.ModuleType("proven_sample.checks")
        module.hosted = check  # type: ignore[attr-defined] # made here
        monkeypatch.setitem(sys.modules, "proven_sample", types.ModuleType("proven_sample"))
        monkeypatch.setitem(sys.modules, "proven_sample.checks", module)
        return await prove(
            sample(),
            "proven_sample",
            "hosted",
            program=str(program),
            base_env={"PATH": "/usr/bin:/bin", "SECRET_KEY": "made-up"},
            bend=bend,
            keep_in=tmp_path,
        )

    return shown


def words(events: list[Any]) -> list[str]:
    (result,) = [event for event in events if isinstance(event, Result)]
    return str(result.result).split()


async def test_a_turn_of_a_driven_session(shown: Shown) -> None:
    seen: list[Any] = []

    async def check(proof: Any) -> None:
        session = await proof.start()
        events = await proof.turn(session, "hello")
        proof.require(isinstance(events[-1], Done), "no done")
        pid, *rest = words(events)
        proof.require(rest == ["--held", "hello"], f"it said {rest}")  # no key of ours came along
        again = await proof.turn(session, "again")
        proof.require(words(again)[-1] == "again", "no second turn")
        seen.append(int(pid))

    proven = await shown(check)
    assert (proven.shown, proven.reason) == (True, "")
    assert seen


async def test_a_command_can_be_bent(shown: Shown) -> None:
    async def check(proof: Any) -> None:
        events = await proof.turn(await proof.start(), "hello")
        proof.require("--held" in words(events), "it was not held")

    assert (await shown(check)).shown
    bent = await shown(check, bend=without("--held"))
    assert (bent.shown, bent.reason) == (False, "it was not held")


async def test_what_a_check_left_running_is_ended(shown: Shown) -> None:
    running: list[Any] = []

    async def check(proof: Any) -> None:
        session = await proof.start()
        await session.deliver("wait")
        async for event in session.events():
            if isinstance(event, Result):
                running.append(identify(int(str(event.result).split()[0])))
                break
        proof.require(is_alive(running[0]), "it is gone already")

    proven = await shown(check)
    assert proven.shown, proven.reason
    assert not is_alive(running[0])


async def test_a_turn_that_is_not_over_in_time_is_not_shown(shown: Shown) -> None:
    async def check(proof: Any) -> None:
        await proof.turn(await proof.start(), "wait", seconds=0.5)

    proven = await shown(check)
    assert not proven.shown
    assert "the turn was not over in 0.5 s" in proven.reason


async def test_a_session_that_ends_before_its_turn_is_not_shown(shown: Shown) -> None:
    async def check(proof: Any) -> None:
        session = await proof.start()
        await session.close()
        await proof.turn(session, "hello")

    proven = await shown(check)
    assert not proven.shown
    assert proven.reason


async def test_an_engine_is_not_there_for_a_check(shown: Shown) -> None:
    async def check(proof: Any) -> None:
        await proof.start(model="sample/engine")

    proven = await shown(check)
    assert "an engine of the kind web" in proven.reason


async def test_a_launch_in_a_session_mode_is_refused(shown: Shown) -> None:
    async def check(proof: Any) -> None:
        await proof.launch()

    proven = await shown(check)
    assert "sample has no launch mode hosted" in proven.reason
