"""An interactive bash in a terminal of its own, as a person sits before it."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pexpect

from barry_cli.base.processes import ProcessIdentity, identify, is_alive

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PROMPT = "<prompt>"


class Shell:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: list[ProcessIdentity] = []
        self.bash = pexpect.spawn(
            "bash",
            ["--norc", "--noprofile", "-i"],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(folder),
                "TERM": "xterm-256color",
                "PS1": PROMPT,
                "PYTHONPATH": str(ROOT),
                "PYTHONDONTWRITEBYTECODE": "1",
                "HISTFILE": "",
            },
            cwd=str(folder),
            dimensions=(24, 80),
            echo=False,
            timeout=15,
            encoding="utf-8",
        )
        self.screen = io.StringIO()  # All that ever reached the terminal.
        self.bash.logfile_read = self.screen
        self.bash.expect_exact(PROMPT)
        self.run("bind 'set enable-bracketed-paste off'")

    def run(self, line: str) -> str:
        """Run a line to its end; return what it printed."""
        self.bash.sendline(f"{line}; printf '<%s>' done")
        self.bash.expect_exact("<done>")
        text = self.bash.before
        self.bash.expect_exact(PROMPT)
        return str(text).split("done\r\n", 1)[-1]

    def status(self) -> int:
        return int(re.sub(r"\D", "", self.run("printf '%s' $?").split("$?")[-1]))

    def modes(self) -> str:
        match = re.search(r"[0-9a-f]+(:[0-9a-f]+){5,}", self.run("stty -g"))
        assert match
        return match[0]

    def launch(self, way: str, *arguments: str, tail: str = "") -> None:
        """Start the test harness under our stand-in for Barry (or another way)."""
        words = [str(HERE / "tui.py"), *arguments]
        if way != "none":
            words = [str(HERE / "barry.py"), str(self.folder), way, sys.executable, *words]
        self.bash.sendline(" ".join([sys.executable, *words, tail]))

    def ready(self) -> int:
        """Wait for the harness's screen; return its pid."""
        self.bash.expect(r"<ready (\d+)>")
        pid = int(self.bash.match[1])
        self.watch(pid)
        return pid

    def watch(self, pid: int) -> None:
        identity = identify(pid)
        assert identity
        self.seen.append(identity)

    def barry(self) -> int:
        return int((self.folder / "barry").read_text())

    def key(self, key: str, answer: str) -> None:
        self.bash.send(key)
        self.bash.expect(answer)

    def prompt(self) -> str:
        """Wait until the shell has the terminal again; return what was written before."""
        self.bash.expect_exact(PROMPT)
        return str(self.bash.before)

    def hang_up(self) -> None:
        """Close the window."""
        self.bash.ptyproc.fileobj.close()
        self.bash.ptyproc.closed = True

    def close(self) -> None:
        if self.bash.ptyproc.closed:
            self.bash.kill(signal.SIGKILL)
            self.bash.ptyproc.wait()
        else:
            self.bash.close(force=True)
        for identity in self.seen:
            if is_alive(identity):
                os.kill(identity.pid, signal.SIGKILL)


def eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def alive(pid: int) -> bool:
    identity = identify(pid)
    return identity is not None and is_alive(identity)
