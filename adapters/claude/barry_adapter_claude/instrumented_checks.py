"""Shows, on the real program, what instrumented mode declares."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from barry_adapter_claude.checks import PROMPT, QUIET, leave, settle, submit
from barry_adapter_claude.declared import RULED, VENDOR
from barry_adapter_claude.hosted_checks import SERVER
from barry_adapter_claude.transcript import ClaudeTranscripts
from barry_cli.adapters import LaunchPlan, ProofContext, Terminal
from barry_cli.sessions import Endpoint, StdioMcpServer, ToolResult, ToolUse

_SECRET = "a word that only the file holds"  # noqa: S105 - what a file says, no password
_HOST = "page.example.com"
_BOUND = {
    "bash": {"denyPrograms": ["touch"]},
    "files": {"deny": ["word.txt", "new.txt"]},
    "network": {"domains": [_HOST]},
    "deniedTools": ["small:greet"],
}
_IDLE = "/first line\n\ttabbed \N{GRINNING FACE}\n!last line\n"
_BUSY = "more of it"


async def instrumented(proof: ProofContext) -> None:
    """Instrumented mode: rulings on every kind of call, messages, what is seen of it."""
    settle(proof.home, proof.cwd, proof.key)
    _lay_traps(proof)
    proof.model.script(_script())
    with _proxy() as (address, reached):
        plan, terminal = await _launch(proof, address, bound=_BOUND)
        await _denied(proof, terminal, reached)
        await _messages(proof, terminal)
        await _seen(proof, terminal, plan)
        _, terminal = await _launch(proof, address, bound=None)
        await _allowed(proof, terminal, reached)


def _lay_traps(proof: ProofContext) -> None:
    """Settings that would switch the hooks off, of the user's and of the folder's, which would run
    a command as well; a skill that would run one.
    """
    allow = ["Bash", "Read", "Write", "WebFetch", "Skill", "mcp__small"]
    # Else it would ask its maker's server about each address before it fetches.
    off = {"disableAllHooks": True}
    users = {**off, "permissions": {"allow": allow}, "skipWebFetchPreflight": True}
    run = {"hooks": [{"type": "command", "command": "touch from-settings"}]}
    folders = {**off, "hooks": {"SessionStart": [run]}}
    for folder, settings in ((proof.home, users), (proof.cwd, folders)):
        (folder / ".claude").mkdir(exist_ok=True)
        text = json.dumps(settings)
        (folder / ".claude" / "settings.json").write_text(text, encoding="utf-8")
    skill = proof.home / ".claude" / "skills" / "trap"
    skill.mkdir(parents=True)
    head = "name: trap\ndescription: a trap\nallowed-tools: Bash(touch:*)"
    text = f"---\n{head}\n---\nIt says !`touch from-skill`.\n"
    (skill / "SKILL.md").write_text(text, encoding="utf-8")
    (proof.cwd / "word.txt").write_text(_SECRET, encoding="utf-8")


def _script() -> list[dict[str, object]]:
    every: list[dict[str, object]] = [
        _bash("touch made"),
        {"tool": "Write", "input": {"file_path": "new.txt", "content": "new"}},
        {"tool": "Read", "input": {"file_path": "word.txt"}},
        {"tool": "WebFetch", "input": {"url": f"https://{_HOST}/", "prompt": "what is there"}},
        {"tool": "mcp__small__greet", "input": {}},
        {
            "tool": "Agent",
            "input": {
                "description": "a part",
                "prompt": "the inner task",
                "subagent_type": "general-purpose",
            },
        },
        {"text": "all tried"},
    ]
    slow = _bash("python3 -c 'import time; time.sleep(2)'")
    known = 'test -n "$BARRY_SESSION" && test -n "$BARRY_TOKEN" && echo known'
    return [
        {"when": "the inner task", "then": [_bash("touch inner"), {"text": "inner answer"}]},
        {"when": "try everything", "then": every},
        {
            "when": "use the skill",
            "then": [{"tool": "Skill", "input": {"skill": "trap"}}, {"text": "skill used"}],
        },
        {"when": "tabbed", "then": [{"text": "read while idle"}], "framed": True},
        {"when": _BUSY, "then": [{"text": "read while busy"}], "framed": True},
        {"when": "a while", "then": [slow, _bash("touch late"), {"text": "without more"}]},
        {"when": "who are you", "then": [_bash(known), {"text": "that was it"}]},
    ]


def _bash(command: str) -> dict[str, object]:
    return {"tool": "Bash", "input": {"command": command, "description": "a try"}}


async def _launch(
    proof: ProofContext, proxy: str, *, bound: dict[str, Any] | None
) -> tuple[LaunchPlan, Terminal]:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url(VENDOR), "api": VENDOR, "key": proof.key}
    )
    server = StdioMcpServer(command=sys.executable, args=("-c", SERVER))
    plan, terminal = await proof.launch(
        bound=bound,
        env={**proof.env, **QUIET, "HTTPS_PROXY": proxy},
        endpoint=endpoint,
        mcp_servers={"small": server},
        options={"permissionMode": "manual"},
    )
    terminal.wait_for(PROMPT)
    return plan, terminal


async def _denied(proof: ProofContext, terminal: Terminal, reached: list[str]) -> None:
    """Nothing that was denied has an effect, and the agent gets to read why."""
    await submit(terminal, "try everything")
    terminal.wait_for("all tried")
    inner = proof.cwd / "inner"
    await _until(terminal, lambda: len(_refusals(proof)) >= len(RULED) or inner.exists())
    found = _effects(proof, reached)
    proof.require(not found, f"denied calls had their effect: {found}")
    refused = _refusals(proof)
    proof.require(
        sorted(refused) == ["Bash", "Bash", "Read", "WebFetch", "Write", "mcp__small__greet"],
        f"calls of these tools were refused: {refused}",
    )
    told = "".join(proof.model.tool_results())
    untold = [ruled.tool for ruled in proof.rulings if ruled.reason and ruled.reason not in told]
    proof.require(not untold, f"the agent was not told why: {untold}")
    await submit(terminal, "use the skill")
    terminal.wait_for("skill used")
    ran = [name for name in ("from-settings", "from-skill") if (proof.cwd / name).exists()]
    proof.require(not ran, f"a command ran that nobody ruled on: {ran}")


def _refusals(proof: ProofContext) -> list[str]:
    return [ruled.tool for ruled in proof.rulings if not ruled.allowed]


def _effects(proof: ProofContext, reached: list[str]) -> list[str]:
    """The kinds of call that left a trace."""
    told = "".join(proof.model.tool_results())
    traces = {
        "shell": (proof.cwd / "made").exists(),
        "write": (proof.cwd / "new.txt").exists(),
        "read": _SECRET in told,
        "fetch": any(_HOST in line for line in reached),
        "mcp": "hello from the server" in told,
        "subagent": (proof.cwd / "inner").exists(),
    }
    return [kind for kind, trace in traces.items() if trace]


async def _messages(proof: ProofContext, terminal: Terminal) -> None:
    """One begins a turn, one joins a turn; both as they were sent, each once."""
    state = await proof.send(_IDLE, seconds=30)
    proof.require(state == "consumed", f"a message to an idle session is {state}")
    terminal.wait_for("read while idle")
    before = len(proof.rulings)
    await submit(terminal, "a while")
    await _until(terminal, lambda: len(proof.rulings) > before)
    state = await proof.send(_BUSY, from_="a tester", seconds=30)
    proof.require(state == "consumed", f"a message to a busy session is {state}")
    terminal.wait_for("read while busy")
    late = (proof.cwd / "late").exists() or "without more" in terminal.screen()
    proof.require(not late, "a message to a busy session did not join its turn")
    for text in (_IDLE, f"[message from a tester, sent through Barry]\n{_BUSY}"):
        proof.model.wait_for_text(text)


async def _seen(proof: ProofContext, terminal: Terminal, plan: LaunchPlan) -> None:
    """What is seen of it while it runs: state, conversation, all that was said and done."""
    known = plan.harness_session_id
    await _until(terminal, lambda: proof.standing["activity"] == "idle")
    standing = proof.standing
    proof.require(
        standing["activity"] == "idle" and standing["harnessSessionId"] == known,
        f"{known} is idle, and this was seen: {standing}",
    )
    kinds = {notice.kind for notice in proof.notices}
    proof.require({"start", "prompt", "ruled", "stop"} <= kinds, f"hooks told only of {kinds}")
    path = ClaudeTranscripts().find(known or "", str(proof.cwd), proof.env)
    events = list(ClaudeTranscripts().read(path)) if path is not None else []
    calls = {event.id for event in events if isinstance(event, ToolUse)}
    results = {event.id for event in events if isinstance(event, ToolResult)}
    proof.require(
        len(calls) > len(RULED) and calls == results,
        f"its transcript has the calls {calls}, and results of {results}",
    )
    await leave(proof, terminal)


async def _allowed(proof: ProofContext, terminal: Terminal, reached: list[str]) -> None:
    """The counter-case: the same calls, without the bound."""
    await submit(terminal, "try everything")
    terminal.wait_for("all tried")
    await _until(terminal, lambda: len(_effects(proof, reached)) == len(RULED))
    found = _effects(proof, reached)
    proof.require(
        sorted(found) == sorted(RULED), f"of the allowed calls only these had an effect: {found}"
    )
    proof.require(not _refusals(proof), f"allowed calls were refused: {_refusals(proof)}")
    await submit(terminal, "who are you")
    terminal.wait_for("that was it")
    told = proof.model.tool_results()
    proof.require(
        "known" in told[-1:], lambda: f"a child of the session can't find it: {told[-1:]}"
    )
    await leave(proof, terminal)


async def _until(terminal: Terminal, shown: Callable[[], bool], seconds: float = 20) -> None:
    give_up = time.monotonic() + seconds
    while not shown() and time.monotonic() < give_up:
        terminal.screen()
        await asyncio.sleep(0.05)


@contextmanager
def _proxy() -> Iterator[tuple[str, list[str]]]:
    """A proxy that lets nothing through, and what it was asked for."""
    reached: list[str] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                link, _ = listener.accept()
            except OSError:
                return
            with link:
                link.settimeout(5)
                try:
                    reached.append(link.recv(4096).decode(errors="replace").partition("\r\n")[0])
                    link.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                except OSError:
                    continue

    # A thread: the check waits for screens meanwhile.
    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}", reached
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
