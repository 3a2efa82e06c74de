"""Shows, on the real program, what hosted mode declares."""

from __future__ import annotations

import asyncio
import json
import sys

from barry_adapter_gemini.checks import MODEL, settle
from barry_adapter_gemini.declared import HOSTED_NATIVE, NATIVE_TOOLS, VENDOR
from barry_adapter_gemini.transcript import GeminiTranscripts
from barry_cli.adapters import ProofContext
from barry_cli.sessions import (
    Allowed,
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
    StructuredRun,
    Text,
    run_structured,
)

_SENTENCE = "this check denies that"
_SECRET = "a word that only the file holds"  # noqa: S105 - what a file says, no password
_SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
_SIGNS = {"word.txt": _SECRET, "ls": "below.txt", "greet": "hello from the server"}
_SHELL = "run_shell_command"

# One of each kind that is left: shell, reads, writes, network, MCP. An ls it allows by itself.
_CALLS: tuple[dict[str, object], ...] = (
    {"tool": _SHELL, "input": {"command": "touch made", "description": "a try"}},
    {"tool": _SHELL, "input": {"command": "ls", "description": "a try", "dir_path": "deep"}},
    {"tool": "read_file", "input": {"file_path": "word.txt"}},
    {"tool": "write_file", "input": {"file_path": "new.txt", "content": "new"}},
    {"tool": "web_fetch", "input": {"prompt": "what is at http://127.0.0.1:9/ ?"}},
    {"tool": "mcp_small_greet", "input": {}},
)
_ASKED = [_SHELL, _SHELL, "read_file", "write_file", "web_fetch", "mcp__small__greet"]

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


class _Rulings:
    """Denies everything or nothing, and remembers what it was asked."""

    def __init__(self) -> None:
        self.denies = True
        self.asked: list[str] = []

    async def __call__(self, request: PermissionRequest) -> Allowed | Denied:
        self.asked.append(request.tool)
        return Denied(reason=_SENTENCE) if self.denies else Allowed()


async def hosted(proof: ProofContext) -> None:
    """Hosted mode: rulings, settings that may not count, interrupting, resuming."""
    settle(proof.home, proof.cwd, proof.key)
    _lay_traps(proof)
    proof.model.script(_script())
    rulings = _Rulings()
    session = await _start(proof, rulings)
    await _denied(proof, session, rulings)
    await _allowed(proof, session, rulings)
    await _no_command(proof, session)
    await _cut(proof, session)
    await session.close()
    await _goes_on(proof, rulings, session.harness_session_id)
    await _stays(proof, rulings, session.harness_session_id)


def _lay_traps(proof: ProofContext) -> None:
    """What the user once allowed by rules of their own must be asked about all the same."""
    policies = proof.home / ".gemini" / "policies"
    policies.mkdir()
    (policies / "allow.toml").write_text(
        '[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 999\n', encoding="utf-8"
    )
    (proof.cwd / "word.txt").write_text(_SECRET, encoding="utf-8")
    (proof.cwd / "deep").mkdir()
    (proof.cwd / "deep" / "below.txt").touch()


def _lay_traps_in_folder(proof: ProofContext) -> None:
    hook = {"hooks": [{"type": "command", "name": "trap", "command": "touch from-hook"}]}
    settings = {
        "hooks": {"SessionStart": [hook], "BeforeAgent": [hook]},
        "mcpServers": {"trap": {"command": "touch", "args": ["from-server"]}},
        "tools": {"discoveryCommand": "touch from-discovery", "allowed": [_SHELL]},
    }
    (proof.cwd / ".gemini").mkdir()
    path = proof.cwd / ".gemini" / "settings.json"
    path.write_text(json.dumps(settings), encoding="utf-8")


def _script() -> list[dict[str, object]]:
    slow = "python3 -c 'import time; time.sleep(1.5)'"
    late = {"tool": _SHELL, "input": {"command": f"{slow}; touch late", "description": "a try"}}
    block = '````json\n{"n": 4}\n````'
    return [
        # A prompt that was cut short stands before the next one.
        {"when": "what was it", "then": [_CALLS[0], {"text": "the second answer"}]},
        {"when": "first question", "then": [{"text": "the first answer"}]},
        {"when": "try everything", "then": [*_CALLS, {"text": "all tried"}]},
        {"when": "/about", "then": [{"text": "it came as text"}]},
        {"when": "for long", "then": [late, {"text": "late"}]},
        {"when": "once more", "then": [{"text": "the third answer"}]},
        {"when": "count", "then": [{"text": block}]},
    ]


async def _start(proof: ProofContext, rulings: _Rulings, **config: object) -> Session:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url("gemini"), "api": VENDOR, "key": proof.key}
    )
    server = StdioMcpServer(command=sys.executable, args=("-c", _SERVER))
    return await proof.start(
        endpoint=endpoint,
        model=f"{VENDOR}/{MODEL}",
        decide=rulings,
        mcp_servers={"small": server},
        **config,
    )


