"""A disk that is full, may not be written or has gone bad: one clear problem, nothing forgotten."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.paths import folders
from barry_cli.base.problems import StoreProblem
from barry_cli.contract.continuation import ContinuationDescriptor, RecordedCallResult
from barry_cli.contract.events import Text
from barry_cli.contract.session import Denied, PermissionRequest
from barry_cli.contract.turns import ApprovalDecision, TurnFinish
from barry_cli.turns.store.owners import new_owner
from barry_cli.turns.store.problems import CallUncertain
from barry_cli.turns.store.record import Record
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.conftest import AsNobody
from tests.unit.turns.store.places import admit, begin, home, new_session

BIG = Text(text="x" * 100_000)


def full(store: SqliteTurnStore) -> None:
    """From here on the file can't grow."""
    connection = store._database._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}")


def fill(store: SqliteTurnStore, session: str, turn: str) -> StoreProblem:
    for _ in range(100):
        try:
            store.append(session, turn, BIG)
        except StoreProblem as problem:
            return problem
    raise AssertionError("there is room for ever")


async def test_a_full_disk_is_told_and_nothing_is_forgotten() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn, owner = begin(store, session)
        store.append(session, turn, Text(text="before"))
        full(store)
        problem = fill(store, session, turn)
        assert "full" in str(problem)
        assert "free some disk space" in problem.hint
        assert str(folders().database) in str(problem)

        async def effect() -> RecordedCallResult:
            return RecordedCallResult(id="a", result="x" * 100_000)

        call = PermissionRequest(id="a", tool="shell", input=None)
        with pytest.raises(StoreProblem):
            await store.execute(session, turn, owner, call, effect)
        store._database._connection.execute("PRAGMA max_page_count = 1000000")
        # The claim is what it was, and the call that ran is not run again.
        last = store.last_sequence(session)
        assert store.append(session, turn, Text(text="after")) == last + 1
        ended = store.finish(session, turn, owner, TurnFinish(state="completed"))
        assert ended.state == "completed"


async def test_an_effect_whose_end_finds_no_room_does_not_run_again() -> None:
    session = new_session()
    ran = []
    with SqliteTurnStore(folders()) as store:
        turn, owner = begin(store, session)

        async def effect() -> RecordedCallResult:
            ran.append(1)
            full(store)
            return RecordedCallResult(id="a", result="x" * 100_000)

        call = PermissionRequest(id="a", tool="shell", input=None)
        with pytest.raises(StoreProblem, match="full"):
            await store.execute(session, turn, owner, call, effect)
        with pytest.raises(CallUncertain, match="its end isn't recorded"):
            await store.execute(session, turn, owner, call, effect)
        assert ran == [1]


def test_a_file_that_may_not_grow(open_folder: Path, as_nobody: AsNobody) -> None:
    """The system itself refuses a write, in the middle of a commit."""
    where = home(open_folder)

    def work() -> tuple[str, list[int], str]:
        session = new_session(where)
        with SqliteTurnStore(where) as store:
            turn, _ = begin(store, session)
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
            problem = fill(store, session, turn)
            numbers = [each.sequence for each in store.events(session)]
            return problem.hint, numbers, store.snapshot(session, turn).state

    hint, numbers, state = as_nobody(work)
    assert "free some disk space" in hint
    assert numbers
    assert numbers == list(range(1, len(numbers) + 1))
    assert state == "running"


def test_a_record_that_may_only_be_read(open_folder: Path, as_nobody: AsNobody) -> None:
    where = home(open_folder)
    session = new_session(where)
    with SqliteTurnStore(where) as store:
        turn = admit(store, session)
        store.append(session, turn, Text(text="a"))
    where.state.chmod(0o755)
    for path in where.state.iterdir():
        path.chmod(0o644)

    def work() -> tuple[int, str, str]:
        with pytest.raises(PermissionError):
            where.database.open("ab")
        read = len(Record(where).events(session))
        with pytest.raises(StoreProblem) as problem, SqliteTurnStore(where) as store:
            store.claim(session, turn, new_owner())
        return read, str(problem.value), problem.value.hint

    read, message, hint = as_nobody(work)
    assert read == 1
    assert str(where.database) in message
    assert "permissions" in hint


