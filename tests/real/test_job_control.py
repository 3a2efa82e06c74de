"""Job control through Barry's own command line, under an interactive bash, as if it were absent.

demo is handed the terminal for good (exec) or with Barry beside it (--supervise); the others are
real TUIs.
"""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from harness import Lab

from barry_cli.base.processes import ProcessIdentity, descendants, identify, is_alive
from barry_cli.verify.terminal import ScreenTerminal

ALT_SCREEN_OFF = b"\x1b[?1049l"


@dataclass
class Case:
    """One harness under one way of launching it."""

    adapter: str
    words: tuple[str, ...] = ()
    ready: str = ""
    """What is on its screen when it takes input."""


CASES = [
    Case("demo", ready="you>"),
    Case("demo", ("--supervise",), ready="you>"),
    Case(
        "claude",
        ("--supervise", "--option", 'permissionMode="manual"'),
        ready="\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}",
    ),
    Case("codex", ready="\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"),
    Case("pi", ready="escape interrupt"),
]
NAMES = ["demo", "demo-supervised", "claude", "codex", "pi"]
SUPERVISED = [(case, name) for case, name in zip(CASES, NAMES, strict=True) if name != "demo"]


def surroundings(lab: Lab) -> dict[str, str]:
    """The environment in which each harness reaches the scripted model and nothing else."""
    quiet = {"HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
    if lab.adapter.id == "claude":
        return {
            **quiet,
            "ANTHROPIC_BASE_URL": lab.server.url("anthropic"),
            "ANTHROPIC_API_KEY": lab.key,
        }
    return quiet


class Desk:
    """A person's shell with one Barry launch in it."""

    def __init__(self, lab: Lab, case: Case) -> None:
        self.lab = lab
        self.case = case
        lab.add()
        self.shell: ScreenTerminal = lab.shell(env=surroundings(lab))
        self.before = self.modes()
        self.seen: set[ProcessIdentity] = set()

    def modes(self) -> str:
        """The terminal's modes, as the shell at its prompt has them."""
        number = len(re.findall(rb"modes=[0-9a-f:]+\s", bytes(self.shell.raw)))
        self.shell.type('echo "modes="$(stty -g)\r')
        self.until(lambda: len(re.findall(rb"modes=[0-9a-f:]+\s", bytes(self.shell.raw))) > number)
        return re.findall(rb"modes=([0-9a-f:]+)\s", bytes(self.shell.raw))[-1].decode()

    def until(self, condition: Callable[[], bool], seconds: float = 20) -> None:
        waited = 0.0
        while not condition():
            self.shell.pump(0.1)
            waited += 0.1
            assert waited < seconds, self.shell.screen()

    def launch(self, *words: str) -> None:
        line = self.lab.command("session", "launch", self.case.adapter, *self.case.words, *words)
        self.shell.type(f"clear; {line}\r")
        self.shell.wait_for(self.case.ready)
        self.shell.settle()
        self.watch()

    def watch(self) -> list[ProcessIdentity]:
        found = descendants(self.shell.pid)
        self.seen |= set(found)
        return found

    def job(self) -> ProcessIdentity:
        """The process that the shell started: Barry, or what it became."""
        row = self.row()
        pid = row["pid"]
        parent = int(self.proc(pid)[1])
        return self.identity(pid if parent == self.shell.pid else parent)

    def harness(self) -> ProcessIdentity:
        return self.identity(self.row()["pid"])

    def identity(self, pid: int) -> ProcessIdentity:
        found = identify(pid)
        assert found is not None
        return found

    def proc(self, pid: int) -> list[str]:
        """State, parent and what follows of a process, as the kernel tells them."""
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()

    def row(self) -> dict[str, object]:
        listed = json.loads(self.lab.barry("session", "list", "--json").stdout)["sessions"]
        return dict(listed[0])

    def prompt(self) -> None:
        """Wait until the shell has the terminal again."""
        self.until(lambda: os.tcgetpgrp(self.shell._child.child_fd) == self.shell.pid)
        self.shell.settle(quiet=0.3)

    def status(self) -> int:
        # What was typed ahead and never read is the shell's now: clear its line first.
        self.shell.type('\x15echo "status=$?"\r')
        self.until(lambda: re.search(rb"status=(\d+)\r", bytes(self.shell.raw)) is not None)
        return int(re.findall(rb"status=(\d+)\r", bytes(self.shell.raw))[-1])

    def sane(self) -> None:
        """The terminal is as it was, and nothing of the launch runs."""
        assert self.modes() == self.before
        self.until(lambda: not [each for each in self.seen if is_alive(each)])


@pytest.fixture
def desk(lab: Callable[[str], Lab]) -> Callable[[Case], Desk]:
    def make(case: Case) -> Desk:
        return Desk(lab(case.adapter), case)

    return make


def type_in(desk: Desk, text: str) -> None:
    """What is typed reaches the harness: it is on the screen."""
    desk.shell.type(text)
    desk.shell.wait_for(text, seconds=15)


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_stop_and_go_on_resize_and_end(desk: Callable[[Case], Desk], case: Case) -> None:
    here = desk(case)
    here.launch()
    job = here.job()

    # ^Z from the keyboard, as the harness takes it, and fg; twice.
    for word in ("alpha", "bravo"):
        here.shell.type("\x1a")
        here.prompt()
        assert here.proc(job.pid)[0] == "T"
        assert here.modes() == here.before
        here.shell.type("fg\r")
        here.until(lambda: os.tcgetpgrp(here.shell._child.child_fd) != here.shell.pid)
        here.shell.settle()
        type_in(here, word)

    # It stops itself alone, or a signal stops it alone: the shell must see the job stop.
    harness = here.harness()
    os.kill(harness.pid, signal.SIGSTOP)
    here.prompt()
    assert here.modes() == here.before
    here.shell.type("fg\r")
    here.until(lambda: os.tcgetpgrp(here.shell._child.child_fd) != here.shell.pid)
    here.shell.settle()
    type_in(here, "charlie")

    # A new size reaches it: the kernel tells the whole foreground group.
    here.shell._child.setwinsize(40, 100)
    here.shell.settle()
    assert is_alive(harness)

    # TERM to what the shell started.
    os.kill(job.pid, signal.SIGTERM)
    here.prompt()
    assert here.status() == 143
    here.sane()


@pytest.mark.parametrize(("case", "name"), SUPERVISED, ids=[name for _, name in SUPERVISED])
def test_p25_a_killed_harness_leaves_a_sane_terminal(
    desk: Callable[[Case], Desk], case: Case, name: str
) -> None:
    here = desk(case)
    here.launch()
    harness = here.harness()
    os.kill(harness.pid, signal.SIGKILL)
    here.prompt()
    assert here.status() == 137
    seen = bytes(here.shell.raw)
    assert ALT_SCREEN_OFF in seen
    for mode in (1000, 1002, 1003, 1004, 1006, 2004):  # mouse, focus, paste
        assert f"\x1b[?{mode}l".encode() in seen
    assert b"\x1b[<u" in seen  # the kitty keyboard
    assert b"\x1b[?25h" in seen  # the cursor
    here.sane()
    row = here.row()
    assert row["state"] == "ended"
    assert row["exitSignal"] == 9


@pytest.mark.parametrize(("case", "name"), SUPERVISED, ids=[name for _, name in SUPERVISED])
def test_hang_up(desk: Callable[[Case], Desk], case: Case, name: str) -> None:
    here = desk(case)
    here.launch()
    os.kill(here.job().pid, signal.SIGHUP)
    here.prompt()
    assert here.status() == 129
    here.sane()


@pytest.mark.parametrize("case", CASES[:2], ids=NAMES[:2])
def test_interrupt_and_an_exit_of_its_own(desk: Callable[[Case], Desk], case: Case) -> None:
    here = desk(case)
    here.launch()
    here.shell.type("run sleep 60\r")
    here.shell.wait_for("allow shell")
    here.shell.type("y\r")
    here.shell.pump(0.5)
    here.watch()
    here.shell.type("\x03")  # ends the tool, not the harness and not Barry
    here.shell.settle()
    assert is_alive(here.harness())
    here.shell.type("/exit 42\r")
    here.prompt()
    assert here.status() == 42
    here.sane()
    row = here.row()
    if "--supervise" in case.words:
        assert (row["state"], row["exitStatus"]) == ("ended", 42)
    else:
        assert row["state"] == "ended, status unknown"


@pytest.mark.parametrize(
    ("case", "same"), [(CASES[1], True), (CASES[0], False)], ids=["beside it", "handed over"]
)
def test_raw_modes_left_on_are_put_back(
    desk: Callable[[Case], Desk], case: Case, same: bool
) -> None:
    """Only a Barry that stays can put right what a harness leaves behind."""
    here = desk(case)
    here.launch("--", "--bend", "leave-raw")
    here.shell.type("/exit\r")
    here.prompt()
    assert (here.modes() == here.before) is same
    here.until(lambda: not [each for each in here.seen if is_alive(each)])
