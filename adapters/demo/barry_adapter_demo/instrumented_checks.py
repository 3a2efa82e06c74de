"""Shows what instrumented mode promises, on the harness itself."""

from __future__ import annotations

import http.server
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barry_adapter_demo.harness import transcript
from barry_cli.sessions import StdioMcpServer

if TYPE_CHECKING:
    from barry_cli.adapters import ProofContext, Terminal

_SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method = asked["method"]
    result = {"capabilities": {}}
    if method == "tools/list":
        result = {"tools": [{"name": "touch"}]}
    elif method == "tools/call":
        open(asked["params"]["arguments"]["path"], "w").close()
        result = {"content": [{"type": "text", "text": "touched"}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
_MULTI = "/first line\n\ttabbed \N{GRINNING FACE}\n!last line\n"


@dataclass(frozen=True)
class _Case:
    """A call that leaves a trace, and the bound that denies it."""

    kind: str
    tool: str
    input: dict[str, Any]
    bound: dict[str, Any]


async def instrumented(proof: ProofContext) -> None:
    """Calls of every kind are ruled on, denied and allowed; messages arrive, idle and busy, and
    the transcript shows them.
    """
    with _web() as (url, asked):
        cases = _cases(proof.cwd, url)
        for denied in (True, False):
            bound = _merged([case.bound for case in cases]) if denied else None
            await _ruled(proof, cases, bound, asked)
    await _messages(proof)


def _cases(cwd: Path, url: str) -> list[_Case]:
    secret = cwd / "secret.txt"
    secret.write_text("the canary sings")
    return [
        _Case(
            "shell",
            "shell",
            {"command": "touch by-shell"},
            {"bash": {"denyPrograms": ["touch"]}},
        ),
        _Case(
            "write",
            "write",
            {"path": "by-write", "content": "x"},
            {"files": {"deny": ["by-write", "secret.txt"]}},
        ),
        _Case("read", "read", {"path": "secret.txt"}, {}),
        _Case("fetch", "fetch", {"url": url}, {"network": {"domains": ["127.0.0.1"]}}),
        _Case(
            "mcp",
            "mcp__touching__touch",
            {"path": str(cwd / "by-mcp")},
            {"deniedTools": ["mcp__touching__touch"]},
        ),
        _Case("subagent", "agent", {"prompt": "as an agent"}, {}),
    ]


def _merged(bounds: list[dict[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {}
    for bound in bounds:
        merged.update(bound)
    return merged


async def _ruled(
    proof: ProofContext, cases: list[_Case], bound: dict[str, Any] | None, asked: list[str]
) -> None:
    script = proof.cwd / "script.json"
    rules: list[dict[str, Any]] = [
        {
            "when": "as an agent",
            "then": [{"tool": "shell", "input": {"command": "touch by-agent"}}],
        }
    ]
    rules += [
        {
            "when": f"do {case.kind}",
            "then": [
                {"tool": case.tool, "input": case.input},
                {"text": f"{case.kind} is done"},
            ],
        }
        for case in cases
    ]
    script.write_text(json.dumps(rules))
    server = proof.cwd / "server.py"
    server.write_text(_SERVER)
    plan, terminal = await proof.launch(
        bound=bound,
        env={**proof.env, "BARRY_DEMO_SCRIPT": str(script)},
        mcp_servers={"touching": StdioMcpServer(command=sys.executable, args=("-IS", str(server)))},
        options={"allow": [*proof.adapter.native_tools, "mcp__touching"]},
    )
    terminal.wait_for("you>")
    for case in cases:
        terminal.type(f"do {case.kind}\r")
        terminal.wait_for(f"{case.kind} is done", seconds=20)
    terminal.type("/exit\r")
    proof.require(terminal.ended() == 0, "it did not end with 0 after /exit")
    results = _results(proof, plan.harness_session_id)
    traces = {
        "shell": (proof.cwd / "by-shell").exists(),
        "write": (proof.cwd / "by-write").exists(),
        "read": any("the canary sings" in result for result in results),
        "fetch": bool(asked),
        "mcp": (proof.cwd / "by-mcp").exists(),
        "subagent": (proof.cwd / "by-agent").exists(),
    }
    ran = [kind for kind, trace in traces.items() if trace]
    if bound is not None:
        proof.require(not ran, f"denied calls had their effect: {ran}")
        told = [result for result in results if result.startswith("denied: ")]
        proof.require(
            len(told) == len(cases),
            f"the model was told of {len(told)} denials, and {len(cases)} calls were denied",
        )
        missed = [ruled.tool for ruled in proof.rulings if not ruled.allowed and not ruled.reason]
        proof.require(not missed, f"these denials came without a reason: {missed}")
    else:
        proof.require(
            len(ran) == len(cases), f"allowed calls had no effect: only {ran} had, of {len(cases)}"
        )


def _results(proof: ProofContext, conversation: str | None) -> list[str]:
    path = transcript.find(conversation or "", str(proof.cwd), proof.env)
    proof.require(path is not None, "the conversation was not kept")
    rows = transcript.read(str(path))
    return [str(row.get("output")) for row in rows if row["type"] == "tool_result"]


async def _messages(proof: ProofContext) -> None:
    script = proof.cwd / "script.json"
    script.write_text(
        json.dumps([{"when": "take your time", "then": [{"delay": 1.5}, {"text": "rested"}]}])
    )
    plan, terminal = await proof.launch(env={**proof.env, "BARRY_DEMO_SCRIPT": str(script)})
    terminal.wait_for("you>")
    state = await proof.send(_MULTI, seconds=10)
    proof.require(state == "consumed", f"a message to an idle TUI is {state}")
    terminal.type("take your time\r")
    _until_busy(proof, terminal)
    state = await proof.send("while you are busy", from_="a tester", seconds=20)
    proof.require(state == "consumed", f"a message to a busy TUI is {state}")
    terminal.wait_for("demo heard: [message from a tester", seconds=20)
    proof.require(
        proof.standing["harnessSessionId"] == plan.harness_session_id,
        "the session is recorded with another conversation",
    )
    terminal.type("/exit\r")
    proof.require(terminal.ended() == 0, "it did not end with 0 after /exit")
    path = transcript.find(plan.harness_session_id or "", str(proof.cwd), proof.env)
    rows = list(transcript.read(str(path)))
    texts = [str(row.get("text")) for row in rows if row["type"] == "user"]
    proof.require(texts[0] == _MULTI, f"the message arrived as {texts[:1]!r}")
    proof.require(len(texts) == 3, f"{len(texts)} messages arrived, and three were sent: {texts}")


def _until_busy(proof: ProofContext, terminal: Terminal) -> None:
    for _ in range(100):
        if proof.standing["activity"] == "active":
            return
        terminal.screen()
        threading.Event().wait(0.05)
    proof.require(False, "no hook told that the turn had begun")


@contextmanager
def _web() -> Iterator[tuple[str, list[str]]]:
    """A server on loopback, and what was asked of it."""
    asked: list[str] = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"fetched")

        def log_message(self, *given: object) -> None:
            """Nothing: the terminal is the harness's."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/canary", asked
    finally:
        server.shutdown()
        server.server_close()
