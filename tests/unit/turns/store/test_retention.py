"""Pruning: what has ended long ago goes whole; what lives, or isn't over, stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.durations import duration
from barry_cli.base.paths import folders
from barry_cli.base.problems import SessionNotFound, StoreProblem
from barry_cli.base.settings import read_settings
from barry_cli.contract.continuation import ContinuationDescriptor
from barry_cli.contract.events import Text
from barry_cli.contract.session import Allowed, PermissionRequest
from barry_cli.contract.turns import ApprovalDecision, TurnFinish
from barry_cli.turns.store import retention
from barry_cli.turns.store.retention import prune
from barry_cli.turns.store.sessions import SessionRow, Sessions
from barry_cli.turns.store.turns import SqliteTurnStore
from tests.unit.turns.store.places import admit, begin, dead_owner, new_session

NOW = datetime.now(UTC)
BEFORE = NOW - timedelta(days=30)


def at(days: float) -> str:
    moment = NOW - timedelta(days=days)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def ended(days: float, **values: Any) -> str:
    return new_session(
        **{"state": "ended", "created_at": at(days + 1), "ended_at": at(days), **values}
    )


def never(row: SessionRow) -> bool:
    return False


def pruned(**values: Any) -> set[str]:
    asked = {"before": BEFORE, "keep": 0, "lives": never, **values}
    return {each.row.id for each in prune(folders(), **asked)}


def left() -> set[str]:
    return {row.id for row in Sessions(folders()).all()}


def rows() -> dict[str, int]:
    with SqliteTurnStore(folders()) as store:
        connection = store._database._connection
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        return {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
            for (name,) in names.fetchall()
        }


def work(session: str) -> None:
    """A turn with all that a turn can leave."""
    checkpoint = ContinuationDescriptor(
        adapter_id="toy", adapter_version="1", config_fingerprint="f", format="toy",
        harness_version="1", payload=None, version=1,
    )  # fmt: skip
    with SqliteTurnStore(folders()) as store:
        turn, owner = begin(store, session)
        store.append(session, turn, Text(text="a"))
        asks = (PermissionRequest(id="a", tool="shell", input=None),)
        paused = store.pause(session, turn, owner, checkpoint, asks)
        store.resolve(
            session_id=session, turn_id=turn, run_id="r", request_id="q", actor="ada",
            decisions=[
                ApprovalDecision(
                    interrupt_id=paused.interrupts[0].id, decision=Allowed(persist=True)
                )
            ],
        )  # fmt: skip
        finish = TurnFinish(state="failed", error="x", conversation=checkpoint)
        store.finish(session, turn, owner, finish)
        store.released(session, turn, owner)
        store._database._connection.execute(
            "INSERT INTO message (session_id, seq, id, state, steer, sender_uid, held_at, content)"
            " VALUES (?, 1, 'm', 'held', 0, 0, ?, 'x')",
            (session, at(32)),
        )


def test_what_ended_long_ago_goes_whole() -> None:
    old, young = ended(31), ended(29)
    work(young)
    once = rows()
    assert all(once.values()), once
    work(old)
    (found,) = prune(folders(), before=BEFORE, keep=0, lives=never, dry_run=True)
    assert (found.row.id, found.turns, found.events, found.messages) == (old, 1, 2, 1)
    assert left() == {old, young}
    assert pruned() == {old}
    assert rows() == {**once, "session": 1}
    with SqliteTurnStore(folders()) as store, pytest.raises(SessionNotFound):
        store.events(old)


def test_what_lives_or_is_not_over_stays() -> None:
    lives, waits, queued, held, fine = (ended(40) for _ in range(5))
    gone = ended(40)
    with SqliteTurnStore(folders()) as store:
        begin(store, waits)
        admit(store, queued, if_active="queue")
        turn, owner = begin(store, held)
        store.finish(held, turn, owner, TurnFinish(state="completed"))
        turn, owner = begin(store, gone, dead_owner())
        store.finish(gone, turn, owner, TurnFinish(state="completed"))
    assert pruned(lives=lambda row: row.id == lives) == {fine, gone}
    assert left() == {lives, waits, queued, held}


def test_an_end_that_nobody_saw_counts_from_the_start() -> None:
    old = new_session(state="handed_over", created_at=at(40))
    young = new_session(state="handed_over", created_at=at(20))
    odd = new_session(state="handed_over", created_at="nonsense")
    other = new_session(state="ended", created_at=at(40), ended_at=at(40))
    with SqliteTurnStore(folders()) as store:
        store._database._connection.execute(
            "UPDATE session SET owner_uid = ? WHERE id = ?", (os.getuid() + 1, other)
        )
    assert pruned() == {old}
    assert left() == {young, odd, other}


def test_the_newest_are_kept() -> None:
    sessions = [ended(days) for days in (100, 90, 80, 70)]
    assert pruned(keep=3) == {sessions[0]}
    assert pruned(before=None, keep=1) == {sessions[1], sessions[2]}
    assert pruned(keep=0) == {sessions[3]}
    assert left() == set()
    assert pruned() == set()


def test_a_big_file_becomes_small() -> None:
    old, kept = ended(31), ended(1)
    with SqliteTurnStore(folders()) as store:
        turn, owner = begin(store, old)
        for _ in range(100):
            store.append(old, turn, Text(text="x" * 100_000))
        store.finish(old, turn, owner, TurnFinish(state="completed"))
        store.released(old, turn, owner)
        assert admit(store, kept)
    assert pruned() == {old}
    assert folders().database.stat().st_size < 1_000_000
    assert left() == {kept}


def test_no_file_is_made_small_under_who_writes_to_it() -> None:
    old, driven = ended(31), ended(1, mode="hosted")
    work(old)
    with SqliteTurnStore(folders()) as store:
        turn, _ = begin(store, driven)
        store.append_many(driven, turn, [Text(text="x" * 9_000_000)])
        store._database._connection.execute("DELETE FROM event WHERE session_id = ?", (driven,))
    assert pruned(lives=lambda row: row.id == driven) == {old}
    assert folders().database.stat().st_size > 9_000_000
    assert pruned() == set()  # once it has ended, though nothing is to be removed
    assert folders().database.stat().st_size < 1_000_000


def test_others_get_to_write_while_a_long_session_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    old, kept = ended(31), ended(1)
    work(old)
    with SqliteTurnStore(folders()) as store:
        turn, _ = begin(store, kept)
        store._database._connection.execute(
            "INSERT INTO event SELECT session_id, sequence + 10 * n.value, turn_id, passing, "
            "recorded_at, body FROM event, json_each('[1, 2, 3, 4, 5]') AS n WHERE session_id = ?",
            (old,),
        )
        monkeypatch.setattr(retention, "_AT_ONCE", 3)
        monkeypatch.setattr(
            retention.time, "sleep", lambda _: store.append(kept, turn, Text(text="b"))
        )
        (found,) = prune(folders(), before=BEFORE, keep=0, lives=never)
        assert found.events == 12
        assert store.last_sequence(kept) == 5


def test_what_a_crash_left_of_a_session_goes_with_the_next() -> None:
    old, kept = ended(31), ended(1)
    work(old)
    work(kept)
    once = rows()
    with SqliteTurnStore(folders()) as store:
        connection = store._database._connection
        for table in ("receipt", "turn"):
            connection.execute(f"DELETE FROM {table} WHERE session_id = ?", (old,))
        connection.execute("DELETE FROM session WHERE id = ?", (old,))
    assert prune(folders(), before=BEFORE, keep=0, lives=never, dry_run=True) == []
    assert rows()["event"] == once["event"]
    assert pruned() == set()
    assert rows()["event"] == once["event"] // 2


def test_spans_of_time() -> None:
    assert duration("30d") == timedelta(days=30)
    assert duration("0s") == timedelta(0)
    assert duration("2w") == timedelta(days=14)
    assert duration("90m") == duration("5400s") == timedelta(hours=1.5)
    for text in ("", "d", "30", "-1d", "1.5h", "30 d", "٣d", "1y", "99999999d", "1" * 5000 + "d"):
        with pytest.raises(ValueError, match=r"is not a number|longer than"):
            duration(text)


@pytest.mark.parametrize(("text", "days"), [("", None), ("[session]\nretention = '90d'", 90)])
def test_the_setting(text: str, days: int | None) -> None:
    settings(text)
    age = read_settings(folders()).session_retention
    assert age == (None if days is None else timedelta(days=days))


@pytest.mark.parametrize("value", ["'soon'", "30", "['30d']", "''"])
def test_a_setting_that_is_no_span_is_refused(value: str) -> None:
    settings(f"[session]\nretention = {value}")
    with pytest.raises(StoreProblem, match=r"session\.retention is not a number and"):
        read_settings(folders())


def settings(text: str) -> None:
    path = folders().settings
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def barry(*words: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "barry_cli", "session", "prune", *words],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[4])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_verb() -> None:
    old, young = ended(31), ended(29)
    code, _, err = barry()
    assert code == 2
    assert "--older-than 30d" in err
    for wrong in (("--older-than", "soon"), ("--keep", "-1"), ("--keep", "x"), ("x",)):
        assert barry(*wrong)[0] == 2
    code, out, _ = barry("--older-than", "30d", "--dry-run")
    assert (code, old in out, young in out) == (0, True, False)
    assert out.endswith("1 session would be removed\n")
    assert left() == {old, young}
    settings("[session]\nretention = '30d'")
    code, out, _ = barry("--json")
    document = json.loads(out)
    assert (code, document["dryRun"]) == (0, False)
    assert [each["id"] for each in document["sessions"]] == [old]
    assert barry() == (0, "nothing to remove\n", "")
    assert barry("--keep", "0", "--older-than", "0s")[0] == 0
    assert left() == set()
