"""pi's streams: what each kind of turn looks like on the stdout of its RPC mode."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hosted import FAULTS, SENTENCE, HostedLab, Rulings

from barry_cli.agents import AgentInput
from barry_cli.contract.events import Partial, ToolUse
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from tests.record import Recorder


def bash(command: str) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": command}}


RULES = (
    {"when": "first question", "then": [{"text": "the first answer", "chunks": 3}]},
    {
        "when": "try it",
        "then": [{"text": "I try it.", "tools": [bash("touch canary")]}, {"text": "it was tried"}],
    },
    {
        "when": "look at both",
        "then": [
            {
                "tools": [
                    {"tool": "read", "input": {"path": "word.txt"}},
                    {"tool": "read", "input": {"path": "dot.png"}},
                    {"tool": "read", "input": {"path": "gone.txt"}},
                ]
            },
            {"text": "looked"},
        ],
    },
    {"when": "for long", "then": [bash("sleep 0; python3 -c 'import time; time.sleep(60)'")]},
    {"when": "a while", "then": [bash("python3 -c 'import time; time.sleep(1)'"), {"text": "eh"}]},
    {"when": "more of it", "then": [{"text": "and more"}], "framed": True},
    {"when": "slowly", "then": [{"text": "a b c d e f g h", "chunks": 8, "delay": 0.5}]},
    {"when": "again", "then": [{"status": 500, "times": 3}, {"text": "at last"}]},
    {"when": "two steps", "then": [bash("true"), bash("true"), {"text": "never"}]},
    {
        "when": "too much",
        "then": [
            {"status": 400, "message": "prompt is too long: 9 tokens > 8 maximum", "times": 1},
            {"text": "it fits now"},
        ],
    },
)
DOT = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc0000003010100c9fe92ef0000000049454e44ae426082"
)


def short(line: str) -> str:
    """Without the whole of an answer so far, which pi writes with every piece of it."""
    row = json.loads(line)
    if row["type"] == "message_update":
        row["message"] = {}
        row["assistantMessageEvent"].pop("partial", None)
    return json.dumps(row, separators=(",", ":"))


class Recordings:
    """The turns of one harness, each kept under a name."""

    def __init__(self, recorder: Recorder) -> None:
        from barry_adapter_pi.hosted import agent

        self.recorder = recorder
        self.lab = HostedLab(
            recorder.lab,
            agent,
            api="openai-chat",
            env={"PI_OFFLINE": "1"},
            model="scripted/scripted-model",
        )
        self.settings = recorder.lab.home / ".pi" / "agent" / "settings.json"
        self.known = json.loads(self.settings.read_text("utf-8"))

    def sets(self, **more: object) -> None:
        """The user's settings."""
        quick = {"retry": {"maxRetries": 1, "baseDelayMs": 10}}
        self.settings.write_text(json.dumps({**self.known, **quick, **more}), "utf-8")

    def keep(self, case: str, *, deny: bool = False, max_turns: int | None = None) -> None:
        from barry_adapter_pi.dialogue import Dialogue
        from barry_adapter_pi.events import events

        def answer(request: PermissionRequest) -> Allowed | Denied:
            return Denied(reason=SENTENCE) if deny else Allowed()

        config = self.lab.config(max_turns=max_turns)
        dialogue = Dialogue(AgentInput(text="a prompt", config=config, live=True))
        # The name of a folder's sessions keeps its dots.
        folder = str(self.recorder.lab.work).lstrip("/").replace("/", "-")
        lines = [short(line).replace(folder, "w") for line in self.lab.executor.lines()]
        words = [word.replace(folder, "w") for word in self.lab.executor.argvs[-1]]
        self.recorder.keep(case, lines, words, events, dialogue, answer)

    async def one(
        self, case: str, text: str, on: Any = None, *, max_turns: int | None = None, **fields: Any
    ) -> str | None:
        """A turn in a process of its own; ``on`` gets the harness and each event."""
        async with self.lab.open(keep=False, max_turns=max_turns, **fields) as harness:

            async def beside(event: object) -> None:
                await on(harness, event)

            await self.lab.turn(harness, text, on=beside if on else None)
        deny = bool(getattr(fields.get("decide"), "denied", None))
        self.keep(case, deny=deny, max_turns=max_turns)
        return harness.session_id

    async def steer(self, harness: Any, event: object) -> None:
        if isinstance(event, ToolUse):
            await self.lab.executor.child("time.sleep")
            assert await harness.steer("more of it")

    async def cut_the_tool(self, harness: Any, event: object) -> None:
        if isinstance(event, ToolUse):
            await self.lab.executor.child("time.sleep")
            await harness.interrupt()


async def cut_the_text(harness: Any, event: object) -> None:
    if isinstance(event, Partial):
        await harness.interrupt()


async def cut_the_question(harness: Any, event: object) -> None:
    if isinstance(event, ToolUse):
        await asyncio.sleep(0.3)
        await harness.interrupt()


async def never(request: PermissionRequest) -> Allowed:
    await asyncio.sleep(60)
    return Allowed()


async def record(recorder: Recorder) -> None:
    (recorder.lab.work / "word.txt").write_text("heron\n", "utf-8")
    (recorder.lab.work / "dot.png").write_bytes(DOT)
    recorder.lab.script(*RULES)
    made = Recordings(recorder)
    one = made.one
    made.sets()
    first = await one("text", "first question")
    await one("allowed", "try it")
    await one("denied", "try it", decide=Rulings(["bash"]))
    await one("read", "look at both")
    await one("retried", "again")
    await one("resumed", "first question", resume=first)
    await one("forked", "first question", resume=first, fork=True)
    await one("steered", "a while", made.steer)
    await one("interrupted-tool", "for long", made.cut_the_tool)
    await one("interrupted-text", "slowly", cut_the_text)
    await one("interrupted-question", "try it", cut_the_question, decide=never)
    await one("limited", "two steps", max_turns=1)
    await one("overflowed", "too much", resume=first)
    made.sets(compaction={"reserveTokens": 127_900, "keepRecentTokens": 1})
    await one("compacted", "first question", resume=first)
    made.sets()
    for name in FAULTS:
        if name != "stalled":
            await made.lab.fail(name)
            made.keep(f"fault-{name}")
