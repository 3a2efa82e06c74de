"""Qwen Code's streams: what each kind of turn looks like on its stdout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hosted import FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.contract.events import ToolUse
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.headless.agent_input import Continuation
from tests.record import Recorder

SOON = Path(__file__).parents[1] / "real" / "fast_clock.cjs"


def shell(command: str, **more: object) -> dict[str, object]:
    given = {"command": command, "description": "a try", "is_background": False, **more}
    return {"tool": "run_shell_command", "input": given}


def rules(work: Path) -> list[dict[str, object]]:
    word = {"file_path": str(work / "word.txt")}
    change = {**word, "old_string": "zebra", "new_string": "zebu"}
    files = (
        {"tool": "read_file", "input": word},
        {"tool": "write_file", "input": {"file_path": str(work / "new.txt"), "content": "new"}},
        {"tool": "edit", "input": change},
        {"tool": "edit", "input": {**change, "old_string": "nowhere"}},
        {"tool": "list_directory", "input": {"path": str(work)}},
        {"tool": "grep_search", "input": {"pattern": "ze", "glob": "*.txt"}},
    )
    todo = {"id": "1", "content": "a", "status": "completed"}
    others = (
        {"tool": "todo_write", "input": {"todos": [todo]}},
        {"tool": "web_fetch", "input": {"url": "http://127.0.0.1:9/", "prompt": "what is there"}},
        {"tool": "no_such_tool", "input": {}},
    )
    tries = {"text": "I try.", "tools": [shell("touch canary")]}
    return [
        {"when": "first question", "then": [{"text": "the first answer", "chunks": 3}]},
        {"when": "try it", "then": [tries, {"text": "it was tried"}]},
        {"when": "files", "then": [*files, {"text": "all tried"}]},
        {"when": "others", "then": [*others, {"text": "all tried"}]},
        {"when": "for long", "then": [shell("python3 -c 'import time; time.sleep(60)'")]},
    ]


def short(line: str) -> str:
    """Without the lists of models, commands and modes, which are long."""
    row = json.loads(line)
    update = row.get("params", {}).get("update", {})
    if "availableCommands" in update:
        update["availableCommands"] = []
    result = row.get("result", {})
    for name in ("models", "authMethods", "configOptions"):
        result.pop(name, None)
    return json.dumps(row)


async def record(recorder: Recorder) -> None:
    from barry_adapter_qwen.dialogue import Dialogue
    from barry_adapter_qwen.events import events
    from barry_adapter_qwen.hosted import agent

    lab = HostedLab(recorder.lab, agent, api="openai-chat", model="openai/scripted-model")
    recorder.lab.script(*rules(recorder.lab.work))
    (recorder.lab.work / "word.txt").write_text("zebra", "utf-8")

    def keep(case: str, *, deny: bool = False, resumed: str | None = None) -> None:
        def answer(request: PermissionRequest) -> Allowed | Denied:
            return Denied(reason=SENTENCE) if deny else Allowed()

        goes_on = Continuation(resumed) if resumed else None
        dialogue = Dialogue(lab.input("a prompt", continuation=goes_on))
        lines = [short(line) for line in lab.executor.lines()]
        recorder.keep(case, lines, lab.executor.argvs[-1], events, dialogue, answer)

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
    await one("others", "others")
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
            await lab.fail(name, env={**lab.env, "NODE_OPTIONS": f"--require={SOON}"})
            keep(f"fault-{name}")
