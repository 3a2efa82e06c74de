"""Files that are whole or not there, and one writer at a time."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from barry_cli.base.files import lock, read_json, write_atomic, write_json
from barry_cli.base.problems import StoreProblem
from tests.conftest import AsNobody
from tests.toy import eventually


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file.json"
    assert read_json(path) is None
    write_json(path, {"b": 1, "a": "\N{SNOWMAN}"})
    assert read_json(path) == {"b": 1, "a": "\N{SNOWMAN}"}
    assert path.read_text() == '{\n  "b": 1,\n  "a": "\N{SNOWMAN}"\n}\n'
    assert path.stat().st_mode & 0o777 == 0o600
    assert names(path.parent) == {"file.json"}


def test_a_link_is_replaced_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("theirs")
    (tmp_path / "file").symlink_to(tmp_path / "other")
    write_atomic(tmp_path / "file", b"ours")
    assert (tmp_path / "other").read_text() == "theirs"
    assert (tmp_path / "file").read_text() == "ours"


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    open_folder: Path, as_nobody: AsNobody
) -> None:
    path = open_folder / "file"
    path.write_bytes(b"old")
    path.chmod(0o644)

    def work() -> tuple[str, str]:
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
        with pytest.raises(StoreProblem) as problem:
            write_atomic(path, bytes(100))
        signal.signal(signal.SIGXFSZ, before)
        return str(problem.value), problem.value.hint

    message, hint = as_nobody(work)
    assert "File too large" in message
    assert "nothing that was recorded has changed" in hint
    assert path.read_bytes() == b"old"
    assert names(open_folder) == {"file"}


def test_a_folder_that_may_not_be_made(open_folder: Path, as_nobody: AsNobody) -> None:
    open_folder.chmod(0o755)

    def work() -> str:
        with pytest.raises(PermissionError):
            (open_folder / "bare").mkdir()
        with pytest.raises(StoreProblem) as problem:
            write_atomic(open_folder / "new" / "file", b"")
        return f"{problem.value} {problem.value.hint}"

    assert "BARRY_HOME" in as_nobody(work)


def test_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "count"
    path.write_text("0")
    code = (
        "import sys; from pathlib import Path\n"
        "from barry_cli.base.files import lock, write_atomic\n"
        "path = Path(sys.argv[1])\n"
        "for _ in range(20):\n"
        "    with lock(path): write_atomic(path, b'%d' % (int(path.read_text()) + 1))\n"
    )
    children = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for _ in range(4)]
    assert [child.wait(60) for child in children] == [0] * 4
    assert path.read_text() == "80"
    assert names(tmp_path) == {"count", "count.lock"}


def test_a_lock_that_is_not_free_in_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock(path):
            held.set()
            done.wait(10)

    other = threading.Thread(target=hold)
    other.start()
    held.wait(10)
    with pytest.raises(StoreProblem, match="in use by another Barry"), lock(path, wait_seconds=0.1):
        pass
    done.set()
    other.join()
    with lock(path, wait_seconds=0.1):
        pass


def test_a_holder_that_is_killed_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "file"
    code = (
        "import sys, time; from pathlib import Path; from barry_cli.base.files import lock\n"
        "with lock(Path(sys.argv[1])): Path(sys.argv[1] + '.held').touch(); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(path)])
    assert eventually(lambda: os.path.exists(f"{path}.held"), 20)
    child.kill()
    child.wait()
    with lock(path, wait_seconds=1):
        pass


def test_what_is_no_json(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("{")
    with pytest.raises(ValueError, match="Expecting"):
        read_json(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(StoreProblem, match="can't be read"):
        read_json(path)
