"""Shows, on the real program, what guest mode declares."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path
from typing import Any

from barry_adapter_claude.declared import NATIVE_TOOLS, PLACEHOLDER, VENDOR
from barry_adapter_claude.transcript import ClaudeTranscripts
from barry_cli.adapters import LaunchPlan, ProofContext, Terminal
from barry_cli.sessions import Endpoint, Init, Resume, Text, ToolResult, ToolUse

# What no check needs to reach: with a dead proxy it stays on this machine.
_NOWHERE = "http://127.0.0.1:9"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "HTTPS_PROXY": _NOWHERE,
    "NO_PROXY": "127.0.0.1",
}

PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}"
_FAILED = "API Error"
_QUESTION = "Do you want to proceed?"


def settle(home: Path, cwd: Path, key: str) -> None:
    """Make a fresh home that of somebody who has used Claude Code here before."""
    state = {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [key[-20:]], "rejected": []},
        "projects": {os.path.realpath(cwd): {"hasTrustDialogAccepted": True}},
    }
    (home / ".claude.json").write_text(json.dumps(state), encoding="utf-8")


async def guest(proof: ProofContext) -> None:
    """Guest mode: the TUI, its denials, its conversation."""
    settle(proof.home, proof.cwd, proof.key)
    _lead_astray(proof)
    proof.model.script(
        [
            {"when": "first question", "then": [{"text": "the first answer"}]},
            _calls_bash("try it denied", "denied.txt", "that was denied"),
            _calls_bash("try it allowed", "allowed.txt", "that was allowed"),
        ]
    )
    plan = await _denied(proof)
    _transcript(proof, plan)
    await _allowed(proof, plan)


def _lead_astray(proof: ProofContext) -> None:
    """Write settings of the user's and of the folder's that name an address with no answers."""
    settings = {"env": {"ANTHROPIC_BASE_URL": _NOWHERE, "ANTHROPIC_AUTH_TOKEN": "other"}}
    for folder in (proof.home / ".claude", proof.cwd / ".claude"):
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings), encoding="utf-8")


def _calls_bash(when: str, file: str, then: str) -> dict[str, object]:
    call = {"command": f"touch {file}", "description": "makes a file"}
    return {"when": when, "then": [{"tool": "Bash", "input": call}, {"text": then}]}


async def _denied(proof: ProofContext) -> LaunchPlan:
    plan, terminal = await _launch(proof, denied_tools=("Bash",))
    terminal.wait_for(PROMPT)
    await submit(terminal, "first question")
    await _wait_for_either(terminal, "the first answer", _FAILED)
    proof.require(
        "the first answer" in terminal.screen(),
        lambda: f"no answer came from the endpoint given:\n{terminal.screen()}",
    )
    offered = set(proof.model.offered_tools())
    proof.require("Read" in offered, lambda: f"Read was not offered, only {sorted(offered)}")
    proof.require("Bash" not in offered, "Bash was denied, and yet it was offered to the model")
    unknown = sorted(offered - {*NATIVE_TOOLS, PLACEHOLDER})
    proof.require(not unknown, f"the model was offered tools that nobody declared: {unknown}")
    await submit(terminal, "try it denied")
    await _wait_for_either(terminal, "that was denied", _QUESTION)
    proof.require(_QUESTION not in terminal.screen(), "it asked about a tool that was denied")
    proof.require(not (proof.cwd / "denied.txt").exists(), "a denied tool had its effect")
    said = proof.model.tool_results()
    proof.require(
        bool(said) and "No such tool available: Bash" in said[-1],
        lambda: f"the model was not told that Bash is denied, but {said[-1:]}",
    )
    await leave(proof, terminal)
    return plan


def _transcript(proof: ProofContext, plan: LaunchPlan) -> None:
    transcripts, cwd = ClaudeTranscripts(), str(proof.cwd)
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
    proof.require(calls == ["Bash"], f"the transcript has the calls {calls}")
    proof.require(errors == [True], "the transcript does not show that the call was refused")


async def _allowed(proof: ProofContext, before: LaunchPlan) -> None:
    """The counter-case, in the same conversation."""
    _, terminal = await _launch(proof, resume=Resume(harness_session_id=before.harness_session_id))
    terminal.wait_for("the first answer")
    await submit(terminal, "try it allowed")
    terminal.wait_for(_QUESTION)
    await asyncio.sleep(1)  # a question that has just appeared takes no answer yet
    terminal.type("\r")
    terminal.wait_for("that was allowed")
    proof.require((proof.cwd / "allowed.txt").exists(), "an allowed tool had no effect")
    listed = list(ClaudeTranscripts().list(str(proof.cwd), proof.env))
    proof.require(
        listed == [before.harness_session_id], f"resuming left the conversations {listed}"
    )
    await leave(proof, terminal)


async def _launch(proof: ProofContext, **config: Any) -> tuple[LaunchPlan, Terminal]:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url(VENDOR), "api": VENDOR, "key": proof.key}
    )
    return await proof.launch(
        env={**proof.env, **QUIET},
        endpoint=endpoint,
        options={"permissionMode": "manual"},
        **config,
    )


async def submit(terminal: Terminal, text: str) -> None:
    """Type a prompt and press Enter, apart: one burst is taken for a paste."""
    terminal.type(text)
    terminal.wait_for(text)
    await asyncio.sleep(0.4)
    terminal.type("\r")


async def _wait_for_either(terminal: Terminal, *texts: str, seconds: float = 30) -> None:
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up and not any(text in terminal.screen() for text in texts):
        await asyncio.sleep(0.1)


async def leave(proof: ProofContext, terminal: Terminal) -> None:
    """End it as its user would, with Ctrl-D twice."""
    for _ in range(2):
        terminal.type("\x04")
        await asyncio.sleep(0.4)
    code = terminal.close()
    proof.require(code == 0, f"it ended with status {code}, and not 0, after Ctrl-D twice")
