"""A bounded run ends in time, keeps so much, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from barry_cli.base import bounded_run
from barry_cli.base.processes import (
    Finished,
    descendants,
    identify,
    is_alive,
    run_bounded,
    run_bounded_async,
)

LINUX = sys.platform.startswith("linux")
ROOT = Path(__file__).parents[3]
PATH = {"PATH": os.environ["PATH"]}
Run = Callable[..., Finished]


def in_a_loop(*arguments: object, **named: object) -> Finished:
    return asyncio.run(run_bounded_async(*arguments, **named))


@pytest.fixture(params=["plain", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Both forms: they promise the same."""
    way: Run = run_bounded if request.param == "plain" else in_a_loop

    def shell(script: str, *, timeout: float = 20, limit_bytes: int = 10_000, **more: object):
        return way(["sh", "-c", script], env=PATH, timeout=timeout, limit_bytes=limit_bytes, **more)

    return shell


def alive(pid: int) -> bool:
    identity = identify(pid)
    return identity is not None and is_alive(identity)


def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def numbers(text: bytes) -> list[int]:
    return [int(word) for word in text.split()]


def test_output_and_status(run: Run) -> None:
    assert run("echo out; echo err >&2; exit 3") == Finished(3, b"out\n", b"err\n", False)
    assert run("kill -SEGV $$").returncode == -signal.SIGSEGV


def test_no_input_and_a_session_of_its_own(run: Run) -> None:
    done = run("cat; readlink /proc/$$/fd/0; ps -o sid= -p $$; echo $$")
    null, session, pid = done.stdout.split()
    assert null == b"/dev/null"
    assert session == pid


@pytest.mark.skipif(not LINUX, reason="read from /proc")
def test_signals_are_clean(run: Run) -> None:
    """As from the standard library. (What runs the tests may ignore some itself.)"""
    words = "grep -E 'Sig(Ign|Blk)' /proc/self/status"
    bare = subprocess.run(words, shell=True, capture_output=True, check=True).stdout
    blocked, ignored = masks(run(words).stdout)
    assert [blocked, ignored] == [0, masks(bare)[1]]


def masks(text: bytes) -> list[int]:
    """The signals in it, the C library's own two apart."""
    return [int(line.split()[1], 16) & ~(3 << 31) for line in text.splitlines()]


def test_environment_directory_and_descriptors(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"passed")
    os.close(writer)
    done = run_bounded(
        ["bash", "-c", f"env | grep -v -E '^(PWD|OLDPWD|_|SHLVL)='; pwd; cat <&{reader}"],
        env={"PATH": os.environ["PATH"], "ODD": "a\nb=c", "EMPTY": ""},
        cwd=tmp_path,
        timeout=20,
        limit_bytes=1000,
        pass_fds=(reader,),
    )
    os.close(reader)
    lines = done.stdout.decode().splitlines()
    assert sorted(lines[:-2]) == sorted([f"PATH={os.environ['PATH']}", "ODD=a", "b=c", "EMPTY="])
    assert lines[-2:] == [str(tmp_path), "passed"]


@pytest.mark.skipif(not LINUX, reason="read from /proc")
def test_no_other_descriptor_reaches_the_program(run: Run) -> None:
    assert run("ls /proc/self/fd").stdout.split() == [b"0", b"1", b"2", b"3"]  # 3 is of ls itself