def spoil(path: Path, keep: int = 1) -> None:
    """Turn round every byte behind the first pages."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    size = os.path.getsize(path)
    with path.open("r+b") as file:
        file.seek(4096 * keep)
        spoilt = bytes(255 - each for each in file.read(size))
        file.seek(4096 * keep)
        file.write(spoilt)


@pytest.mark.parametrize("verb", ["claim", "append", "snapshot", "events", "admit", "cancel"])
def test_a_damaged_page_is_told(verb: str) -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn = admit(store, session)
        for _ in range(20):
            store.append(session, turn, BIG)
    spoil(folders().database)
    work: dict[str, Any] = {
        "claim": lambda: store.claim(session, turn, new_owner()),
        "append": lambda: store.append(session, turn, BIG),
        "snapshot": lambda: store.snapshot(session, turn),
        "events": lambda: store.events(session),
        "admit": lambda: admit(store, session),
        "cancel": lambda: store.cancel(session, turn),
    }
    with pytest.raises(StoreProblem) as problem, SqliteTurnStore(folders()) as store:
        work[verb]()
    assert str(folders().database) in str(problem.value)
    assert "mv " in problem.value.hint


def test_text_that_no_file_can_hold_is_told() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn, owner = begin(store, session)
        with pytest.raises(StoreProblem, match="only UTF-8"):
            store.finish(session, turn, owner, TurnFinish(state="failed", error="\ud800"))
        assert store.snapshot(session, turn).state == "running"


def test_a_mistake_in_the_program_is_no_problem_of_the_file() -> None:
    store = SqliteTurnStore(folders())
    store.close()
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        store.queued_sessions()


@pytest.mark.parametrize("text", ["{", "7", "[]", '{"secret": "canary-90ab"}'])
@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("turn", "policy"),
        ("interrupt", "call"),
        ("interrupt", "decision"),
        ("checkpoint", "descriptor"),
        ("conversation", "descriptor"),
        ("call", "result"),
    ],
)
def test_a_record_that_lost_its_form_is_told_without_what_it_holds(
    table: str, column: str, text: str
) -> None:
    session = new_session()
    call = PermissionRequest(id="a", tool="shell", input=None)
    checkpoint = ContinuationDescriptor(
        adapter_id="toy", adapter_version="1", config_fingerprint="f", format="toy",
        harness_version="1", payload=None, version=1,
    )  # fmt: skip
    with SqliteTurnStore(folders()) as store:
        turn, owner = begin(store, session)
        paused = store.pause(session, turn, owner, checkpoint, (call,))
        decision = ApprovalDecision(interrupt_id=paused.interrupts[0].id, decision=Denied())
        store.resolve(
            session_id=session, turn_id=turn, run_id="r", request_id="q", actor="ada",
            decisions=[decision],
        )  # fmt: skip
        store.denied(session, turn, owner, call, RecordedCallResult(id="a", result=1))
        finish = TurnFinish(state="failed", conversation=checkpoint)
        store.finish(session, turn, owner, finish)
        store._database._connection.execute(f"UPDATE {table} SET {column} = ?", (text,))
        work: dict[str, Any] = {
            "policy": lambda: store.snapshot(session, turn),
            "call": lambda: store.list_turns(session),
            "decision": lambda: store.decisions(session, turn),
            "result": lambda: store.recorded(session, turn, call),
            "descriptor": lambda: (
                store.continuation(session, turn)
                if table == "checkpoint"
                else store.conversation(session)
            ),
        }
        with pytest.raises(StoreProblem) as problem:
            work[column]()
    assert str(folders().database) in str(problem.value)
    assert "mv " in problem.value.hint
    assert "canary" not in f"{problem.value} {problem.value.hint} {problem.value.details}"
