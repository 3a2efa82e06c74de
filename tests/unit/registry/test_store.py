"""The registry's file: whole or untouched, whoever writes at the same time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from barry_cli.base.paths import Folders, folders
from barry_cli.base.problems import StoreProblem
from barry_cli.registry.store import Row, read_rows, update
from tests.conftest import AsNobody


def place(data: bytes) -> Folders:
    where = folders()
    where.registry.parent.mkdir(parents=True, exist_ok=True)
    where.registry.write_bytes(data)
    return where


def test_no_file_is_no_adapters() -> None:
    assert read_rows(folders()) == []
    assert not folders().registry.exists()


def test_what_is_written_is_read_in_its_order() -> None:
    rows: list[Row] = [{"id": "b", "é": "ü"}, {"id": "a"}]
    assert update(folders(), lambda before: [*before, *rows]) == rows
    assert read_rows(folders()) == rows
    assert json.loads(folders().registry.read_text()) == {"schema": 1, "adapters": rows}
    assert folders().registry.stat().st_mode & 0o777 == 0o600


def test_a_change_that_fails_changes_nothing() -> None:
    where = place(b'{"schema": 1, "adapters": [{"id": "a"}]}')

    def fail(rows: list[Row]) -> list[Row]:
        rows.clear()
        raise KeyError("no")

    with pytest.raises(KeyError):
        update(where, fail)
    assert where.registry.read_bytes() == b'{"schema": 1, "adapters": [{"id": "a"}]}'
    update(where, lambda rows: rows)  # the lock is free again


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"schema": 1, "adapters": [{"id": "a"',
        b"\xff\xfe",
        b"[]",
        b"null",
        b"3",
        b"{}",
        b'{"schema": "1", "adapters": []}',
        b'{"schema": true, "adapters": []}',
        b'{"schema": 0, "adapters": []}',
        b'{"schema": 1}',
        b'{"schema": 1, "adapters": {}}',
        b'{"schema": 1, "adapters": [3]}',
        b'{"schema": 1, "adapters": [{"id": "a"}, {}]}',
        b'{"schema": 1, "adapters": [{"id": 3}]}',
        b'{"schema": 2, "adapters": []}',
        b'{"schema": 999999999999999999999, "adapters": []}',
        b"[" * 100_000,
    ],
)
def test_a_file_that_is_not_understood_is_named_and_left(data: bytes) -> None:
    where = place(data)
    for attempt in (lambda: read_rows(where), lambda: update(where, lambda rows: [])):
        with pytest.raises(StoreProblem) as caught:
            attempt()
        assert str(where.registry) in caught.value.message
        assert f"mv {where.registry} {where.registry}.aside" in caught.value.hint
        assert where.registry.read_bytes() == data


def test_a_newer_file_says_so() -> None:
    where = place(b'{"schema": 2, "adapters": []}')
    with pytest.raises(StoreProblem, match="newer Barry") as caught:
        read_rows(where)
    assert caught.value.hint.startswith("update Barry")


def test_a_folder_in_its_place_is_named() -> None:
    where = folders()
    where.registry.mkdir(parents=True)
    with pytest.raises(StoreProblem, match="can't be read") as caught:
        read_rows(where)
    assert ".aside" in caught.value.hint


def test_a_file_that_may_not_be_read_is_named(as_nobody: AsNobody, open_folder: Path) -> None:
    where = Folders(*(open_folder / name for name in ("c", "data", "s", "k", "r")))
    where.data.mkdir()
    where.registry.write_bytes(b'{"schema": 1, "adapters": []}')
    where.registry.chmod(0)

    def work() -> tuple[bool, str, str]:
        try:
            where.registry.read_bytes()
        except PermissionError:
            forbidden = True
        else:
            forbidden = False
        try:
            read_rows(where)
        except StoreProblem as problem:
            return forbidden, problem.message, problem.hint
        return forbidden, "", ""

    forbidden, message, hint = as_nobody(work)
    assert forbidden
    assert message == f"{where.registry} can't be read: Permission denied"
    assert "chmod or chown" in hint
    assert ".aside" not in hint


def test_a_folder_that_may_not_be_written_is_named(as_nobody: AsNobody, open_folder: Path) -> None:
    where = Folders(*(open_folder / name for name in ("c", "data", "s", "k", "r")))
    where.data.mkdir()
    before = b'{"schema": 1, "adapters": []}'
    where.registry.write_bytes(before)
    where.data.chmod(0o555)

    def work() -> str:
        try:
            update(where, lambda rows: [{"id": "a"}])
        except StoreProblem as problem:
            return problem.message
        return ""

    assert str(where.data) in as_nobody(work)
    assert where.registry.read_bytes() == before


WRITER = """
import sys
from barry_cli.base.paths import folders
from barry_cli.registry.store import update
for number in range(5):
    update(folders(), lambda rows: [*rows, {"id": f"{sys.argv[1]}-{number}"}])
"""


def test_twenty_writers_lose_nothing() -> None:
    root = Path(__file__).resolve().parents[3]
    env = {**os.environ, "PYTHONPATH": str(root)}
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, f"w{number}"], env=env)
        for number in range(20)
    ]
    assert [writer.wait(timeout=60) for writer in writers] == [0] * 20
    found = [row["id"] for row in read_rows(folders())]
    assert sorted(found) == sorted(f"w{w}-{n}" for w in range(20) for n in range(5))


def test_reading_rows_needs_no_pydantic() -> None:
    code = (
        "import sys; from barry_cli.base.paths import folders\n"
        "from barry_cli.registry.adapters import Adapters\n"
        "rows = Adapters().rows(); [Adapters().state(row) for row in rows]\n"
        "print(len(rows), *sorted({'pydantic', 'jsonschema', 'tomllib', 'asyncio', 'subprocess'}"
        " & set(sys.modules)))"
    )
    place(b'{"schema": 1, "adapters": [{"id": "a"}]}')
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["1"]


def test_what_stands_in_the_way_of_its_folder_is_named() -> None:
    where = folders()
    where.data.parent.mkdir(parents=True, exist_ok=True)
    where.data.write_text("a file")
    with pytest.raises(StoreProblem) as caught:
        read_rows(where)
    assert f"mv {where.data} {where.data}.aside" in caught.value.hint


@pytest.mark.parametrize("id", ["\x1b[2Jtoy", "toy\n", "x" * 201])
def test_an_id_that_could_move_a_cursor_is_damage(id: str) -> None:
    where = place(json.dumps({"schema": 1, "adapters": [{"id": "a"}, {"id": id}]}).encode())
    with pytest.raises(StoreProblem, match="the id of adapter number 2 is none") as caught:
        read_rows(where)
    assert str(caught.value).isprintable()
