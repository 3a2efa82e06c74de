"""A plugin's end of its line, run by node: whatever fails refuses the call."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import barry_cli.contract.line

CLIENT = Path(barry_cli.contract.line.__file__).with_name("line.js")

# Rules on each call that stands in a line of stdin, and answers as a plugin does.
PLUGIN = """
import { createInterface } from "node:readline"
import { line } from "./line.js"
line.answer = async (frame) => {
  if (frame.fail) throw new Error("no")
  return { ok: true, heard: frame.text }
}
line.begin()
line.begin()
const input = createInterface({ input: process.stdin })
input.on("line", async (text) => console.log(JSON.stringify(await line.rule(JSON.parse(text)))))
"""


class Barry:
    """The other end, by hand."""

    def __init__(self, top: Path) -> None:
        self.path = top / "s.sock"
        self.listen()

    def listen(self) -> None:
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(self.path))
        self.server.listen()
        self.server.settimeout(20)

    def accept(self) -> None:
        self.line, _ = self.server.accept()
        self.line.settimeout(20)
        self.read = self.line.makefile("rb")

    def heard(self) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(self.read.readline())
        assert frame.pop("key") == "the key"
        assert frame.pop("session") == "s1"
        return frame

    def say(self, frame: object) -> None:
        self.line.sendall(json.dumps(frame).encode() + b"\n")

    def close(self) -> None:
        self.read.close()
        self.line.close()

    def gone(self) -> None:
        self.close()
        self.server.close()
        self.path.unlink()


@pytest.fixture
def barry(tmp_path: Path) -> Iterator[Barry]:
    (tmp_path / "plugin.mjs").write_text(PLUGIN)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    # A ruling that never comes is waited for a little shorter than in earnest.
    patient = CLIENT.read_text()
    assert "PATIENCE = 20_000" in patient
    (tmp_path / "line.js").write_text(patient.replace("PATIENCE = 20_000", "PATIENCE = 1_000"))
    given = {"socket": str(tmp_path / "s.sock"), "key": "the key", "session": "s1"}
    (tmp_path / "line.json").write_text(json.dumps({**given, "fingerprint": "print"}))
    made = Barry(tmp_path)
    yield made
    made.server.close()


@pytest.fixture
def plugin(barry: Barry, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    with start(tmp_path) as process:
        barry.accept()
        assert barry.heard() == {"type": "loaded", "fingerprint": "print"}
        yield process
        process.kill()
    barry.close()


def start(top: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["node", "plugin.mjs"], cwd=top, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def ask(plugin: subprocess.Popen[str], **call: object) -> None:
    assert plugin.stdin is not None
    plugin.stdin.write(json.dumps(call) + "\n")
    plugin.stdin.flush()


def ruling(plugin: subprocess.Popen[str]) -> dict[str, Any]:
    assert plugin.stdout is not None
    found: dict[str, Any] = json.loads(plugin.stdout.readline())
    return found


def test_each_call_gets_its_own_ruling(barry: Barry, plugin: subprocess.Popen[str]) -> None:
    ask(plugin, tool="bash", input={"command": "one"}, cwd="/")
    ask(plugin, tool="bash", input={"command": "two"}, cwd="/")
    first, second = barry.heard(), barry.heard()
    assert (first["type"], first["input"]) == ("rule", {"command": "one"})
    barry.say({"type": "ruling", "id": second["id"], "allowed": True, "reason": ""})
    assert ruling(plugin)["allowed"] is True
    barry.say({"type": "ruling", "id": first["id"], "allowed": False, "reason": "no such thing"})
    answered = ruling(plugin)
    assert (answered["allowed"], answered["reason"]) == (False, "no such thing")


def test_questions_are_answered_also_by_a_plugin_that_fails(
    barry: Barry, plugin: subprocess.Popen[str]
) -> None:
    barry.say({"type": "ask", "id": 1, "frame": {"text": "a\u2028b"}})
    assert barry.heard() == {"type": "answer", "id": 1, "ok": True, "heard": "a\u2028b"}
    barry.line.sendall(b"not json\n")
    barry.say({"type": "ask", "id": 2, "frame": {"fail": True}})
    answer = barry.heard()
    assert (answer["id"], answer["ok"]) == (2, False)


def test_a_ruling_that_does_not_come_is_a_refusal(
    barry: Barry, plugin: subprocess.Popen[str]
) -> None:
    ask(plugin, tool="bash", input={}, cwd="/")
    barry.heard()
    answered = ruling(plugin)
    assert answered["allowed"] is False
    assert "no answer came in time" in answered["reason"]


def test_a_call_that_is_too_long_for_a_line_is_refused(plugin: subprocess.Popen[str]) -> None:
    ask(plugin, tool="bash", input={"command": "x" * 1_000_000}, cwd="/")
    answered = ruling(plugin)
    assert answered["allowed"] is False
    assert "too long" in answered["reason"]


def test_a_line_that_is_lost_refuses_and_is_opened_again(
    barry: Barry, plugin: subprocess.Popen[str]
) -> None:
    ask(plugin, tool="bash", input={}, cwd="/")
    barry.heard()
    barry.gone()
    assert "not reachable" in ruling(plugin)["reason"]
    ask(plugin, tool="bash", input={}, cwd="/")
    assert ruling(plugin)["allowed"] is False
    barry.listen()
    barry.accept()
    assert barry.heard() == {"type": "loaded", "fingerprint": "print"}
    ask(plugin, tool="bash", input={}, cwd="/")
    barry.say({"type": "ruling", "id": barry.heard()["id"], "allowed": True, "reason": ""})
    assert ruling(plugin)["allowed"] is True


def test_the_key_is_gone_and_who_comes_later_can_do_nothing(
    tmp_path: Path, plugin: subprocess.Popen[str]
) -> None:
    assert not (tmp_path / "line.json").exists()
    with start(tmp_path) as later:
        ask(later, tool="bash", input={}, cwd="/")
        assert "not reachable" in ruling(later)["reason"]
        later.kill()
