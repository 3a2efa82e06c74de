"""Which sessions live, and how one is ended: only ever the very process that was recorded."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from barry_cli.groundwork import living
from barry_cli.turns.store.sessions import SessionRow, now
from tests.toy import Barry, alive, eventually, identity_of, says


def add(barry: Barry, id: str = "abc123def456", **values: object) -> SessionRow:
    row = SessionRow(
        **{
            "id": id,
            "adapter": "toy",
            "mode": "guest",
            "cwd": str(barry.work),
            "guarantees": {},
            "asked": {},
            "state": "running",
            "created_at": now(),
            **values,
        }
    )
    barry.sessions.add(row)
    return row


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    yield child
    child.kill()
    child.wait()


def test_one_that_was_handed_over_is_asked_to_end(barry: Barry) -> None:
    child = barry.launch()
    done = barry.run("session", "stop", barry.row().id[:6], "--json")
    assert done.json == {
        "schema": 1,
        "sessionId": barry.row().id,
        "was": "running",
        "ended": True,
    }
    assert barry.ended(child) == -signal.SIGTERM
    assert barry.row().state == "ended"
    assert barry.listed()["state"] == "ended, status unknown"


def test_one_that_will_not_hear_is_killed(barry: Barry, monkeypatch: pytest.MonkeyPatch) -> None:
    child = barry.launch("--", "deaf")
    monkeypatch.setattr(living, "STOP_SECONDS", 0.5)
    stopped = living.stop_session(barry.folders, barry.row().id)
    assert stopped.ended
    assert barry.ended(child) == -signal.SIGKILL


def test_one_that_will_not_hear_beside_barry(barry: Barry) -> None:
    """Barry is asked, and goes from TERM to KILL itself; the terminal's job ends with it."""
    barry.install(tmp_dirs=True)
    child = barry.launch("--", "deaf")
    toy = barry.started()["pid"]
    began = time.monotonic()
    done = barry.run("session", "stop", barry.row().id)
    assert done.code == 0
    assert "has ended" in done.out
    assert 8 < time.monotonic() - began < 16
    assert not alive(toy)
    assert barry.ended(child) == 143
    assert barry.row().exit_signal == signal.SIGKILL
    assert barry.litter() == []


@pytest.mark.parametrize("more", [(), ("--supervise",)])
def test_one_that_is_stopped_goes_on_to_end(barry: Barry, more: tuple[str, ...]) -> None:
    """As after ^Z: a stopped process takes a TERM only once it goes on."""
    child = barry.launch(*more)
    os.kill(barry.started()["pid"], signal.SIGSTOP)
    time.sleep(0.5)
    began = time.monotonic()
    assert barry.run("session", "stop", barry.row().id).code == 0
    assert time.monotonic() - began < 6
    assert barry.ended(child) in (-signal.SIGTERM, 143)


def test_one_that_has_ended(barry: Barry) -> None:
    child = barry.launch("--supervise")
    child.sendline("quit")
    barry.ended(child)
    done = barry.run("session", "stop", barry.row().id)
    assert (done.code, "had already ended" in done.out) == (0, True)
    assert barry.row().exit_status == 0


def test_a_later_process_with_the_number_is_left_alone(
    barry: Barry, sleeper: subprocess.Popen[bytes]
) -> None:
    for number, values in enumerate(
        (
            {"pid": sleeper.pid, "pid_started": "another:boot"},
            {
                "pid": sleeper.pid,
                "pid_started": "another:boot",
                "supervisor_pid": sleeper.pid,
                "supervisor_started": "another:boot",
            },
            {"pid": sleeper.pid},
        )
    ):
        row = add(barry, f"abc123def45{number}", **values)
        done = barry.run("session", "stop", row.id)
        assert done.code in (0, 1)
        assert sleeper.poll() is None
    # The counter-case: with the right time it is ended.
    started = identity_of(sleeper.pid).start_time
    row = add(barry, "zzz", pid=sleeper.pid, pid_started=started)
    assert barry.run("session", "stop", row.id).code == 0
    assert sleeper.wait(5) == -signal.SIGTERM


