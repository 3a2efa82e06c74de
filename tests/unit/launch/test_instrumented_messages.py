"""Messages into a running TUI: as they were written, once, in order, with a true receipt."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from barry_cli.inbox.messages import Peer
from barry_cli.inbox.spool import Spool
from tests.toy import Barry, alive, eventually, says
from tests.unit.launch.demo_session import DemoSession, drain

CONTENTS = [
    "one line",
    "/first\n\ttabbed \N{GRINNING FACE}\n!last\n",
    "!bang",
    "/exit",
    "#hash @at \\ 'quoted' \"twice\" $HOME `id`",
    "  leading and trailing  \n\n",
    "\N{PILE OF POO}" * 1500,  # 6 KB
    "x" * 6144,
]


def hold(barry: Barry, session: str, text: str) -> None:
    """Send without the socket, as who finds nobody there does."""
    with Spool(barry.folders) as spool:
        spool.hold(session, text, sender=Peer(pid=os.getpid(), uid=os.getuid()))


@pytest.fixture
def demo(barry: Barry) -> DemoSession:
    return DemoSession(barry)


def test_they_arrive_as_they_were_written(barry: Barry, demo: DemoSession) -> None:
    child = demo.launch()
    session = demo.row().id
    for content in CONTENTS:
        assert demo.send(session, content).code == 0
    demo.until(child, lambda: demo.states() == ["consumed"] * len(CONTENTS), 40)
    demo.leave(child)
    assert demo.told("user") == CONTENTS
    assert [message.content for message in demo.messages()] == CONTENTS


def test_who_they_are_from_is_told_as_a_claim(barry: Barry, demo: DemoSession) -> None:
    child = demo.launch()
    session = demo.row().id
    demo.send(session, "hello", "--from", "a colleague")
    demo.until(child, lambda: demo.states() == ["consumed"])
    demo.leave(child)
    assert demo.told("user") == ["[message from a colleague, sent through Barry]\nhello"]


def test_a_child_of_the_session_is_known(barry: Barry, demo: DemoSession) -> None:
    """By its token, which is worth nothing once the session has ended."""
    child = demo.launch("--option", 'allow=["shell"]')
    row = demo.row()
    words = f"{sys.executable} -m barry_cli session send {row.id} from-inside"
    demo.say(child, f"run cd {os.getcwd()} && {words}", "shell ran")
    demo.until(child, lambda: demo.states() == ["consumed"])
    (message,) = demo.messages()
    assert (message.content, message.sender_session) == ("from-inside", row.id)
    assert row.pid is not None
    pairs = Path(f"/proc/{row.pid}/environ").read_text().split("\0")
    shown = dict(pair.split("=", 1) for pair in pairs if pair.startswith("BARRY_"))
    done = barry.run("session", "send", row.id, "again", env=shown)
    assert done.code == 0
    assert demo.messages()[-1].sender_session == row.id
    done = barry.run("session", "send", row.id, "x", env={**shown, "BARRY_TOKEN": "guessed"})
    assert done.code == 2
    demo.until(child, lambda: demo.states() == ["consumed"] * 2)
    demo.leave(child)
    child = demo.launch()
    done = barry.run("session", "send", demo.row().id, "late", env=shown)
    assert done.code == 2
    demo.leave(child)


def test_a_busy_session_has_it_after_its_turn(barry: Barry, demo: DemoSession) -> None:
    demo.play([{"when": "rest", "then": [{"delay": 1.5}, {"text": "rested"}]}])
    child = demo.launch()
    session = demo.row().id
    child.send("rest\r")
    demo.until(child, lambda: demo.row().activity == "active")
    demo.send(session, "meanwhile")
    demo.until(child, lambda: demo.states() == ["written"])
    demo.until(child, lambda: demo.states() == ["consumed"])
    demo.leave(child)
    texts = [each.get("text") for each in demo.rows() if each["type"] in ("user", "assistant")]
    assert texts == ["rest", "rested", "meanwhile", "demo heard: meanwhile"]


def test_an_open_question_is_not_answered_by_one(barry: Barry, demo: DemoSession) -> None:
    child = demo.launch()
    session = demo.row().id
    demo.say(child, "run touch canary", "allow shell")
    demo.until(child, lambda: demo.row().activity == "waiting")
    demo.send(session, "yes")
    demo.send(session, "y")
    demo.until(child, lambda: demo.states()[0] == "written")
    for _ in range(10):
        drain(child)
    assert "consumed" not in demo.states()
    assert not (barry.work / "canary").exists()
    demo.say(child, "n", "did not allow shell")
    demo.until(child, lambda: demo.states() == ["consumed"] * 2)
    demo.leave(child)
    assert not (barry.work / "canary").exists()
    assert demo.told("user") == ["run touch canary", "yes", "y"]


def test_a_draft_is_kept(barry: Barry, demo: DemoSession) -> None:
    child = demo.launch()
    session = demo.row().id
    child.send("half a ")
    child.expect("half a ")
    demo.send(session, "in between")
    demo.until(child, lambda: demo.states() == ["consumed"])
    child.send("sentence\r")
    child.expect_exact("demo heard: half a sentence")
    demo.leave(child)
    assert demo.told("user") == ["in between", "half a sentence"]


def test_sent_while_barry_is_stopped_they_arrive_once(barry: Barry, demo: DemoSession) -> None:
    child = demo.launch()
    row = demo.row()
    assert row.supervisor_pid is not None
    os.kill(row.supervisor_pid, signal.SIGSTOP)
    try:
        assert demo.send(row.id, "are you there").code == 0
        assert demo.states() == ["held"]
    finally:
        os.kill(row.supervisor_pid, signal.SIGCONT)
    demo.until(child, lambda: demo.states() == ["consumed"])
    for _ in range(10):
        drain(child)
    demo.leave(child)
    assert demo.told("user") == ["are you there"]


def test_a_suspended_one_has_it_when_it_goes_on(barry: Barry, demo: DemoSession) -> None:
    """^Z stops Barry with the harness: what is sent then waits, and the draft stays."""
    shell = barry.open("--norc", "-i", program=("/bin/bash",), env={**demo.env, "PS1": "shell> "})
    shell.expect("shell> ")
    shell.sendline(f"{sys.executable} -m barry_cli session launch demo --mode instrumented")
    shell.expect("you> ")
    shell.send("half")
    shell.expect("half")
    shell.sendcontrol("z")
    shell.expect("Stopped")
    assert demo.send(demo.row().id, "while it is suspended").code == 0
    assert demo.states() == ["held"]
    shell.sendline("fg")
    shell.expect_exact("demo heard: while it is suspended")
    shell.send(" a sentence\r")
    shell.expect_exact("demo heard: half a sentence")
    demo.until(shell, lambda: demo.states() == ["consumed"])
    shell.send("/exit 3\r")
    shell.expect("shell> ")
    shell.sendline("echo status $?")
    shell.expect_exact("status 3")


def test_into_one_that_has_just_started_and_one_just_resumed(
    barry: Barry, demo: DemoSession
) -> None:
    child = demo.begin()
    first = demo.row()
    assert demo.send(first.id, "early").code == 0
    demo.until(child, lambda: demo.states() == ["consumed"])
    demo.leave(child)
    child = demo.begin("session", "resume", first.id)
    assert eventually(lambda: demo.row().id != first.id, 10)
    second = demo.row().id
    assert demo.send(second, "early again").code == 0
    demo.until(child, lambda: demo.states() == ["consumed"])
    demo.leave(child)
    assert demo.told("user") == ["early", "early again"]
    assert demo.row().harness_session_id == first.harness_session_id


def test_into_one_that_has_just_ended(barry: Barry, demo: DemoSession) -> None:
    child = demo.launch()
    session = demo.row().id
    demo.leave(child)
    says(demo.send(session, "too late"), 2, "has ended", "session resume")
    assert demo.messages() == []


def test_what_is_taken_in_and_dropped_is_never_called_consumed(
    barry: Barry, demo: DemoSession
) -> None:
    child = demo.launch("--", "--bend", "no-mail")
    session = demo.row().id
    done = demo.send(session, "into the void", "--wait", "consumed", "--timeout", "1")
    assert done.code == 124
    assert demo.states() == ["written"]
    demo.leave(child)
    assert demo.states() == ["uncertain"]
    assert demo.told("user") == []


def test_what_was_written_when_it_ended_is_not_known_to_have_arrived(
    barry: Barry, demo: DemoSession
) -> None:
    demo.play([{"when": "rest", "then": [{"delay": 30}]}])
    child = demo.launch()
    row = demo.row()
    child.send("rest\r")
    demo.until(child, lambda: demo.row().activity == "active")
    demo.send(row.id, "nobody reads this")
    demo.until(child, lambda: demo.states() == ["written"])
    assert row.pid is None or alive(row.pid)
    pid = demo.row().pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    barry.ended(child)
    (message,) = demo.messages()
    assert message.state == "uncertain"
    assert message.reason
    shown = barry.run("session", "show", row.id)
    assert "uncertain" in shown.out


def test_thirty_at_random_moments(barry: Barry, demo: DemoSession) -> None:
    """While a person types: all arrive, in the order they were sent, none twice."""
    demo.play([{"when": "rest", "then": [{"delay": 0.2}, {"text": "rested"}]}])
    child = demo.launch()
    session = demo.row().id
    dice = random.Random(6)
    sent = [f"message {number:02d}" for number in range(30)]

    def send() -> None:
        for number, text in enumerate(sent):
            time.sleep(dice.random() * 0.12)
            if number % 5 == 0:  # as who finds the socket busy does
                hold(barry, session, text)
            else:
                link = socket.socket(socket.AF_UNIX)
                link.connect(demo.row().socket or "")
                link.sendall(json.dumps({"type": "send", "content": text}).encode() + b"\n")
                assert json.loads(link.recv(65536))["ok"] is True
                link.close()

    sender = threading.Thread(target=send)
    sender.start()
    typed = 0
    while sender.is_alive():
        child.send("rest\r")
        typed += 1
        drain(child, 0.3)
    sender.join()
    demo.until(child, lambda: demo.states() == ["consumed"] * 30, 60)
    demo.leave(child)
    texts = demo.told("user")
    assert [text for text in texts if text.startswith("message")] == sent
    assert texts.count("rest") <= typed


def test_killed_in_mid_delivery_it_is_uncertain_and_not_sent_twice(
    barry: Barry, demo: DemoSession
) -> None:
    """Nobody reads the pipe, so that the delivery can't come to its end."""
    child = demo.launch("--", "--bend", "no-mail")
    row = demo.row()
    demo.until(child, lambda: demo.row().pid is not None)
    pid, own = demo.row().pid, row.supervisor_pid
    assert pid is not None
    assert own is not None
    hold(barry, row.id, "x" * 500_000)
    hold(barry, row.id, "after it")
    assert eventually(lambda: demo.states()[:1] == ["writing"], 10)
    os.kill(own, signal.SIGKILL)
    assert eventually(lambda: not alive(pid), 10)
    child.close(force=True)
    shown = barry.run("session", "show", row.id, "--json").json
    states = [message["state"] for message in shown["messages"]]
    assert states == ["uncertain", "held"]
    child = demo.launch()
    for _ in range(30):
        drain(child)
    demo.leave(child)
    assert demo.told("user") == []


