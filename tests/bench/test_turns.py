"""The record of turns: an event beside a bare row, and a big record beside a small one."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from barry_cli.base.ids import new_id
from barry_cli.contract.events import Text
from barry_cli.turns.store.schema import MIGRATIONS
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.bench.measure import race, show
from tests.unit.turns.store.places import admit, begin, home, new_session

pytestmark = pytest.mark.timeout(900)

ROUNDS = 30
SAID = "Some words of an answer, about as many as a line has, and then a few more of them. "
EVENTS = [Text(text=f"{SAID}{number}") for number in range(200)]
"""So few that some rounds are disturbed by nobody."""
BATCH = 50
TURNS, EACH = 10, 100
"""Of a session: its turns, and the events of each."""


class Bare:
    """A loop over sqlite3 that writes an equal row for each event, and nothing else."""

    def __init__(self, path: Path, session: str, turn: str) -> None:
        self._session, self._turn = session, turn
        self._number = 0
        self._connection = sqlite3.connect(path, isolation_level=None)
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON",
                       "temp_store=MEMORY", "journal_size_limit=67108864"):  # fmt: skip
            self._connection.execute(f"PRAGMA {pragma}")
        table = MIGRATIONS[1][MIGRATIONS[1].index("CREATE TABLE event") :]
        self._connection.execute(table[: table.index(";")])

    def _row(self, event: Text) -> tuple[object, ...]:
        self._number += 1
        body = json.dumps({"text": event.text, "type": event.type}, ensure_ascii=False)
        return self._session, self._number, self._turn, 0, int(time.time() * 1000), body

    def write(self, events: list[Text]) -> None:
        """One commit."""
        self._connection.execute("BEGIN IMMEDIATE")
        self._connection.executemany(
            "INSERT INTO event VALUES (?, ?, ?, ?, ?, ?)", [self._row(event) for event in events]
        )
        self._connection.execute("COMMIT")

    def close(self) -> None:
        self._connection.close()


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """The time that the process itself takes: nothing here waits, but others may be in its way."""

    def run() -> float:
        began = time.process_time()
        work()
        return (time.process_time() - began) * 1000

    return run


def test_events(tmp_path: Path) -> None:
    """An event's own commit, and one of fifty, at 60 % of a bare loop or better."""
    where = home(tmp_path)
    session = new_session(where, asked={"model": "a/b", "roots": ["/home/ada/parrot"] * 10})
    batches = [EVENTS[at : at + BATCH] for at in range(0, len(EVENTS), BATCH)]
    with SqliteTurnStore(where) as store:
        turn, _ = begin(store, session)
        with closing(Bare(tmp_path / "bare.db", session, turn)) as bare:
            figures = race(
                {
                    "bare, one by one": timed(lambda: [bare.write([each]) for each in EVENTS]),
                    "append": timed(lambda: [store.append(session, turn, e) for e in EVENTS]),
                    "bare, by fifties": timed(lambda: [bare.write(each) for each in batches]),
                    "append_many": timed(
                        lambda: [store.append_many(session, turn, each) for each in batches]
                    ),
                },
                rounds=ROUNDS * 6,
            )
    show(f"{len(EVENTS)} events, least and median of {ROUNDS * 6}", figures, "bare, one by one")
    for bare_name, ours in (("bare, one by one", "append"), ("bare, by fifties", "append_many")):
        share = figures[bare_name].least / figures[ours].least
        print(f"  {ours}: {share:.0%} of a bare loop")
        assert share >= 0.6, (ours, figures)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[int, SqliteTurnStore]]:
    """Sessions -> a record with so many of them."""
    made = {}
    for sessions in (10, 1000):
        where = home(tmp_path_factory.mktemp(f"record{sessions}"))
        session = new_session(where, id="measured0000")
        made[sessions] = store = SqliteTurnStore(where)
        fill(store, session, sessions)
    yield made
    for store in made.values():
        store.close()


def fill(store: SqliteTurnStore, first: str, sessions: int) -> None:
    """Ended turns with events, of a session and of its copies, their rows mixed."""
    store.cancel(first, admit(store, first))
    names = [first, *(new_id() for _ in range(sessions - 1))]
    body = json.dumps({"text": SAID, "type": "text"})
    with store._database.writing("fill") as connection:
        for table in ("session", "turn"):
            columns = [row["name"] for row in connection.execute(f"PRAGMA table_info({table})")]
            same = [name for name in columns if name not in ("number", "id", "session_id")]
            taken = ", ".join(same)
            if table == "session":
                connection.executemany(
                    f"INSERT INTO session (id, {taken}) SELECT ?, {taken} FROM session LIMIT 1",
                    [(name,) for name in names[1:]],
                )
                continue
            connection.executemany(
                f"INSERT INTO turn (session_id, id, {taken}) SELECT ?, ?, {taken} FROM turn "
                "LIMIT 1",
                [(name, new_id()) for _ in range(TURNS) for name in names],
            )
            connection.execute("DELETE FROM turn WHERE number = 1")
        connection.execute("DELETE FROM event")
        connection.executemany(
            "INSERT INTO event VALUES (?, ?, 'some turn id', 0, 1764528000000, ?)",
            ((name, at + 1, body) for at in range(TURNS * EACH) for name in names),
        )


def test_a_big_record(records: dict[int, SqliteTurnStore]) -> None:
    """A session of a hundred times bigger record is listed and replayed as fast: 1.3x at most."""
    small, big = records[10], records[1000]
    for store, sessions in ((small, 10), (big, 1000)):
        rows = store._database._connection.execute("SELECT count(*) FROM event").fetchone()[0]
        assert rows == sessions * TURNS * EACH
    session = "measured0000"
    assert len(big.list_turns(session)) == TURNS
    assert len(big.events(session)) == TURNS * EACH
    figures = race(
        {
            f"{what}, {name}": timed(work)
            for name, store in (("small", small), ("big", big))
            for what, work in (
                ("list", lambda s=store: [s.list_turns(session) for _ in range(20)]),
                ("replay", lambda s=store: [s.events(session) for _ in range(5)]),
            )
        },
        rounds=ROUNDS,
    )
    show("one session of 10, and of 1000 (10,000 turns, 1,000,000 events)", figures, "list, small")
    for what in ("list", "replay"):
        ratio = figures[f"{what}, big"].least / figures[f"{what}, small"].least
        print(f"  {what}: {ratio:.2f}x")
        assert ratio <= 1.3, figures
