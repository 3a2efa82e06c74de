"""Shows, on the real program, what hosted mode declares."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from barry_adapter_qwen.checks import MODEL, settle
from barry_adapter_qwen.declared import HOSTED_NATIVE, NATIVE_TOOLS
from barry_adapter_qwen.transcript import QwenTranscripts
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
    StructuredRun,
    Text,
    run_structured,
)

_SENTENCE = "this check denies that"
_SECRET = "a word that only the file holds"  # noqa: S105 - what a file says, no password
_SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
_SIGNS = {"word.txt": _SECRET, "ls": "below.txt"}
_NOWHERE = "http://127.0.0.1:9/v1"
_SHELL = "run_shell_command"
_ASKED = [_SHELL, _SHELL, "read_file", "write_file", "web_fetch"]


def _calls(cwd: Path) -> list[dict[str, object]]:
    """One of each kind that is left: shell, reads, writes, network. An ls it allows by itself."""
    touch = {"command": "touch made", "description": "a try", "is_background": False}
    names = {**touch, "command": "ls", "directory": str(cwd / "deep")}
    return [
        {"tool": _SHELL, "input": touch},
        {"tool": _SHELL, "input": names},
        {"tool": "read_file", "input": {"file_path": str(cwd / "word.txt")}},
        {"tool": "write_file", "input": {"file_path": str(cwd / "new.txt"), "content": "new"}},
        {"tool": "web_fetch", "input": {"url": "http://127.0.0.1:9/", "prompt": "what is there"}},
    ]


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
    proof.model.script(_script(proof.cwd))
    rulings = _Rulings()
    session = await _start(proof, rulings)
    await _denied(proof, session, rulings)
    await _allowed(proof, session, rulings)
    await _no_command(proof, session)
    await _cut(proof, session)
    await session.close()
    await _goes_on(proof, rulings, session.harness_session_id)
    await _in_words(proof, rulings)


def _lay_traps(proof: ProofContext) -> None:
    """What the user once allowed, and a hook of theirs that allows, must not count."""
    path = proof.home / ".qwen" / "settings.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **_traps("user")}), "utf-8")
    (proof.cwd / "word.txt").write_text(_SECRET, encoding="utf-8")
    (proof.cwd / "deep").mkdir()
    (proof.cwd / "deep" / "below.txt").touch()


def _lay_traps_in_folder(proof: ProofContext) -> None:
    path = proof.cwd / ".qwen" / "settings.json"
    path.parent.mkdir()
    server = {"trap": {"command": "touch", "args": ["from-server"]}}
    astray = {"OPENAI_BASE_URL": _NOWHERE}
    more = {"$version": 4, "mcpServers": server, "env": astray, "proxy": _NOWHERE}
    path.write_text(json.dumps({**_traps("folder"), **more}), "utf-8")


def _traps(whose: str) -> dict[str, object]:
    allows = {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow"}}
    says = f"echo '{json.dumps({'hookSpecificOutput': allows})}'"
    hooks = {
        name: [{"matcher": "*", "hooks": [{"type": "command", "command": command}]}]
        for name, command in (
            ("PermissionRequest", says),
            ("SessionStart", f"touch from-{whose}-hook"),
        )
    }
    every = ["Bash", "Read", "Edit", "Write", "WebFetch", *HOSTED_NATIVE.grantable]
    tools = {"approvalMode": "yolo", "discoveryCommand": f"touch from-{whose}-discovery"}
    return {"hooks": hooks, "permissions": {"allow": every}, "tools": tools}


def _script(cwd: Path) -> list[dict[str, object]]:
    slow = "python3 -c 'import time; time.sleep(1.5)'"
    given = {"command": f"{slow}; touch late", "description": "a try", "is_background": False}
    late = {"tool": _SHELL, "input": given}
    block = '````json\n{"n": 4}\n````'
    calls = _calls(cwd)
    return [
        # A prompt that was cut short stands before the next one.
        {"when": "what was it", "then": [calls[0], {"text": "the second answer"}]},
        {"when": "first question", "then": [{"text": "the first answer"}]},
        {"when": "try everything", "then": [*calls, {"text": "all tried"}]},
        {"when": "/help", "then": [{"text": "it came as text"}]},
        {"when": "for long", "then": [late, {"text": "late"}]},
        {"when": "count", "then": [{"text": block}]},
    ]


async def _start(proof: ProofContext, rulings: _Rulings, **config: object) -> Session:
    endpoint = Endpoint.model_validate(
        {"url": proof.model.url("openai-chat"), "api": "openai-chat", "key": proof.key}
    )
    return await proof.start(endpoint=endpoint, model=f"openai/{MODEL}", decide=rulings, **config)


async def _denied(proof: ProofContext, session: Session, rulings: _Rulings) -> None:
    """Nothing that was denied has an effect, and the agent gets to read why."""
    events = await proof.turn(session, "first question")
    proof.require(_answer(events) == "the first answer", f"no answer came: {events[-3:]}")
    offered = set(proof.model.offered_tools())
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
        found == ["made", "new.txt", "word.txt", "ls"],
        f"of the allowed calls only these had their effect: {found}",
    )


def _effects(proof: ProofContext) -> list[str]:
    """What calls did: the files that they made, what they made known."""
    made = [name for name in ("made", "new.txt") if (proof.cwd / name).exists()]
    told = "".join(proof.model.tool_results())
    return made + [name for name, sign in _SIGNS.items() if sign in told]


async def _no_command(proof: ProofContext, session: Session) -> None:
    events = await proof.turn(session, "/help")
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
    proof.require(not (proof.cwd / "made").exists(), "settings or hooks allowed a call")
    ran = sorted(path.name for path in proof.cwd.glob("from-*"))
    proof.require(not ran, f"commands of the settings ran: {ran}")
    await session.close()
    path = QwenTranscripts().find(known or "", str(proof.cwd), proof.env)
    text = path.read_text("utf-8") if path is not None else ""
    for answer in ("the first answer", "the second answer"):
        proof.require(answer in text, f"the conversation was lost: {answer!r} is not kept")


async def _in_words(proof: ProofContext, rulings: _Rulings) -> None:
    async def start() -> Session:
        return await _start(proof, rulings)

    run = StructuredRun(
        prompt="count", schema=_SCHEMA, start=start, structured_output="prompted", max_retries=0
    )
    reply = await run_structured(run)
    proof.require(reply.data == {"n": 4}, f"the answer was not understood: {reply.raw}")


def _answer(events: list[SessionEvent]) -> str | None:
    """The turn's final answer."""
    given = [event.result for event in events if isinstance(event, Result)]
    assert isinstance(events[-1], Done)
    return given[-1] if given else None
