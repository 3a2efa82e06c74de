"""Codex's streams: what each kind of turn looks like on its app server's stdout."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import Any

from hosted import FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.agents import CliHarness, Continuation
from barry_cli.contract.events import Partial, ToolUse
from barry_cli.contract.session import Allowed, Denied, PermissionRequest, StdioMcpServer
from tests.record import Recorder

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
UNKNOWN = "01a22df1-fc76-7ba3-b422-f9d34d0693bd"
SERVER = """
import json, sys
tool = {"name": "greet", "description": "greets", "inputSchema": {"type": "object"}}
hello = {"content": [{"type": "text", "text": "hello from the server"}]}
for line in sys.stdin:
    asked = json.loads(line)
    about = {"protocolVersion": asked.get("params", {}).get("protocolVersion"),
             "capabilities": {"tools": {}}, "serverInfo": {"name": "small", "version": "1"}}
    given = {"initialize": about, "tools/list": {"tools": [tool]}, "tools/call": hello}
    if "id" in asked:
        result = given.get(asked["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
PATCH = (
    "*** Begin Patch\n*** Add File: new.txt\n+one\n*** Update File: old.txt\n"
    "*** Move to: moved.txt\n@@\n-one\n+two\n*** Delete File: gone.txt\n*** End Patch\n"
)


def command(text: str, **more: Any) -> dict[str, object]:
    return {"tool": "exec_command", "input": {"cmd": text, **more}}


RULES = (
    {"when": "first question", "then": [{"text": "the first answer", "chunks": 3}]},
    {
        "when": "try it",
        "then": [{"text": "I try it.", "tools": [command("touch canary")]}, {"text": "tried"}],
    },
    {"when": "both", "then": [{"tools": [command("true"), command("false")]}, {"text": "both"}]},
    {"when": "patch it", "then": [{"tool": "apply_patch", "input": PATCH}, {"text": "patched"}]},
    {
        "when": "greet it",
        "then": [{"tool": "greet", "namespace": "mcp__small", "input": {"to": "you"}}, "greeted"],
    },
    {"when": "count", "then": ['{"n": 4}']},
    {"when": "for long", "then": [command("python3 -c 'import time; time.sleep(60)'")]},
    {"when": "a while", "then": [command("sleep 1"), {"text": "without more"}]},
    {"when": "more of it", "then": [{"text": "and more"}]},
    {"when": "slowly", "then": [{"text": "a b c d e f g h", "chunks": 8, "delay": 0.5}]},
    {"when": "again", "then": [{"status": 500, "times": 1}, {"text": "at last"}]},
)


def scripted(text: str) -> dict[str, object]:
    """What a model that calls its tools from scripts says to the same end."""
    script = f"const r = await tools.exec_command({{cmd: {json.dumps(text)}}}); text(r.output)"
    return {"tool": "exec", "input": script}


def short(line: str) -> str:
    """Without the long parts that mean nothing here."""
    row = json.loads(line)
    thread = (row.get("result") or {}).get("thread") or (row.get("params") or {}).get("thread")
    if isinstance(thread, dict):
        for name in ("gitInfo", "environments", "turns"):
            thread.pop(name, None)
    params = row.get("params") or {}
    if row.get("method") == "turn/diff/updated":
        params["diff"] = ""
    return json.dumps(row)


def meddling(case: str, lab: HostedLab, harness: CliHarness) -> Any:
    """What is done to a turn while it runs."""

    async def on(event: object) -> None:
        if case == "steered" and isinstance(event, ToolUse):
            await lab.executor.child("sleep")
            await harness.steer("more of it")
        elif case == "interrupted-tool" and isinstance(event, ToolUse):
            await lab.executor.child("time.sleep")
            await harness.interrupt()
        elif case == "interrupted-text" and isinstance(event, Partial):
            await harness.interrupt()

    return on


async def record(recorder: Recorder) -> None:
    from barry_adapter_codex.checks import MODEL, NO_NETWORK
    from barry_adapter_codex.dialogue import Dialogue
    from barry_adapter_codex.events import events
    from barry_adapter_codex.hosted import agent

    lab = HostedLab(recorder.lab, agent, api="openai-responses", env=NO_NETWORK, model=MODEL)
    recorder.lab.script(*RULES)

    def keep(
        case: str,
        *,
        schema: dict[str, Any] | None = None,
        deny: bool = False,
        goes_on: Continuation | None = None,
    ) -> None:
        def answer(request: PermissionRequest) -> Allowed | Denied:
            return Denied(reason=SENTENCE) if deny else Allowed()

        dialogue = Dialogue(lab.input("a prompt", output_schema=schema, continuation=goes_on))
        lines = [short(line) for line in lab.executor.lines()]
        recorder.keep(case, lines, lab.executor.argvs[-1], events, dialogue, answer)

    async def one(case: str, text: str, *, schema: Any = None, **fields: Any) -> str | None:
        async with lab.open(keep=False, **fields) as harness:
            await lab.turn(harness, text, output_schema=schema)
        resumed = fields.get("resume")
        goes_on = Continuation(resumed, bool(fields.get("fork"))) if resumed else None
        deny = bool(getattr(fields.get("decide"), "denied", None))
        keep(case, schema=schema, deny=deny, goes_on=goes_on)
        return harness.session_id

    server = {"small": StdioMcpServer(command=sys.executable, args=("-c", SERVER))}
    first = await one("text", "first question")
    await one("allowed", "try it")
    await one("denied", "try it", decide=Rulings(["*"]))
    await one("both", "both")
    for name in ("old.txt", "gone.txt"):
        (recorder.lab.work / name).write_text("one\n", "utf-8")
    await one("patch-denied", "patch it", decide=Rulings(["*"]))
    await one("patch", "patch it")
    await one("server", "greet it", mcp_servers=server)
    await one("server-denied", "greet it", mcp_servers=server, decide=Rulings(["*"]))
    await one("structured", "count", schema=SCHEMA)
    await one("retried", "again")
    await one("resumed", "first question", resume=first)
    await one("forked", "first question", resume=first, fork=True)
    # Barry would see itself that this one is gone, and start nothing.
    lab.agent = lambda config: replace(agent(config), storage=None)
    await one("lost", "first question", resume=UNKNOWN)
    lab.agent = agent
    recorder.lab.script({"when": "try it", "then": [scripted("touch canary"), "tried"]}, *RULES)
    await one("scripted", "try it", model="openai/gpt-6-sol")

    for case, text in (
        ("steered", "a while"),
        ("interrupted-tool", "for long"),
        ("interrupted-text", "slowly"),
    ):
        async with lab.open(keep=False) as harness:
            await lab.turn(harness, text, on=meddling(case, lab, harness))
        keep(case)
    for name in FAULTS:
        if name != "stalled":
            await lab.fail(name)
            keep(f"fault-{name}")
