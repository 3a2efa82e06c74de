"""Shows, on the real program, what guest mode declares."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from barry_adapter_gemini.declared import NATIVE_TOOLS, VENDOR
from barry_adapter_gemini.transcript import GeminiTranscripts
from barry_cli.adapters import LaunchPlan, ProofContext, Terminal
from barry_cli.sessions import Endpoint, Init, Resume, Text, ToolResult, ToolUse

MODEL = "gemini-2.5-pro"
"""With a fixed model there is no call that only chooses one."""

READY = "Type your message"
QUESTION = "Allow execution of [Shell]?"

_SHELL = "run_shell_command"


def settle(home: Path, cwd: Path, key: str) -> None:
    """Make a fresh home that of somebody who has used Gemini CLI with a key before."""
    _write(
        home / ".gemini" / "settings.json",
        {
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
            "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
            "privacy": {"usageStatisticsEnabled": False},
        },
    )


async def guest(proof: ProofContext) -> None:
    """Guest mode: the TUI, its denials, its conversation."""
    settle(proof.home, proof.cwd, proof.key)
    _lead_astray(proof)
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


def _lead_astray(proof: ProofContext) -> None:
    """Settings that allow the shell, a policy too, and an address where nobody answers."""
    _write(proof.cwd / ".gemini" / "settings.json", {"tools": {"allowed": [_SHELL]}})
    (proof.cwd / ".gemini" / ".env").write_text(
        "GOOGLE_VERTEX_BASE_URL=http://127.0.0.1:9\nHTTP_PROXY=http://127.0.0.1:9\n"
        "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:9\nGEMINI_API_KEY=another\n",
        encoding="utf-8",
    )
    policies = proof.home / ".gemini" / "policies"
    policies.mkdir()
    (policies / "allow.toml").write_text(
        f'[[rule]]\ntoolName = "{_SHELL}"\ndecision = "allow"\npriority = 999\n', encoding="utf-8"
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
        bool(said) and "not found" in said[-1],
        lambda: f"the model was not told that the denied tool does not exist, but {said[-1:]}",
    )
    await _leave(proof, terminal)
    return plan


def _transcript(proof: ProofContext, plan: LaunchPlan) -> None:
    transcripts, cwd = GeminiTranscripts(), str(proof.cwd)
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
    (proof.home / ".gemini" / "policies" / "allow.toml").unlink()
    (proof.cwd / ".gemini" / "settings.json").unlink()
    _, terminal = await _launch(proof, resume=Resume(harness_session_id=before.harness_session_id))
    terminal.wait_for("the first answer")
    await submit(terminal, "try it allowed")
    terminal.wait_for(QUESTION)
    await asyncio.sleep(1)  # a question that has just appeared takes no answer yet
    terminal.type("\r")
    terminal.wait_for("that was allowed")
    proof.require((proof.cwd / "allowed.txt").exists(), "an allowed tool had no effect")
    listed = list(GeminiTranscripts().list(str(proof.cwd), proof.env))
    proof.require(
        listed == [before.harness_session_id], f"resuming left the conversations {listed}"
    )
    await _leave(proof, terminal)


async def _launch(proof: ProofContext, **config: Any) -> tuple[LaunchPlan, Terminal]:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url("gemini"), "api": VENDOR, "key": proof.key}
    )
    return await proof.launch(endpoint=endpoint, model=f"{VENDOR}/{MODEL}", **config)


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
    terminal.wait_for("To resume this session")
    await asyncio.sleep(2)  # it prints that before it has ended
    status = terminal.close()
    proof.require(status == 0, f"it ended with exit status {status} when its user left")


def _touch(file: str) -> dict[str, object]:
    return {"tool": _SHELL, "input": {"command": f"touch {file}", "description": "makes a file"}}


def _write(path: Path, values: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")
