"""What executing a turn costs beside its own writes to the disk."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from barry_cli.base.ids import new_id
from barry_cli.base.paths import Folders
from barry_cli.contract.session import Allowed
from barry_cli.contract.turns import ApprovalDecision
from barry_cli.turns.execution import TurnExecution, TurnExecutionDependencies
from barry_cli.turns.store.sessions import Sessions
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.bench.measure import race, show
from tests.turn_harness import REVIEW, SESSION, Ask, Effects, Say, Scripted, add_session, call

pytestmark = pytest.mark.timeout(300)

MOST = 3.0
BASE = "as many bare commits"
TURN = "a turn with one approved call"
# What is not synced: the store's own tests say that these, and no others, are left to the log.
QUICK = {"event", "events", "released", "promote"}


class Turns:
    """Executes a turn from its admission to its end, with one approval on the way."""

    def __init__(self, top: Path) -> None:
        names = ("config", "data", "state", "cache", "run")
        where = Folders(*(top / name for name in names))
        add_session(Sessions(where))
        self.commits: Counter[str] = Counter()
        self._store = SqliteTurnStore(where, on_commit=self._note)
        self._scripts = {"go": [Say("one"), Ask((call("c1"),)), Say("two")]}
        self._effects = Effects(top / "effects")
        self._loop = asyncio.new_event_loop()
        self._execution = TurnExecution(
            TurnExecutionDependencies(
                store=self._store, authorize=self._authorize, open_harness=self._open
            )
        )

    def _note(self, when: str, what: str) -> None:
        if when == "before":
            self.commits["quick" if what in QUICK else "synced"] += 1

    async def _authorize(self, session_id: str, call: object) -> Allowed:
        return Allowed()

    async def _open(self, session_id: str) -> Scripted:
        return Scripted(self._scripts, self._effects)

    async def _turn(self) -> None:
        turn = self._execution.admit(
            session_id=SESSION, request_id=new_id(), run_id="r", actor="ada", content="go",
            policy=REVIEW,
        )  # fmt: skip
        await self._execution.settled(turn.id)
        (interrupt,) = self._store.snapshot(SESSION, turn.id).interrupts
        self._execution.resolve(
            session_id=SESSION, turn_id=turn.id, run_id="r", request_id=new_id(), actor="bob",
            decisions=[ApprovalDecision(interrupt_id=interrupt.id, decision=Allowed())],
        )  # fmt: skip
        await self._execution.settled(turn.id)
        assert self._store.snapshot(SESSION, turn.id).state == "completed"

    def __call__(self) -> float:
        began = time.perf_counter()
        self._loop.run_until_complete(self._turn())
        return (time.perf_counter() - began) * 1000

    def close(self) -> None:
        self._loop.run_until_complete(self._execution.close())
        self._loop.close()
        self._store.close()


@pytest.fixture
def turns(tmp_path: Path) -> Iterator[Turns]:
    made = Turns(tmp_path)
    yield made
    made.close()


def bare(connection: sqlite3.Connection, commits: int) -> Callable[[], float]:
    """Synced commits of one small row each, with nothing around them."""
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("CREATE TABLE row (body TEXT)")

    def run() -> float:
        began = time.perf_counter()
        for _ in range(commits):
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT INTO row VALUES ('a short text')")
            connection.execute("COMMIT")
        return (time.perf_counter() - began) * 1000

    return run


def test_a_turn_costs_little_more_than_its_syncs(turns: Turns, tmp_path: Path) -> None:
    turns()
    turns.commits.clear()
    turns()
    synced, quick = turns.commits["synced"], turns.commits["quick"]
    with closing(sqlite3.connect(tmp_path / "bare.db", isolation_level=None)) as connection:
        figures = race({BASE: bare(connection, synced), TURN: turns}, rounds=30)
    show(f"{synced} synced commits and {quick} others, least and median of 30", figures, BASE)
    assert figures[TURN].least <= MOST * figures[BASE].least
