"""A harness that was handed over to is what the shell started, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.terminal.shell import HERE, Shell

ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(HERE.parents[2])}
SCRIPT = """
import sys
from barry_cli.terminal.hand_over import hand_over
sys.stdout.write("before ")
hand_over("/bin/sh", ["a name", "-c", sys.argv[1]], {"ONLY": "this"}, "/tmp")
"""


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    opened = Shell(tmp_path)
    try:
        yield opened
    finally:
        opened.close()


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", SCRIPT, script],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=20,
        check=False,
    )


def test_what_was_written_before_is_not_lost() -> None:
    assert run("echo after").stdout == "before after\n"


def test_name_environment_and_directory() -> None:
    assert run("echo $0:$ONLY:$HOME:$(pwd)").stdout == "before a name:this::/tmp\n"


def test_the_status_and_the_signal_are_its_own() -> None:
    assert run("exit 42").returncode == 42
    assert run("kill -INT $$").returncode == -signal.SIGINT


def test_it_is_the_same_process(shell: Shell) -> None:
    shell.launch("hand-over")
    assert shell.ready() == shell.barry()
    shell.bash.send("s")
    shell.prompt()
    shell.bash.sendline("fg")
    shell.bash.expect_exact("<back>")
    shell.bash.send("q\r")  # Without Barry the harness has lost its raw input meanwhile.
    shell.prompt()


@pytest.mark.parametrize("output", [">&-", ">/dev/full"])
def test_an_output_that_takes_nothing_does_not_matter(output: str) -> None:
    script = SCRIPT.replace("sys.stdout.write", "sys.stdout and sys.stdout.write")
    done = subprocess.run(
        ["/bin/sh", "-c", f'"$@" {output}', "sh", sys.executable, "-c", script, "exit 42"],
        capture_output=True,
        env=ENVIRONMENT,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stderr) == (42, b"")
