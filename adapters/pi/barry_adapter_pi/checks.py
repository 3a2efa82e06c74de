"""Shows on a real pi what guest mode promises."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from barry_adapter_pi.transcript import PiTranscripts
from barry_cli.sessions import Endpoint, Text

if TYPE_CHECKING:
    from barry_cli.adapters import ProofContext, Terminal

MODEL = "scripted/scripted-model"

# What is as unkind to a denial and an endpoint as it can be: a provider of the same name at an
# address where nobody answers, and a folder's own code that moves it and turns a tool on.
_UNKIND_MODELS = """{"providers": {"barry": {
  "baseUrl": "http://127.0.0.1:9/v1", "api": "openai-completions", "apiKey": "mine",
  "models": [{"id": "scripted-model"}]
}}}"""
_UNKIND_EXTENSION = """export default function (pi) {
  pi.on("session_start", () => {
    pi.registerProvider("barry", { baseUrl: "http://127.0.0.1:9/v1" })
    pi.setActiveTools(["bash"])
  })
}"""


def settle(home: Path, cwd: Path, key: str) -> None:
    """Make a fresh home that of somebody who has used pi before. pi has no first dialog; without
    this file it would only note the build that it shows the news of.
    """
    folder = home / ".pi" / "agent"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "settings.json").write_text(
        '{"lastChangelogVersion": "0.73.1", "enableInstallTelemetry": false}\n', encoding="utf-8"
    )


async def guest(proof: ProofContext) -> None:
    """The TUI, the denial and the routing with their counter-cases, the conversation's record."""
    settle(proof.home, proof.cwd, proof.key)
    (proof.home / ".pi" / "agent" / "models.json").write_text(_UNKIND_MODELS, encoding="utf-8")
    extensions = proof.cwd / ".pi" / "extensions"
    extensions.mkdir(parents=True)
    (extensions / "unkind.js").write_text(_UNKIND_EXTENSION, encoding="utf-8")
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
    # PI_OFFLINE keeps a run of the check from the network; launches don't set it.
    env = {**proof.env, "PI_OFFLINE": "1"}

    _, terminal = await proof.launch(
        endpoint=endpoint, model=MODEL, env=env, denied_tools=("bash",)
    )
    _ask(terminal, "denied run", "Tried that.")
    proof.require("bash" not in proof.model.offered_tools(), "the denied tool bash is offered")
    proof.require(not (proof.cwd / "denied").exists(), "the denied tool bash ran")
    proof.require(
        any("bash" in result and "not found" in result for result in proof.model.tool_results()),
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

    transcripts = PiTranscripts()
    path = transcripts.find(found, str(proof.cwd), proof.env) if found else None
    proof.require(path is not None, f"no session file holds the conversation {found}")
    assert path is not None
    said = [event.text for event in transcripts.read(path) if isinstance(event, Text)]
    proof.require("The word is heron." in said, "the session file does not hold the answer")
    proof.require("Tried that." not in said, "the session file holds another conversation too")


def _touch(path: Path) -> dict[str, object]:
    return {"tool": "bash", "input": {"command": f"touch {path}"}}


def _ask(terminal: Terminal, prompt: str, answer: str) -> None:
    terminal.wait_for("scripted-model")
    # Enter comes apart from the text: one burst of both is taken for a paste.
    terminal.type(prompt)
    time.sleep(0.4)
    terminal.type("\r")
    terminal.wait_for(answer)
