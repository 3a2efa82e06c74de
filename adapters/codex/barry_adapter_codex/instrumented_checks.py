"""Shows, in the real TUI, what instrumented mode declares."""

from __future__ import annotations

import asyncio
import base64
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from barry_adapter_codex.checks import MODEL, NO_NETWORK, READY, settle
from barry_adapter_codex.hosted_checks import SERVER
from barry_adapter_codex.transcript import Rollouts
from barry_cli.sessions import Endpoint, StdioMcpServer, Text, ToolResult, ToolUse

if TYPE_CHECKING:
    from barry_cli.adapters import LaunchPlan, ProofContext, Terminal

SCRIPTING = "openai/gpt-6-sol"
"""A model that starts agents, and calls tools from scripts."""

BOUND = {
    "bash": {"denyPrograms": ["touch"]},
    "files": {"deny": ["by-patch", "secret.png"]},
    "deniedTools": ["mcp__small__greet"],
}
GREETING = "hello from the server"
MESSAGE = '/status !ls #x @a <b>&amp; "q"\n\ttabbed \N{CRAB} ]]> </hook_prompt>\n!last\n\n'
_PICTURE = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg"
    "=="
)
_SECONDS = 40.0
_IDLE_SECONDS = 25.0
"""An idle TUI looks into its queue every ten."""


async def instrumented(proof: ProofContext) -> None:
    """Raise NotShown unless everything that instrumented mode promises was seen."""
    settle(proof.home, proof.cwd, proof.key)
    _lay_traps(proof)
    (proof.cwd / "secret.png").write_bytes(base64.b64decode(_PICTURE))
    await _calls(proof, denied=True)
    await _agents(proof, denied=True)
    await _calls(proof, denied=False)
    await _agents(proof, denied=False)
    await _messages(proof)


def _lay_traps(proof: ProofContext) -> None:
    """Settings of the user's that would switch hooks off, ours by name among them."""
    mine = proof.home / ".codex" / "config.toml"
    ours = '"/<session-flags>/config.toml:pre_tool_use:0:0" = {enabled = false}'
    traps = f"features.hooks = false\n{mine.read_text(encoding='utf-8')}\n[hooks.state]\n{ours}\n"
    mine.write_text(traps, encoding="utf-8")


async def _launch(
    proof: ProofContext, *, bound: dict[str, Any] | None = None, **config: Any
) -> tuple[LaunchPlan, Terminal]:
    server = StdioMcpServer(command=sys.executable, args=("-IS", "-c", SERVER))
    plan, terminal = await proof.launch(
        bound=bound,
        endpoint=Endpoint.model_validate(
            {"url": proof.model.url("openai-responses"), "api": "openai", "key": proof.key}
        ),
        # Codex's own sandbox is not what is proven, and not every machine has it.
        options={"sandbox": "danger-full-access", "approvalPolicy": "never"},
        env={**proof.env, **NO_NETWORK},
        mcp_servers={"small": server},
        **{"model": MODEL, **config},
    )
    proof.require(
        plan.guarantees.gating == "hooks",
        lambda: f"its hooks are not relied on: {plan.lowered.get('gating')}",
    )
    await asyncio.to_thread(terminal.wait_for, READY, seconds=_SECONDS)
    return plan, terminal


async def _ask(terminal: Terminal, prompt: str, answer: str) -> None:
    """Type a prompt, and Enter apart: in one burst it would count as pasted text."""
    terminal.type(prompt)
    await asyncio.to_thread(terminal.wait_for, prompt, seconds=_SECONDS)
    terminal.type("\r")
    await asyncio.to_thread(terminal.wait_for, answer, seconds=_SECONDS)


async def _until(
    proof: ProofContext, terminal: Terminal, seen: Callable[[], bool], what: str
) -> None:
    give_up = time.monotonic() + _SECONDS
    while not seen():
        proof.require(time.monotonic() < give_up, what)
        await asyncio.to_thread(terminal.screen)
        await asyncio.sleep(0.1)


# --- calls ---


async def _calls(proof: ProofContext, *, denied: bool) -> None:
    """One call of each kind that the agent makes itself: shell, change of files, read, MCP."""
    patch = "*** Begin Patch\n*** Add File: by-patch\n+x\n*** End Patch\n"
    proof.model.script(
        [
            {
                "when": "try everything",
                "then": [
                    {"tool": "exec_command", "input": {"cmd": "touch by-shell"}},
                    {"tool": "apply_patch", "input": patch},
                    {"tool": "view_image", "input": {"path": str(proof.cwd / "secret.png")}},
                    {"tool": "greet", "namespace": "mcp__small", "input": {}},
                    "all-was-tried",
                ],
            }
        ]
    )
    before = len(proof.model.tool_results())
    plan, terminal = await _launch(proof, bound=BOUND if denied else None)
    await _ask(terminal, "try everything", "all-was-tried")
    results = proof.model.tool_results()[before:]
    had = {
        "shell": (proof.cwd / "by-shell").exists(),
        "write": (proof.cwd / "by-patch").exists(),
        "read": _carries(proof, _PICTURE),
        "mcp": any(GREETING in result for result in results),
    }
    ran = [kind for kind, effect in had.items() if effect]
    if denied:
        proof.require(not ran, f"denied calls had their effect: {', '.join(ran)}")
        _told(proof, results, 4)
        await _recorded(proof, plan)
    else:
        proof.require(len(ran) == len(had), f"of the allowed calls only these had an effect: {ran}")
        told = {notice.tool for notice in proof.notices if notice.kind == "after-tool"}
        proof.require(
            {"exec_command", "apply_patch", "mcp__small__greet"} <= told,
            lambda: f"of the calls that ran, hooks told of {told} alone",
        )
    terminal.close()


