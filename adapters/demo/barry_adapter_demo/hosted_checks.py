"""Shows what hosted mode promises, on the harness itself."""

from __future__ import annotations

import asyncio
import json

from barry_cli.adapters import ProofContext
from barry_cli.sessions import (
    Allowed,
    Denied,
    Done,
    Init,
    PermissionRequest,
    Result,
    Resume,
    SessionEvent,
    Text,
    ToolResult,
    ToolUse,
)

_SENTENCE = "this check denies that"
_CALLS = (
    {"tool": "shell", "input": {"command": "touch made"}},
    {"tool": "write", "input": {"path": "written", "content": "new"}},
    {"tool": "read", "input": {"path": "word.txt"}},
)
_WORD = "a word that only the file holds"


class _Rulings:
    """Denies every call, or none."""

    def __init__(self) -> None:
        self.deny = True
        self.asked: list[str] = []

    async def __call__(self, request: PermissionRequest) -> Allowed | Denied:
        self.asked.append(request.tool)
        return Denied(reason=_SENTENCE) if self.deny else Allowed()


async def hosted(proof: ProofContext) -> None:
    """Rulings and their counter-case, an interrupt, a conversation that goes on, a copy of it."""
    (proof.cwd / "word.txt").write_text(_WORD, encoding="utf-8")
    script = proof.cwd / "script.json"
    slow: list[dict[str, object]] = [{"text": "slowly"}, {"delay": 30}, {"text": "too late"}]
    rules = [{"when": "try all", "then": [*_CALLS, {"text": "tried"}]}]
    script.write_text(json.dumps([*rules, {"when": "take long", "then": slow}]), encoding="utf-8")
    env = {**proof.env, "BARRY_DEMO_SCRIPT": str(script)}
    rulings = _Rulings()

    session = await proof.start(env=env, decide=rulings)
    denied = await proof.turn(session, "try all")
    made = [name for name in ("made", "written") if (proof.cwd / name).exists()]
    proof.require(not made, f"denied calls had their effect: {made}")
    results = _results(denied)
    proof.require(
        len(results) == len(_CALLS) and all(_SENTENCE in result for result in results),
        f"the model was not told why, but {results}",
    )
    called = [event.tool for event in denied if isinstance(event, ToolUse)]
    proof.require(called == rulings.asked, f"it called {called}, and asked about {rulings.asked}")
    _counted(proof, denied)

    rulings.deny = False
    allowed = await proof.turn(session, "try all")
    made = [name for name in ("made", "written") if (proof.cwd / name).exists()]
    proof.require(len(made) == 2, f"of the allowed calls only these had their effect: {made}")
    proof.require(_WORD in _results(allowed), "the allowed read gave nothing")

    cut = asyncio.ensure_future(proof.turn(session, "take long", seconds=20))
    await asyncio.sleep(1)
    await session.interrupt()
    proof.require(_answer(await cut) is None, "it was not cut short")
    known = session.harness_session_id
    assert known is not None
    await session.close()

    # A copy knows what was said, and the conversation knows nothing of what the copy was told.
    copied = await proof.start(
        env=env, decide=rulings, resume=Resume(harness_session_id=known, fork=True)
    )
    events = await proof.turn(copied, "recall")
    proof.require("take long" in (_answer(events) or ""), "the copy does not know what was said")
    proof.require(_named(events) not in (known, None), f"the copy has the id {_named(events)}")
    await copied.close()
    session = await proof.start(env=env, decide=rulings, resume=Resume(harness_session_id=known))
    events = await proof.turn(session, "recall")
    proof.require(_named(events) == known, f"{known} was to go on, and {_named(events)} did")
    proof.require("take long" in (_answer(events) or ""), "the conversation did not go on")


def _results(events: list[SessionEvent]) -> list[str]:
    return [str(event.result) for event in events if isinstance(event, ToolResult)]


def _answer(events: list[SessionEvent]) -> str | None:
    given = [event.result for event in events if isinstance(event, Result)]
    return given[-1] if given else None


def _named(events: list[SessionEvent]) -> str | None:
    return next((event.harness_session_id for event in events if isinstance(event, Init)), None)


def _counted(proof: ProofContext, events: list[SessionEvent]) -> None:
    """Its own count: words in, words out."""
    said = " ".join(each.text for each in events if isinstance(each, Text) and each.role != "user")
    usage = events[-1].usage if isinstance(events[-1], Done) else None
    proof.require(
        usage is not None and (usage.input, usage.output) == (2, len(said.split())),
        f"it counted {usage}",
    )
