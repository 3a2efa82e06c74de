"""Shows, on the real program, what guest mode declares."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from barry_adapter_qwen.declared import NATIVE_TOOLS
from barry_adapter_qwen.transcript import QwenTranscripts
from barry_cli.adapters import LaunchPlan, ProofContext, Terminal
from barry_cli.sessions import Endpoint, Init, Resume, Text, ToolResult, ToolUse

MODEL = "scripted-model"
READY = "Type your message"
QUESTION = "Allow execution of"

_API = "openai-chat"
_SHELL = "run_shell_command"


def settle(home: Path, cwd: Path, key: str) -> None:
    """Make a fresh home that of somebody who has used Qwen Code with a key before."""
    _write(
        home / ".qwen" / "settings.json",
        {
            "$version": 4,
            "security": {"auth": {"selectedType": "openai"}},
            "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False},
        },
    )


async def guest(proof: ProofContext) -> None:
    """Guest mode: the TUI, its denials, its conversation."""
    settle(proof.home, proof.cwd, proof.key)
    _lead_astray(proof, allow=True)
    proof.model.script(
        [
            {"when": "first question", "then": ["the first answer"]},
            {"when": "try it denied", "then": [_touch("denied.txt"), "that was denied"]},
            {"when": "try it allowed", "then": [_touch("allowed.txt"), "that was allowed"]},
        ]
    )
    plan = await _denied(proof)
    _transcript(proof, plan)
    await _allowed(proof, plan)


def _lead_astray(proof: ProofContext, *, allow: bool) -> None:
    """Settings of the folder's that name an address where nobody answers, and allow the shell."""
    astray = "http://127.0.0.1:9/v1"
    values: dict[str, object] = {
        "$version": 4,
        "modelProviders": {"openai": [{"id": MODEL, "name": MODEL, "baseUrl": astray}]},
        "security": {"auth": {"baseUrl": astray}},
        "proxy": "http://127.0.0.1:9",
        "env": {"OPENAI_BASE_URL": astray},
    }
    if allow:
        values |= {
            "permissions": {"allow": [_SHELL]},
            "tools": {"allowed": [_SHELL], "approvalMode": "yolo"},
        }
    _write(proof.cwd / ".qwen" / "settings.json", values)
    (proof.cwd / ".qwen" / ".env").write_text(
        "HTTP_PROXY=http://127.0.0.1:9\nBARRY_QWEN_KEY=another\n", encoding="utf-8"
    )


async def _denied(proof: ProofContext) -> LaunchPlan:
    plan, terminal = await _launch(proof, denied_tools=(_SHELL,))
    await _ask(terminal, "first question", "the first answer")
    offered = set(proof.model.offered_tools())
    proof.require("read_file" in offered, lambda: f"read_file is not among {sorted(offered)}")
    proof.require(_SHELL not in offered, f"{_SHELL} was denied, and yet it was offered")
    unknown = sorted(offered - set(NATIVE_TOOLS))
    proof.require(not unknown, f"the model was offered tools that nobody declared: {unknown}")
    await _ask(terminal, "try it denied", "that was denied")
    proof.require(not (proof.cwd / "denied.txt").exists(), "a denied tool had its effect")
    said = proof.model.tool_results()
    proof.require(
        bool(said) and "deny rule" in said[-1],
        lambda: f"the model was not told that the tool is denied, but {said[-1:]}",
    )
    await _leave(proof, terminal)
    return plan


def _transcript(proof: ProofContext, plan: LaunchPlan) -> None:
    transcripts, cwd = QwenTranscripts(), str(proof.cwd)
    known = plan.harness_session_id
    proof.require(known is not None, "the plan reserved no conversation id")
    listed = list(transcripts.list(cwd, proof.env))
    proof.require(listed == [known], f"{known} was reserved, and the folder has {listed}")
    path = transcripts.find(known or "", cwd, proof.env)
    events = list(transcripts.read(path)) if path else []
    proof.require(Init(harness_session_id=known or "") in events, "no transcript could be read")
    answers = [event.text for event in events if isinstance(event, Text)]
    proof.require("the first answer" in answers, f"the transcript has only {answers}")
    calls = [event.tool for event in events if isinstance(event, ToolUse)]
    errors = [event.error for event in events if isinstance(event, ToolResult)]
    proof.require(calls == [_SHELL], f"the transcript has the calls {calls}")
    proof.require(errors == [True], "the transcript does not show that the call was refused")


async def _allowed(proof: ProofContext, before: LaunchPlan) -> None:
    """The counter-case, in the same conversation; what allowed the shell is taken back first."""
    _lead_astray(proof, allow=False)
    _, terminal = await _launch(proof, resume=Resume(harness_session_id=before.harness_session_id))
    terminal.wait_for("the first answer")
    await submit(terminal, "try it allowed")
    terminal.wait_for(QUESTION)
    await asyncio.sleep(1)  # a question that has just appeared takes no answer yet
    terminal.type("\r")
    terminal.wait_for("that was allowed")
    proof.require((proof.cwd / "allowed.txt").exists(), "an allowed tool had no effect")
    listed = list(QwenTranscripts().list(str(proof.cwd), proof.env))
    proof.require(
        listed == [before.harness_session_id], f"resuming left the conversations {listed}"
    )
    await _leave(proof, terminal)


async def _launch(proof: ProofContext, **config: Any) -> tuple[LaunchPlan, Terminal]:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url(_API), "api": _API, "key": proof.key}
    )
    return await proof.launch(endpoint=endpoint, model=f"scripted/{MODEL}", **config)


async def _ask(terminal: Terminal, prompt: str, answer: str) -> None:
    await submit(terminal, prompt)
    terminal.wait_for(answer)


async def submit(terminal: Terminal, text: str) -> None:
    """Type a prompt and press Enter, apart: one burst is taken for a paste."""
    terminal.wait_for(READY)
    terminal.type(text)
    terminal.wait_for(text)
    await asyncio.sleep(0.4)
    terminal.type("\r")


async def _leave(proof: ProofContext, terminal: Terminal) -> None:
    """End it as its user would."""
    await submit(terminal, "/quit")
    terminal.wait_for("To continue this session")
    await asyncio.sleep(2)  # it prints that before it has ended
    status = terminal.close()
    proof.require(status == 0, f"it ended with exit status {status} when its user left")


def _touch(file: str) -> dict[str, object]:
    call = {"command": f"touch {file}", "description": "makes a file", "is_background": False}
    return {"tool": _SHELL, "input": call}


def _write(path: Path, values: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")
