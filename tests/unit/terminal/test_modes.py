"""The terminal is put in order, and nothing about it can hold Barry up."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import termios
import time
import tty
from collections.abc import Iterator

import pytest

from barry_cli.terminal.modes import RESET, Terminal


@pytest.fixture
def pair() -> Iterator[tuple[int, int]]:
    """The terminal's end and the program's end."""
    ours, theirs = pty.openpty()
    os.set_blocking(theirs, False)
    yield ours, theirs
    for descriptor in (ours, theirs):
        try:
            os.close(descriptor)
        except OSError:
            continue


def fill(descriptor: int) -> None:
    while True:
        os.write(descriptor, b"x" * 4096)


def test_modes_are_put_back(pair: tuple[int, int]) -> None:
    terminal = Terminal(pair[1])
    before = terminal.read()
    assert before is not None
    tty.setraw(pair[1])
    assert terminal.read() != before
    terminal.write(before)
    assert terminal.read() == before


def test_the_reset_names_every_mode() -> None:
    modes = {int(mode) for mode in re.findall(rb"\x1b\[\?(\d+)l", RESET)}
    assert modes == {1000, 1002, 1003, 1005, 1006, 1015, 1004, 2004, 2031, 2027, 2026, 1049}
    for sequence in (b"\x1b[<u", b"\x1b[>4;0m", b"\x1b[?25h", b"\x1b[0m"):
        assert sequence in RESET
    assert RESET.index(b"\x1b7") < RESET.index(b"\x1b[?1049l")


def test_the_reset_drops_input_that_was_meant_for_the_harness(pair: tuple[int, int]) -> None:
    tty.setraw(pair[1])
    os.write(pair[0], b"\x1b[<35;10;10M")
    Terminal(pair[1]).reset()
    with pytest.raises(BlockingIOError):
        os.read(pair[1], 100)
    assert os.read(pair[0], 1000) == RESET


def test_a_terminal_that_takes_nothing_more_does_not_hold_us_up(pair: tuple[int, int]) -> None:
    with pytest.raises(BlockingIOError):
        fill(pair[1])
    terminal = Terminal(pair[1])
    began = time.monotonic()
    terminal.reset()
    modes = terminal.read()
    assert modes is not None
    terminal.write(modes)
    assert time.monotonic() - began < 3


def test_a_terminal_that_has_gone(pair: tuple[int, int]) -> None:
    terminal = Terminal(pair[1])
    modes = terminal.read()
    assert modes is not None
    os.close(pair[0])
    with pytest.raises(OSError):
        os.write(pair[1], b"x")
    terminal.reset()
    terminal.write(modes)
    assert not terminal.ours()
    assert not terminal.take_back()


def test_a_pipe_is_no_terminal() -> None:
    reader, writer = os.pipe()
    with pytest.raises(termios.error):
        termios.tcgetattr(writer)
    terminal = Terminal(writer)
    assert terminal.read() is None
    assert not terminal.ours()
    terminal.close()
    os.close(reader)


def test_without_a_controlling_terminal_there_is_none() -> None:
    code = "from barry_cli.terminal.modes import Terminal; print(Terminal.open())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=20,
        start_new_session=True,
        check=True,
    )
    assert done.stdout == "None\n"
