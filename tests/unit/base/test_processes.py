"""A process is told from a later one with its number, found with its family, and ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from barry_cli.base import processes
from barry_cli.base.processes import (
    ProcessIdentity,
    adopted_zombies,
    become_subreaper,
    descendants,
    end,
    identify,
    is_alive,
    is_stopped,
    send_signal,
    subreaper,
)

LINUX = sys.platform.startswith("linux")
ROOT = Path(__file__).parents[3]
linux = pytest.mark.skipif(not LINUX, reason="only Linux has subreapers")


def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.fixture
def family() -> Iterator[subprocess.Popen[bytes]]:
    """A shell with a child that has a session of its own, and its child."""
    script = "setsid sh -c 'sleep 300 & wait' & wait"
    with subprocess.Popen(["sh", "-c", script], start_new_session=True) as process:
        assert eventually(lambda: len(descendants(process.pid)) == 2)
        yield process
        end([*descendants(process.pid), *known(process.pid)], 0)


def known(pid: int) -> list[ProcessIdentity]:
    identity = identify(pid)
    return [] if identity is None else [identity]


@pytest.fixture(params=["proc", "ps"])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to read the process table."""
    if request.param == "ps":
        monkeypatch.setattr(processes, "_LINUX", False)
    elif not LINUX:
        pytest.skip("only Linux has /proc")


@pytest.mark.usefixtures("source")
def test_identity() -> None:
    own = identify(os.getpid())
    assert own is not None
    assert own == identify(os.getpid())
    assert is_alive(own)
    assert own.start_time
    assert not is_alive(ProcessIdentity(own.pid, "another time"))


@pytest.mark.usefixtures("source")
@pytest.mark.parametrize("pid", [0, -1, 2**22 + 1])
def test_no_such_process(pid: int) -> None:
    assert identify(pid) is None
    assert not is_alive(ProcessIdentity(pid, ""))
    assert not send_signal(ProcessIdentity(pid, ""), 0)


@pytest.mark.usefixtures("source")
def test_a_zombie_is_not_alive() -> None:
    with subprocess.Popen(["true"]) as process:
        assert eventually(lambda: not any(map(is_alive, known(process.pid))))
        identity = identify(process.pid)
        assert identity is not None  # Its number is still taken.
        assert not is_alive(identity)
        assert not send_signal(identity, signal.SIGTERM)
    assert identify(process.pid) is None


def test_another_process_with_the_number_gets_no_signal() -> None:
    with subprocess.Popen(["sleep", "300"]) as process:
        (right,) = known(process.pid)
        wrong = ProcessIdentity(process.pid, right.start_time + "0")
        assert not send_signal(wrong, signal.SIGKILL)
        assert end([wrong], 0.1) == []
        assert process.poll() is None
        assert send_signal(right, signal.SIGKILL)
        assert process.wait(5) == -signal.SIGKILL


def test_without_process_handles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    test_another_process_with_the_number_gets_no_signal()


def test_a_kernel_that_refuses_process_handles(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> int:
        raise PermissionError(1, "no")

    monkeypatch.setattr(os, "pidfd_open", refuse, raising=False)
    test_another_process_with_the_number_gets_no_signal()


def test_another_users_process_is_alive_and_gets_no_signal() -> None:
    """As root nothing is refused, so the asking is done by somebody else."""
    code = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from barry_cli.base.processes import end, identify, is_alive, send_signal
if os.getuid() == 0:
    os.setgroups([]), os.setgid(65534), os.setuid(65534)
try:
    os.kill(1, 0)
except PermissionError:
    print("refused")
other = identify(1)
print(is_alive(other), send_signal(other, 0), end([other], 0) == [other])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stdout == "refused\nTrue False True\n", done.stderr


@pytest.mark.usefixtures("source")
def test_descendants(family: subprocess.Popen[bytes]) -> None:
    found = descendants(family.pid)
    assert len(found) == 2
    assert all(is_alive(other) for other in found)
    assert family.pid not in {other.pid for other in found}
    assert family.pid in {other.pid for other in descendants(os.getpid())}


def test_a_stopped_descendant(family: subprocess.Popen[bytes]) -> None:
    other = descendants(family.pid)[0]
    group = os.getpgid(other.pid)
    assert not is_stopped(family.pid, group)
    assert send_signal(other, signal.SIGSTOP)
    assert eventually(lambda: is_stopped(family.pid, group))
    assert not is_stopped(family.pid, os.getpgrp())  # Another job's stop is its own business.


def test_end_asks_first() -> None:
    with subprocess.Popen(
        ["sh", "-c", "trap 'exit 7' TERM; echo; while :; do sleep 0.01; done"],
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        assert end(known(process.pid), 5) == []
        assert process.wait(5) == 7


def test_end_asks_a_stopped_one_too() -> None:
    with subprocess.Popen(
        ["sh", "-c", "trap 'exit 7' TERM; echo; kill -STOP $$; while :; do sleep 0.01; done"],
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        process.stdout.readline()
        assert end(known(process.pid), 5) == []
        assert process.wait(5) == 7


def test_end_kills_what_does_not_listen() -> None:
    with subprocess.Popen(
        ["sh", "-c", "trap '' TERM; echo; while :; do sleep 0.01; done"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout
        process.stdout.readline()
        began = time.monotonic()
        assert end(known(process.pid), 0.3) == []
        assert 0.3 <= time.monotonic() - began < 2
        assert process.wait(5) == -signal.SIGKILL


ORPHAN = """
import os, subprocess, sys, time
sys.path.insert(0, sys.argv[1])
from barry_cli.base.processes import adopted_zombies, become_subreaper, descendants, subreaper
def orphan():
    subprocess.run(["sh", "-c", "setsid sleep 0.3 >/dev/null 2>&1 & echo"], capture_output=True)
    return [other.pid for other in descendants(os.getpid())]
print(len(orphan()))
with subreaper() as worked:
    print(worked, len(orphan()))
    time.sleep(0.6)
    print(len(adopted_zombies()))
print(len(orphan()))
print(become_subreaper(), len(orphan()))
with subreaper():
    pass
print(len(orphan()) > 0)
"""


@linux
def test_a_subreaper_adopts_and_only_inside_the_block() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ORPHAN, str(ROOT)],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    # In the end one that was a subreaper before stays one after.
    assert done.stdout == "0\nTrue 1\n1\n0\nTrue 1\nTrue\n", done.stderr


def test_elsewhere_there_is_no_subreaper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "_LINUX", False)
    assert become_subreaper() is False
    with subreaper() as worked:
        assert worked is False


@linux
def test_only_ended_children_are_zombies() -> None:
    with subprocess.Popen(["sleep", "300"]) as alive, subprocess.Popen(["true"]) as ended:
        assert eventually(lambda: ended.pid in adopted_zombies())
        assert alive.pid not in adopted_zombies()
        alive.kill()
