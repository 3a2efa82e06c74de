"""Session rows: what goes in comes out, for one writer and for many."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from barry_cli.base.paths import Folders, folders
from barry_cli.base.problems import SessionNotFound, StoreProblem
from barry_cli.turns.store.database import connect
from barry_cli.turns.store.sessions import SessionRow, Sessions, now
from tests.conftest import AsNobody
from tests.toy import Barry

TEXT = st.text(st.characters(codec="utf-8"), max_size=12)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
NUMBER = st.none() | st.integers(-(2**63), 2**63 - 1)
ROWS = st.builds(
    SessionRow,
    id=TEXT,
    adapter=TEXT,
    mode=TEXT,
    cwd=TEXT,
    guarantees=st.dictionaries(TEXT, JSON, max_size=3),
    asked=st.dictionaries(TEXT, JSON, max_size=3),
    state=st.sampled_from(["starting", "running", "handed_over", "ended"]),
    created_at=TEXT,
    lowered=st.dictionaries(TEXT, TEXT, max_size=2),
    unverified=st.booleans(),
    warnings=st.lists(TEXT, max_size=3).map(tuple),
    harness_session_id=st.none() | TEXT,
    harness_version=st.none() | TEXT,
    resumed_from=st.none() | TEXT,
    pid=NUMBER,
    pid_started=st.none() | TEXT,
    exit_status=NUMBER,
    exit_signal=NUMBER,
    ended_at=st.none() | TEXT,
)


def place(top: str | Path) -> Folders:
    names = ("config", "data", "state", "cache", "run")
    return Folders(*(Path(top, name) for name in names))


def row(id: str, **values: Any) -> SessionRow:
    plain = SessionRow(
        id=id, adapter="toy", mode="guest", cwd="/", guarantees={}, asked={}, state="running",
        created_at=now(),
    )  # fmt: skip
    return replace(plain, **values)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(rows=st.lists(ROWS, max_size=4, unique_by=lambda each: each.id))
def test_what_goes_in_comes_out(rows: list[SessionRow]) -> None:
    with tempfile.TemporaryDirectory() as top:
        sessions = Sessions(place(top))
        for each in rows:
            sessions.add(each)
        found = {each.id: each for each in sessions.all()}
        assert found == {each.id: replace(each, owner_uid=os.getuid()) for each in rows}
        for each in rows:
            if each.id:
                assert sessions.get(each.id).id == each.id


def test_columns_are_changed_one_by_one() -> None:
    sessions = Sessions(folders())
    sessions.add(row("one"))
    sessions.add(row("two"))
    sessions.change("one", state="ended", exit_status=3, warnings=("late",))
    found = sessions.get("one")
    assert (found.state, found.exit_status, found.warnings) == ("ended", 3, ("late",))
    assert sessions.get("two").state == "running"
    with pytest.raises(ValueError, match="no such column: nope"):
        sessions.change("one", nope=1)
    with pytest.raises(StoreProblem):
        sessions.change("one", state="asleep")
    sessions.forget("one")
    assert [each.id for each in sessions.all()] == ["two"]
    sessions.forget("nobody")


def test_an_id_is_taken_once() -> None:
    sessions = Sessions(folders())
    sessions.add(row("one"))
    with pytest.raises(StoreProblem):
        sessions.add(row("one"))


def test_nothing_is_made_to_look_at_nothing() -> None:
    sessions = Sessions(folders())
    assert sessions.all() == []
    with pytest.raises(SessionNotFound):
        sessions.get("one")
    assert not folders().database.exists()


def test_a_prefix_means_one_or_is_refused() -> None:
    sessions = Sessions(folders())
    for name in ("abc", "abcd", "abx", "zzz"):
        sessions.add(row(name))
    assert sessions.get("abc").id == "abc"  # an id is never a prefix of others
    assert sessions.get("abcd").id == "abcd"
    assert sessions.get("z").id == "zzz"
    with pytest.raises(SessionNotFound, match="3 sessions begin with ab"):
        sessions.get("ab")
    for wrong in ("", "q", "zzzz"):
        with pytest.raises(SessionNotFound, match="there is no session"):
            sessions.get(wrong)


@pytest.mark.parametrize("column", ["guarantees", "lowered", "warnings", "asked"])
@pytest.mark.parametrize("text", ["{", "nothing"])
def test_a_damaged_record_is_named(column: str, text: str) -> None:
    sessions = Sessions(folders())
    sessions.add(row("one"))
    with closing(connect(folders().database)) as connection:
        connection.execute(f"UPDATE session SET {column} = ?", (text,))
    with pytest.raises(StoreProblem, match="damaged") as problem:
        sessions.all()
    assert "mv " in problem.value.hint


def test_what_can_not_be_kept_is_told() -> None:
    with pytest.raises(StoreProblem, match="only UTF-8"):
        Sessions(folders()).add(row("one", harness_session_id="\ud800"))
    assert Sessions(folders()).all() == []


def test_a_database_without_its_table() -> None:
    sessions = Sessions(folders())
    sessions.add(row("one"))
    with closing(connect(folders().database)) as connection:
        connection.execute("DROP TABLE session")
    for work in (sessions.all, lambda: sessions.add(row("two")), lambda: sessions.get("one")):
        with pytest.raises(StoreProblem, match="damaged: it is not as Barry made it") as problem:
            work()
        assert "mv " in problem.value.hint


def test_a_folder_of_state_that_may_not_be_looked_into(
    open_folder: Path, as_nobody: AsNobody
) -> None:
    where = place(open_folder)
    Sessions(where).add(row("one"))
    where.state.chmod(0o700)

    def work() -> tuple[str, str]:
        with pytest.raises(StoreProblem) as problem:
            Sessions(where).all()
        return str(problem.value), problem.value.hint

    message, hint = as_nobody(work)
    assert "Permission denied" in message
    assert "permissions" in hint


@pytest.mark.parametrize("busy", [False, True])
def test_what_may_only_be_read_is_read(open_folder: Path, as_nobody: AsNobody, busy: bool) -> None:
    """Also while its owner writes; and no file is made, changed or left."""
    where = place(open_folder)
    Sessions(where).add(row("one"))
    with closing(connect(where.database)) as owner:
        if busy:
            owner.execute("UPDATE session SET adapter = 'other'")
        else:
            owner.close()
        where.state.chmod(0o755)
        for path in where.state.iterdir():
            path.chmod(0o644)
        before = sorted(path.name for path in where.state.iterdir())

        def work() -> tuple[list[str], bool]:
            with pytest.raises(PermissionError):
                (where.state / "more").touch()
            with pytest.raises(StoreProblem):
                Sessions(where).add(row("two"))
            return [each.adapter for each in Sessions(where).all()], True

        assert as_nobody(work) == (["other" if busy else "toy"], True)
        assert sorted(path.name for path in where.state.iterdir()) == before


def test_a_moment_is_utc_to_the_millisecond() -> None:
    import re

    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", now())


def test_twenty_launches_at_once_are_all_recorded(barry: Barry) -> None:
    barry.run("session", "launch", "toy", "--dry-run")
    code = (
        "import os, pty, sys; pid, fd = pty.fork()\n"
        "if pid == 0: os.execv(sys.executable, [sys.executable, '-m', 'barry_cli', 'session',"
        " 'launch', 'toy', *sys.argv[1:]])\n"
        "seen = b''\n"
        "try:\n    while b'<ready' not in seen: seen += os.read(fd, 4096)\n"
        "except OSError: sys.exit(seen.decode())\n"
        "os.write(fd, b'quit 7\\n')\n"
        "try:\n    while os.read(fd, 4096): pass\nexcept OSError: pass\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, *(["--supervise"] if number % 2 else [])],
            env=barry.env,
            cwd=barry.work,
            stderr=subprocess.PIPE,
        )
        for number in range(20)
    ]
    for child in children:
        _, err = child.communicate(timeout=100)
        assert (child.returncode, err) == (7, b"")
    rows = barry.sessions.all()
    assert len(rows) == len({each.id for each in rows}) == 20
    assert sorted(each.state for each in rows) == ["ended"] * 10 + ["handed_over"] * 10
    assert {each.exit_status for each in rows if each.state == "ended"} == {7}
