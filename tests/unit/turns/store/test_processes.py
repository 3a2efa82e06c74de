"""Many processes at once, and one that is killed: nothing is had twice, nothing told is lost."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from barry_cli.base.ids import new_id
from barry_cli.base.paths import folders
from barry_cli.contract.continuation import ContinuationDescriptor
from barry_cli.contract.session import PermissionRequest
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.unit.turns.store.places import admit, begin, new_session

ROOT = Path(__file__).resolve().parents[4]
PROCESSES = 8


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.unit.turns.store.worker", *words],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def fill(store: SqliteTurnStore, count: int) -> list[str]:
    """So many sessions, each with a turn that runs; "session turn" of each."""
    first = new_session()
    turn = admit(store, first)
    pairs = [(new_id(), new_id()) for _ in range(count)]
    with store._database.writing("fill") as connection:
        for table, columns in (("session", ("id",)), ("turn", ("session_id", "id"))):
            names = [row["name"] for row in connection.execute(f"PRAGMA table_info({table})")]
            names = [name for name in names if name not in ("id", "session_id", "number")]
            known = first if table == "session" else turn
            connection.executemany(
                f"INSERT INTO {table} ({', '.join((*columns, *names))}) "
                f"SELECT {', '.join('?' for _ in columns)}, {', '.join(names)} "
                f"FROM {table} WHERE id = '{known}'",
                [pair[: len(columns)] for pair in pairs],
            )
    return [f"{first} {turn}", *(f"{session} {turn}" for session, turn in pairs)]


def test_each_turn_is_claimed_by_one_of_many() -> None:
    count = 2000
    with SqliteTurnStore(folders()) as store:
        pairs = fill(store, count - 1)
        assert len(store.runnable()) == count
        children = [start("claim") for _ in range(PROCESSES)]
        for at, child in enumerate(children):
            assert child.stdin is not None
            shift = at * count // PROCESSES  # each begins elsewhere, and all meet
            child.stdin.write("\n".join([*pairs[shift:], *pairs[:shift]]))
            child.stdin.close()
        claimed = Counter[str]()
        for child in children:
            assert child.stdout is not None
            claimed.update(child.stdout.read().split())
            child.stdout.close()
            assert child.wait(60) == 0
        assert set(claimed) == {pair.split()[1] for pair in pairs}
        assert set(claimed.values()) == {1}
        assert store.runnable() == []
        assert len(store.orphans()) == count  # all of them have ended


def test_what_was_told_outlives_the_teller() -> None:
    """A writer is killed in mid-work: each number that it told is there, and none is missing."""
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        turn = admit(store, session)
        for _ in range(3):
            child = start("write", session, turn)
            assert child.stdout is not None
            told = [int(child.stdout.readline()) for _ in range(50)]
            child.kill()
            told += [int(line) for line in child.stdout.read().split("\n")[:-1]]
            child.stdout.close()
            assert child.stdin is not None
            child.stdin.close()
            child.wait()
            found = [each.sequence for each in store.events(session, limit=1_000_000)]
            assert found == list(range(1, len(found) + 1))
            assert set(told) <= set(found)
            check = store._database._connection.execute("PRAGMA quick_check").fetchone()
            assert check[0] == "ok"
            (orphan,) = store.orphans()
            assert not orphan.put_down
            assert store.lost(session, turn, "killed").state == "recovery_required"
            turn = admit(store, session)


@pytest.mark.parametrize("quick", [0, 1])
def test_of_two_who_decide_at_once_one_counts(quick: int) -> None:
    session = new_session()
    checkpoint = ContinuationDescriptor(
        adapter_id="toy", adapter_version="1", config_fingerprint="f", format="toy",
        harness_version="1", payload=None, version=1,
    )  # fmt: skip
    with SqliteTurnStore(folders()) as store:
        turn, owner = begin(store, session)
        asks = (PermissionRequest(id="a", tool="shell", input=None),)
        (interrupt,) = store.pause(session, turn, owner, checkpoint, asks).interrupts
        children = [start("decide", session, turn, interrupt.id, which) for which in ("yes", "no")]
        for child in children:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
        for child in children if quick else reversed(children):
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.flush()
        said = [child.communicate(timeout=60)[0].strip() for child in children]
        assert sorted(said) == ["counted", "interrupt-closed"]
        allowed = store.decisions(session, turn)["a"].allow
        assert allowed is (said[0] == "counted")
