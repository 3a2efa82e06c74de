"""A session's socket: its own, private, and never taken from one that lives."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from barry_cli.base.ids import new_id
from barry_cli.base.paths import SOCKET_PATH_LIMIT, folders, socket_folder
from barry_cli.base.problems import StoreProblem
from barry_cli.inbox import place as place_module
from barry_cli.inbox.place import claim
from tests.conftest import NOBODY, AsNobody

ROOT = Path(__file__).parents[3]


def refused(path: str) -> bool:
    """Whether nobody listens there."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        try:
            link.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return True
    return False


def test_a_place_is_private() -> None:
    with claim("abcabcabcabc") as place:
        path = Path(place.path)
        assert path.parent == folders().run
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.with_suffix(".lock").stat().st_mode) == 0o600
        assert refused(place.path)  # nobody listens yet
        place.listener.listen()
        assert not refused(place.path)
        for descriptor in (place.listener.fileno(), place._lock):
            assert descriptor is not None
            assert not os.get_inheritable(descriptor)
    assert list(path.parent.iterdir()) == []
    place.release()  # again


def test_one_that_lives_is_not_taken() -> None:
    with claim("abcabcabcabc") as place:
        place.listener.listen()
        with pytest.raises(StoreProblem, match="belongs to a session that runs"):
            claim("abcabcabcabc")
        assert not refused(place.path)
    claim("abcabcabcabc").release()


CLAIM = """
    import sys
    from barry_cli.base.problems import StoreProblem
    from barry_cli.inbox.place import claim

    sys.stdin.readline()
    try:
        place = claim("abcabcabcabc")
    except StoreProblem as problem:
        print("no" if "session that runs" in str(problem) else problem, flush=True)
    else:
        place.listener.listen()
        print("yes", flush=True)
        sys.stdin.readline()
"""


def claimer() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(CLAIM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


def heard(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def test_a_stale_one_is_taken_over_by_one_of_many() -> None:
    first = claimer()
    go(first)
    assert heard(first) == "yes"
    first.send_signal(signal.SIGKILL)
    first.communicate()
    path = str(folders().run / "abcabcabcabc.sock")
    assert os.path.exists(path)  # its file outlasts it,
    assert refused(path)  # and nobody listens
    children = [claimer() for _ in range(4)]
    for child in children:
        go(child)
    said = sorted(heard(child) for child in children)
    assert said == ["no", "no", "no", "yes"]
    assert not refused(path)
    for child in children:
        child.communicate("\n", timeout=30)


def test_what_killed_sessions_left_is_swept_and_nothing_else() -> None:
    child = claimer()
    go(child)
    assert heard(child) == "yes"
    run = folders().run
    with claim("xyz"):
        assert {each.name for each in run.iterdir()} == {
            "abcabcabcabc.sock", "abcabcabcabc.lock", "xyz.sock", "xyz.lock",
        }  # fmt: skip
    child.send_signal(signal.SIGKILL)
    child.communicate()
    (run / "note.txt").write_text("mine")
    (run / "other.sock").write_text("no socket, no lock")
    (run / "theirs.lock").write_text("a lock that is not of a place")
    with claim("xyz"):
        names = {each.name for each in run.iterdir()}
    assert names == {"xyz.sock", "xyz.lock", "note.txt", "other.sock", "theirs.lock"}


def test_a_lock_that_went_away_meanwhile_is_no_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who opened the file before its owner removed it holds a lock that nobody else sees."""
    run = socket_folder()
    run.mkdir(parents=True, mode=0o700)
    real, seen = fcntl.flock, []

    def flock(descriptor: int, how: int) -> None:
        if not seen:
            (run / "abcabcabcabc.lock").unlink()
        seen.append(descriptor)
        real(descriptor, how)

    monkeypatch.setattr(place_module.fcntl, "flock", flock)
    with claim("abcabcabcabc"):
        assert len(seen) >= 2
        with pytest.raises(StoreProblem, match="session that runs"):
            claim("abcabcabcabc")


CLAIM_MANY = """
    import sys
    from barry_cli.base.ids import new_id
    from barry_cli.inbox.place import claim

    for _ in range(int(sys.argv[1])):
        with claim(new_id()) as place:
            place.listener.listen()
"""


def test_many_that_start_at_once_all_get_theirs() -> None:
    """Each looks for leftovers while the others are about to lock what they just made."""
    children = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(CLAIM_MANY), "150"],
            cwd=ROOT,
            stderr=subprocess.PIPE,
        )
        for _ in range(5)
    ]
    for child in children:
        _, said = child.communicate(timeout=60)
        assert (child.returncode, said) == (0, b"")
    assert list(folders().run.iterdir()) == []


def test_something_else_in_its_place_stays() -> None:
    run = socket_folder()
    run.mkdir(parents=True, mode=0o700)
    (run / "abcabcabcabc.sock").write_text("precious")
    with pytest.raises(StoreProblem, match="is no socket"):
        claim("abcabcabcabc")
    assert (run / "abcabcabcabc.sock").read_text() == "precious"
    (run / "xyz.lock").symlink_to(run / "abcabcabcabc.sock")
    with pytest.raises(StoreProblem, match="can't be made"):
        claim("xyz")
    assert (run / "abcabcabcabc.sock").read_text() == "precious"


def test_a_folder_that_others_can_enter_is_refused() -> None:
    run = socket_folder()
    run.mkdir(parents=True)
    run.chmod(0o755)
    with pytest.raises(StoreProblem, match="not yours alone"):
        claim("abcabcabcabc")


def test_a_long_home_gets_a_short_path(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    far = home / ("x" * 60) / ("y" * 60)
    monkeypatch.setenv("BARRY_HOME", str(far))
    session_id = new_id()
    with claim(session_id) as place:
        assert len(os.fsencode(place.path)) <= SOCKET_PATH_LIMIT
        assert place.path == f"/tmp/barry-{os.getuid()}/{session_id}.sock"
    with pytest.raises(StoreProblem, match="too long a path for a socket"):
        claim("z" * 120)


def test_nobody_else_gets_in(as_nobody: AsNobody) -> None:
    with claim("abcabcabcabc") as place:
        place.listener.listen()
        path = place.path
        os.chmod(Path(path).parents[2], 0o755)  # the test's own folder

        def connect() -> str:
            assert os.getuid() == NOBODY
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                try:
                    link.connect(path)
                except PermissionError:
                    return "forbidden"
                return "in"

        if os.getuid() == 0:
            assert as_nobody(connect) == "forbidden"
            os.chmod(Path(path).parent, 0o755)
            os.chmod(path, 0o666)  # the counter-case: it is the modes that keep it out
            assert as_nobody(connect) == "in"
