"""The file that sessions are kept in: opened, brought up to date, refused, never spoilt."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from barry_cli.base.problems import StoreProblem
from barry_cli.turns.store import database
from barry_cli.turns.store.connection import is_held
from barry_cli.turns.store.database import (
    VERSION,
    aside,
    connect,
    connect_to_read,
    transaction,
    unreadable,
)
from tests.conftest import AsNobody
from tests.toy import eventually


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "barry.db"


def files(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in path.parent.iterdir() if each.is_file()}


def test_a_new_one_is_private_and_of_this_version(path: Path) -> None:
    with closing(connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == VERSION
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_an_empty_file_becomes_one(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    connect(path).close()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == VERSION


def test_an_older_one_is_copied_and_brought_up_to_date(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(connect(path)) as connection, transaction(connection):
        connection.execute("CREATE TABLE extra (word TEXT) STRICT")
        connection.execute("INSERT INTO extra VALUES ('kept')")
    monkeypatch.setattr(database, "VERSION", VERSION + 2)
    more = (*database.MIGRATIONS, "ALTER TABLE extra ADD COLUMN more TEXT; SELECT 1",
            "UPDATE extra SET more = 'new'")  # fmt: skip
    monkeypatch.setattr(database, "MIGRATIONS", more)
    with closing(connect(path)) as connection:
        assert tuple(connection.execute("SELECT * FROM extra").fetchone()) == ("kept", "new")
        assert connection.execute("PRAGMA user_version").fetchone()[0] == VERSION + 2
    backup = path.with_name(f"barry.db.v{VERSION}.backup")
    assert backup.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(backup)) as connection:
        assert connection.execute("SELECT * FROM extra").fetchall() == [("kept",)]
        assert connection.execute("PRAGMA user_version").fetchone()[0] == VERSION


def test_a_step_that_fails_changes_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect(path).close()
    monkeypatch.setattr(database, "VERSION", VERSION + 1)
    steps = (*database.MIGRATIONS, "CREATE TABLE more (word TEXT) STRICT; INSERT INTO nowhere")
    monkeypatch.setattr(database, "MIGRATIONS", steps)
    with pytest.raises(StoreProblem):
        connect(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == VERSION
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    assert "more" not in names


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_newer_one_is_refused_and_left_alone(path: Path, journal: str) -> None:
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA journal_mode = {journal}")
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.execute("CREATE TABLE of_the_future (word)")
        connection.commit()
    before = files(path)
    with pytest.raises(StoreProblem) as problem:
        connect(path)
    assert "newer Barry" in str(problem.value)
    assert "update Barry" in problem.value.hint
    assert str(path) in str(problem.value)
    assert files(path) == before


@pytest.mark.parametrize(
    "content",
    [b"x", b"not a database" * 100, b"SQLite format 3\0", b"SQLite format 2\0" + bytes(90)],
)
def test_what_is_no_database_is_left_alone(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(StoreProblem) as problem:
        connect(path)
    assert f"mv {path}" in problem.value.hint
    assert files(path) == {"barry.db": content}


@pytest.mark.parametrize(
    "make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/null")],
    ids=["folder", "pipe", "device"],
)  # fmt: skip
def test_what_is_no_file_in_its_place(path: Path, make: Callable[[Path], None]) -> None:
    path.parent.mkdir(parents=True)
    make(path)
    for open_it in (connect, connect_to_read):
        with pytest.raises(StoreProblem, match="it is no file") as problem:
            open_it(path)
        assert f"mv {path}" in problem.value.hint


def test_what_is_moved_aside_takes_its_log_along(tmp_path: Path) -> None:
    """What was committed last stands in the log alone."""
    path = tmp_path / "it's here" / "barry.db"
    connect(path).close()
    assert "-wal" not in aside(path)
    code = (
        "import os, sys; from pathlib import Path; from barry_cli.turns.store.database import *\n"
        "held = connect(Path(sys.argv[1])); held.execute('CREATE TABLE last (word)')\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, path], check=False, timeout=60)
    subprocess.run(["/bin/sh", "-c", aside(path).strip("`")], check=True, timeout=60)
    connect(path).close()
    with closing(sqlite3.connect(f"{path}.aside")) as kept:
        assert kept.execute("SELECT count(*) FROM last").fetchone() == (0,)


def test_what_may_not_be_read(open_folder: Path, as_nobody: AsNobody) -> None:
    path = open_folder / "barry.db"
    connect(path).close()
    path.chmod(0o000)

    def work() -> tuple[str, str]:
        with pytest.raises(PermissionError):
            path.read_bytes()
        with pytest.raises(StoreProblem) as problem:
            connect(path)
        return str(problem.value), problem.value.hint

    message, hint = as_nobody(work)
    assert "Permission denied" in message
    assert "permissions" in hint


def test_one_that_may_only_be_read(open_folder: Path, as_nobody: AsNobody) -> None:
    path = open_folder / "barry.db"
    connect(path).close()
    path.chmod(0o444)
    for beside in open_folder.glob("barry.db?*"):
        beside.unlink()

    def work() -> str:
        with pytest.raises(PermissionError):
            path.open("ab")
        connection = connect(path)
        with closing(connection):
            try:
                with transaction(connection):
                    connection.execute("CREATE TABLE more (word)")
            except sqlite3.Error as error:
                return unreadable(path, error).hint
        return "it could be written"

    assert "permissions" in as_nobody(work)


def test_a_writer_that_takes_long_is_waited_for_then_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(path).close()
    with closing(connect(path)) as first, closing(connect(path)) as second:
        second.execute("PRAGMA busy_timeout = 100")
        first.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError) as error, transaction(second):
            pass
        assert "another Barry" in unreadable(path, error.value).hint
        first.execute("ROLLBACK")
        with transaction(second):
            second.execute("CREATE TABLE more (word)")


def test_what_fails_inside_is_taken_back(path: Path) -> None:
    with closing(connect(path)) as connection:
        with contextlib.suppress(KeyboardInterrupt), transaction(connection):
            connection.execute("CREATE TABLE more (word)")
            raise KeyboardInterrupt
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
    assert "more" not in names


def test_many_that_make_it_at_once(path: Path) -> None:
    """Each finds the whole of it, whoever was first."""
    code = (
        "import sys; from pathlib import Path; from barry_cli.turns.store.database import connect;"
        "print(connect(Path(sys.argv[1])).execute('SELECT count(*) FROM session').fetchone()[0])"
    )
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(12)
    ]
    for child in children:
        out, err = child.communicate(timeout=60)
        assert (child.returncode, out, err) == (0, "0\n", "")


def test_a_writer_that_was_killed_spoils_nothing(path: Path) -> None:
    connect(path).close()
    code = (
        "import sys, time; from pathlib import Path;"
        "from barry_cli.turns.store.database import connect;"
        "c = connect(Path(sys.argv[1])); c.execute('BEGIN IMMEDIATE');"
        "c.execute('CREATE TABLE more (word)'); Path(sys.argv[1] + '.now').touch(); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(path)])
    assert eventually(lambda: os.path.exists(f"{path}.now"), 20)
    child.kill()
    child.wait()
    with closing(connect(path)) as connection:
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}
        assert "more" not in names
        with transaction(connection):
            connection.execute("CREATE TABLE more (word)")


@pytest.mark.parametrize("guarded", [True, False], ids=["guarded", "unguarded"])
def test_opening_it_again_takes_no_lock_away(
    path: Path, guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside a connection that stays open, others come and go, here and in other processes."""
    if not guarded:
        monkeypatch.setattr(database, "is_held", lambda path: False)
    code = (
        "import sys; from pathlib import Path; from barry_cli.turns.store.database import connect;"
        "c = connect(Path(sys.argv[1])); c.execute('INSERT INTO kept VALUES (1)'); c.close()"
    )

    def goes_well() -> bool:
        with closing(connect(path)) as connection:
            connection.execute("CREATE TABLE kept (word)")
            for _ in range(4):
                connect(path).close()
                connection.execute("INSERT INTO kept VALUES (zeroblob(3000))")
                done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
                if done.returncode != 0:
                    return False
        with closing(connect(path)) as connection:
            sound = connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            (count,) = connection.execute("SELECT count(*) FROM kept").fetchone()
            return sound and count == 8

    try:
        well = goes_well()
    except (sqlite3.Error, StoreProblem):
        well = False
    assert well == guarded


def test_a_connection_counts_until_it_is_closed(path: Path) -> None:
    assert not is_held(path)
    first, second = connect(path), connect(path)
    first.close()
    first.close()
    assert is_held(path)
    second.close()
    assert not is_held(path)
    assert not is_held(path.with_name("none"))