# --- by hooks ---


def test_hooks_have_them_after_a_call_and_after_a_turn(barry: Barry, demo: DemoSession) -> None:
    demo.play(
        [
            {
                "when": "work",
                "then": [
                    {"delay": 1},
                    {"tool": "shell", "input": {"command": "echo worked"}},
                    {"delay": 4},
                    {"text": "done: {result}"},
                ],
            }
        ]
    )
    child = demo.launch("--option", 'messages="hooks"', "--option", 'allow=["shell"]')
    row = demo.row()
    assert row.guarantees["delivery"] == "turn-end"
    assert "delivery" in row.lowered
    demo.send(row.id, "while it is idle")
    for _ in range(10):
        drain(child)
    assert demo.states() == ["held"]  # nothing asks
    child.send("work\r")
    demo.send(row.id, "and\na second")
    demo.until(child, lambda: "written" in demo.states() or "consumed" in demo.states())
    demo.until(child, lambda: demo.states() == ["consumed"] * 2, 20)
    demo.send(row.id, "at the end")
    child.expect("done: worked")
    demo.until(child, lambda: demo.states() == ["consumed"] * 3, 20)
    demo.leave(child)
    (result,) = demo.told("tool_result")
    assert result == "worked\nwhile it is idle\n\nand\na second"
    assert "at the end" in demo.told("user")