async def _denied(proof: ProofContext, session: Session, rulings: _Rulings) -> None:
    """Nothing that was denied has an effect, and the agent gets to read why."""
    events = await proof.turn(session, "first question")
    proof.require(_answer(events) == "the first answer", f"no answer came: {events[-3:]}")
    offered = {tool for tool in proof.model.offered_tools() if not tool.startswith("mcp_")}
    back = {tool for tool in NATIVE_TOOLS if tool not in HOSTED_NATIVE.grantable}
    proof.require(
        not offered & back, f"{sorted(offered & back)} was taken back, and yet it was offered"
    )
    unknown = sorted(offered - set(NATIVE_TOOLS))
    proof.require(not unknown, f"the model was offered tools that nobody declared: {unknown}")
    await proof.turn(session, "try everything")
    found = _effects(proof)
    proof.require(not found, f"denied calls had an effect: {found}")
    proof.require(rulings.asked == _ASKED, f"only these were asked about: {rulings.asked}")
    proof.require(
        _SENTENCE in "".join(proof.model.texts()[-1:]),
        lambda: f"the agent was not told why, but {proof.model.texts()[-1:]}",
    )


async def _allowed(proof: ProofContext, session: Session, rulings: _Rulings) -> None:
    """The counter-case: the same calls, allowed."""
    rulings.denies = False
    await proof.turn(session, "try everything")
    found = _effects(proof)
    proof.require(
        found == ["made", "new.txt", "word.txt", "ls", "greet"],
        f"of the allowed calls only these had their effect: {found}",
    )


def _effects(proof: ProofContext) -> list[str]:
    """What calls did: the files that they made, what they made known."""
    made = [name for name in ("made", "new.txt") if (proof.cwd / name).exists()]
    told = "".join(proof.model.tool_results())
    return made + [name for name, sign in _SIGNS.items() if sign in told]


async def _no_command(proof: ProofContext, session: Session) -> None:
    events = await proof.turn(session, "/about")
    proof.require(_answer(events) == "it came as text", f"a message was run: {events[-3:]}")


async def _cut(proof: ProofContext, session: Session) -> None:
    async def cut() -> None:
        while "for long" not in "".join(proof.model.texts()[-1:]):
            await asyncio.sleep(0.05)
        await asyncio.sleep(0.7)  # until the call runs
        await session.interrupt()

    beside = asyncio.ensure_future(cut())
    events = await proof.turn(session, "for long")
    await beside
    proof.require(_answer(events) is None, f"it was not cut short: {_answer(events)!r}")
    await asyncio.sleep(1.5)
    proof.require(not (proof.cwd / "late").exists(), "what was cut short went on")


async def _goes_on(proof: ProofContext, rulings: _Rulings, known: str | None) -> None:
    """In another process, at once, and in a folder whose settings have meanwhile changed."""
    proof.require(known is not None, "it never named its conversation")
    _lay_traps_in_folder(proof)
    (proof.cwd / "made").unlink()
    rulings.denies = True
    session = await _start(proof, rulings, resume=Resume(harness_session_id=known))
    events = await proof.turn(session, "what was it")
    named = [event.harness_session_id for event in events if isinstance(event, Init)]
    proof.require(named == [known], f"{known} was to go on, and {named} did")
    proof.require(
        not [event for event in events if isinstance(event, Text) and event.role == "user"],
        "it was told of the conversation anew",
    )
    proof.require(not (proof.cwd / "made").exists(), "the folder's settings allowed a call")
    ran = [
        name for name in ("hook", "server", "discovery") if (proof.cwd / f"from-{name}").exists()
    ]
    proof.require(not ran, f"commands of the folder's settings ran: {ran}")
    await session.close()


async def _stays(proof: ProofContext, rulings: _Rulings, known: str | None) -> None:
    """Taking a conversation up can delete it, and any start after that: see ``dialogue``."""

    async def start() -> Session:
        return await _start(proof, rulings)

    run = StructuredRun(
        prompt="count", schema=_SCHEMA, start=start, structured_output="prompted", max_retries=0
    )
    reply = await run_structured(run)
    proof.require(reply.data == {"n": 4}, f"the answer was not understood: {reply.raw}")
    transcripts = GeminiTranscripts()
    path = transcripts.find(known or "", str(proof.cwd), proof.env)
    text = path.read_text("utf-8") if path is not None else ""
    for answer in ("the first answer", "the second answer"):
        proof.require(answer in text, f"the conversation was lost: {answer!r} is not kept")
    session = await _start(proof, rulings, resume=Resume(harness_session_id=known))
    events = await proof.turn(session, "once more")
    proof.require(_answer(events) == "the third answer", f"it went on only once: {events[-3:]}")
    await session.close()


def _answer(events: list[SessionEvent]) -> str | None:
    """The turn's final answer."""
    given = [event.result for event in events if isinstance(event, Result)]
    assert isinstance(events[-1], Done)
    return given[-1] if given else None
