"""A harness's own terminal UI, followed from beside."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.toy import Barry
from tests.unit.launch.demo_session import DemoSession

pytestmark = pytest.mark.timeout(90)


def follow(barry: Barry, session_id: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "barry_cli", "session", "events", session_id, "--follow", "--json"],
        env=barry.surroundings(),
        cwd=barry.work,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def brief(event: dict[str, Any]) -> str:
    """What an event says, in a word or two."""
    said = event.get("text") or event.get("tool") or event.get("status") or event.get("result")
    return event["type"] if said is None else f"{event['type']} {str(said).strip()}"


def test_a_terminal_ui_is_followed_to_its_end(barry: Barry) -> None:
    demo = DemoSession(barry)
    demo.play(
        [
            {"when": "greet", "then": [{"text": "good day"}]},
            {
                "when": "work",
                "then": [
                    {"tool": "shell", "input": {"command": "touch denied"}},
                    {"tool": "shell", "input": {"command": "echo allowed"}},
                    {"text": "worked"},
                ],
            },
        ]
    )
    child = demo.launch("--bound", demo.bound({"bash": {"denyPrograms": ["touch"]}}))
    session_id = demo.row().id
    follower = follow(barry, session_id)
    demo.say(child, "greet", "good day")
    child.send("work\r")
    child.expect("allow shell")
    child.send("y\r")
    child.expect("worked")
    demo.leave(child)
    out, err = follower.communicate(timeout=30)
    assert err == ""
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
    told = [brief(row["event"]) for row in rows if row["event"]["type"] not in ("status", "usage")]
    refusal = next(each for each in told if each.startswith("tool_result denied"))
    assert told == [
        "init",
        "text greet",
        "text good day",
        "done",
        "text work",
        "tool_use shell",
        refusal,
        "tool_use shell",
        "permission_request shell",
        "tool_result allowed",
        "text worked",
        "done",
    ]
    exported = barry.run("session", "export", session_id).out.splitlines()
    texts = [each["text"] for each in map(json.loads, exported) if each["type"] == "text"]
    assert texts == ["greet", "good day", "work", "worked"]
    recorded = barry.run("session", "show", session_id, "--json").json["recorded"]
    assert (recorded["events"], recorded["turns"], recorded["missing"]) == (len(rows), 2, None)
    assert recorded["usage"]["output"] > 0

    again = demo.begin("session", "resume", session_id)
    again.expect("you> ")
    demo.say(again, "greet", "good day")
    demo.leave(again)
    events = barry.run("session", "events", demo.row().id, "--json").out.splitlines()
    told = [brief(json.loads(line)["event"]) for line in events]
    assert [each for each in told if not each.startswith(("status", "usage"))] == [
        "init",
        "text greet",
        "text good day",
        "done",
    ]
