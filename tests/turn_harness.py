"""A harness with a script, whose calls have effects that can be counted, in any process."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from barry_cli.base.problems import Refused
from barry_cli.contract.continuation import (
    ContinuationDescriptor,
    ContinuationEffects,
    Emit,
    RecordedCallResult,
    SegmentCompleted,
    SegmentFailed,
    SegmentInterrupted,
)
from barry_cli.contract.events import Done, Partial, SessionEvent, Text, ToolResult, ToolUse
from barry_cli.contract.levels import ApprovalContinuation
from barry_cli.contract.models import TokenUsage
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.contract.turns import RequiredReview
from barry_cli.turns.store.sessions import SessionRow, Sessions

CANARY = "canary-7f3c9e-of-a-payload"
"""Stands in every checkpoint; nothing that is shown may hold it."""

SESSION = "s1"

Outcome = SegmentCompleted | SegmentFailed | SegmentInterrupted


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Ask:
    """Calls that wait for an approval; approved ones run, in order."""

    calls: tuple[PermissionRequest, ...]


@dataclass(frozen=True)
class Do:
    """Anything else that a harness may get up to."""

    work: Callable[[Emit], Awaitable[Any]]


Step = Say | Ask | Do


def call(id: str, tool: str = "Shell", input: Any = None) -> PermissionRequest:
    return PermissionRequest(id=id, tool=tool, input=input or {"command": f"run {id}"})


def descriptor(payload: Any, *, format: str = "script", version: int = 1) -> ContinuationDescriptor:
    return ContinuationDescriptor(
        adapter_id="script", adapter_version="1", config_fingerprint="f", format=format,
        harness_version="1", payload=payload, version=version,
    )  # fmt: skip


class Effects:
    """What calls leave behind: one line each, on disk before the call is over."""

    def __init__(self, path: Path) -> None:
        self.path = path

    async def __call__(self, call: PermissionRequest) -> RecordedCallResult:
        out = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(out, f"{call.id}\n".encode())
        finally:
            os.close(out)
        return RecordedCallResult(id=call.id, result=f"did {call.id}")

    def lines(self) -> list[str]:
        return self.path.read_text().split() if self.path.exists() else []


@dataclass
class Scripted:
    """Plays the script of the content that it gets; its checkpoint says how far it came."""

    scripts: Mapping[str, Sequence[Step]]
    effect: Callable[[PermissionRequest], Awaitable[RecordedCallResult]]
    approval_continuation: ApprovalContinuation = "durable"
    trace: list[str] = field(default_factory=list)
    script: Sequence[Step] = ()
    content: str = ""
    interrupted: asyncio.Event = field(default_factory=asyncio.Event)
    told: list[RecordedCallResult] = field(default_factory=list)
    decided: dict[str, Allowed | Denied] = field(default_factory=dict)

    async def begin(
        self, content: str, emit: Emit, conversation: ContinuationDescriptor | None = None
    ) -> Outcome:
        before = conversation.payload["turns"] if conversation is not None else 0
        self.trace.append(f"begin {content} after {before}")
        self.content, self.script = content, self.scripts[content]
        return await self._play(0, emit, before)

    async def restore(
        self,
        continuation: ContinuationDescriptor,
        decisions: Mapping[str, Allowed | Denied],
        effects: ContinuationEffects,
        emit: Emit,
    ) -> Outcome:
        self.decided = dict(decisions)
        kept = continuation.payload
        self.content, self.script = kept["content"], self.scripts[kept["content"]]
        self.trace.append(f"restore {self.content} at {kept['at']}")
        step = self.script[kept["at"]]
        assert isinstance(step, Ask)
        for each in step.calls:
            await emit(ToolUse(id=each.id, tool=each.tool, input=each.input))
            decision = decisions[each.id]
            if isinstance(decision, Denied):
                result = await effects.denied(
                    each, RecordedCallResult(id=each.id, result=decision.reason, error=True)
                )
            else:
                result = await effects.execute(each, lambda each=each: self.effect(each))
            self.told.append(result)
            await emit(ToolResult(id=each.id, result=result.result, error=result.error))
        return await self._play(kept["at"] + 1, emit, kept["turns"])

    async def _play(self, at: int, emit: Emit, turns: int) -> Outcome:
        for number, step in enumerate(self.script[at:], at):
            if isinstance(step, Ask):
                kept = {"at": number, "content": self.content, "turns": turns, "why": CANARY}
                return SegmentInterrupted(calls=step.calls, continuation=descriptor(kept))
            if isinstance(step, Say):
                await emit(Text(text=step.text))
            else:
                end = await step.work(emit)
                if isinstance(end, SegmentCompleted | SegmentFailed | SegmentInterrupted):
                    return end
        await emit(Done(usage=TokenUsage(input=3, output=5), turns=1))
        kept = {"turns": turns + 1, "why": CANARY}
        return SegmentCompleted(result=f"{self.content} done", conversation=descriptor(kept))

    def validate(self, continuation: ContinuationDescriptor) -> None:
        self.trace.append("validate")
        if (continuation.format, continuation.version) != ("script", 1):
            raise Refused(f"a checkpoint of another format: {continuation.format}")

    async def interrupt(self) -> None:
        self.trace.append("interrupt")
        self.interrupted.set()

    async def close(self) -> None:
        self.trace.append("close")


def partials(number: int) -> Do:
    async def work(emit: Emit) -> None:
        for each in range(number):
            await emit(Partial(text=str(each)))

    return Do(work)


def emits(*events: SessionEvent) -> Do:
    async def work(emit: Emit) -> None:
        for event in events:
            await emit(event)

    return Do(work)


def raises(error: BaseException) -> Do:
    async def work(emit: Emit) -> None:
        raise error

    return Do(work)


def gives(outcome: Any) -> Do:
    async def work(emit: Emit) -> Any:
        return outcome

    return Do(work)


def add_session(sessions: Sessions, id: str = SESSION) -> None:
    sessions.add(
        SessionRow(
            id=id, adapter="script", mode="hosted", cwd="/", guarantees={}, asked={},
            state="running", created_at="2026-01-01T00:00:00.000Z",
        )
    )  # fmt: skip


REVIEW = RequiredReview()
