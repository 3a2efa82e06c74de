"""Job control, in a real shell: ^Z, fg, bg, kill."""

import re
import shlex
import termios
from pathlib import Path

import pytest


@pytest.fixture
def shell(demo):
    child = demo.pty("/bin/bash", ["--norc", "--noprofile", "-i"], PS1="$ ", PS2="")
    child.expect_exact("$ ")
    child.start = lambda *flags: child.send(shlex.join([*demo.command, *flags]) + "\r")
    return child


def test_stop_and_go_on(shell, prompt, wait_for):
    shell.start()
    prompt(shell)
    shell.send("hel")
    shell.expect_exact("hel")
    shell.send("\x1a")
    shell.expect_exact("\x1b[?2004l")
    shell.expect("Stopped")
    shell.expect_exact("$ ")
    shell.send("echo shell=$((40+2))\r")
    shell.expect_exact("shell=42")
    shell.send("fg\r")
    shell.expect_exact("\x1b[?2004h")
    shell.expect_exact("you> hel")  # The half line is still there.
    shell.send("lo\r")
    shell.expect_exact("demo heard: hello")
    prompt(shell)
    shell.send("/exit 42\r")
    shell.expect_exact("$ ")
    shell.send("echo status=$?\r")
    shell.expect_exact("status=42")
    wait_for(lambda: termios.tcgetattr(shell.child_fd)[3] & termios.ISIG)


def test_stop_while_a_tool_runs(shell, prompt, demo, wait_for):
    shell.start("--allow", "shell")
    prompt(shell)
    shell.send("run echo $$ > pid; for i in 1 2 3 4 5 6; do sleep 0.2; echo $i >> n; done\r")
    wait_for((demo.cwd / "n").exists)
    shell.send("\x1a")
    shell.expect("Stopped")
    pid = int((demo.cwd / "pid").read_text())

    def state():
        text = Path(f"/proc/{pid}/status").read_text()
        return re.search(r"^State:\s+(\w)", text, re.MULTILINE)[1]

    wait_for(lambda: state() == "T")  # The tool is stopped as well.
    shell.send("fg\r")
    shell.expect_exact("demo> shell ran")
    assert (demo.cwd / "n").read_text().split() == ["1", "2", "3", "4", "5", "6"]


def test_background_waits_for_the_terminal(shell, prompt):
    shell.start()
    prompt(shell)
    shell.send("\x1a")
    shell.expect("Stopped")
    shell.send("bg; sleep 0.3; jobs\r")
    shell.expect("Stopped.*Stopped|Stopped")
    shell.expect_exact("$ ")
    shell.send("fg\r")
    shell.expect_exact("\x1b[?2004h")
    shell.send("hi\r")
    shell.expect_exact("demo heard: hi")


def test_kill_while_stopped(shell, prompt, gone):
    shell.start()
    prompt(shell)
    shell.send("\x1a")
    shell.expect("Stopped")
    shell.expect_exact("$ ")
    shell.send("echo pid=$(jobs -p)\r")
    shell.expect(r"pid=(\d+)")
    pid = int(shell.match[1])
    shell.expect_exact("$ ")
    shell.send("kill %1\r")
    assert gone(pid)
    shell.send("jobs\r")
    shell.expect_exact("]+  Exit 143")
    shell.expect_exact("$ ")
    shell.send("echo still=$((40+2))\r")
    shell.expect_exact("still=42")
