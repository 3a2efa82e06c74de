"""A harness that does what a few lines of Python say, and the adapter for it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from barry_cli.base.local_executor import LocalExecutor
from barry_cli.contract.events import (
    Done,
    Failed,
    Init,
    Partial,
    PermissionRequested,
    Result,
    SessionEvent,
    Text,
    ToolUse,
    UsageReported,
)
from barry_cli.contract.plan import Command
from barry_cli.contract.session import Allowed, Denied, SessionConfig
from barry_cli.headless.agent_adapter import AgentAdapter
from barry_cli.headless.agent_events import (
    AgentEvent,
    Observed,
    Quota,
    Raw,
    Retrying,
    Stopped,
    Usage,
    reset_time,
)
from barry_cli.headless.agent_input import AgentInput
from barry_cli.headless.capabilities import CapabilitySettings
from barry_cli.headless.harness import CliHarness
from barry_cli.headless.live import AgentLiveInput, LiveStep
from barry_cli.headless.reading import read_line, read_string
from barry_cli.headless.session import HarnessSession

HEAD = """\
import json, os, signal, subprocess, sys, time
def say(**event): print(json.dumps(event), flush=True)
def usage(**counts): return {"input": 0, "output": 0, **counts}
given = sys.argv[1:]
asked = given[given.index("--resume") + 1] if "--resume" in given else None
"""


MEANINGS: dict[str, Callable[[dict[str, Any]], AgentEvent]] = {
    "init": lambda said: Init(harness_session_id=said["init"]),
    "model": lambda said: Observed(model=said["model"], version="1.0"),
    "text": lambda said: Text(
        text=said["text"], role="assistant", parent_tool_use_id=said.get("parent")
    ),
    "partial": lambda said: Partial(text=said["partial"]),
    "tool": lambda said: ToolUse(id="c1", tool=said["tool"], input={}),
    "result": lambda said: Result(result=said["result"], structured=said.get("structured")),
    "fail": lambda said: Failed(error=said["fail"], parent_tool_use_id=said.get("parent")),
    "usage": lambda said: UsageReported(id=said["id"], usage=Usage(**said["usage"])),
    "quota": lambda said: Quota(said["quota"], reset_time(said.get("reset"))),
    "again": lambda said: Retrying(said["again"], said.get("cause")),
    "stopped": lambda said: Stopped(said["stopped"]),
    "done": lambda said: Done(
        usage=Usage(**said["done"]) if said["done"] else None, turns=said.get("turns")
    ),
    "boom": lambda said: _boom(),
}


def _boom() -> AgentEvent:
    raise RuntimeError("a secret thing")


def events(line: str) -> tuple[AgentEvent, ...]:
    """The first key of a line says what it is."""
    said = json.loads(line)
    meaning = MEANINGS.get(next(iter(said)))
    return (Raw(line),) if meaning is None else (meaning(said),)


def request(path: Path, **more: Any) -> Any:
    def made(input: AgentInput) -> Command:
        args = ["-I", "-S", str(path)]
        if input.continuation is not None:
            args += ["--resume", input.continuation.id]
            args += ["--fork"] if input.continuation.fork else []
        if input.system_prompt:
            args += ["--system", input.system_prompt]
        if input.allowed_tools is not None:
            args += ["--allow", *input.allowed_tools]
        args += ["--deny", *input.denied_tools] if input.denied_tools else []
        stdin = None if input.live else input.text
        return Command(command=sys.executable, args=tuple(args), stdin=stdin, **more)

    return made


class ToyDialogue:
    """``{"say": text}``, ``{"answer": id, "allow": bool, "reason": text}``, ``{"stop": true}``."""

    def __init__(self, input: AgentInput) -> None:
        self._input = input

    def start(self) -> str:
        return self.encode(self._input.text)

    def encode(self, text: str) -> str:
        return json.dumps({"say": text}) + "\n"

    def read(self, line: str) -> LiveStep | None:
        said = read_line(line)
        if said is None:
            return None
        if "took" in said:
            return LiveStep(consumed=said["took"])
        if "reply" in said:
            return LiveStep(replies=(json.dumps(said["reply"]) + "\n",))
        if (name := read_string(said, "ask")) is not None:
            return LiveStep(
                events=(PermissionRequested(id=name, tool="shell", input=said.get("input")),)
            )
        return None

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        said: dict[str, Any] = {"answer": id, "allow": decision.allow}
        if isinstance(decision, Denied):
            said["reason"] = decision.reason
        else:
            said["persist"] = decision.persist
        return json.dumps(said) + "\n"

    def interrupt(self) -> str | None:
        return json.dumps({"stop": True}) + "\n"


LIVE = AgentLiveInput(open=ToyDialogue, asks=True, steers=True, persistent=True)
LIVE_HEAD = f"""\
{HEAD}
def hear():
    line = sys.stdin.readline()
    return json.loads(line) if line else None
"""


def agent(folder: Path, script: str, *, live: AgentLiveInput | None = None, **more: Any) -> Any:
    """The adapter of a harness that runs this script."""
    path = folder / "agent.py"
    path.write_text((HEAD if live is None else LIVE_HEAD) + script, encoding="utf-8")
    can = more.pop("capabilities", CapabilitySettings())
    can = can.model_copy(
        update={
            "session_resume": more.get("resumable") is True,
            "permission_hooks": live is not None and live.asks,
        }
    )
    return AgentAdapter(
        name="toy",
        request=more.pop("request", None) or request(path),
        events=more.pop("events", events),
        live_input=live,
        capabilities=can,
        **more,
    )


def config(**more: Any) -> SessionConfig:
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], **more.pop("env", {})}
    return SessionConfig(session_id="s", cwd=more.pop("cwd", "/"), env=env, **more)


def session(**more: Any) -> HarnessSession:
    """Quick limits, unless others are asked for. Fields of SessionConfig go to it."""
    asked = {
        name: more.pop(name) for name in list(more) if name in SessionConfig.__dataclass_fields__
    }
    defaults: dict[str, Any] = {"executor": LocalExecutor(), "grace_seconds": 1.0}
    if "executor" in asked:
        defaults["executor"] = asked.pop("executor")
    return HarnessSession(config=config(**asked), **{**defaults, **more})


async def read(stream: Any) -> list[SessionEvent]:
    return [event async for event in stream]


async def turn(adapter: Any, text: str = "hello", **more: Any) -> tuple[CliHarness, list[Any]]:
    """One turn, from start to close; its events."""
    harness = CliHarness(adapter)
    await harness.start_session(session(**more))
    try:
        return harness, await read(harness.run_turn(text))
    finally:
        await harness.close()


def kinds(found: Iterable[Any]) -> list[str]:
    return [event.type for event in found]


def error(found: Iterable[Any]) -> str:
    (failed,) = [event for event in found if event.type == "error"]
    return str(failed.error)
