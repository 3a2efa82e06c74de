"""The demo harness in an instrumented launch, as a person and a sender have it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pexpect

from barry_cli.hook.install import NOTICE_PROGRAM, PROGRAM
from barry_cli.inbox.messages import Message
from barry_cli.inbox.spool import Spool
from barry_cli.policy import cache
from barry_cli.turns.store.sessions import SessionRow
from tests.toy import Barry, Done, written

TOOLS = ("shell", "write", "read", "fetch", "agent")
ALLOWING = f"allow={json.dumps(TOOLS)}"


_bundles: dict[str, bytes] = {}


def keep_bundles(barry: Barry) -> None:
    """Have the hooks' programs kept in a test's own home: they are made once for all tests."""
    place = barry.folders.policies
    if not _bundles:
        cache.keep_bundles(PROGRAM, NOTICE_PROGRAM)
        _bundles.update({path.name: path.read_bytes() for path in place.glob("code-*.marshal")})
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, data in _bundles.items():
        (place / name).write_bytes(data)


class DemoSession:
    """One launch after another of the demo harness, in Barry's home of a test."""

    def __init__(self, barry: Barry) -> None:
        self.barry = barry
        self.script = barry.top / "script.json"
        self.play([])
        barry.install_shipped("demo")
        keep_bundles(barry)

    def play(self, rules: list[dict[str, Any]]) -> None:
        """What the model does in the sessions that are started from now on."""
        self.script.write_text(json.dumps(rules))

    @property
    def env(self) -> Mapping[str, str]:
        return {"BARRY_DEMO_SCRIPT": str(self.script)}

    def bound(self, document: Mapping[str, Any]) -> str:
        """A bound in a file of its own."""
        path = self.barry.top / "bound.json"
        path.write_text(json.dumps(document))
        return str(path)

    def begin(self, *words: str) -> pexpect.spawn[str]:
        """A launch, not waited for."""
        head = () if "resume" in words else ("session", "launch", "demo", "--mode", "instrumented")
        return self.barry.open(*head, *words, env=self.env)

    def launch(self, *words: str) -> pexpect.spawn[str]:
        """A launch whose TUI takes prompts."""
        child = self.begin(*words)
        child.expect("you> ")
        return child

    def say(self, child: pexpect.spawn[str], prompt: str, answer: str) -> None:
        """Type a prompt, and wait for a part of what comes back."""
        child.send(f"{prompt}\r")
        child.expect_exact(answer)

    def leave(self, child: pexpect.spawn[str]) -> str:
        """Leave the TUI; everything that was on the terminal."""
        child.send("/exit\r")
        assert self.barry.ended(child) == 0, written(child)
        return written(child)

    def send(self, session: str, content: str, *words: str) -> Done:
        """``barry session send``, waited for."""
        return self.barry.run("session", "send", session, "-", *words, stdin=None, input=content)

    def row(self, *, seconds: float = 10) -> SessionRow:
        """The newest session's, once there is one."""
        deadline = time.monotonic() + seconds
        while not (rows := self.barry.sessions.all()):
            assert time.monotonic() < deadline, "no session was recorded"
            time.sleep(0.02)
        return rows[0]

    def messages(self) -> list[Message]:
        """The newest session's messages, in order."""
        with Spool(self.barry.folders) as spool:
            return spool.list(self.row().id)

    def until(
        self,
        child: pexpect.spawn[str],
        condition: Callable[[], bool],
        seconds: float = 15,
    ) -> None:
        """Let the TUI run, and read what it writes, until something holds."""
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, (self.states(), written(child)[-2000:])
            drain(child)

    def states(self) -> list[str]:
        return [message.state for message in self.messages()]

    def told(self, *kinds: str) -> list[str]:
        """What the model was told, by the harness's own transcripts, oldest first."""
        name = {"user": "text", "tool_result": "output"}
        return [str(each[name[each["type"]]]) for each in self.rows() if each["type"] in kinds]

    def rows(self) -> list[dict[str, Any]]:
        """All rows of the harness's transcripts."""
        home = Path(self.barry.env["HOME"], ".barry-demo", "projects")
        paths = sorted(home.glob("*/*.jsonl"), key=lambda path: path.stat().st_mtime_ns)
        return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def drain(child: pexpect.spawn[str], seconds: float = 0.05) -> None:
    """Read what a terminal's program writes: unread it would come to a stop."""
    with suppress(pexpect.TIMEOUT):
        child.expect([pexpect.EOF, "no such text is ever written here"], timeout=seconds)
