"""What the driver adds to reading a harness's lines."""

from __future__ import annotations

import asyncio
import gc
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from barry_cli.contract.events import Done, Partial, SessionEvent, ToolResult, ToolUse
from barry_cli.contract.plan import Command
from barry_cli.contract.session import SessionConfig
from barry_cli.headless.agent_adapter import AgentAdapter
from barry_cli.headless.harness import CliHarness
from barry_cli.headless.session import HarnessSession
from tests.bench.measure import race, show

COUNT = 5_000
ROUNDS = 21
CHUNK = 65_536


def line(number: int) -> str:
    """Like those of a harness that tells every word: mostly pieces of text, some calls."""
    said: dict[str, Any] = {"type": "delta", "text": f"some words {number}", "id": "0123456789" * 3}
    if number % 10 == 8:
        said = {"type": "use", "id": f"c{number}", "input": {"command": "ls -la " * 20}}
    if number % 10 == 9:
        said = {"type": "result", "id": f"c{number}", "result": "out " * 300}
    return json.dumps(said)


LINES = [*(line(number) for number in range(COUNT)), '{"type": "done"}']
DATA = "".join(f"{each}\n" for each in LINES).encode()


def events(text: str) -> Sequence[SessionEvent]:
    said = json.loads(text)
    match said["type"]:
        case "delta":
            return (Partial(text=said["text"]),)
        case "use":
            return (ToolUse(id=said["id"], tool="shell", input=said["input"]),)
        case "result":
            return (ToolResult(id=said["id"], result=said["result"]),)
    return (Done(),)


class Spoken:
    """A process that has said all that it will say."""

    pid = None

    def __init__(self) -> None:
        self._at = 0

    async def read(self) -> bytes:
        self._at += CHUNK
        return DATA[self._at - CHUNK : self._at]

    async def read_errors(self) -> bytes:
        return b""

    async def write(self, data: bytes) -> None: ...

    def close_input(self) -> None: ...

    def signal(self, number: int) -> bool:
        return False

    async def wait(self) -> int:
        return 0

    async def end(self) -> None: ...


class Memory:
    """Starts nothing."""

    local = True
    variables: Mapping[str, str] = {}

    async def start(self, argv: Sequence[str], **asked: Any) -> Spoken:
        return Spoken()


ADAPTER = AgentAdapter(name="toy", request=lambda asked: Command(command="toy"), events=events)


def parsed() -> float:
    began = time.process_time()
    for each in DATA.decode().splitlines():
        json.loads(each)
    return (time.process_time() - began) * 1000


def mapped() -> float:
    began = time.process_time()
    for each in DATA.decode().splitlines():
        events(each)
    return (time.process_time() - began) * 1000


def driven() -> float:
    async def run() -> float:
        harness = CliHarness(ADAPTER)
        config = SessionConfig(session_id="s", cwd="/")
        await harness.start_session(HarnessSession(config=config, executor=Memory()))
        began, count = time.process_time(), 0
        async for _ in harness.run_turn("x"):
            count += 1
        took = (time.process_time() - began) * 1000
        assert count == len(LINES)
        await harness.close()
        return took

    return asyncio.run(run())


def test_a_driven_turn() -> None:
    gc.collect()
    figures = race(
        {"parsed": parsed, "parsed and mapped": mapped, "a whole turn": driven}, rounds=ROUNDS
    )
    show(f"{COUNT} lines of a harness", figures, "parsed and mapped")
    ratio = figures["a whole turn"].least / figures["parsed and mapped"].least
    assert ratio < 6, f"a turn takes {ratio:.1f} times its mapping"
