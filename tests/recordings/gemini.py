"""Gemini CLI's streams: what each kind of turn looks like on its stdout."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from hosted import FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.contract.events import ToolUse
from barry_cli.contract.session import Allowed, Denied, PermissionRequest, StdioMcpServer
from barry_cli.headless.agent_input import Continuation
from tests.record import Recorder

SERVER = StdioMcpServer(
    command=sys.executable,
    args=(str(Path(__file__).parents[1] / "real" / "small_mcp.py"),),
)


def shell(command: str, **more: object) -> dict[str, object]:
    given = {"command": command, "description": "a try", **more}
    return {"tool": "run_shell_command", "input": given}


CHANGE = {"file_path": "word.txt", "instruction": "x", "old_string": "zebra", "new_string": "zebu"}
FILES = (
    {"tool": "read_file", "input": {"file_path": "word.txt"}},
    {"tool": "write_file", "input": {"file_path": "new.txt", "content": "new"}},
    {"tool": "replace", "input": CHANGE},
    {"tool": "replace", "input": {**CHANGE, "old_string": "nowhere"}},
    {"tool": "list_directory", "input": {"dir_path": "."}},
    {"tool": "glob", "input": {"pattern": "*.txt"}},
    {"tool": "grep_search", "input": {"pattern": "ze", "include_pattern": "*.txt"}},
)
OTHERS = (
    {"tool": "update_topic", "input": {"title": "a", "summary": "b", "strategic_intent": "c"}},
    {"tool": "web_fetch", "input": {"prompt": "what is at http://127.0.0.1:9/ ?"}},
    {"tool": "write_todos", "input": {"todos": [{"description": "a", "status": "completed"}]}},
    {"tool": "mcp_small_greet", "input": {"name": "you"}},
    {"tool": "mcp_small_greet", "input": {"name": "y" * 600}},
    {"tool": "no_such_tool", "input": {}},
)
RULES = (
    {"when": "first question", "then": [{"text": "the first answer", "chunks": 3}]},
    {
        "when": "try it",
        "then": [{"text": "I try.", "tools": [shell("touch canary")]}, {"text": "it was tried"}],
    },
    {"when": "files", "then": [*FILES, {"text": "all tried"}]},
    {"when": "elsewhere", "then": [shell("ls", dir_path="deep"), {"text": "listed"}]},
    {"when": "others", "then": [*OTHERS, {"text": "all tried"}]},
    {"when": "for long", "then": [shell("python3 -c 'import time; time.sleep(60)'")]},
)


def short(line: str) -> str:
    """Without the lists of models and commands, which are long."""
    row = json.loads(line)
    update = row.get("params", {}).get("update", {})
    if "availableCommands" in update:
        update["availableCommands"] = []
    for name in ("models", "authMethods"):
        row.get("result", {}).pop(name, None)
    return json.dumps(row)


async def record(recorder: Recorder) -> None:
    from barry_adapter_gemini.dialogue import Dialogue
    from barry_adapter_gemini.events import events
    from barry_adapter_gemini.hosted import agent

    lab = HostedLab(recorder.lab, agent, api="gemini", model="google/gemini-2.5-pro")
    recorder.lab.script(*RULES)
    (recorder.lab.work / "deep").mkdir()
    (recorder.lab.work / "word.txt").write_text("zebra", "utf-8")
    servers = {"small": SERVER}

    def keep(case: str, *, deny: bool = False, resumed: str | None = None) -> None:
        def answer(request: PermissionRequest) -> Allowed | Denied:
            return Denied(reason=SENTENCE) if deny else Allowed()

        goes_on = Continuation(resumed) if resumed else None
        given = lab.input("a prompt", continuation=goes_on)
        given.config.mcp_servers.update(servers)
        lines = [short(line) for line in lab.executor.lines()]
        recorder.keep(case, lines, lab.executor.argvs[-1], events, Dialogue(given), answer)

    async def one(case: str, text: str, **fields: Any) -> str | None:
        async with lab.open(keep=False, **fields) as harness:
            await lab.turn(harness, text)
        deny = bool(getattr(fields.get("decide"), "denied", None))
        keep(case, deny=deny, resumed=fields.get("resume"))
        return harness.session_id

    first = await one("text", "first question")
    await one("allowed", "try it")
    await one("denied", "try it", decide=Rulings(["*"]))
    await one("files", "files")
    await one("elsewhere", "elsewhere")
    await one("others", "others", mcp_servers=servers)
    await one("resumed", "try it", resume=first)
    async with lab.open(keep=False) as harness:

        async def cut(event: object) -> None:
            if isinstance(event, ToolUse):
                await lab.executor.child("time.sleep")
                await harness.interrupt()

        await lab.turn(harness, "for long", on=cut)
    keep("interrupted")
    for name in FAULTS:
        if name != "stalled":
            await lab.fail(name)
            keep(f"fault-{name}")
