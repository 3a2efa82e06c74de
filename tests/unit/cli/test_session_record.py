"""What is on record of driven sessions, and how one is ended from beside."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys

import pytest

from barry_cli.turns.store.record import Record
from tests.toy import Barry, eventually, says


def running(demo: Barry, prompt: str) -> tuple[subprocess.Popen[str], str]:
    """A turn under way, and its session."""
    child = subprocess.Popen(
        [sys.executable, "-m", "barry_cli", "session", "start", "demo", prompt, "--json"],
        env=demo.surroundings(),
        cwd=demo.work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert any('"tool_use"' in line for line in child.stdout)
    return child, demo.row().id


def test_a_session_that_ended(demo: Barry) -> None:
    demo.run("session", "start", "demo", "run echo one two")
    row = demo.row()
    shown = demo.run("session", "show", row.id)
    assert "state         ended with 0\n" in shown.out
    (turn,) = [line for line in shown.out.splitlines() if line.startswith("turn ")]
    assert turn.split(maxsplit=1)[1].startswith("completed, ")
    assert turn.endswith(" tokens in, 4 out")
    document = demo.run("session", "show", row.id, "--json").json
    (turn,) = document["turns"]
    assert turn["state"] == "completed"
    assert (turn["usage"]["input"], turn["usage"]["output"]) == (4, 4)
    assert turn["createdAt"] <= turn["endedAt"]
    assert (turn["error"], turn["uncertainCalls"]) == (None, [])


def test_a_turn_that_failed_says_why(demo: Barry) -> None:
    demo.run("session", "start", "demo", "fail badly")
    shown = demo.run("session", "show", demo.row().id).out
    assert "turn          failed, " in shown
    assert "badly" in shown
    assert "tokens" not in shown  # none were counted


def test_a_launched_session_has_no_turns(barry: Barry) -> None:
    child = barry.launch("--supervise")
    child.sendline("quit")
    barry.ended(child)
    assert barry.run("session", "show", barry.row().id, "--json").json["turns"] == []


def test_events_for_a_person(demo: Barry) -> None:
    demo.run("session", "start", "demo", "run echo hi")
    lines = demo.run("session", "events", demo.row().id).out.splitlines()
    assert lines[0].split()[:2] == ["1", "init"]
    assert lines[-1].split()[1] == "done"
    after = demo.run("session", "events", demo.row().id, "--after", lines[-2].split()[0])
    assert after.out.splitlines() == lines[-1:]


def test_events_can_be_followed(demo: Barry) -> None:
    """Whoever follows gets each event once, up to the end, and is let go then."""
    child, session_id = running(demo, "run sleep 1.5; echo late")
    done = demo.run("session", "events", session_id, "--follow", "--json")
    child.communicate(timeout=20)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert rows[-1]["event"]["type"] == "done"
    numbers = [row["sequence"] for row in rows]
    assert numbers == sorted(set(numbers))
    kept = [stored.sequence for stored in Record(demo.folders).events(session_id)]
    assert set(kept) <= set(numbers)


@pytest.mark.parametrize(("verb", "code"), [("interrupt", 130), ("stop", 143)])
def test_ended_from_beside(demo: Barry, verb: str, code: int) -> None:
    with demo.leaves_no_process():
        child, session_id = running(demo, "run sleep 71")
        listed = demo.listed()
        assert (listed["state"], listed["mode"]) == ("running", "hosted")
        done = demo.run("session", verb, session_id, "--json")
        assert (done.code, done.json["was"], done.json["ended"]) == (0, "running", True)
        child.communicate(timeout=20)
        assert child.returncode == code
    assert demo.listed()["exitStatus"] == code
    (turn,) = demo.run("session", "show", session_id, "--json").json["turns"]
    assert turn["state"] == "cancelled"
    again = demo.run("session", verb, session_id)
    assert (again.code, again.out) == (0, f"{session_id} had already ended\n")


def test_a_session_with_a_person_is_not_interrupted(barry: Barry) -> None:
    child = barry.launch()
    says(barry.run("session", "interrupt", barry.row().id), 2, "has a terminal UI")
    child.sendline("quit")
    assert barry.ended(child) == 0


def test_an_export_shows_no_secret(demo: Barry) -> None:
    env = {"DEMO_TOKEN": "hush-hush-1234"}
    demo.run("session", "start", "demo", "run env", "--env", "DEMO_TOKEN", env=env)
    done = demo.run("session", "export", demo.row().id, env=env)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["type"] for row in rows][:1] == ["init"]
    assert rows[-1]["type"] == "done"
    assert "hush-hush" not in done.out
    assert "DEMO_TOKEN=********" in done.out


def test_an_export_goes_into_a_new_private_file(demo: Barry) -> None:
    demo.run("session", "start", "demo", "hello")
    session_id = demo.row().id
    path = demo.work / "out.jsonl"
    os.umask(0o022)
    done = demo.run("session", "export", session_id, "--output", "out.jsonl")
    assert (done.code, done.out) == (0, "")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text() == demo.run("session", "export", session_id).out
    before = path.read_bytes()
    says(demo.run("session", "export", session_id, "--output", "out.jsonl"), 2, "out.jsonl")
    assert path.read_bytes() == before


def test_an_export_of_nothing(demo: Barry) -> None:
    child = demo.launch("--supervise")
    child.sendline("quit")
    demo.ended(child)
    says(demo.run("session", "export", demo.row().id), 2, "no conversation on record")


def test_an_export_of_a_launched_session(demo: Barry) -> None:
    """What the harness itself has kept."""
    child = demo.open("session", "launch", "demo")
    child.expect("you>")
    child.send("hello\r")
    child.expect("demo heard: hello")
    child.send("/exit\r")
    assert demo.ended(child) == 0
    rows = demo.run("session", "export", demo.row().id).out.splitlines()
    assert {"text": "hello", "role": "user", "type": "text"} in [json.loads(row) for row in rows]


def test_what_was_killed_is_settled_by_who_looks(demo: Barry) -> None:
    child, session_id = running(demo, "run sleep 72")
    child.kill()
    child.communicate()
    assert eventually(lambda: demo.listed()["state"] == "ended, status unknown")
    done = demo.run("session", "events", session_id, "--follow")
    assert "the process that ran this turn is gone" in done.out
