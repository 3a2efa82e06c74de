"""A process that is talked to: what it gets, what it gives, and that nothing of it stays."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from barry_cli.base.local_executor import LocalExecutor, LocalProcess
from barry_cli.base.processes import descendants, identify, is_alive

LINUX = sys.platform.startswith("linux")
ROOT = Path(__file__).parents[3]
ENV = {"PATH": os.environ["PATH"]}
STUBBORN = "trap '' TERM HUP INT; echo up; while :; do sleep 1; done"
TREE = f'setsid sh -c "{STUBBORN}" & {STUBBORN}'


async def start(script: str, *, open_input: bool = False, **more: object) -> LocalProcess:
    return await LocalExecutor().start(
        ["sh", "-c", script], env={**ENV, **more.pop("env", {})}, cwd=str(more.pop("cwd", "/")),
        open_input=open_input, **more,
    )  # fmt: skip


async def everything(process: LocalProcess) -> bytes:
    found = b""
    while data := await process.read():
        found += data
    return found


async def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True


def alive(pid: int) -> bool:
    identity = identify(pid)
    return identity is not None and is_alive(identity)


async def test_output_status_and_exact_environment(tmp_path: Path) -> None:
    process = await start("env; pwd; echo $$; echo err >&2; exit 3", env={"A": "1"}, cwd=tmp_path)
    lines = (await everything(process)).decode().splitlines()
    assert (await process.read_errors(), await process.wait()) == (b"err\n", 3)
    assert {"A=1", str(tmp_path), str(process.pid)} <= set(lines)
    names = {line.partition("=")[0] for line in lines if "=" in line}
    assert names <= {"A", "PATH", "PWD", "SHLVL", "_", "OLDPWD"}
    await process.end()


async def test_a_signal_is_a_negative_status() -> None:
    process = await start("kill -SEGV $$")
    assert await process.wait() == -signal.SIGSEGV
    await process.end()


async def test_without_open_input_it_reads_an_end() -> None:
    process = await start("cat; echo over")
    assert await everything(process) == b"over\n"
    with pytest.raises(OSError):
        await process.write(b"late")
    await process.end()


async def test_input_goes_in_until_it_is_closed() -> None:
    process = await start("cat", open_input=True)
    await process.write(b"one\n")
    assert await process.read() == b"one\n"
    await process.write(b"two\n")
    process.close_input()
    process.close_input()
    assert await everything(process) == b"two\n"
    assert await process.wait() == 0
    with pytest.raises(OSError):
        await process.write(b"three")
    await process.end()


async def test_much_input_waits_for_its_reader_and_arrives_whole() -> None:
    process = await start("sleep 0.3; wc -c", open_input=True)
    await asyncio.gather(*(process.write(b"x" * 300_000) for _ in range(4)))
    process.close_input()
    assert int(await everything(process)) == 1_200_000
    await process.end()


@pytest.mark.parametrize("way", ["close", "exit"])
async def test_a_write_that_waits_does_not_wait_for_ever(way: str) -> None:
    process = await start("exec sleep 60" if way == "close" else "sleep 0.2", open_input=True)
    writing = asyncio.ensure_future(process.write(b"x" * 5_000_000))
    await asyncio.sleep(0.05)
    assert not writing.done()
    if way == "close":
        process.close_input()
    with pytest.raises(OSError):
        await asyncio.wait_for(writing, 10)
    await process.end()


async def test_what_cannot_start_says_what_refused(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    for argv, cwd, named in (
        (["no-such-program"], "/", "no-such-program"),
        ([str(plain)], "/", str(plain)),
        (["sh"], str(tmp_path / "gone"), str(tmp_path / "gone")),
    ):
        with pytest.raises(OSError) as caught:
            await LocalExecutor().start(argv, env=ENV, cwd=cwd)
        assert caught.value.filename == named
    assert descendants(os.getpid()) == []


async def test_a_name_is_where_it_was_found_and_its_own_variables_win(tmp_path: Path) -> None:
    program = tmp_path / "other"
    program.write_text("#!/bin/sh\necho found $WHERE\n")
    program.chmod(0o755)
    executor = LocalExecutor(programs={"agent": str(program)}, variables={"WHERE": "here"})
    process = await executor.start(["agent"], env={**ENV, "WHERE": "there"}, cwd="/")
    assert await everything(process) == b"found here\n"
    await process.end()


async def test_a_signal_reaches_the_program_alone() -> None:
    process = await start("trap 'echo got; exit 4' INT; echo up; while :; do sleep 0.05; done")
    assert await process.read() == b"up\n"
    assert process.signal(signal.SIGINT)
    assert await everything(process) == b"got\n"
    assert await process.wait() == 4
    assert not process.signal(signal.SIGINT)
    await process.end()


async def test_what_it_leaves_behind_is_ended_with_it() -> None:
    process = await start(f'setsid sh -c "{STUBBORN}" & sleep 0.3; echo $!; exit 0')
    said = (await everything(process)).split()
    assert await process.wait() == 0
    assert not alive(int(said[-1]))
    await process.end()
    assert await eventually(lambda: descendants(os.getpid()) == [])


async def test_end_ends_the_whole_tree_and_twice_is_once() -> None:
    process = await start(f'setsid sh -c "{STUBBORN}" & {STUBBORN}')
    await process.read()
    tree = descendants(os.getpid())
    assert len(tree) >= 3
    await asyncio.gather(process.end(), process.end())
    await process.end()
    assert not any(is_alive(each) for each in tree)
    assert process.pid is not None
    assert not process.signal(signal.SIGTERM)


async def test_a_caller_that_is_cancelled_does_not_stop_the_end() -> None:
    process = await start(STUBBORN)
    await process.read()
    tree = descendants(os.getpid())
    ending = asyncio.ensure_future(process.end())
    await asyncio.sleep(0)
    ending.cancel()
    assert await eventually(lambda: not any(is_alive(each) for each in tree))
    await process.end()


@pytest.mark.skipif(not LINUX, reason="read from /proc")
async def test_a_killed_helper_leaves_nothing_running() -> None:
    process = await start(STUBBORN)
    await process.read()
    tree = descendants(os.getpid())
    os.kill(process._helper.pid, signal.SIGKILL)
    assert await process.wait() is None
    await process.end()
    assert await eventually(lambda: not any(is_alive(each) for each in tree))


def test_a_killed_owner_leaves_nothing_running() -> None:
    """Whatever ends Barry, and however suddenly."""
    code = (
        "import asyncio, os\n"
        "from barry_cli.base.local_executor import LocalExecutor\n"
        "async def main():\n"
        f"    script = {TREE!r}\n"
        "    process = await LocalExecutor().start(['sh', '-c', script], env=dict(os.environ), "
        "cwd='/', open_input=True)\n"
        "    await process.read()\n"
        "    print('ready', flush=True)\n"
        "    await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "ready\n"
        tree = descendants(owner.pid)
        assert len(tree) >= 3
        owner.kill()
    deadline = time.monotonic() + 10
    while any(is_alive(each) for each in tree):
        assert time.monotonic() < deadline
        time.sleep(0.02)
