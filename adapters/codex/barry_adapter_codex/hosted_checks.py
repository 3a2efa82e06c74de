"""Shows, on the real program, what hosted mode declares."""

from __future__ import annotations

import asyncio
import sys

from barry_adapter_codex.checks import MODEL, NO_NETWORK, settle
from barry_adapter_codex.toml import toml
from barry_adapter_codex.tools import HOSTED_NATIVE, NATIVE_TOOLS
from barry_cli.adapters import ProofContext
from barry_cli.sessions import (
    Allowed,
    DeliveryOptions,
    Denied,
    Done,
    Endpoint,
    Init,
    PermissionRequest,
    Result,
    Resume,
    Session,
    SessionEvent,
    StdioMcpServer,
    Text,
    ToolResult,
    ToolUse,
)

_SENTENCE = "this check denies its"
_SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
_GREETING = "hello from the server"
_NOWHERE = "http://127.0.0.1:9/v1"

# One of each kind that is left: shell, change of files, MCP. The server calls itself harmless.
_EFFECTS = {"exec_command": "made", "apply_patch": "new.txt", "mcp__small__greet": _GREETING}

SERVER = """
import json, sys
harmless = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
tool = {"name": "greet", "description": "greets", "inputSchema": {"type": "object"},
        "annotations": harmless}
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


class _Rulings:
    """Denies everything or nothing, and remembers what it was asked."""

    def __init__(self) -> None:
        self.denies = False
        self.asked: list[str] = []

    async def __call__(self, request: PermissionRequest) -> Allowed | Denied:
        self.asked.append(request.tool)
        return Denied(reason=f"{_SENTENCE} {request.tool}") if self.denies else Allowed()


async def hosted(proof: ProofContext) -> None:
    """Hosted mode: rulings, what has no say in them, steering, interrupting, resuming."""
    settle(proof.home, proof.cwd, proof.key)
    _lay_traps(proof)
    proof.model.script(_script())
    rulings = _Rulings()
    session = await _start(proof, rulings)
    await _denied(proof, session, rulings)
    await _allowed(proof, session, rulings)
    await _not_offered(proof, session, rulings)
    await _steered(proof, session)
    await _cut(proof, session)
    await session.close()
    await _goes_on(proof, rulings, session.harness_session_id)
    await _schema(proof, rulings)


def _lay_traps(proof: ProofContext) -> None:
    """Settings that would answer in Barry's place, run a command, or take the requests away."""
    mine = proof.home / ".codex" / "config.toml"
    astray = {"name": "other", "base_url": _NOWHERE, "wire_api": "responses"}
    traps = (
        'approval_policy = "never"\napprovals_reviewer = "auto_review"\nmodel_provider = "other"\n'
        f'sandbox_mode = "danger-full-access"\nmodel_providers.other = {toml(astray)}\n'
    )
    mine.write_text(traps + mine.read_text(encoding="utf-8"), encoding="utf-8")
    folder = proof.cwd / ".codex"
    (folder / "rules").mkdir(parents=True)
    rule = 'prefix_rule(pattern=["touch"], decision="allow")\n'
    (folder / "rules" / "all.rules").write_text(rule, encoding="utf-8")
    server = {"command": "/bin/sh", "args": ["-c", "touch from-settings"]}
    (folder / "config.toml").write_text(f"mcp_servers.trap = {toml(server)}\n", encoding="utf-8")


def _script() -> list[dict[str, object]]:
    patch = "*** Begin Patch\n*** Add File: new.txt\n+new\n*** End Patch\n"
    every = [
        _command("touch made"),
        {"tool": "apply_patch", "input": patch},
        {"tool": "greet", "namespace": "mcp__small", "input": {}},
        "all tried",
    ]
    slow = "python3 -c 'import time; time.sleep(1)'"
    keys = {"tool": "exec_command", "input": {"cmd": "sh", "tty": True}}
    return [
        {"when": "first question", "then": ["the first answer"]},
        {"when": "try everything", "then": every},
        {"when": "look at it", "then": [_look("new.txt"), keys, "looked"]},
        {"when": "more of it", "then": ["and more"]},
        {"when": "a while", "then": [_command(slow), "without more"]},
        {"when": "for long", "then": [_command(f"{slow}; {slow}; touch late"), "late"]},
        {"when": "what was it", "then": ["the second answer"]},
        {"when": "count", "then": ['{"n": 4}']},
    ]


def _command(command: str) -> dict[str, object]:
    return {"tool": "exec_command", "input": {"cmd": command}}


def _look(path: str) -> dict[str, object]:
    return {"tool": "view_image", "input": {"path": path}}


async def _start(proof: ProofContext, rulings: _Rulings, **config: object) -> Session:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url("openai-responses"), "api": "openai", "key": proof.key}
    )
    return await proof.start(
        model=MODEL,
        endpoint=endpoint,
        env={**proof.env, **NO_NETWORK},
        # Codex's own sandbox is not what is proven, and not every machine has it.
        options={"sandbox": "danger-full-access"},
        decide=rulings,
        mcp_servers={"small": StdioMcpServer(command=sys.executable, args=("-c", SERVER))},
        **config,
    )


