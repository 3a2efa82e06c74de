"""What the tests of driven harnesses share: turns on a scripted model, and every fault."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest
from harness import Lab

from barry_cli.agents import (
    AgentAdapter,
    AgentInput,
    CliHarness,
    HarnessSession,
    LocalExecutor,
    TurnOutcome,
    unavailable_fault,
)
from barry_cli.base.processes import ProcessIdentity, descendants, identify, is_alive
from barry_cli.contract.events import Done, SessionEvent, Text
from barry_cli.contract.execution import RunningProcess
from barry_cli.contract.models import Endpoint
from barry_cli.contract.native import configure_harness_session
from barry_cli.contract.session import Allowed, Denied, PermissionRequest, SessionConfig

E = TypeVar("E")

SENTENCE = "Barry says no to this: it was tried in a test"
"""What the model must get to read of a denial."""


class Rulings:
    """Rules on calls as a table says, and remembers what it was asked."""

    def __init__(self, denied: Mapping[str, str] | Sequence[str] = ()) -> None:
        """``denied``: tools, or tool -> sentence; ``*`` stands for every tool."""
        self.denied = dict(denied) if isinstance(denied, Mapping) else dict.fromkeys(
            denied, SENTENCE
        )  # fmt: skip
        self.asked: list[PermissionRequest] = []

    async def __call__(self, request: PermissionRequest) -> Allowed | Denied:
        self.asked.append(request)
        sentence = self.denied.get(request.tool) or self.denied.get("*")
        return Allowed() if sentence is None else Denied(reason=sentence)

    @property
    def tools(self) -> list[str]:
        return [request.tool for request in self.asked]


class Watched:
    """This machine's executor, with all that it started and all that was read from it."""

    local = True
    variables: Mapping[str, str] = {}

    def __init__(self) -> None:
        self.started: list[ProcessIdentity] = []
        self.argvs: list[list[str]] = []
        self.output: list[bytes] = []
        self.seen: set[ProcessIdentity] = set()

    async def start(
        self, argv: Sequence[str], *, env: Mapping[str, str], cwd: str, open_input: bool = False
    ) -> RunningProcess:
        process = await LocalExecutor().start(argv, env=env, cwd=cwd, open_input=open_input)
        self.argvs.append(list(argv))
        self.output.append(b"")
        found = identify(process.pid) if process.pid else None
        if found:
            self.started.append(found)
            self.seen.add(found)
        return _Teed(process, self, len(self.output) - 1)

    def watch(self) -> set[ProcessIdentity]:
        """Remember all that runs now below what was started."""
        for each in self.started:
            if is_alive(each):
                self.seen |= set(descendants(each.pid))
        return self.seen

    def left_running(self) -> list[ProcessIdentity]:
        """What was seen and runs still."""
        return [each for each in self.seen if is_alive(each)]

    async def child(self, word: str, *, seconds: float = 20) -> ProcessIdentity:
        """A process below what was started whose command line holds this word, once there is."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            for each in self.watch() - set(self.started):
                with suppress(OSError):
                    if word.encode() in Path(f"/proc/{each.pid}/cmdline").read_bytes():
                        return each
            await asyncio.sleep(0.05)
        raise AssertionError(f"no process below it has {word!r} in its command line")

    def lines(self, process: int = -1) -> list[str]:
        """What a process wrote to its stdout, line by line."""
        return self.output[process].decode("utf-8").splitlines()


class _Teed:
    """A running process whose stdout is kept as it is read."""

    def __init__(self, process: RunningProcess, watched: Watched, number: int) -> None:
        self._process = process
        self._watched = watched
        self._number = number

    def __getattr__(self, name: str) -> Any:
        return getattr(self._process, name)

    async def read(self) -> bytes:
        data = await self._process.read()
        self._watched.output[self._number] += data
        return data


@dataclass
class Turn:
    """What one turn gave."""

    events: list[SessionEvent]
    outcome: TurnOutcome
    seconds: float

    def of(self, kind: type[E]) -> list[E]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        """All that the agent said on its main thread."""
        said = [
            each.text
            for each in self.of(Text)
            if each.role != "user" and each.parent_tool_use_id is None
        ]
        return "".join(said)

    @property
    def called(self) -> str:
        """How it ended, in a word: done, stopped, quota, unavailable, process, session …"""
        fault = self.outcome.fault
        if fault is None:
            return self.outcome.stopped or "done"
        if fault.code == "process" and fault.details.get("stopped"):
            return str(fault.details["stopped"])
        return "unavailable" if unavailable_fault(fault) is not None else fault.code


@dataclass
class Fault:
    """One way in which a model's service fails."""

    step: dict[str, object] | None
    """What the model answers; None: nothing listens there."""
    called: str
    fields: dict[str, Any] = field(default_factory=dict)
    """What the session is given for it."""


