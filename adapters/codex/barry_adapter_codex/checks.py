"""What shows that guest mode keeps its promise: real launches against a scripted model."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from barry_adapter_codex.toml import Value, toml
from barry_adapter_codex.transcript import Rollouts
from barry_cli.adapters import LaunchPlan, ProofContext, Terminal
from barry_cli.sessions import Endpoint, Init, Text

MODEL = "openai/gpt-5.5"
READY = "? for shortcuts"
"""What stands below the composer once the TUI takes text."""

# Codex looks for news and plugins when it starts. A proof talks to its own model alone.
NO_NETWORK = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1",
}
_SECONDS = 30.0


def settle(home: Path, cwd: Path, key: str) -> None:
    """Make a home that of somebody who has used Codex in this folder before: logged in, the
    folder trusted, the news read.
    """
    folder = home / ".codex"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    login = folder / "auth.json"
    login.touch(mode=0o600)
    login.write_text(f'{{"auth_mode": "apikey", "OPENAI_API_KEY": {toml(key)}}}\n')
    settings: dict[str, Value] = {
        "notice": {"model_migrations": {"gpt-5.5": "gpt-6-sol"}},
        "tui": {"model_availability_nux": {"gpt-6.1-sol": 4}},
        "projects": {str(cwd): {"trust_level": "trusted"}},
    }
    (folder / "config.toml").write_text(
        "".join(f"{key} = {toml(value)}\n" for key, value in settings.items())
    )


async def guest(proof: ProofContext) -> None:
    """Raise NotShown unless everything that guest mode promises was seen."""
    settle(proof.home, proof.cwd, proof.key)
    proof.model.script(
        [
            {"when": "prove the TUI", "then": ["answer-of-the-model"]},
            {"when": "prove the denial", "then": [_touch("denied"), "denied-round-over"]},
            {"when": "prove the counter-case", "then": [_touch("allowed"), "allowed-round-over"]},
        ]
    )
    plan, terminal = await _launch(proof, denied_tools=("exec_command",))
    await _ask(terminal, "prove the TUI", "answer-of-the-model")
    await _ask(terminal, "prove the denial", "denied-round-over")
    proof.require(
        not (proof.cwd / "denied").exists(), "the denied exec_command had its effect all the same"
    )
    answers = proof.model.tool_results()
    proof.require(
        any("unsupported call" in answer for answer in answers),
        lambda: f"the denied call was answered with {answers}, not as a tool that isn't there",
    )
    await _recorded(proof, plan, "answer-of-the-model")
    terminal.close()
    await _counter_case(proof)


async def _counter_case(proof: ProofContext) -> None:
    """The same call, allowed, does what it says: so the denial is what held it."""
    _, terminal = await _launch(proof)
    await _ask(terminal, "prove the counter-case", "allowed-round-over")
    proof.require((proof.cwd / "allowed").exists(), "the allowed exec_command had no effect either")
    terminal.close()


async def _launch(proof: ProofContext, **config: Any) -> tuple[LaunchPlan, Terminal]:
    plan, terminal = await proof.launch(
        model=MODEL,
        endpoint=Endpoint.model_validate(
            {"url": proof.model.url("openai-responses"), "api": "openai", "key": proof.key}
        ),
        # Codex's own sandbox is not what is proven, and not every machine has it.
        options={"sandbox": "danger-full-access", "approvalPolicy": "never"},
        env={**proof.env, **NO_NETWORK},
        **config,
    )
    await asyncio.to_thread(terminal.wait_for, READY, seconds=_SECONDS)
    return plan, terminal


async def _ask(terminal: Terminal, prompt: str, answer: str) -> None:
    """Type a prompt, and Enter apart: in one burst it would count as pasted text."""
    terminal.type(prompt)
    await asyncio.to_thread(terminal.wait_for, prompt, seconds=_SECONDS)
    terminal.type("\r")
    await asyncio.to_thread(terminal.wait_for, answer, seconds=_SECONDS)


async def _recorded(proof: ProofContext, plan: LaunchPlan, answer: str) -> None:
    """The conversation is found by the plan, is in its folder's list, and can be read."""
    find = plan.discover_harness_session_id
    found: str | None = None
    give_up = time.monotonic() + _SECONDS
    while find is not None and found is None and time.monotonic() < give_up:
        found = await find()
        await asyncio.sleep(0.1)
    proof.require(found is not None, "the conversation's id was not found")
    source = Rollouts()
    proof.require(
        found in list(source.list(str(proof.cwd), proof.env)),
        lambda: f"the conversation {found} is not in the folder's list",
    )
    path = source.find(str(found), str(proof.cwd), proof.env)
    events = [] if path is None else list(source.read(path))
    named = [event.harness_session_id for event in events if isinstance(event, Init)]
    proof.require(named == [found], lambda: f"the transcript is of {named}, not of {found}")
    said = [event.text for event in events if isinstance(event, Text) and event.role == "assistant"]
    proof.require(answer in said, lambda: f"the transcript has {said}, not {answer!r}")


def _touch(name: str) -> dict[str, object]:
    return {"tool": "exec_command", "input": {"cmd": f"touch {name}"}}
