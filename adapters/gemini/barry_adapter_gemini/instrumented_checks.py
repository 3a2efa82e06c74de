"""Shows, on the real program, what instrumented mode declares."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from barry_adapter_gemini.checks import MODEL, settle, submit
from barry_adapter_gemini.declared import VENDOR
from barry_cli.adapters import LaunchPlan, ProofContext, Terminal
from barry_cli.sessions import Endpoint, StdioMcpServer

_SECRET = "a word that only the file holds"  # noqa: S105 - what a file says, no password
_SHELL = "run_shell_command"

_BOUND = {
    "bash": {"denyPrograms": ["touch"]},
    "files": {"deny": ["new.txt", "word.txt"]},
    "deniedTools": ["small:greet"],
}

_SERVER = """
import json, sys
tool = {"name": "greet", "description": "greets", "inputSchema": {"type": "object"}}
hello = {"content": [{"type": "text", "text": "hello from the server"}]}
for line in sys.stdin:
    asked = json.loads(line)
    about = {"protocolVersion": asked.get("params", {}).get("protocolVersion"),
             "capabilities": {"tools": {}}, "serverInfo": {"name": "small", "version": "1"}}
    given = {"initialize": about, "tools/list": {"tools": [tool]}, "tools/call": hello}
    if "id" in asked:
        result = given.get(asked["method"], {})
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""

# One of each kind; the subagent's call last.
_CALLS: tuple[dict[str, object], ...] = (
    {"tool": _SHELL, "input": {"command": "touch made", "description": "a try"}},
    {"tool": "write_file", "input": {"file_path": "new.txt", "content": "new"}},
    {"tool": "read_file", "input": {"file_path": "word.txt"}},
    {"tool": "mcp_small_greet", "input": {}},
    {"tool": "invoke_agent", "input": {"agent_name": "generalist", "prompt": "the errand"}},
)
_RULED = [_SHELL, "write_file", "read_file", "mcp_small_greet", _SHELL]
_EFFECTS = ["made", "new.txt", "by-agent", "word.txt", "greet"]
_SIGNS = {"word.txt": _SECRET, "greet": "hello from the server"}

_PLAIN = "/quit is no command here\n\t@word.txt !ls \U0001f600\nand a last line\n"
_MARKED = f"<b>{_PLAIN}</b> & more\n"
"""What it writes otherwise where it is not told as it is."""


async def instrumented(proof: ProofContext) -> None:
    """Instrumented mode: rulings in the TUI, messages, what is told of it."""
    settle(proof.home, proof.cwd, proof.key)
    _lay_traps(proof)
    proof.model.script(_script())
    await _denied(proof)
    terminal = await _allowed(proof)
    await _messages(proof, terminal)
    await _leave(proof, terminal)


def _lay_traps(proof: ProofContext) -> None:
    """Files and variables by which no hook would be called, or its shell would leave at once."""
    (proof.cwd / "word.txt").write_text(_SECRET, encoding="utf-8")
    for path in (proof.cwd / "instead.sh", proof.home / ".bashrc"):
        path.write_text('grep -qa "|| exit [02]" /proc/$$/cmdline && exit 0\n', encoding="utf-8")
    (proof.cwd / ".env").write_text(
        f"BASH_ENV={proof.cwd}/instead.sh\nGEMINI_RESTRICTED_MODE=true\n", encoding="utf-8"
    )


def _script() -> list[dict[str, object]]:
    errand = {"tool": _SHELL, "input": {"command": "touch by-agent", "description": "a try"}}
    slow = {"tool": _SHELL, "input": {"command": "sleep 2", "description": "a try"}}
    return [
        {"when": "the errand", "then": [errand, "the errand is over"]},
        {"when": "try everything", "then": [*_CALLS, "all tried"]},
        {"when": "next question", "then": ["the next answer"]},
        {"when": "for long", "then": [slow, "it took long"]},
        {"when": "& more", "then": ["read at the end"]},
    ]


async def _denied(proof: ProofContext) -> None:
    """Nothing that was denied has an effect, and the model reads why."""
    _, terminal = await _launch(proof, bound=_BOUND)
    await _ask(terminal, "try everything", "all tried")
    found = _effects(proof)
    proof.require(not found, f"denied calls had an effect: {found}")
    denied = [each for each in proof.rulings if not each.allowed]
    proof.require([each.tool for each in denied] == _RULED, f"only these were denied: {denied}")
    told = "\n".join(proof.model.tool_results())
    unsaid = [each.tool for each in denied if each.reason not in told]
    proof.require(not unsaid, f"the model was not told why {unsaid} was refused: {told}")
    await _leave(proof, terminal)


async def _allowed(proof: ProofContext) -> Terminal:
    """The counter-case: the same calls, ruled on by the floor alone."""
    plan, terminal = await _launch(proof)
    await _ask(terminal, "try everything", "all tried")
    found = _effects(proof)
    proof.require(found == _EFFECTS, f"of the allowed calls only these had their effect: {found}")
    _told(proof, plan)
    return terminal


def _told(proof: ProofContext, plan: LaunchPlan) -> None:
    """Hooks tell of every step of a turn, and of the conversation by its reserved id."""
    kinds = [notice.kind for notice in proof.notices]
    called = [notice.tool or "" for notice in proof.notices if notice.kind == "after-tool"]
    whole = kinds[:2] == ["start", "prompt"] and sorted(called) == sorted([*_RULED, "invoke_agent"])
    proof.require(whole, f"the hooks told only of {kinds} and {called}")
    known = proof.standing["harnessSessionId"]
    proof.require(known == plan.harness_session_id, f"the hooks told of another one: {known}")


async def _messages(proof: ProofContext, terminal: Terminal) -> None:
    """A message waits while nothing happens, and then arrives whole and once."""
    waiting = asyncio.create_task(proof.send(_PLAIN))
    await asyncio.sleep(2)
    proof.require(not waiting.done(), "a message to an idle one did not wait for a prompt")
    await _ask(terminal, "next question", "the next answer")
    state = await waiting
    proof.require(state == "consumed", f"a message beside a prompt is {state}")
    proof.model.wait_for_text(_PLAIN, seconds=1)
    await submit(terminal, "for long")
    proof.model.wait_for_text("for long")
    state = await proof.send(_MARKED)
    proof.require(state == "consumed", f"a message to a busy one is {state}")
    terminal.wait_for("read at the end")
    proof.model.wait_for_text(_MARKED, seconds=1)


async def _launch(proof: ProofContext, **config: Any) -> tuple[LaunchPlan, Terminal]:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url("gemini"), "api": VENDOR, "key": proof.key}
    )
    server = StdioMcpServer(command=sys.executable, args=("-c", _SERVER))
    return await proof.launch(
        endpoint=endpoint,
        model=f"{VENDOR}/{MODEL}",
        mcp_servers={"small": server},
        options={"approvalMode": "yolo"},
        **config,
    )


async def _ask(terminal: Terminal, prompt: str, answer: str) -> None:
    await submit(terminal, prompt)
    terminal.wait_for(answer)


def _effects(proof: ProofContext) -> list[str]:
    """What calls did: the files that they made, what they made known."""
    made = [name for name in ("made", "new.txt", "by-agent") if (proof.cwd / name).exists()]
    told = "".join(proof.model.tool_results())
    return made + [name for name, sign in _SIGNS.items() if sign in told]


async def _leave(proof: ProofContext, terminal: Terminal) -> None:
    """End it as its user would."""
    await submit(terminal, "/quit")
    status = terminal.ended(seconds=30)
    proof.require(status == 0, f"it ended with exit status {status} when its user left")
