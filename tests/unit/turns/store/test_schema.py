"""The tables: made from an older file, strict, and never read from end to end."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from barry_cli.base.paths import folders
from barry_cli.turns.store.database import VERSION, connect
from barry_cli.turns.store.schema import MIGRATIONS
from barry_cli.turns.store.sessions import Sessions
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.unit.turns.store.places import admit, begin, new_session


def test_a_file_of_the_first_version_goes_on() -> None:
    path = folders().database
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as old:
        old.executescript(MIGRATIONS[0] + "PRAGMA user_version = 1;")
        old.execute(
            "INSERT INTO session (id, adapter, mode, cwd, guarantees, lowered, unverified, "
            "warnings, asked, owner_uid, state, created_at) "
            "VALUES ('s', 'toy', 'guest', '/', '{}', '{}', 0, '[]', '{}', 0, 'ended', '')"
        )
        old.commit()
    assert [row.id for row in Sessions(folders()).all()] == ["s"]
    with SqliteTurnStore(folders()) as store:
        assert store.last_sequence("s") == 0
        assert admit(store, "s")
    with closing(sqlite3.connect(path.with_name("barry.db.v1.backup"))) as backup:
        assert backup.execute("PRAGMA user_version").fetchone() == (1,)
    with closing(connect(path)) as new:
        assert new.execute("PRAGMA user_version").fetchone()[0] == VERSION


@pytest.mark.parametrize(
    "change",
    [
        "state = 'asleep'",
        "state = 'queued'",
        "state = 'completed'",
        "ended_at = 1",
        "revision = 0",
        "revision = 'many'",
        "session_id = 'nowhere'",
        "content = NULL",
    ],
)
def test_what_makes_no_sense_is_not_kept(change: str) -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        begin(store, session)
        with pytest.raises(sqlite3.IntegrityError):
            store._database._connection.execute(f"UPDATE turn SET {change}")


def test_a_session_has_one_active_turn_and_one_that_is_held() -> None:
    session = new_session()
    with SqliteTurnStore(folders()) as store:
        begin(store, session)
        second = admit(store, session, if_active="queue")
        for change in ("state = 'running'", "state = 'cancelled', ended_at = 1, owner = 'x'"):
            with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
                store._database._connection.execute(
                    f"UPDATE turn SET {change} WHERE id = ?", (second,)
                )


def test_no_question_reads_a_whole_table() -> None:
    """Each statement of a session's life finds its rows by an index."""
    session = new_session()
    asked: list[str] = []
    with SqliteTurnStore(folders()) as store:
        connection = store._database._connection
        connection.set_trace_callback(asked.append)
        turn, owner = begin(store, session)
        store.append(session, turn, {"type": "text", "text": "a"})
        store.list_turns(session)
        store.events(session)
        store.orphans()
        store.runnable()
        store.queued_sessions()
        store.expire_due()
        store.cancel(session, turn)
        store.released(session, turn, owner)
        store.promote_queued(session)
        connection.set_trace_callback(None)
        for statement in dict.fromkeys(asked):
            if statement.startswith(("SELECT", "UPDATE", "DELETE")):
                plan = connection.execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
                for step in plan:
                    whole = step["detail"].startswith("SCAN") and "INDEX" not in step["detail"]
                    assert not whole, (statement, step["detail"])
    assert len(asked) > 30
