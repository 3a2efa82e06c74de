"""Shows what guest mode promises, on the harness itself."""

from __future__ import annotations

import json
from pathlib import Path

from barry_cli.adapters import ProofContext, Terminal
from barry_cli.sessions import Init, Text, ToolUse

_SAYS = "aye, the answer is forty-two"
_CANARY = "canary.txt"


def settle(home: Path, cwd: Path, key: str) -> None:
    """Nothing to do: the harness asks nothing when it is new."""


async def guest(proof: ProofContext) -> None:
    """The TUI answers; a denied tool has no effect and an allowed one has; the reserved
    conversation is kept and can be read.
    """
    script = proof.cwd / "script.json"
    script.write_text(
        json.dumps(
            [
                {"when": "question", "then": [{"text": _SAYS}]},
                {
                    "when": "touch",
                    "then": [
                        {"tool": "shell", "input": {"command": f"touch {_CANARY}"}},
                        {"text": "tried it"},
                    ],
                },
            ]
        )
    )
    env = {**proof.env, "BARRY_DEMO_SCRIPT": str(script)}
    canary = proof.cwd / _CANARY

    plan, terminal = await proof.launch(env=env, denied_tools=("shell",))
    terminal.wait_for("you>")
    _say(terminal, "a question", _SAYS)
    _say(terminal, "touch it", "tried it")
    terminal.type("/exit\r")
    proof.require(terminal.ended() == 0, "it did not end with 0 after /exit")
    proof.require(not canary.exists(), "the denied tool shell had its effect")

    conversation = plan.harness_session_id
    proof.require(conversation is not None, "no conversation was reserved")
    source = proof.adapter.transcript
    assert source is not None
    assert conversation is not None
    path = source.find(conversation, str(proof.cwd), proof.env)
    proof.require(path is not None, "the reserved conversation was not kept")
    assert path is not None
    events = list(source.read(path))
    texts = [event.text for event in events if isinstance(event, Text)]
    proof.require(Init(harness_session_id=conversation) in events, "its record has another id")
    proof.require(_SAYS in texts, "its record does not hold the answer")
    proof.require(any(isinstance(each, ToolUse) for each in events), "its record holds no call")

    _, terminal = await proof.launch(env=env, options={"allow": ["shell"]})
    terminal.wait_for("you>")
    _say(terminal, "touch it", "tried it")
    terminal.type("/exit\r")
    terminal.ended()
    proof.require(canary.exists(), "the allowed tool shell had no effect, so nothing was shown")


def _say(terminal: Terminal, prompt: str, answer: str) -> None:
    terminal.type(f"{prompt}\r")
    terminal.wait_for(answer, seconds=20)
