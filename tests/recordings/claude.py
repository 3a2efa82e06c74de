"""Claude Code's streams: what each kind of turn looks like on its stdout."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hosted import FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.contract.events import Partial, ToolUse
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from tests.record import Recorder

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}


def bash(command: str) -> dict[str, object]:
    return {"tool": "Bash", "input": {"command": command, "description": "a try"}}


AGENT = {
    "tool": "Agent",
    "input": {
        "description": "a part",
        "prompt": "the inner task",
        "subagent_type": "general-purpose",
    },
}
RULES = (
    {"when": "first question", "then": [{"text": "the first answer", "chunks": 3}]},
    {
        "when": "try it",
        "then": [{"text": "I try it.", "tools": [bash("touch canary")]}, {"text": "it was tried"}],
    },
    {"when": "the inner task", "then": [bash("touch inner"), {"text": "the inner task is done"}]},
    {"when": "share it", "then": [AGENT, {"text": "it was shared"}]},
    {
        "when": "count",
        "then": [
            {"tool": "StructuredOutput", "input": {"n": "four"}},
            {"tool": "StructuredOutput", "input": {"n": 4}},
            {"text": "counted"},
        ],
    },
    {"when": "for long", "then": [bash("sleep 0; python3 -c 'import time; time.sleep(60)'")]},
    {"when": "more of it", "then": [{"text": "and more"}], "framed": True},
    {"when": "slowly", "then": [{"text": "a b c d e f g h", "chunks": 8, "delay": 0.5}]},
    {"when": "again", "then": [{"status": 500, "times": 1}, {"text": "at last"}]},
    {"when": "two steps", "then": [bash("true"), bash("true"), {"text": "never"}]},
)


def short(line: str) -> str:
    """Without the list of every command and model, which Claude Code gives when it is greeted."""
    row = json.loads(line)
    if row["type"] == "control_response" and "commands" in row["response"].get("response", {}):
        row["response"]["response"] = {}
    return json.dumps(row)


async def record(recorder: Recorder) -> None:
    from barry_adapter_claude.checks import QUIET
    from barry_adapter_claude.dialogue import Dialogue
    from barry_adapter_claude.events import events
    from barry_adapter_claude.hosted import agent

    lab = HostedLab(recorder.lab, agent, api="anthropic", env=QUIET)
    recorder.lab.script(*RULES)

    def keep(case: str, *, schema: dict[str, Any] | None = None, deny: bool = False) -> None:
        def answer(request: PermissionRequest) -> Allowed | Denied:
            return Denied(reason=SENTENCE) if deny else Allowed()

        dialogue = Dialogue(lab.input("a prompt", output_schema=schema))
        lines = [short(line) for line in lab.executor.lines()]
        recorder.keep(case, lines, lab.executor.argvs[-1], events, dialogue, answer)

    async def one(case: str, text: str, *, schema: Any = None, **fields: Any) -> str | None:
        async with lab.open(keep=False, **fields) as harness:
            await lab.turn(harness, text, output_schema=schema)
        keep(case, schema=schema, deny=bool(getattr(fields.get("decide"), "denied", None)))
        return harness.session_id

    first = await one("text", "first question")
    await one("allowed", "try it")
    await one("denied", "try it", decide=Rulings(["Bash"]))
    await one("subagent", "share it")
    await one("structured", "count", schema=SCHEMA)
    await one("max-turns", "two steps", max_turns=1)
    await one("retried", "again", env={**lab.env, "CLAUDE_CODE_MAX_RETRIES": "2"})
    await one("resumed", "first question", resume=first)
    await one("forked", "first question", resume=first, fork=True)
    # Barry would see itself that this one is gone, and start nothing.
    lab.agent = lambda config: replace(agent(config), storage=None)
    await one("lost", "first question", resume="0d6f2b3c-1111-4222-8333-444455556666")
    lab.agent = agent
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
    for name in FAULTS:
        if name != "stalled":
            await lab.fail(name)
            keep(f"fault-{name}")
