"""Shows, on the real program, what hosted mode declares."""

from __future__ import annotations

import asyncio
import json
import sys

from barry_adapter_opencode.canaries import CALLS, SECRET, SERVER, TASK, bash, effects, fetch
from barry_adapter_opencode.checks import MODEL, QUIET, settle
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
_NOWHERE = "http://127.0.0.1:9"
_EFFECTS = frozenset({"bash", "read", "write", "webfetch", "mcp__small__greet"})
_CALLS = (*CALLS, fetch(_NOWHERE))


class _Rulings:
    """Denies the tools named, and remembers what it was asked."""

    def __init__(self) -> None:
        self.denied: frozenset[str] = frozenset()
        self.asked: list[str] = []

    async def __call__(self, request: PermissionRequest) -> Allowed | Denied:
        self.asked.append(request.tool)
        return Denied(reason=_SENTENCE) if request.tool in self.denied else Allowed()


async def hosted(proof: ProofContext) -> None:
    """Hosted mode: rulings, settings that nobody looked at, steering, interrupting, resuming."""
    settle(proof.home, proof.cwd, proof.key)
    _lay_traps(proof)
    proof.model.script(_script())
    rulings = _Rulings()
    session = await _start(proof, rulings)
    await _denied(proof, session, rulings)
    await _allowed(proof, session, rulings)
    await _steered(proof, session)
    await _cut(proof, session)
    await session.close()
    await _goes_on(proof, rulings, session.harness_session_id)


def _lay_traps(proof: ProofContext) -> None:
    """Rules that allow everything, and a folder that would run its own server."""
    allow = {"permission": {"*": "allow"}, "agent": {"build": {"permission": {"*": "allow"}}}}
    touch = {"type": "local", "command": ["touch", "from-server"], "enabled": True}
    home = proof.home / ".config" / "opencode" / "opencode.json"
    home.write_text(json.dumps(allow), encoding="utf-8")
    folder = {**allow, "mcp": {"trap": touch}}
    (proof.cwd / "opencode.json").write_text(json.dumps(folder), encoding="utf-8")
    (proof.cwd / "word.txt").write_text(SECRET, encoding="utf-8")


def _script() -> list[dict[str, object]]:
    slow = "python3 -c 'import time; time.sleep(1.5)'"
    every = [*_CALLS, TASK, {"text": "all tried"}]
    return [
        {"when": "first question", "then": [{"text": "the first answer"}]},
        {"when": "the inner task", "then": [bash("touch inner"), {"text": "inner answer"}]},
        {"when": "try everything", "then": every},
        {"when": "/more of it", "then": [{"text": "and more"}], "framed": True},
        {"when": "a while", "then": [bash(slow), {"text": "without more"}]},
        {"when": "for long", "then": [bash(f"{slow}; {slow}; touch late"), {"text": "late"}]},
        {"when": "what was it", "then": [{"text": "the second answer"}]},
    ]


async def _start(proof: ProofContext, rulings: _Rulings, **config: object) -> Session:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url("openai-chat"), "api": "openai-chat", "key": proof.key}
    )
    server = StdioMcpServer(command=sys.executable, args=("-c", SERVER))
    return await proof.start(
        env={**proof.env, **QUIET},
        endpoint=endpoint,
        model=MODEL,
        decide=rulings,
        mcp_servers={"small": server},
        **config,
    )


async def _denied(proof: ProofContext, session: Session, rulings: _Rulings) -> None:
    """Nothing that was denied has an effect, and the agent gets to read why."""
    events = await proof.turn(session, "first question")
    proof.require(_answer(events) == "the first answer", f"no answer came: {events[-3:]}")
    proof.require(not (proof.cwd / "from-server").exists(), "the folder's settings ran a server")
    proof.require(
        "question" not in proof.model.offered_tools(),
        "question was taken back, and yet it was offered",
    )
    rulings.denied = _EFFECTS
    await proof.turn(session, "try everything")
    found = effects(proof)
    proof.require(not found, f"denied calls had an effect: {found}")
    told = proof.model.tool_results()
    proof.require(
        sum(_SENTENCE in text for text in told) == len(_CALLS) + 1,
        f"the agent was not told why, but {told}",
    )
    asked = set(rulings.asked)
    proof.require(asked == {*_EFFECTS, "task"}, f"only these were asked about: {asked}")


async def _allowed(proof: ProofContext, session: Session, rulings: _Rulings) -> None:
    """The counter-case: the same calls, allowed."""
    rulings.denied = frozenset()
    before = len(proof.model.tool_results())
    events = await proof.turn(session, "try everything")
    found = effects(proof)
    proof.require(
        found == ["made", "unasked", "inner", "new.txt", "word.txt", "greet"],
        f"of the allowed calls only these had their effect: {found}",
    )
    told = proof.model.tool_results()[before:]
    proof.require(_SENTENCE not in "".join(told), f"an allowed call was denied: {told}")
    calls = [event for event in events if isinstance(event, ToolUse)]
    results = {event.id for event in events if isinstance(event, ToolResult)}
    proof.require(
        [call.tool for call in calls].count("bash") == 3 and {call.id for call in calls} == results,
        f"what was seen of it: {calls}, {results}",
    )
    inner = [event.text for event in events if isinstance(event, Text) and event.parent_tool_use_id]
    proof.require("inner answer" in inner, f"what was seen of the subagent: {inner}")


async def _steered(proof: ProofContext, session: Session) -> None:
    """A message joins the turn, and one that looks like a command is read as what it is."""

    async def more() -> None:
        await _until_asked(proof, "a while")
        receipt = await session.deliver("/more of it", DeliveryOptions(if_active="steer"))
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
    said = [event.text for event in events if isinstance(event, Text)]
    proof.require(said == ["the second answer"], f"it was told of the conversation anew: {said}")
    await session.close()


def _answer(events: list[SessionEvent]) -> str | None:
    """The turn's final answer."""
    given = [event.result for event in events if isinstance(event, Result)]
    assert isinstance(events[-1], Done)
    return given[-1] if given else None
