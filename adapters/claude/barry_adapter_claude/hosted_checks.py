"""Shows, on the real program, what hosted mode declares."""

from __future__ import annotations

import asyncio
import json
import sys

from barry_adapter_claude.checks import QUIET, settle
from barry_adapter_claude.declared import HOSTED_NATIVE, NATIVE_TOOLS, VENDOR
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

_SENTENCE = "this check denies that"
_SECRET = "a word that only the file holds"  # noqa: S105 - what a file says, no password
_SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
_NOWHERE = "http://127.0.0.1:9"
_SIGNS = {"word.txt": _SECRET, "greet": "hello from the server"}

# One of each kind that is left: shell, reads, writes, network, MCP; subagents besides.
_OTHERS = (
    {"tool": "Read", "input": {"file_path": "word.txt"}},
    {"tool": "Write", "input": {"file_path": "new.txt", "content": "new"}},
    {"tool": "WebFetch", "input": {"url": _NOWHERE, "prompt": "what is there"}},
    {"tool": "mcp__small__greet", "input": {}},
)
_EFFECTS = frozenset({"Bash", "Read", "Write", "WebFetch", "mcp__small__greet"})

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


class _Rulings:
    """Denies the tools named, and remembers what it was asked."""

    def __init__(self) -> None:
        self.denied: frozenset[str] = frozenset()
        self.asked: list[str] = []

    async def __call__(self, request: PermissionRequest) -> Allowed | Denied:
        self.asked.append(request.tool)
        return Denied(reason=_SENTENCE) if request.tool in self.denied else Allowed()


async def hosted(proof: ProofContext) -> None:
    """Hosted mode: rulings, files that nobody rules on, steering, interrupting, resuming."""
    settle(proof.home, proof.cwd, proof.key)
    _lay_traps(proof)
    proof.model.script(_script())
    rulings = _Rulings()
    session = await _start(proof, rulings)
    await _denied(proof, session, rulings)
    await _allowed(proof, session, rulings)
    await _unruled(proof, session)
    await _steered(proof, session)
    await _cut(proof, session)
    await session.close()
    await _goes_on(proof, rulings, session.harness_session_id)
    await _schema(proof, rulings)


def _lay_traps(proof: ProofContext) -> None:
    """Commands that would run without a ruling, and an address that would get the key."""
    astray = {"ANTHROPIC_BASE_URL": _NOWHERE, "ANTHROPIC_AUTH_TOKEN": "other"}
    run = {"hooks": [{"type": "command", "command": "touch from-settings"}]}
    settings = {
        "env": astray,
        "permissions": {"allow": ["Bash", "Read", "Write", "WebFetch", "Skill", "mcp__small"]},
        "disableAllHooks": True,
    }
    for folder, more in ((proof.home, {}), (proof.cwd, {"hooks": {"SessionStart": [run]}})):
        (folder / ".claude").mkdir(exist_ok=True)
        text = json.dumps({**settings, **more, "disableAllHooks": not more})
        (folder / ".claude" / "settings.json").write_text(text, encoding="utf-8")
    skill = proof.home / ".claude" / "skills" / "trap"
    skill.mkdir(parents=True)
    head = "name: trap\ndescription: a trap\nallowed-tools: Bash(touch:*)"
    text = f"---\n{head}\n---\nIt says !`touch from-skill`.\n"
    (skill / "SKILL.md").write_text(text, encoding="utf-8")
    (proof.cwd / "word.txt").write_text(_SECRET, encoding="utf-8")


def _script() -> list[dict[str, object]]:
    every = [_bash("touch made"), *_OTHERS, _agent("the inner task"), {"text": "all tried"}]
    slow = "python3 -c 'import time; time.sleep(1.5)'"
    return [
        {"when": "first question", "then": [{"text": "the first answer"}]},
        {"when": "the inner task", "then": [_bash("touch inner"), {"text": "inner answer"}]},
        {"when": "try everything", "then": every},
        {"when": "use the skill", "then": [_skill("trap"), {"text": "used"}]},
        {"when": "more of it", "then": [{"text": "and more"}], "framed": True},
        {"when": "a while", "then": [_bash(slow), {"text": "without more"}]},
        {"when": "for long", "then": [_bash(f"{slow}; {slow}; touch late"), {"text": "late"}]},
        {"when": "what was it", "then": [{"text": "the second answer"}]},
        {"when": "count", "then": [_hands_over("four"), _hands_over(4), {"text": "counted"}]},
    ]