def test_what_can_not_be_started(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("no program")
    named = {"env": PATH, "timeout": 20, "limit_bytes": 10}
    with pytest.raises(FileNotFoundError) as absent:
        run_bounded(["no-such-program"], **named)
    assert absent.value.filename == "no-such-program"
    with pytest.raises(PermissionError):
        run_bounded([str(plain)], **named)
    with pytest.raises(FileNotFoundError) as gone:
        run_bounded(["true"], cwd=tmp_path / "gone", **named)
    assert gone.value.filename == "the working directory"
    with pytest.raises(ValueError, match="program"):
        run_bounded([], **named)
    with pytest.raises(ValueError, match="NUL"):
        run_bounded(["true", "a\0b"], **named)
    with pytest.raises(ValueError, match="name"):
        run_bounded(["true"], **(named | {"env": {"A=B": "c"}}))
    assert descendants(os.getpid()) == []


def test_the_program_is_looked_up_in_the_given_path(tmp_path: Path) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\necho found\n")
    program.chmod(0o755)
    done = run_bounded(["mine"], env={"PATH": f"/nowhere:{tmp_path}"}, timeout=20, limit_bytes=10)
    assert done.stdout == b"found\n"


def test_out_of_time(run: Run) -> None:
    began = time.monotonic()
    done = run("echo begun; sleep 300", timeout=0.5)
    assert time.monotonic() - began < 3
    assert done == Finished(None, b"begun\n", b"", True)


def test_out_of_time_the_whole_tree_goes(run: Run) -> None:
    """Children, one in a session of its own, and one that does not listen."""
    done = run(
        "sleep 300 & echo $!; setsid sleep 301 & echo $!;"
        "sh -c 'trap \"\" TERM; echo $$; sleep 302; sleep 303' & sleep 304",
        timeout=0.7,
    )
    pids = numbers(done.stdout)
    assert done.timed_out
    assert len(pids) == 3
    assert [pid for pid in pids if alive(pid)] == []


def test_what_is_left_over_goes_too(run: Run) -> None:
    began = time.monotonic()
    done = run("(setsid sh -c 'echo $$; sleep 300' &); sleep 301 & echo $!; sleep 0.2; exit 4")
    assert time.monotonic() - began < 3
    assert done.returncode == 4
    pids = numbers(done.stdout)
    assert len(pids) == 2
    left = [pid for pid in pids if alive(pid)]
    assert left == [] if LINUX else len(left) <= 1


def test_bare_what_is_left_over_stays() -> None:
    """The counter-case; and there a reader waits for the pipe it holds."""
    with subprocess.Popen(["sh", "-c", "sleep 300 & echo $!"], stdout=subprocess.PIPE) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        assert process.wait(5) == 0
        assert alive(pid)
        os.set_blocking(process.stdout.fileno(), False)
        assert process.stdout.read() is None  # No end of file.
        os.kill(pid, signal.SIGKILL)


def test_what_has_no_memory_of_its_family_is_still_found(run: Run) -> None:
    """Twice forked, in two sessions, with all its descriptors closed."""
    script = (
        "import os,time\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "if os.fork(): os._exit(0)\n"
        "os.setsid()\n"
        "print(os.getpid(), flush=True)\n"
        "os.closerange(0, 100)\n"
        "time.sleep(300)\n"
    )
    done = run(f"{sys.executable} -c '{script}'; sleep 0.3")
    (pid,) = numbers(done.stdout)
    assert alive(pid) is not LINUX


def test_output_is_kept_up_to_the_limit(run: Run) -> None:
    done = run("printf 12345678; printf 1234567890 >&2", limit_bytes=8)
    assert (done.stdout, done.stderr, done.truncated) == (b"12345678", b"12345678", True)
    assert not run("printf 12345678", limit_bytes=8).truncated


def test_much_output_does_not_block_the_program(run: Run) -> None:
    done = run("head -c 3000000 /dev/zero; exit 5", limit_bytes=1000)
    assert (done.returncode, len(done.stdout), done.truncated) == (5, 1000, True)


def test_endless_output_ends_in_time(run: Run) -> None:
    done = run("yes", timeout=0.5, limit_bytes=100)
    assert (done.timed_out, len(done.stdout), done.truncated) == (True, 100, True)


def test_many_side_by_side_do_not_touch_each_other() -> None:
    async def all_of_them() -> list[Finished]:
        async def one(number: int) -> Finished:
            script = f"setsid sleep 300 & sleep 0.{number}; echo {number}; exit {number}"
            return await run_bounded_async(
                ["sh", "-c", script], env=PATH, timeout=20, limit_bytes=100
            )

        return await asyncio.gather(*(one(number) for number in range(1, 9)))

    done = asyncio.run(all_of_them())
    assert [each.returncode for each in done] == list(range(1, 9))
    assert [numbers(each.stdout) for each in done] == [[number] for number in range(1, 9)]
    assert descendants(os.getpid()) == []


def test_cancelling_ends_the_tree(tmp_path: Path) -> None:
    file = tmp_path / "pid"

    async def cancelled() -> None:
        script = f"setsid sleep 300 & echo $! >{file}; wait"
        task: Awaitable[Finished] = asyncio.ensure_future(
            run_bounded_async(["sh", "-c", script], env=PATH, timeout=20, limit_bytes=100)
        )
        while not (file.exists() and file.read_text().strip()):
            await asyncio.sleep(0.01)
        assert isinstance(task, asyncio.Task)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert not alive(int(file.read_text()))
    assert descendants(os.getpid()) == []


ABANDONED = """
import os, signal, sys, threading
sys.path.insert(0, sys.argv[1])
from barry_cli.base.processes import run_bounded
threading.Timer(1, os.kill, (os.getpid(), signal.SIGKILL)).start()
run_bounded(["sh", "-c", f"setsid sleep 300 & echo $! >{sys.argv[2]}; wait"],
            env={"PATH": os.environ["PATH"]}, timeout=60, limit_bytes=10)
"""


@pytest.mark.skipif(not LINUX, reason="elsewhere only the process group goes")
def test_when_barry_is_killed_the_run_goes_too(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    done = subprocess.run(
        [sys.executable, "-c", ABANDONED, str(ROOT), str(file)], timeout=30, check=False
    )
    assert done.returncode == -signal.SIGKILL
    pid = int(file.read_text())
    assert eventually(lambda: not alive(pid))


@pytest.mark.parametrize("number", ["KILL", "STOP"])
def test_a_helper_that_the_program_attacks(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, number: str
) -> None:
    """It gains nothing: the run ends, and the program and its children with it."""
    monkeypatch.setattr(bounded_run, "_END_SECONDS", 0.3)
    file = tmp_path / "pids"
    script = f"echo $$ >{file}; sleep 300 & echo $! >>{file}; kill -{number} $PPID; wait"
    began = time.monotonic()
    if number == "KILL":
        with pytest.raises(OSError, match="could not be watched"):
            run(script)
    else:
        assert run(script, timeout=1.5).timed_out
    assert time.monotonic() - began < 5
    pids = numbers(file.read_bytes())
    assert len(pids) == 2
    assert eventually(lambda: not any(map(alive, pids)))


def test_secrets_are_not_on_a_command_line() -> None:
    secret = "only-in-the-environment"
    done = run_bounded(
        ["sh", "-c", "ps -A -o args"],
        env=PATH | {"KEY": secret},
        timeout=20,
        limit_bytes=1_000_000,
    )
    assert b"bounded_init" in done.stdout
    assert secret.encode() not in done.stdout
