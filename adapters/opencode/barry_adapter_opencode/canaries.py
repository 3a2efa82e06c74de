"""Calls of every kind, and how to tell that one had its effect: what the checks share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from barry_cli.adapters import ProofContext

SECRET = "a word that only the file holds"  # noqa: S105 - what a file says, no password
SIGNS = {"word.txt": SECRET, "greet": "hello from the server"}

# One of each kind: shell (also one that opencode itself does not ask about), reads, writes, MCP.
# Fetching and subagents besides.
CALLS: tuple[dict[str, object], ...] = (
    {"tool": "bash", "input": {"command": "touch made", "description": "a try"}},
    {"tool": "bash", "input": {"command": ">unasked", "description": "a try"}},
    {"tool": "read", "input": {"filePath": "word.txt"}},
    {"tool": "write", "input": {"filePath": "new.txt", "content": "new"}},
    {"tool": "small_greet", "input": {}},
)
TASK: dict[str, object] = {
    "tool": "task",
    "input": {"description": "a part", "prompt": "the inner task", "subagent_type": "general"},
}

SERVER = """
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


def bash(command: str) -> dict[str, object]:
    """A call of the shell."""
    return {"tool": "bash", "input": {"command": command, "description": "a try"}}


def fetch(url: str) -> dict[str, object]:
    """A call that fetches a page."""
    return {"tool": "webfetch", "input": {"url": url, "format": "text"}}


def effects(proof: ProofContext) -> list[str]:
    """What calls did: the files that they made, what they made known."""
    names = ("made", "unasked", "inner", "new.txt")
    made = [name for name in names if (proof.cwd / name).exists()]
    told = "".join(proof.model.tool_results())
    return made + [name for name, sign in SIGNS.items() if sign in told]