def _bash(command: str) -> dict[str, object]:
    return {"tool": "Bash", "input": {"command": command, "description": "a try"}}


def _agent(prompt: str) -> dict[str, object]:
    given = {"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"}
    return {"tool": "Agent", "input": given}


def _skill(name: str) -> dict[str, object]:
    return {"tool": "Skill", "input": {"skill": name}}


def _hands_over(number: object) -> dict[str, object]:
    return {"tool": "StructuredOutput", "input": {"n": number}}


async def _start(proof: ProofContext, rulings: _Rulings, **config: object) -> Session:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url(VENDOR), "api": VENDOR, "key": proof.key}
    )
    server = StdioMcpServer(command=sys.executable, args=("-c", SERVER))
    return await proof.start(
        env={**proof.env, **QUIET},
        endpoint=endpoint,
        decide=rulings,
        mcp_servers={"small": server},
        **config,
    )


async def _denied(proof: ProofContext, session: Session, rulings: _Rulings) -> None:
    """Nothing that was denied has an effect, and the agent gets to read why."""
    events = await proof.turn(session, "first question")
    proof.require(_answer(events) == "the first answer", f"no answer came: {events[-3:]}")
    proof.require(
        not (proof.cwd / "from-settings").exists(), "a command of the folder's settings ran"
    )
    offered = set(proof.model.offered_tools())
    back = {tool for tool in NATIVE_TOOLS if tool not in HOSTED_NATIVE.grantable}
    proof.require(
        not offered & back, f"{sorted(offered & back)} was taken back, and yet it was offered"
    )
    rulings.denied = _EFFECTS
    await proof.turn(session, "try everything")
    found = _effects(proof)
    proof.require(not found, f"denied calls had an effect: {found}")
    told = proof.model.tool_results()
    proof.require(
        sum(_SENTENCE in text for text in told) == len(_EFFECTS) + 1,
        f"the agent was not told why, but {told}",
    )
    asked = set(rulings.asked)
    proof.require(asked == {*_EFFECTS, "Agent"}, f"only these were asked about: {asked}")


async def _allowed(proof: ProofContext, session: Session, rulings: _Rulings) -> None:
    """The counter-case: the same calls, allowed."""
    rulings.denied = frozenset()
    before = len(proof.model.tool_results())
    events = await proof.turn(session, "try everything")
    found = _effects(proof)
    proof.require(
        found == ["made", "inner", "new.txt", "word.txt", "greet"],
        f"of the allowed calls only these had their effect: {found}",
    )
    told = proof.model.tool_results()[before:]
    proof.require(_SENTENCE not in "".join(told), f"an allowed call was denied: {told}")
    calls = [event for event in events if isinstance(event, ToolUse)]
    results = {event.id for event in events if isinstance(event, ToolResult)}
    proof.require(
        [call.tool for call in calls].count("Bash") == 2 and {call.id for call in calls} == results,
        f"what was seen of it: {calls}, {results}",
    )
    inner = [event.text for event in events if isinstance(event, Text) and event.parent_tool_use_id]
    proof.require("inner answer" in inner, f"what was seen of the subagent: {inner}")


def _effects(proof: ProofContext) -> list[str]:
    """What calls did: the files that they made, what they made known."""
    made = [name for name in ("made", "inner", "new.txt") if (proof.cwd / name).exists()]
    told = "".join(proof.model.tool_results())
    return made + [name for name, sign in _SIGNS.items() if sign in told]


async def _unruled(proof: ProofContext, session: Session) -> None:
    """A skill's text names a command, which would run without a ruling."""
    await proof.turn(session, "use the skill")
    proof.require(
        "Launching skill" in proof.model.tool_results()[-1],
        lambda: f"the skill was not used: {proof.model.tool_results()[-1:]}",
    )
    proof.require(not (proof.cwd / "from-skill").exists(), "a command in a skill's text ran")


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
    proof.require(given == [{"n": 4}], f"the schema was not enforced: {given}")


def _answer(events: list[SessionEvent]) -> str | None:
    """The turn's final answer."""
    given = [event.result for event in events if isinstance(event, Result)]
    assert isinstance(events[-1], Done)
    return given[-1] if given else None
