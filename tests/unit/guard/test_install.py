"""What a launch leaves for a guarded server."""

from __future__ import annotations

import marshal
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from barry_cli.guard import install as module
from barry_cli.guard.policy_file import fingerprint, pack, read_policy
from barry_cli.guard.problems import NotDone
from tests.unit.guard.guarded import Session


def test_one_file_for_one_policy(session: Session, tmp_path: Path) -> None:
    first = session.server()
    path = session.policy_file()
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert path.stem == f"guard-{first.args[-1]}"
    assert first.args[:2] == ("-I", "-m")
    assert os.path.isabs(first.command)
    assert os.path.isabs(first.args[3])
    assert first.env == {}
    os.utime(path, (1, 1))
    assert session.server() == first
    assert path.stat().st_mtime > 1
    # Another session, another file; one that was spoilt is written anew.
    session.bound = {"bash": {"deny": ["x"]}}
    assert session.server() != first
    path.chmod(0o600)
    path.write_bytes(b"")
    session.bound = {}
    assert session.server() == first
    assert read_policy(str(path), first.args[-1]) is not None


def test_a_file_is_what_it_was_or_nothing(session: Session) -> None:
    held = session.held()
    data = pack(held)
    path = session.top / "policy"
    path.write_bytes(data)
    found = read_policy(str(path), fingerprint(data))
    assert (found.folders, found.tools, found.variables) == (
        held.folders, held.tools, held.variables,
    )  # fmt: skip
    assert found.policy.root == held.policy.root
    for spoilt in (data[:-1], b"", marshal.dumps(("barry-guard-1",))):
        path.write_bytes(spoilt)
        with pytest.raises(NotDone, match="isn't the file"):
            read_policy(str(path), fingerprint(data))
        # What nobody wrote is not read, even under its own fingerprint.
        with pytest.raises(NotDone, match="isn't a policy"):
            read_policy(str(path), fingerprint(spoilt))
    path.unlink()
    with pytest.raises(NotDone, match="No such file"):
        read_policy(str(path), fingerprint(data))


def test_the_oldest_make_room(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    paths = []
    for number in range(5):
        session.bound = {"bash": {"deny": [str(number)]}}
        server = session.server()
        paths.append(Path(server.args[3]))
        os.utime(paths[-1], (number, number))
    assert [path.exists() for path in paths] == [False, False, True, True, True]


def test_a_launch_that_hands_over_pays_for_no_server() -> None:
    code = (
        "import sys\n"
        "import barry_cli.groundwork.guarding, barry_cli.guard.install, barry_cli.guard.table\n"
        "print(*{'anyio', 'httpx2', 'mcp', 'uvicorn', 'asyncio'} & set(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout == "\n"