FAULTS: dict[str, Fault] = {
    "401": Fault({"status": 401, "message": "no such key"}, "process"),
    "429": Fault({"status": 429, "message": "too many requests"}, "quota"),
    "500": Fault({"status": 500, "message": "it broke"}, "unavailable"),
    "529": Fault({"status": 529, "message": "overloaded"}, "unavailable"),
    "refused": Fault(None, "unavailable"),
    "stalled": Fault(
        {"text": "a beginning that stalls", "chunks": 2, "delay": 60},
        "idle-timeout",
        {"idle_seconds": 3},
    ),
}
"""Every fault that a turn must end with, and what it must be called."""

_QUICK = ("401", "429", "refused")
FAULT_CASES = [
    name if name in _QUICK else pytest.param(name, marks=pytest.mark.long) for name in FAULTS
]
"""The same, those that say the same by another number with the long ones."""


class HostedLab:
    """A harness that Barry drives, in the home of a Lab, on the Lab's scripted model."""

    def __init__(
        self,
        lab: Lab,
        agent: Callable[[SessionConfig], AgentAdapter],
        *,
        api: str,
        env: Mapping[str, str] | None = None,
        model: str | None = None,
    ) -> None:
        """``api``: the one that its endpoint speaks; ``env``: what keeps it quiet."""
        self.lab = lab
        self.agent = agent
        self.api = api
        self.model = model
        self.env = {**lab.env, **(env or {})}
        self.executor = Watched()

    def endpoint(self, url: str | None = None) -> Endpoint:
        """The scripted model's endpoint, or one at another address."""
        url = url or self.lab.server.urls()[self.api]  # type: ignore[index] # its name is checked there
        return Endpoint.model_validate({"url": url, "api": self.api, "key": self.lab.key})

    def config(self, **fields: Any) -> SessionConfig:
        """A session's configuration: every tool is granted, and every call allowed."""
        asked = SessionConfig(
            **{
                "session_id": "a-test",
                "cwd": str(self.lab.work),
                "env": self.env,
                "allowed_native_tools": self.lab.adapter.native_tools,
                "endpoint": self.endpoint(),
                "model": self.model,
                "decide": Rulings(),
                **fields,
            }
        )
        mode = self.lab.adapter.modes["hosted"]
        return configure_harness_session(
            asked, self.lab.adapter.native_tools, mode.native if mode else None
        )

    def input(self, text: str, **fields: Any) -> AgentInput:
        """What a dialogue is opened with, by hand."""
        return AgentInput(text=text, config=self.config(), live=True, **fields)

    @asynccontextmanager
    async def open(
        self,
        *,
        resume: str | None = None,
        fork: bool = False,
        keep: bool = True,
        idle_seconds: float | None = 30,
        deadline_seconds: float | None = 60,
        **fields: Any,
    ) -> AsyncIterator[CliHarness]:
        """A driven session; ``fields`` go into its configuration. Closed on every way out."""
        config = self.config(**fields)
        harness = CliHarness(self.agent(config))
        await harness.start_session(
            HarnessSession(
                config=config,
                executor=self.executor,
                resume_session_id=resume,
                fork=fork,
                keep_process=keep,
                idle_seconds=idle_seconds,
                deadline_seconds=deadline_seconds,
            )
        )
        try:
            yield harness
        finally:
            await harness.close()

    async def turn(
        self,
        harness: CliHarness,
        text: str,
        *,
        output_schema: dict[str, Any] | None = None,
        on: Callable[[SessionEvent], Coroutine[Any, Any, object]] | None = None,
    ) -> Turn:
        """One turn to its end. ``on`` gets every event, beside the turn: to steer, to interrupt."""
        begun = time.monotonic()
        events: list[SessionEvent] = []
        beside: list[asyncio.Task[object]] = []
        async for event in harness.run_turn(text, output_schema=output_schema):
            events.append(event)
            if on is not None:
                beside.append(asyncio.ensure_future(on(event)))
        await asyncio.gather(*beside)
        ends = [number for number, event in enumerate(events) if isinstance(event, Done)]
        assert ends == [len(events) - 1], f"a turn has one done, its last event: {events}"
        return Turn(events, harness.last_turn, time.monotonic() - begun)

    async def fail(self, name: str, **fields: Any) -> Turn:
        """A turn whose model fails in this way (a key of FAULTS)."""
        fault = FAULTS[name]
        if fault.step is None:
            with socket.socket() as unused:
                unused.bind(("127.0.0.1", 0))
                port = unused.getsockname()[1]
            given = self.lab.server.urls()[self.api]  # type: ignore[index] # as above
            fields["endpoint"] = self.endpoint(
                given.replace(f":{self.lab.server.port}", f":{port}")
            )
        else:
            self.lab.script({"when": "a question", "then": [fault.step] * 20})
        async with self.open(keep=False, **{**fault.fields, **fields}) as harness:
            return await self.turn(harness, "a question")

    async def gone(
        self, *, but: Sequence[ProcessIdentity] = (), seconds: float = 5
    ) -> list[ProcessIdentity]:
        """What still runs of all that was seen, once it had this time to go."""
        give_up = time.monotonic() + seconds
        while left := [each for each in self.executor.left_running() if each not in but]:
            if time.monotonic() >= give_up:
                break
            await asyncio.sleep(0.05)
        return left
