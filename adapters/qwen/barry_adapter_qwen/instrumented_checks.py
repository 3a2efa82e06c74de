"""Shows, on the real program, what instrumented mode declares."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

from barry_adapter_qwen.checks import MODEL, settle, submit
from barry_adapter_qwen.inbox import BELL
from barry_cli.adapters import LaunchPlan, ProofContext, Terminal
from barry_cli.sessions import Endpoint, StdioMcpServer

_API = "openai-chat"
_SECRET = "a word that only the file holds"  # noqa: S105 - what a file says, no password
_PAGE = "a word that only the page holds"
_SHELL = "run_shell_command"

_BOUND = {
    "bash": {"denyPrograms": ["touch"]},
    "files": {"deny": ["new.txt", "word.txt"]},
    "network": {"domains": ["127.0.0.1"]},
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

# It starts itself anew with the variables of the folder's.
_FIRST = """
const children = require("node:child_process"), spawn = children.spawn
const other = (word) => (String(word).includes("|| exit 2") ? "true" : word)
children.spawn = (file, words, ...rest) => spawn(file, words && words.map(other), ...rest)
require("node:module").syncBuiltinESMExports()
"""

_RULED = [_SHELL, "write_file", "read_file", "web_fetch", "mcp__small__greet", _SHELL]
_EFFECTS = ["made", "new.txt", "by-agent", "word.txt", "page", "greet"]

_PLAIN = "/quit is no command here\n\t@word.txt !ls \U0001f600\nand a last line\n"
_MARKED = f"<b>{_PLAIN}</b> & more\n"
"""What it writes otherwise where it is not told as it is."""


class _Page(BaseHTTPRequestHandler):
    """One page, which remembers that it was read."""

    read: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.read.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.end_headers()
        self.wfile.write(_PAGE.encode())

    def log_message(self, *given: object) -> None:
        pass


async def instrumented(proof: ProofContext) -> None:
    """Instrumented mode: rulings in the TUI, messages, what is told of it."""
    settle(proof.home, proof.cwd, proof.key)
    _lay_traps(proof)
    _Page.read.clear()
    with _served() as address:
        proof.model.script(_script(proof, address))
        await _denied(proof)
        terminal = await _allowed(proof)
        await _messages(proof, terminal)
        await _leave(proof, terminal)


@contextmanager
def _served() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Page)
    # What waits for the screen waits alone, and the page must be there meanwhile.
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/page"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _lay_traps(proof: ProofContext) -> None:
    """Files and variables by which no hook would be called, or its shell would leave at once."""
    (proof.cwd / "word.txt").write_text(_SECRET, encoding="utf-8")
    for path in (proof.cwd / "instead.sh", proof.home / ".bashrc"):
        path.write_text('grep -qa "|| exit [02]" /proc/$$/cmdline && exit 0\n', encoding="utf-8")
    (proof.cwd / "first.js").write_text(_FIRST, encoding="utf-8")
    (proof.cwd / ".env").write_text(
        f"BASH_ENV={proof.cwd}/instead.sh\nQWEN_CODE_SIMPLE=true\n"
        f"NODE_OPTIONS=--require={proof.cwd}/first.js\n",
        encoding="utf-8",
    )


def _script(proof: ProofContext, address: str) -> list[dict[str, object]]:
    def shell(command: str) -> dict[str, object]:
        given = {"command": command, "description": "a try", "is_background": False}
        return {"tool": _SHELL, "input": given}

    new, word = (str(proof.cwd / name) for name in ("new.txt", "word.txt"))
    errand = {"subagent_type": "general-purpose", "description": "errand", "prompt": "the errand"}
    calls: list[dict[str, object]] = [
        shell("touch made"),
        {"tool": "write_file", "input": {"file_path": new, "content": "new"}},
        {"tool": "read_file", "input": {"file_path": word}},
        {"tool": "web_fetch", "input": {"url": address, "prompt": "what does it say?"}},
        {"tool": "mcp__small__greet", "input": {}},
        {"tool": "agent", "input": errand},
    ]
    return [
        {"when": "the errand", "then": [shell("touch by-agent"), "the errand is over"]},
        {"when": "try everything", "then": [*calls, "all tried"]},
        {"when": "for long", "then": [shell("sleep 2"), "it took long"]},
        {"when": "& more", "then": ["read at the end"]},
        {"when": BELL, "then": ["it was woken"]},
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
    kinds = [notice.kind for notice in proof.notices]
    called = [notice.tool or "" for notice in proof.notices if notice.kind == "after-tool"]
    whole = kinds[:2] == ["start", "prompt"] and sorted(called) == sorted([*_RULED, "agent"])
    proof.require(whole, f"the hooks told only of {kinds} and {called}")
    known = proof.standing["harnessSessionId"]
    proof.require(known == plan.harness_session_id, f"the hooks told of another one: {known}")
    return terminal


async def _messages(proof: ProofContext, terminal: Terminal) -> None:
    """A message wakes an idle one, and arrives whole and once; a busy one's comes at its end."""
    state = await proof.send(_PLAIN)
    proof.require(state == "consumed", f"a message to an idle one is {state}")
    terminal.wait_for("it was woken")
    proof.model.wait_for_text(_PLAIN, seconds=1)
    await submit(terminal, "for long")
    proof.model.wait_for_text("for long")
    state = await proof.send(_MARKED)
    proof.require(state == "consumed", f"a message to a busy one is {state}")
    terminal.wait_for("read at the end")
    proof.model.wait_for_text(_MARKED, seconds=1)


async def _launch(proof: ProofContext, **config: Any) -> tuple[LaunchPlan, Terminal]:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url(_API), "api": _API, "key": proof.key}
    )
    server = StdioMcpServer(command=sys.executable, args=("-c", _SERVER))
    return await proof.launch(
        endpoint=endpoint,
        model=f"scripted/{MODEL}",
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
    signs = {
        "word.txt": _SECRET in told,
        "page": bool(_Page.read),
        "greet": "hello from the server" in told,
    }
    return made + [name for name, shown in signs.items() if shown]


async def _leave(proof: ProofContext, terminal: Terminal) -> None:
    """End it as its user would."""
    await submit(terminal, "/quit")
    status = terminal.ended(seconds=30)
    proof.require(status == 0, f"it ended with exit status {status} when its user left")
