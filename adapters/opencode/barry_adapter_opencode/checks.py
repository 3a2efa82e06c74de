"""Shows on a real opencode what guest mode promises."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from barry_adapter_opencode.transcript import OpencodeTranscripts
from barry_cli.sessions import Endpoint, Text

if TYPE_CHECKING:
    from barry_cli.adapters import ProofContext, Terminal

MODEL = "scripted/scripted-model"

# Keeps a run of the check from the network; launches don't set these.
QUIET = {
    "OPENCODE_DISABLEMODELS_FETCH": "1",
    "npm_config_registry": "http://127.0.0.1:9/",
    "npm_config_fetch_retries": "0",
}

# Settings as unkind to a denial as they can be: wildcards behind the tool's own rule, and agents
# with rules of their own.
_RULES = {"bash": "ask", "*": "allow"}
_UNKIND = {
    "permission": _RULES,
    "agent": {"build": {"permission": _RULES}},
    "mode": {"build": {"permission": _RULES}},
}


def settle(home: Path, cwd: Path, key: str) -> None:
    """Make a fresh home that of somebody who has used opencode before. There is no first dialog;
    at its first start opencode would write this file.
    """
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "opencode.jsonc").write_text(
        '{\n  "$schema": "https://opencode.ai/config.json"\n}\n', encoding="utf-8"
    )


async def guest(proof: ProofContext) -> None:
    """The TUI, the denial with its counter-case, and the conversation's record."""
    settle(proof.home, proof.cwd, proof.key)
    unkind = json.dumps(_UNKIND)
    (proof.home / ".config" / "opencode" / "opencode.json").write_text(unkind, encoding="utf-8")
    (proof.cwd / "opencode.json").write_text(unkind, encoding="utf-8")
    proof.model.script(
        [
            {"when": "say the word", "then": ["The word is heron."]},
            {"when": "denied run", "then": [_touch(proof.cwd / "denied"), "Tried that."]},
            {"when": "allowed run", "then": [_touch(proof.cwd / "allowed"), "Did that."]},
        ]
    )
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url("openai-chat"), "api": "openai-chat", "key": proof.key}
    )
    env = {**proof.env, **QUIET}

    _, terminal = await proof.launch(
        endpoint=endpoint, model=MODEL, env=env, denied_tools=("bash",)
    )
    _ask(terminal, "denied run", "Tried that.")
    proof.require("bash" not in proof.model.offered_tools(), "the denied tool bash is offered")
    proof.require(not (proof.cwd / "denied").exists(), "the denied tool bash ran")
    proof.require(
        any("unavailable tool 'bash'" in result for result in proof.model.tool_results()),
        "the call of a denied tool was not answered as one of an unknown tool",
    )
    terminal.close()

    plan, terminal = await proof.launch(endpoint=endpoint, model=MODEL, env=env)
    _ask(terminal, "say the word", "The word is heron.")
    _ask(terminal, "allowed run", "Did that.")
    proof.require((proof.cwd / "allowed").exists(), "the allowed tool bash had no effect")
    discover = plan.discover_harness_session_id
    found = await discover() if discover is not None else None
    terminal.close()

    transcripts = OpencodeTranscripts()
    path = transcripts.find(found, str(proof.cwd), proof.env) if found else None
    proof.require(path is not None, f"the database has no conversation {found}")
    assert path is not None
    said = [event.text for event in transcripts.read(path) if isinstance(event, Text)]
    proof.require("The word is heron." in said, "the database does not hold the answer")
    proof.require("Tried that." not in said, "the conversation found holds another one too")


def _touch(path: Path) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": f"touch {path}", "description": "a canary"}}


def _ask(terminal: Terminal, prompt: str, answer: str) -> None:
    terminal.wait_for("scripted-model")
    # Enter comes apart from the text: one burst of both is taken for a paste.
    terminal.type(prompt)
    time.sleep(0.6)
    terminal.type("\r")
    terminal.wait_for(answer)