def test_a_supervisor_that_is_gone_is_passed_over(
    barry: Barry, sleeper: subprocess.Popen[bytes]
) -> None:
    """Its number may be somebody else's by now: the harness itself is asked."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    try:
        row = add(
            barry,
            pid=sleeper.pid,
            pid_started=identity_of(sleeper.pid).start_time,
            supervisor_pid=other.pid,
            supervisor_started="another:boot",
        )
        assert barry.run("session", "stop", row.id).code == 0
        assert sleeper.wait(5) == -signal.SIGTERM
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_another_users_session(barry: Barry, sleeper: subprocess.Popen[bytes]) -> None:
    row = add(barry, pid=sleeper.pid, pid_started=identity_of(sleeper.pid).start_time)
    barry.sessions.change(row.id, owner_uid=os.getuid() + 1)
    says(barry.run("session", "stop", row.id), 2, "belongs to another user")
    assert sleeper.poll() is None


@pytest.mark.parametrize("verb", ["stop", "show", "resume"])
def test_no_such_session(barry: Barry, verb: str) -> None:
    says(barry.run("session", verb, "abc"), 2, "there is no session abc", "barry session list")
    add(barry, "abc123def456")
    add(barry, "abc999def456")
    says(barry.run("session", verb, "abc"), 2, "2 sessions begin with abc", "give more of the id")
    says(barry.run("session", verb, "abc123def465"), 2, "did you mean abc123def456?")
    says(barry.run("session", verb, ""), 2, "there is no session")


def test_what_died_while_it_started(barry: Barry) -> None:
    """Its own Barry tells: the row names it from the first moment on."""
    launcher = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
    started = identity_of(launcher.pid).start_time
    add(barry, state="starting", supervisor_pid=launcher.pid, supervisor_started=started)
    assert barry.listed()["state"] == "starting"
    launcher.kill()
    launcher.wait()
    assert barry.listed()["state"] == "ended, status unknown"
    done = barry.run("session", "stop", "abc")
    assert (done.code, "had already ended" in done.out) == (0, True)


def test_one_that_is_starting_is_stopped_by_its_barry(
    barry: Barry, sleeper: subprocess.Popen[bytes]
) -> None:
    started = identity_of(sleeper.pid).start_time
    add(barry, state="starting", supervisor_pid=sleeper.pid, supervisor_started=started)
    done = barry.run("session", "stop", "abc", "--json")
    assert (done.json["was"], done.json["ended"]) == ("starting", True)
    assert sleeper.wait(5) == -signal.SIGTERM
    assert barry.row().state == "ended"


def test_barry_killed_before_it_recorded_the_harness(barry: Barry) -> None:
    """A launch records who it is before anything starts."""
    line = (
        "import os, sys\n"
        "import barry_cli.launch.start as start\n"
        "start._tell = lambda *_: os.kill(os.getpid(), 9)\n"
        "from barry_cli.cli.app import run\n"
        "sys.exit(run(sys.argv[1:]))"
    )
    child = barry.open("-c", line, "session", "launch", "toy", program=(sys.executable,))
    assert barry.ended(child) == -signal.SIGKILL
    row = barry.row()
    assert (row.state, row.pid, row.supervisor_pid) == ("starting", None, child.pid)
    assert barry.listed()["state"] == "ended, status unknown"
    assert "had already ended" in barry.run("session", "stop", row.id).out


def test_a_full_disk_stops_no_stop(
    barry: Barry, small_disk: Path, sleeper: subprocess.Popen[bytes]
) -> None:
    if not os.path.ismount(small_disk):
        assert os.getuid() != 0
        return
    row = add(barry, pid=sleeper.pid, pid_started=identity_of(sleeper.pid).start_time)
    with contextlib.suppress(OSError):
        (small_disk / "filling").write_bytes(bytes(1 << 20))
    assert barry.listed()["state"] == "running"
    assert barry.run("session", "show", row.id).code == 0
    done = barry.run("session", "stop", row.id)
    assert (done.code, "has ended" in done.out) == (0, True)
    assert "warning: that it ended is not recorded" in done.err
    assert sleeper.wait(5) == -signal.SIGTERM
    assert barry.listed()["state"] == "ended, status unknown"
    (small_disk / "filling").unlink()
    assert barry.row().state == "running"
    assert "had already ended" in barry.run("session", "stop", row.id).out


def test_a_process_that_has_become_a_zombie_has_ended(barry: Barry) -> None:
    child = subprocess.Popen(["/bin/sh", "-c", "exit 0"])
    started = identity_of(child.pid).start_time
    add(barry, pid=child.pid, pid_started=started, state="handed_over")
    assert eventually(lambda: not alive(child.pid))
    assert barry.listed()["state"] == "ended, status unknown"
    child.wait()


def test_the_list_has_the_living_first_and_the_newest_first_within(
    barry: Barry, sleeper: subprocess.Popen[bytes]
) -> None:
    started = identity_of(sleeper.pid).start_time
    alive_with = {"pid": sleeper.pid, "pid_started": started}
    for name, year, values in (
        ("old-alive", 2021, alive_with),
        ("old-dead", 2022, {}),
        ("new-alive", 2023, alive_with),
        ("new-dead", 2024, {}),
    ):
        add(barry, name, created_at=f"{year}-01-01T00:00:00.000Z", **values)
    listed = barry.run("session", "list", "--json").json["sessions"]
    assert [each["id"] for each in listed] == ["new-alive", "old-alive", "new-dead", "old-dead"]
    lines = barry.run("session", "list").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [each["id"] for each in listed]