def _carries(proof: ProofContext, text: str) -> bool:
    try:
        proof.model.wait_for_text(text, seconds=0)
    except AssertionError:
        return False
    return True


def _told(proof: ProofContext, results: list[str], count: int) -> None:
    """Each denial has its reason, and the model read it."""
    reasons = [ruled.reason for ruled in proof.rulings if not ruled.allowed]
    proof.require(len(reasons) == count, f"{len(reasons)} calls were denied, not {count}")
    silent = [each for each in reasons if not any(each in result for result in results)]
    proof.require(not silent, lambda: f"the model was not told {silent}, but {results}")


async def _recorded(proof: ProofContext, plan: LaunchPlan) -> None:
    """The session is known by Codex's own id of it, and its record holds the turn whole."""
    known = proof.standing["harnessSessionId"]
    source = Rollouts()
    path = source.find(str(known), str(proof.cwd), proof.env)
    proof.require(path is not None, f"no conversation {known} is recorded")
    events = [] if path is None else list(source.read(path))
    said = [event.text for event in events if isinstance(event, Text)]
    proof.require(said == ["try everything", "all-was-tried"], lambda: f"its record says {said}")
    calls = [event.id for event in events if isinstance(event, ToolUse)]
    answers = [event.id for event in events if isinstance(event, ToolResult)]
    proof.require(
        len(calls) == 4 and calls == answers,
        lambda: f"its record has the calls {calls} and the answers {answers}",
    )


async def _agents(proof: ProofContext, *, denied: bool) -> None:
    """An agent that the agent starts makes the same call as the agent itself, from a script."""
    call = 'await tools.exec_command({cmd: "touch by-$CODEX_THREAD_ID"}).catch(String)'
    proof.model.script(
        [
            {
                "when": "start an agent",
                "then": [
                    {"tool": "spawn_agent", "input": {"task_name": "kid", "message": "go on"}},
                    {"tool": "exec", "input": f"text(JSON.stringify({call}))"},
                    "all-were-started",
                ],
            }
        ]
    )
    before = len(proof.model.tool_results())
    _, terminal = await _launch(proof, bound=BOUND if denied else None, model=SCRIPTING)
    await _ask(terminal, "start an agent", "all-were-started")

    def ruled() -> int:
        return sum(each.tool == "exec_command" for each in proof.rulings)

    await _until(
        proof, terminal, lambda: ruled() >= 2, f"{ruled()} commands were ruled on, not the agent's"
    )
    if denied:
        made = [path.name for path in proof.cwd.glob("by-*-*")]
        proof.require(not made, f"denied commands had their effect: {made}")
        _told(proof, proof.model.tool_results()[before:], 2)
    else:
        await _until(
            proof,
            terminal,
            lambda: len(list(proof.cwd.glob("by-*-*"))) == 2,
            "the allowed command of the agent's own agent had no effect",
        )
    terminal.close()


# --- messages ---


async def _messages(proof: ProofContext) -> None:
    slow = "python3 -c 'import time; time.sleep(2)'"
    proof.model.script(
        [
            {"when": "first question", "then": ["first-answer"]},
            {
                "when": "work a while",
                "then": [{"tool": "exec_command", "input": {"cmd": slow}}, "work-done"],
            },
            {"when": "tabbed", "then": ["message-heard"]},
        ]
    )
    _, terminal = await _launch(proof)
    state = await proof.send("early: " + MESSAGE, wait="held", seconds=5)
    proof.require(state == "held", f"before the first prompt a message is {state}")
    await _ask(terminal, "first question", "first-answer")
    proof.require(
        _carries(proof, "early: " + MESSAGE), "the held message did not come with the first prompt"
    )
    state = await proof.send("idle: " + MESSAGE, seconds=_IDLE_SECONDS)
    proof.require(state == "consumed", f"a message to an idle TUI is {state}")
    await asyncio.to_thread(terminal.wait_for, "message-heard", seconds=_SECONDS)
    proof.require(_carries(proof, "idle: " + MESSAGE), "the idle TUI got another text")
    terminal.type("work a while")
    await asyncio.to_thread(terminal.wait_for, "work a while", seconds=_SECONDS)
    terminal.type("\r")
    await _until(
        proof,
        terminal,
        lambda: any(each.tool == "exec_command" for each in proof.rulings),
        "the turn did not begin",
    )
    state = await proof.send("busy: " + MESSAGE, from_="a tester", seconds=_IDLE_SECONDS)
    proof.require(state == "consumed", f"a message to a busy TUI is {state}")
    await asyncio.to_thread(terminal.wait_for, "work-done", seconds=_SECONDS)
    proof.require(_carries(proof, "busy: " + MESSAGE), "the busy TUI got another text")
    # It came with the call's result, so the turn's last request has it.
    last = proof.model.texts()[-1]
    proof.require("work a while" in last, lambda: f"a message began a turn of its own: {last!r}")
    terminal.close()
