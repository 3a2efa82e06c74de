"""A program's screen, read and typed into; and nothing of it left when it is closed."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from barry_cli.contract.proof import NotShown
from barry_cli.verify.terminal import COLUMNS, ROWS, ScreenTerminal
from tests.toy import alive, eventually

Open = Callable[..., ScreenTerminal]


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[Open]:
    opened: list[ScreenTerminal] = []

    def make(script: str, *, python: bool = False) -> ScreenTerminal:
        argv = [sys.executable, "-ISc", script] if python else ["/bin/sh", "-c", script]
        env = {"PATH": "/usr/bin:/bin", "TERM": "dumb", "LANG": "C.UTF-8"}
        opened.append(ScreenTerminal(argv, env, tmp_path))
        return opened[-1]

    yield make
    for terminal in opened:
        terminal.close(seconds=1)


def test_what_is_on_the_screen_is_read(screen: Open) -> None:
    terminal = screen("printf 'one\\033[2;5Htwo \\033[31mred\\033[0m\\033[H'; sleep 60")
    assert terminal.wait_for("two red") == "one\n    two red"
    assert terminal.wait_for("twored")  # spaces and line breaks apart
    assert b"\x1b[31m" in terminal.raw


def test_it_is_a_terminal_of_a_size_of_its_own(screen: Open, tmp_path: Path) -> None:
    terminal = screen("stty size; echo $TERM; pwd; sleep 60")
    text = terminal.wait_for(str(tmp_path))
    assert text.splitlines()[:2] == [f"{ROWS} {COLUMNS}", "xterm-256color"]


def test_what_does_not_come_is_told_with_the_screen(screen: Open) -> None:
    terminal = screen("echo here; sleep 60")
    began = time.monotonic()
    with pytest.raises(NotShown, match=r"(?s)'there' was not on the screen in 0.5 s:.*here"):
        terminal.wait_for("there", seconds=0.5)
    assert time.monotonic() - began < 3


def test_an_end_is_not_waited_for(screen: Open) -> None:
    terminal = screen("echo bye; exit 3")
    began = time.monotonic()
    with pytest.raises(NotShown, match=r"(?s)ended before 'there'.*bye"):
        terminal.wait_for("there", seconds=30)
    assert time.monotonic() - began < 10
    assert terminal.ended() == 3


def test_keys_arrive(screen: Open) -> None:
    terminal = screen("while read line; do echo got:$line; done")
    terminal.submit("hello")
    terminal.wait_for("got:hello")
    terminal.type("\x04")
    assert terminal.ended() == 0


def test_questions_to_the_terminal_are_answered(screen: Open) -> None:
    terminal = screen(
        "import sys, tty, os; tty.setraw(0); os.write(1, b'\\x1b[6n'); r = os.read(0, 20);"
        "os.write(1, b'answer ' + repr(r).encode()); os.read(0, 1)",
        python=True,
    )
    assert "answer b'\\x1b[1;1R'" in terminal.wait_for("answer b'")


def test_sequences_of_newer_terminals_are_not_drawn(screen: Open) -> None:
    """Whole, and cut in two by how they arrive."""
    terminal = screen(
        "import os, time\n"
        "parts = b'\\x1b[>4;1m\\x1b[<u\\x1b[?2026', b'h\\x1b[=1;1uon', b'e\\x1b', b'[1', b'mtwo'\n"
        "for part in parts:\n"
        "    os.write(1, part); time.sleep(0.15)\n"
        "time.sleep(60)",
        python=True,
    )
    assert terminal.wait_for("onetwo") == "onetwo"


def test_nonsense_costs_no_session(screen: Open) -> None:
    terminal = screen(
        "import os, time; os.write(1, os.urandom(20000)); os.write(1, b'\\x18\\x1bcstill here');"
        "time.sleep(60)",
        python=True,
    )
    terminal.pump(1)
    terminal.screen()


def test_quiet_is_waited_for(screen: Open) -> None:
    terminal = screen("for i in 1 2 3 4; do echo $i; sleep 0.2; done; sleep 60")
    assert terminal.settle(quiet=0.6) == "1\n2\n3\n4"


@pytest.mark.parametrize(
    ("script", "code"), [("exit 0", 0), ("exit 9", 9), ("kill -11 $$", -11), ("sleep 60", None)]
)
def test_how_it_ended(screen: Open, script: str, code: int | None) -> None:
    assert screen(script).ended(seconds=1.5) == code


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("exit 4", 4),
        ("trap 'exit 5' TERM; echo up; while :; do sleep 0.05; done", 5),
        ("trap '' TERM HUP; echo up; while :; do sleep 0.05; done", None),
        ("echo up; exec sleep 60", None),
    ],
)
def test_closing(screen: Open, script: str, code: int | None) -> None:
    terminal = screen(script)
    if "up" in script:
        terminal.wait_for("up")
    else:
        terminal.ended()
    assert terminal.close(seconds=1) == code
    assert not alive(terminal.pid)
    terminal.close()  # a second time is harmless
    assert not terminal.pump(0.1)


@pytest.mark.parametrize("then", ["sleep 60", "exit 0"])
def test_what_it_started_is_ended_with_it(screen: Open, tmp_path: Path, then: str) -> None:
    terminal = screen(f"trap '' HUP; sleep 300 & echo $! > child; {then}")
    assert eventually(
        lambda: (tmp_path / "child").exists() and bool((tmp_path / "child").read_text())
    )
    child = int((tmp_path / "child").read_text())
    terminal.pump(0.5)
    terminal.close(seconds=1)
    assert not alive(child)


def test_a_signal(screen: Open) -> None:
    terminal = screen("trap 'echo got it' USR1; echo up; while :; do sleep 0.05; done")
    terminal.wait_for("up")
    terminal.signal(signal.SIGUSR1)
    terminal.wait_for("got it")
    os.kill(terminal.pid, signal.SIGKILL)
    assert terminal.ended() == -9
    terminal.signal(signal.SIGUSR1)  # gone: nothing
