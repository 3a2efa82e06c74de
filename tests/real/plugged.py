"""What the tests of harnesses with a plugin of Barry's share: one session in a terminal, and
Barry's other commands beside it."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from harness import Job, Lab

from barry_cli.base.paths import Folders
from barry_cli.base.processes import descendants
from barry_cli.groundwork.living import lives
from barry_cli.inbox import sender
from barry_cli.inbox.spool import Spool
from barry_cli.turns.store.sessions import SessionRow, Sessions


def bound(lab: Lab, document: Mapping[str, object]) -> str:
    """A bound in a file of its own."""
    path = lab.top / "bound.json"
    path.write_text(json.dumps(document))
    return str(path)


class Plugged:
    """One instrumented session of a lab's harness."""

    def __init__(self, lab: Lab, *words: str, bound: str | None = None) -> None:
        held = ("--bound", bound, "--require", "gating=hooks") if bound else ()
        self.lab = lab
        top = lab.top / "barry"
        self.folders = Folders(
            *(top / name for name in ("config", "data", "state", "cache", "run"))
        )
        before = {row.id for row in Sessions(self.folders).all()}
        self.job: Job = lab.launch("--mode", "instrumented", *held, *words)
        self._before = before
        self._known: str | None = None

    @classmethod
    def alone(cls, lab: Lab, *words: str, env: Mapping[str, str] | None = None) -> Self:
        """The harness without Barry: there is nothing recorded of it, and it is left alike."""
        made = cls.__new__(cls)
        made.lab, made.job = lab, lab.bare(*words, env=env)
        return made

    @property
    def row(self) -> SessionRow:
        """What is recorded of it, once anything is, whatever others begin beside it."""
        if self._known is None:
            self._known = str(self.until(self._own))
        found = Sessions(self.folders).find(self._known)
        assert found is not None
        return found

    def _own(self) -> str | None:
        """The id of the new session whose launcher runs in this terminal."""
        below = {each.pid for each in descendants(self.job.terminal.pid)}
        new = (row for row in Sessions(self.folders).all() if row.id not in self._before)
        return next((row.id for row in new if row.supervisor_pid in below), None)

    @property
    def id(self) -> str:
        """Barry's id of it."""
        return self.row.id

    def show(self) -> dict[str, Any]:
        """What is recorded of this one, its messages too."""
        shown: dict[str, Any] = json.loads(self.beside("show", self.id).stdout)
        return shown

    def states(self) -> list[str]:
        """What its messages came to, in order."""
        with Spool(self.folders) as spool:
            return [each.state for each in spool.list(self.id)]

    def post(self, text: str) -> None:
        """Send a message as the command line does, without the time that a process takes."""
        sender.send(self.folders, self.row, text, lives=lives)

    def beside(
        self, *words: str, typed: str | None = None, json_too: bool = True, seconds: float = 90
    ) -> subprocess.CompletedProcess[str]:
        """``barry session WORDS``, while the terminal is read: unread it would come to a stop."""
        command = [sys.executable, "-m", "barry_cli", "session", *words]
        process = subprocess.Popen(
            [*command, *(["--json"] if json_too else [])],
            env=self.lab.env,
            cwd=self.lab.work,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        process.stdin.write(typed or "")
        process.stdin.close()
        process.stdin = None
        self.until(lambda: process.poll() is not None, seconds=seconds)
        out, problem = process.communicate()
        return subprocess.CompletedProcess(command, process.returncode, out, problem)

    def send(self, text: str, *words: str, wait: str = "consumed", seconds: float = 60) -> str:
        """Send a message, and wait; the state that it came to."""
        limit = ("--timeout", str(seconds))
        sent = self.beside("send", self.id, "-", "--wait", wait, *limit, *words, typed=text)
        assert sent.returncode in (0, 1, 124), sent.stderr
        return str(json.loads(sent.stdout)["state"])

    def ask(self, prompt: str, answer: str, *, seconds: float = 60) -> None:
        """Type a prompt, and wait for its answer."""
        self.ready()
        self.job.terminal.submit(prompt)
        self.job.terminal.wait_for(answer, seconds=seconds)
        self.job.watch()

    def ready(self) -> None:
        self.job.terminal.wait_for("scripted-model", seconds=60)

    def until(self, what: Callable[[], Any], *, seconds: float = 60) -> Any:
        """Wait until something holds, while the terminal is read."""
        give_up = time.monotonic() + seconds
        while not (found := what()):
            assert time.monotonic() < give_up, self.job.terminal.screen()
            self.job.terminal.pump(0.05)
        return found

    def leave(self, *, status: int = 0) -> None:
        """End it as a person does, and see that all is as it was before."""
        self.job.watch()
        self.job.terminal.pump(1.0)
        self.job.terminal.type("\x04")
        assert self.job.status() == status
        before, after = self.job.modes()
        assert before == after
        assert self.job.left_running() == []

    def signal_barry(self, number: int) -> None:
        """A signal to the launcher alone."""
        self.job.watch()
        barry = min(descendants(self.job.terminal.pid), key=lambda each: each.start_time)
        os.kill(barry.pid, number)

    def kill_barry(self) -> None:
        """The launcher gone at once, as by kill -9."""
        self.signal_barry(signal.SIGKILL)

    def said(self) -> list[str]:
        """Every user message of the newest request for a turn, as it is."""
        requests = [each for each in self.lab.server.model_requests() if each.tools]
        found: list[str] = []
        for message in requests[-1].body["messages"] if requests else ():
            if message["role"] != "user":
                continue
            content = message["content"]
            if isinstance(content, list):
                content = "".join(part.get("text", "") for part in content)
            found.append(content)
        return found


def at_random_moments(session: Plugged, texts: list[str], *, seed: int = 7) -> None:
    """Post messages, now and then with a pause before one."""
    chance = random.Random(seed)
    for text in texts:
        if chance.random() < 0.5:
            session.job.terminal.pump(0.6 * chance.random())
        session.post(text)
    session.until(lambda: set(session.states()) == {"consumed"}, seconds=120)
