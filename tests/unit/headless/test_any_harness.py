"""Whatever a harness says and does: one ``done``, at the end, and nothing thrown."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from barry_cli.contract.plan import Command
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.headless.agent_adapter import AgentAdapter
from barry_cli.headless.capabilities import CapabilitySettings
from barry_cli.headless.harness import CliHarness
from tests.unit.headless.toy_agent import LIVE, events, session

SAID: list[dict[str, Any]] = [
    {"init": "c1"}, {"init": "c2"}, {"text": "x"}, {"text": "in", "parent": "p"}, {"partial": "y"},
    {"tool": "shell"}, {"result": "r"}, {"fail": "f"}, {"fail": "in", "parent": "p"},
    {"quota": "q"}, {"again": "a", "cause": "quota"}, {"stopped": "aborted"}, {"stopped": "stuck"},
    {"done": {"input": 1, "output": 1}}, {"done": None}, {"boom": 1}, {"nobody": "knows"},
    {"usage": {"input": 1, "output": 1}, "id": "m"}, {"took": 1}, {"took": -3},
    {"ask": "p1", "input": {}}, {"ask": "p2", "input": {}}, {"reply": 1},
]  # fmt: skip
LINES = st.sampled_from([json.dumps(said) for said in SAID]) | st.sampled_from(
    ["", "no json", "{broken", "[]", "{}", "\x00", '{"text": 5}', '{"init": []}', "x" * 400]
)
DID = st.sampled_from(["nothing", "interrupt", "steer", "answer", "close"])


class Scripted:
    """A process that says what it was given, piece by piece, then hangs or ends."""

    pid = None

    def __init__(self, data: bytes, step: int, code: int | None, hangs: bool) -> None:
        self._pieces = [data[at : at + step] for at in range(0, len(data), step)]
        self._code = code
        self._over = asyncio.Event()
        if not hangs:
            self._over.set()
        self.ends = 0

    async def read(self) -> bytes:
        await asyncio.sleep(0)
        if self._pieces:
            return self._pieces.pop(0)
        await self._over.wait()
        return b""

    async def read_errors(self) -> bytes:
        await self._over.wait()
        return b""

    async def write(self, data: bytes) -> None:
        if self._over.is_set():
            raise BrokenPipeError

    def close_input(self) -> None: ...

    def signal(self, number: int) -> bool:
        self._over.set()
        return True

    async def wait(self) -> int | None:
        await self._over.wait()
        return self._code

    async def end(self) -> None:
        self.ends += 1
        self._over.set()


class Scripts:
    """Starts one after the other; a script that is not there is refused."""

    local = True
    variables: Mapping[str, str] = {}

    def __init__(self, scripts: list[Scripted | None]) -> None:
        self._scripts = scripts
        self.started: list[Scripted] = []

    async def start(self, argv: Sequence[str], **asked: Any) -> Scripted:
        script = self._scripts.pop(0) if self._scripts else None
        if script is None:
            raise FileNotFoundError(2, "No such file or directory", argv[0])
        self.started.append(script)
        return script


def adapter(*, live: bool, resumable: bool) -> AgentAdapter:
    return AgentAdapter(
        name="toy",
        request=lambda asked: Command(command="toy"),
        events=events,
        live_input=LIVE if live else None,
        resumable=resumable,
        usage="events",
        quota=lambda text: "q" in text,
        capabilities=CapabilitySettings(session_resume=resumable, permission_hooks=live),
    )


async def decide(request: PermissionRequest) -> Allowed | Denied:
    if request.id == "p1":
        return Allowed()
    raise ValueError


async def act(harness: CliHarness, what: str, event: Any) -> None:
    match what:
        case "interrupt":
            harness_interrupt = asyncio.ensure_future(harness.interrupt())
            await asyncio.sleep(0)
            assert harness_interrupt is not None
        case "steer":
            await harness.steer("more")
        case "answer" if event.type == "permission_request":
            await harness.respond_to_permission(event.id, Allowed())
        case "close":
            await harness.close()


@given(
    turns=st.lists(
        st.tuples(st.lists(LINES, max_size=8), st.integers(1, 60),
                  st.sampled_from([0, 1, -9, None]),
                  st.booleans(), st.booleans()),
        min_size=1, max_size=3,
    ),
    live=st.booleans(), resumable=st.booleans(), keep=st.booleans(), review=st.booleans(),
    resume=st.sampled_from([None, "c1"]), did=st.lists(DID, max_size=6),
)  # fmt: skip
@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_harness(
    turns: Any, live: bool, resumable: bool, keep: bool, review: bool, resume: Any, did: list[str]
) -> None:
    async def run() -> None:
        executor = Scripts(
            [
                Scripted("\n".join(lines).encode(), step, code, hangs) if starts else None
                for lines, step, code, hangs, starts in turns
            ]
        )
        harness = CliHarness(adapter(live=live, resumable=resumable))
        await harness.start_session(
            session(
                executor=executor, decide=decide, review=review, keep_process=keep,
                resume_session_id=resume if resumable else None, idle_seconds=0.02,
                retry_seconds=0.02, grace_seconds=0.005, deadline_seconds=0.08, line_limit=300,
            )
        )  # fmt: skip
        actions = list(did)
        for _ in turns:
            found = []
            async for event in harness.run_turn("x"):
                found.append(event)
                await act(harness, actions.pop(0) if actions else "nothing", event)
                if event.type == "permission_request":  # a person would be waited for, for ever
                    await harness.respond_to_permission(event.id, Denied())
            mains = [each for each in found if each.parent_tool_use_id is None]
            assert [each.type for each in mains].count("done") == 1
            assert found[-1].type == "done"
            errors = [each for each in mains if each.type == "error"]
            outcome = harness.last_turn
            assert len(errors) <= 1
            if outcome is not None and outcome.fault is not None:
                assert [each.error for each in errors] == [str(outcome.fault)]
            assert "secret thing" not in str(errors)
            if not (keep and live):
                assert all(each.ends for each in executor.started)
        await harness.close()
        assert all(each.ends for each in executor.started)
        left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.sleep(0.05)
        assert not [task for task in left if not task.done()]

    async def bounded() -> None:
        async with asyncio.timeout(10):
            await run()

    asyncio.run(bounded())


def test_the_scripts_are_not_all_alike() -> None:
    with pytest.raises(FileNotFoundError):
        asyncio.run(Scripts([]).start(["toy"]))