async def _denied(proof: ProofContext, session: Session, rulings: _Rulings) -> None:
    """Nothing that was denied has an effect, and the agent gets to read why."""
    events = await proof.turn(session, "first question")
    proof.require(_answer(events) == "the first answer", f"no answer came: {events[-3:]}")
    proof.require(
        not (proof.cwd / "from-settings").exists(), "a command of the folder's settings ran"
    )
    back = {tool for tool in NATIVE_TOOLS if tool not in HOSTED_NATIVE.grantable}
    offered = set(proof.model.offered_tools())
    proof.require("exec_command" in offered, f"exec_command was not offered, only {offered}")
    proof.require(
        not offered & back, f"{sorted(offered & back)} was taken back, and yet it was offered"
    )
    rulings.denies = True
    events = await proof.turn(session, "try everything")
    found = _effects(proof)
    proof.require(not found, f"denied calls had an effect: {found}")
    proof.require(rulings.asked == list(_EFFECTS), f"these were asked about: {rulings.asked}")
    told = [event.result for event in events if isinstance(event, ToolResult) and event.error]
    proof.require(len(told) == len(_EFFECTS), f"what was seen of the denials: {told}")
    for tool in _EFFECTS:
        proof.model.wait_for_text(f"{_SENTENCE} {tool}", seconds=1)


async def _allowed(proof: ProofContext, session: Session, rulings: _Rulings) -> None:
    """The counter-case: the same calls, allowed."""
    rulings.denies = False
    events = await proof.turn(session, "try everything")
    found = _effects(proof)
    proof.require(
        found == list(_EFFECTS), f"of the allowed calls only these had their effect: {found}"
    )
    calls = [event for event in events if isinstance(event, ToolUse)]
    results = [event.id for event in events if isinstance(event, ToolResult) and not event.error]
    proof.require(
        [call.tool for call in calls] == list(_EFFECTS) and [call.id for call in calls] == results,
        f"what was seen of it: {calls}, {results}",
    )


def _effects(proof: ProofContext) -> list[str]:
    """The tools whose calls did something: made a file, or brought the server's word."""
    told = "".join(proof.model.tool_results())
    return [tool for tool, sign in _EFFECTS.items() if (proof.cwd / sign).exists() or sign in told]


async def _not_offered(proof: ProofContext, session: Session, rulings: _Rulings) -> None:
    """What nobody is asked about can't be called, nor a terminal begun that takes keys."""
    before = len(rulings.asked)
    await proof.turn(session, "look at it")
    looked, keys = proof.model.tool_results()[-2:]
    proof.require("unsupported call" in looked, f"an image was looked at: {looked}")
    proof.require("TTY execution is disabled" in keys, f"a terminal was begun: {keys}")
    proof.require(
        rulings.asked[before:] in ([], ["exec_command"]), f"{rulings.asked[before:]} were asked"
    )


async def _steered(proof: ProofContext, session: Session) -> None:
    async def more() -> None:
        await _until_asked(proof, "a while")
        receipt = await session.deliver("more of it", DeliveryOptions(if_active="steer"))
        proof.require(receipt.status == "steered", f"a message was {receipt.status}, not steered")

    beside = asyncio.ensure_future(more())
    events = await proof.turn(session, "a while")
    await beside
    proof.require(_answer(events) == "and more", f"it was not taken in: {_answer(events)!r}")


async def _cut(proof: ProofContext, session: Session) -> None:
    async def cut() -> None:
        await _until_asked(proof, "for long")
        await session.interrupt()

    beside = asyncio.ensure_future(cut())
    events = await proof.turn(session, "for long")
    await beside
    proof.require(_answer(events) is None, f"it was not cut short: {_answer(events)!r}")
    await asyncio.sleep(2)  # what it would have taken
    proof.require(not (proof.cwd / "late").exists(), "what was cut short went on")


async def _until_asked(proof: ProofContext, text: str) -> None:
    """Wait until the model has answered a prompt with its call, and the call runs."""
    while text not in "".join(proof.model.texts()[-1:]):
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.7)


async def _goes_on(proof: ProofContext, rulings: _Rulings, known: str | None) -> None:
    proof.require(known is not None, "it never named its conversation")
    session = await _start(proof, rulings, resume=Resume(harness_session_id=known))
    events = await proof.turn(session, "what was it")
    named = [event.harness_session_id for event in events if isinstance(event, Init)]
    proof.require(named == [known], f"{known} was to go on, and {named} did")
    proof.require(_answer(events) == "the second answer", "the conversation did not go on")
    proof.require(
        not [event for event in events if isinstance(event, Text) and event.role == "user"],
        "it was told of the conversation anew",
    )
    await session.close()


async def _schema(proof: ProofContext, rulings: _Rulings) -> None:
    session = await _start(proof, rulings)
    options = DeliveryOptions(output_schema=_SCHEMA)
    events = await proof.turn(session, "count", options=options)
    given = [event.structured for event in events if isinstance(event, Result)]
    proof.require(given == [{"n": 4}], f"the answer with a schema was {given}")
    proof.model.wait_for_text("codex_output_schema", seconds=1)


def _answer(events: list[SessionEvent]) -> str | None:
    """The turn's final answer."""
    given = [event.result for event in events if isinstance(event, Result)]
    assert isinstance(events[-1], Done)
    return given[-1] if given else None
