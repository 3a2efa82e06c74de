"""A server of processes that execute turns and die at a moment of the test's choice.

It imports once and forks for each line that it reads, so that a hundred deaths take seconds. A
line is an order in JSON: ``home`` (a Barry home), ``top`` (a folder for what is observed), ``kill``
(the number of the moment to die at), ``after`` (seconds to die after) and ``racers`` (how many
processes decide at once about a turn that waits). The answer is the exit status.

A moment is each commit, before and after it, and each effect, opening and closing of a handle.
Observed in ``top``: ``moments`` (their names), ``effects`` (a line per effect), ``acknowledged``
(what a caller was told is recorded) and ``handles`` (what harnesses were told to do).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from barry_cli.base.paths import Folders
from barry_cli.base.problems import Refused
from barry_cli.contract.continuation import RecordedCallResult
from barry_cli.contract.data import snapshot as document
from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.contract.turns import ApprovalDecision, TurnSnapshot
from barry_cli.turns.around import OVER
from barry_cli.turns.execution import Limits, TurnExecution, TurnExecutionDependencies
from barry_cli.turns.recovery import recover_turns
from barry_cli.turns.store.sessions import Sessions
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.turn_harness import REVIEW, SESSION, Ask, Effects, Say, Scripted, Step, add_session, call

SAME = {"command": "the same"}
SCRIPTS: dict[str, list[Step]] = {
    "first": [
        Say("one"),
        Ask((call("c1"), call("c2"), call("c3"))),
        Say("two"),
        Ask((call("c4", input=SAME),)),
        Say("three"),
    ],
    "third": [Ask((call("c8"),))],
    "race": [Ask((call("c6"), call("c7")))],
    "second": [Say("four"), Ask((call("c5", input=SAME),)), Say("five")],
}
WANTED = ("first", "second", "third")  # and the third is cancelled when it waits
DECISIONS = {
    "c1": Allowed(),
    "c2": Denied(reason="not that one"),
    "c3": Allowed(),
    "c4": Allowed(persist=True),  # so that nobody is asked about c5, if it came that far
    "c5": Allowed(),
}


def home(top: str | Path) -> Folders:
    return Folders(*(Path(top, name) for name in ("config", "data", "state", "cache", "run")))


class Observer:
    """Writes down what happens, and ends this process at its moment."""

    def __init__(self, top: str, kill: int | None) -> None:
        self._top = top
        self._kill = kill
        self._moment = 0

    def note(self, what: str, text: str) -> None:
        out = os.open(Path(self._top, what), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(out, f"{text}\n".encode())
        os.close(out)

    def moment(self, when: str, what: str) -> None:
        self.note("moments", f"{when} {what}")
        self._moment += 1
        if self._moment == self._kill:
            os.kill(os.getpid(), signal.SIGKILL)

    def acknowledge(self, kind: str, what: Any) -> None:
        self.note("acknowledged", json.dumps([kind, what]))


class Observed(Scripted):
    """Every opening, closing and event of it is observed."""

    observer: Observer

    async def begin(self, content: str, emit: Any, conversation: Any = None) -> Any:
        self.observer.note("handles", f"begin {content}")
        return await super().begin(content, self._emitting(emit), conversation)

    async def restore(self, continuation: Any, decisions: Any, effects: Any, emit: Any) -> Any:
        kept = continuation.payload
        self.observer.note("handles", f"restore {kept['content']} {kept['at']}")
        return await super().restore(continuation, decisions, effects, self._emitting(emit))

    async def close(self) -> None:
        self.observer.moment("before", "close")
        await super().close()
        self.observer.moment("after", "close")

    def _emitting(self, emit: Any) -> Callable[[Any], Awaitable[None]]:
        async def emitting(event: Any) -> None:
            await emit(event)
            if event.type != "done":
                self.observer.acknowledge("event", document(event))

        return emitting


class Client:
    """Wants some turns, decides what is asked, and asks again for what it was not told."""

    def __init__(self, order: dict[str, Any]) -> None:
        self.observer = Observer(order["top"], order.get("kill"))
        self.effects = Effects(Path(order["top"], "effects"))
        self.store = SqliteTurnStore(home(order["home"]), on_commit=self.observer.moment)
        self.execution = TurnExecution(
            TurnExecutionDependencies(
                store=self.store, authorize=self._authorize, open_harness=self._open
            ),
            limits=Limits(watch_seconds=0.05),
        )

    async def _authorize(self, session_id: str, call: PermissionRequest) -> Allowed | Denied:
        return Allowed()

    async def _open(self, session_id: str) -> Observed:
        self.observer.moment("at", "open")
        handle = Observed(SCRIPTS, self._effect)
        handle.observer = self.observer
        return handle

    async def _effect(self, call: PermissionRequest) -> RecordedCallResult:
        self.observer.moment("before", "effect")
        result = await self.effects(call)
        self.observer.moment("after", "effect")
        return result

    async def work(self) -> None:
        recover_turns(self.execution, self.store, SESSION)
        turns = [self._admit(each) for each in WANTED]
        while True:
            for turn in turns:
                await self.execution.settled(turn.id)
            states = [self.store.snapshot(SESSION, turn.id) for turn in turns]
            if all(each.state in OVER for each in states):
                break
            for each in states:
                if each.state == "waiting_for_input" and each.interrupts[0].call.id == "c8":
                    await self.execution.cancel(SESSION, each.id)
                    self.observer.acknowledge("cancelled", each.id)
                elif each.state == "waiting_for_input":
                    self._decide(each)
            await asyncio.sleep(0)
        await self.execution.close()
        self.store.close()

    def _admit(self, content: str) -> TurnSnapshot:
        turn = self.execution.admit(
            session_id=SESSION, request_id=f"ask {content}", run_id="r", actor="ada",
            content=content, policy=REVIEW, if_active="queue",
        )  # fmt: skip
        self.observer.acknowledge("turn", turn.id)
        return turn

    def _decide(self, turn: TurnSnapshot) -> None:
        """One decision at a time, each in a request of its own."""
        for interrupt in turn.interrupts:
            if interrupt.status == "pending":
                decision = DECISIONS[interrupt.call.id]
                self.execution.resolve(
                    session_id=SESSION, turn_id=turn.id, run_id="r", actor="bob",
                    request_id=f"decide {turn.id} {interrupt.id}",
                    decisions=[ApprovalDecision(interrupt_id=interrupt.id, decision=decision)],
                )  # fmt: skip
                self.observer.acknowledge("decision", [interrupt.id, decision.allow])

    async def race(self, number: int, ready: int) -> None:
        """Decide as one of several, all at once; even numbers allow, odd ones deny."""
        turn = next(
            each for each in self.store.list_turns(SESSION) if each.state == "waiting_for_input"
        )
        self.execution.recover(turn)
        os.read(ready, 1)  # until everybody is here
        decision = Denied(reason="no") if number % 2 else Allowed()
        try:
            self.execution.resolve(
                session_id=SESSION, turn_id=turn.id, run_id="r", request_id=f"racer {number}",
                actor=f"racer {number}",
                decisions=[
                    ApprovalDecision(interrupt_id=each.id, decision=decision)
                    for each in turn.interrupts
                ],
            )  # fmt: skip
        except Refused as problem:
            self.observer.note("handles", f"racer {number} came too late: {problem.code}")
        else:
            self.observer.acknowledge("decision", [number, decision.allow])
        while self.store.snapshot(SESSION, turn.id).state not in OVER:
            await asyncio.sleep(0.01)
        await self.execution.settled(turn.id)
        await self.execution.close()
        self.store.close()


def forked(work: Callable[[], Any]) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            asyncio.run(work())
            status = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    return pid


def carry_out(order: dict[str, Any]) -> list[int]:
    """The processes that do it."""
    if "racers" not in order:
        return [forked(lambda: Client(order).work())]
    ready, start = os.pipe()
    pids = [
        forked(lambda number=number: Client(order).race(number, ready))
        for number in range(order["racers"])
    ]
    time.sleep(0.1)
    os.write(start, b"." * len(pids))
    os.close(start)
    os.close(ready)
    return pids


def warm() -> None:
    """Do it all once before the first fork: what is built then is built for every process."""
    with tempfile.TemporaryDirectory() as top:
        add_session(Sessions(home(Path(top, "barry"))))
        asyncio.run(Client({"home": str(Path(top, "barry")), "top": top}).work())


def main() -> None:
    warm()
    for line in sys.stdin:
        order = json.loads(line)
        pids = carry_out(order)
        if "after" in order:
            time.sleep(order["after"])
            for pid in pids:  # ours, and not waited for yet: no other has its number
                os.kill(pid, signal.SIGKILL)
        ends = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]
        print(next((each for each in ends if each), 0), flush=True)


if __name__ == "__main__":
    main()
