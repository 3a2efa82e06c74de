"""opencode's streams: what each kind of turn looks like on its stdout."""

from __future__ import annotations

import re
import sys
from typing import Any

from hosted import FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.agents import Continuation
from barry_cli.contract.events import Partial, ToolUse
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from tests.record import ROOT, Recorder


def bash(command: str) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": command, "description": "a try"}}


TASK = {
    "tool": "task",
    "input": {
        "description": "a part",
        "prompt": "the inner task",
        "subagent_type": "general",
    },
}
RULES = (
    {"when": "first question", "then": [{"text": "the first answer", "chunks": 3}]},
    {
        "when": "try it",
        "then": [{"text": "I try it.", "tools": [bash("touch canary")]}, {"text": "it was tried"}],
    },
    {"when": "unasked", "then": [bash(">canary"), {"text": "it was tried"}]},
    {"when": "the inner task", "then": [bash("touch inner"), {"text": "the inner task is done"}]},
    {"when": "share it", "then": [TASK, {"text": "it was shared"}]},
    {"when": "no such tool", "then": [{"tool": "nothing", "input": {}}, {"text": "so be it"}]},
    {"when": "a server", "then": [{"tool": "small_greet", "input": {}}, {"text": "greeted"}]},
    {"when": "for long", "then": [bash("sleep 0; python3 -c 'import time; time.sleep(60)'")]},
    {"when": "more of it", "then": [{"text": "and more"}], "framed": True},
    {"when": "a while", "then": [bash("python3 -c 'import time; time.sleep(1)'"), {"text": "eh"}]},
    {"when": "slowly", "then": [{"text": "a b c d e f g h", "chunks": 8, "delay": 0.5}]},
    {"when": "again", "then": [{"status": 500, "times": 1}, {"text": "at last"}]},
)

_MODELS = re.compile(r'"options":\[\{"value":"(?!build).*?\]')
_COMMANDS = re.compile(r'"availableCommands":\[.*?\]\}')
_RELATIVE = re.compile(r"(\.\./)*\.harnesses/tmp/[^/\"]+/work")
_TIMES = re.compile(r"\b1[6-9]\d{11}\b")


def short(line: str) -> str:
    """Without the list of every model and command, without times and places."""
    line = _MODELS.sub('"options":[]', line)
    line = _COMMANDS.sub('"availableCommands":[]}', line)
    line = _RELATIVE.sub("w", line)
    return _TIMES.sub("1700000000000", line)


async def record(recorder: Recorder) -> None:
    from barry_adapter_opencode import events
    from barry_adapter_opencode.checks import MODEL, QUIET
    from barry_adapter_opencode.dialogue import Dialogue
    from barry_adapter_opencode.hosted import agent
    from barry_cli.contract.session import StdioMcpServer

    lab = HostedLab(recorder.lab, agent, api="openai-chat", env=QUIET, model=MODEL)
    recorder.lab.script(*RULES)
    server = StdioMcpServer(
        command=sys.executable, args=(str(ROOT / "tests" / "real" / "small_mcp.py"),)
    )

    def keep(case: str, *, deny: bool = False, **fields: Any) -> None:
        def answer(request: PermissionRequest) -> Allowed | Denied:
            return Denied(reason=SENTENCE) if deny else Allowed()

        dialogue = Dialogue(lab.input("a prompt", **fields), servers=("small",))
        lines = [short(line) for line in lab.executor.lines()]
        recorder.keep(case, lines, lab.executor.argvs[-1], events.events, dialogue, answer)

    async def one(case: str, text: str, **fields: Any) -> str | None:
        async with lab.open(keep=False, **fields) as harness:
            await lab.turn(harness, text)
        resume, fork = fields.get("resume"), bool(fields.get("fork"))
        asked = Continuation(resume, fork) if resume else None
        denies = bool(getattr(fields.get("decide"), "denied", None))
        keep(case, deny=denies, continuation=asked)
        return harness.session_id

    first = await one("text", "first question")
    await one("allowed", "try it")
    await one("denied", "try it", decide=Rulings(["bash"]))
    await one("unasked", "unasked")
    await one("subagent", "share it")
    await one("no-such-tool", "no such tool")
    await one("server", "a server", mcp_servers={"small": server})
    await one("retried", "again")
    await one("resumed", "first question", resume=first)
    await one("forked", "first question", resume=first, fork=True)
    async with lab.open(keep=False) as harness:

        async def cut_the_tool(event: object) -> None:
            if isinstance(event, ToolUse):
                await lab.executor.child("time.sleep")
                await harness.interrupt()

        await lab.turn(harness, "for long", on=cut_the_tool)
    keep("interrupted-tool")
    async with lab.open(keep=False) as harness:

        async def cut_the_text(event: object) -> None:
            if isinstance(event, Partial):
                await harness.interrupt()

        await lab.turn(harness, "slowly", on=cut_the_text)
    keep("interrupted-text")
    async with lab.open(keep=False) as harness:

        async def steer(event: object) -> None:
            if isinstance(event, ToolUse):
                await lab.executor.child("time.sleep")
                await harness.steer("more of it")

        await lab.turn(harness, "a while", on=steer)
    keep("steered")
    for name in FAULTS:
        if name != "stalled":
            await lab.fail(name)
            keep(f"fault-{name}")
