"""Sitting before an instrumented session of any harness: what differs from one to another."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import test_codex
import test_instrumented_claude
import test_instrumented_codex
import test_instrumented_gemini
import test_instrumented_opencode
import test_instrumented_pi
import test_instrumented_qwen
from harness import ROOT, Job, Lab
from plugged import Plugged

YOLO = ("--option", 'approvalMode="yolo"')
_MAIN = str(ROOT / "adapters" / "demo" / "barry_adapter_demo" / "harness" / "main.py")


class DemoSession(Plugged):
    """One session of the harness that Barry brings along."""

    def ready(self) -> None:
        self.job.terminal.wait_for("you>")

    def leave(self, *, status: int = 0) -> None:
        self.job.watch()
        self.job.terminal.type("/exit\r")
        assert self.job.status() == status
        before, after = self.job.modes()
        assert before == after
        assert self.job.left_running() == []


@dataclass(frozen=True)
class Kind:
    """What has to be known of a harness to sit before it."""

    session: type[Plugged]
    shows: str
    """What is on its screen once it takes prompts."""
    words: tuple[str, ...]
    """How Barry is to launch it, so that it asks nothing."""
    bare: tuple[str, ...]
    """The same, of the harness alone."""
    shell: Callable[[str], Mapping[str, object]]
    """The model's call of a command."""
    framed: bool = False
    """Whether a message reaches the model in the harness's own frame."""
    wakes: bool = True
    """Whether a message gets in without a prompt."""


def _demo(command: str) -> dict[str, object]:
    return {"tool": "shell", "input": {"command": command}}


KINDS: Mapping[str, Kind] = {
    "claude": Kind(
        session=test_instrumented_claude.Session,
        shows=test_instrumented_claude.PROMPT,
        words=test_instrumented_claude.MANUAL,
        bare=("--permission-mode=manual",),
        shell=test_instrumented_claude.bash,
        framed=True,
    ),
    "codex": Kind(
        session=test_instrumented_codex.Session,
        shows=test_codex.READY,
        words=(*test_codex.MODEL, *test_codex.OPEN),
        bare=("--no-daemon", "-m", "gpt-5.5", "-s", "danger-full-access", "-a", "never"),
        shell=test_instrumented_codex.run,
    ),
    "gemini": Kind(
        session=test_instrumented_gemini.Session,
        shows="Type your message",
        words=(*test_instrumented_gemini.MODEL, *YOLO),
        bare=("--model=gemini-2.5-pro", "--approval-mode=yolo"),
        shell=test_instrumented_gemini.shell,
        wakes=False,
    ),
    "qwen": Kind(
        session=test_instrumented_qwen.Session,
        shows="Type your message",
        words=(*test_instrumented_qwen.MODEL, *YOLO),
        bare=("--auth-type=openai", "--model=scripted-model", "--approval-mode=yolo"),
        shell=test_instrumented_qwen.shell,
    ),
    "opencode": Kind(
        session=Plugged,
        shows="scripted-model",
        words=test_instrumented_opencode.MODEL,
        bare=test_instrumented_opencode.MODEL[:2],
        shell=test_instrumented_opencode.bash,
    ),
    "pi": Kind(
        session=Plugged,
        shows="scripted-model",
        words=test_instrumented_pi.MODEL,
        bare=test_instrumented_pi.MODEL,
        shell=test_instrumented_pi.bash,
    ),
    "demo": Kind(
        session=DemoSession,
        shows="you>",
        words=("--option", 'allow=["shell"]'),
        bare=("-I", "-S", _MAIN, "--allow", "shell"),
        shell=_demo,
    ),
}


@dataclass(frozen=True)
class Seat:
    """A lab of one harness, and how to sit before it."""

    lab: Lab
    kind: Kind

    @property
    def is_demo(self) -> bool:
        return self.lab.adapter.id == "demo"

    def play(self, *rules: Mapping[str, object]) -> None:
        """What the model says from now on."""
        if self.is_demo:  # which has its model within
            rules = tuple({name: rule[name] for name in ("when", "then")} for rule in rules)
            (self.lab.top / "script.json").write_text(json.dumps(rules))
        else:
            self.lab.script(*rules)

    def rule(self, when: str, *then: object, framed: bool = False) -> dict[str, object]:
        return {"when": when, "then": list(then), "framed": framed and self.kind.framed}

    def begin(self, *words: str, bound: str | None = None) -> Plugged:
        return self.kind.session(self.lab, *self.kind.words, *words, bound=bound)

    def conversations(self) -> list[str]:
        """All that the model was ever asked for a turn, oldest first."""
        if self.is_demo:
            kept = (self.lab.home / ".barry-demo").rglob("*.jsonl")
            return [path.read_text("utf-8") for path in kept]
        requests = [each for each in self.lab.server.model_requests() if len(each.tools) > 3]
        return [json.dumps(each.body, ensure_ascii=False) for each in requests]


def say(job: Job, prompt: str, answer: str = "") -> None:
    """Type a prompt, and wait for its answer; Enter apart, or a busy machine makes it a paste."""
    job.terminal.type(prompt)
    job.terminal.wait_for(prompt)
    job.terminal.pump(1)
    job.terminal.type("\r")
    job.terminal.wait_for(answer, seconds=120)
    job.watch()
