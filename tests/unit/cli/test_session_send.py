"""``session send``, and what ``show`` and ``list`` say of messages and of who promised what."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from barry_cli.base.paths import folders
from barry_cli.inbox.identity import new_token, token_digest
from barry_cli.inbox.messages import LARGEST, NOT_OBSERVABLE, Message
from barry_cli.inbox.place import claim
from barry_cli.inbox.server import InboxServer
from barry_cli.inbox.spool import Spool
from barry_cli.turns.store.sessions import Sessions
from tests.toy import Barry, Done, says
from tests.unit.inbox.sessions import session


@contextmanager
def reachable(session_id: str = "abcdefghjkmn") -> Iterator[str]:
    """A session whose socket is served by this process; ``settle`` of it is the test's own."""
    ready, done = threading.Event(), threading.Event()

    async def serve() -> None:
        with claim(session_id) as place, Spool(folders()) as spool:
            session(id=session_id, socket=place.path)
            server = InboxServer(place, spool, session_id, {})
            await server.start()
            ready.set()
            while not done.is_set():
                await asyncio.sleep(0.01)
            await server.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert ready.wait(20)
    try:
        yield session_id
    finally:
        done.set()
        thread.join(20)


def messages(session_id: str) -> list[Message]:
    with Spool(folders()) as spool:
        return spool.list(session_id)


def deliver(session_id: str, message_id: str, *, consumed: bool = True) -> None:
    """What the session does with a message, in a moment."""
    time.sleep(0.2)
    with Spool(folders()) as spool:
        assert spool.begin(session_id, message_id)
        assert spool.written(session_id, message_id)
        assert not consumed or spool.consumed(session_id, message_id)


def test_a_message_reaches_the_session(barry: Barry) -> None:
    with reachable() as session_id:
        done = barry.run("session", "send", session_id[:4], "hello there", "--from", "ada")
        (found,) = messages(session_id)
        assert (done.code, done.out, done.err) == (0, f"{found.id} held\n", "")
        assert (found.content, found.sender_name, found.steer) == ("hello there", "ada", False)
        assert found.sender_pid not in (None, os.getpid())
        done = barry.run("session", "send", session_id, "more", "--steer", "--json")
        assert done.json == {
            "schema": 1,
            "sessionId": session_id,
            "messageId": messages(session_id)[1].id,
            "seq": 2,
            "state": "held",
            "reason": None,
        }
        assert messages(session_id)[1].steer is True


@pytest.mark.parametrize(
    "content",
    [
        "several\nlines\n\n",
        "\U0001f600 \xe9 \u2028",
        "\ta\tb",
        "/compact",
        "!ls",
        "  kept  ",
        "x" * 6144,
        "y" * LARGEST,
        "\x1b[31mred\r\n",
    ],
    ids=["lines", "emoji", "tab", "slash", "bang", "spaces", "6k", "largest", "controls"],
)
def test_stdin_comes_through_byte_for_byte(barry: Barry, content: str) -> None:
    row = session(socket="/x")
    done = piped(barry, row.id, content.encode())
    assert done.code == 0, done.err
    assert [each.content for each in messages(row.id)] == [content]


def piped(barry: Barry, session_id: str, content: bytes) -> Done:
    done = subprocess.run(
        [sys.executable, "-m", "barry_cli", "session", "send", session_id, "-"],
        env=barry.surroundings({"LC_ALL": "C"}),
        cwd=barry.work,
        input=content,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def test_an_argument_comes_through_as_it_is(barry: Barry) -> None:
    row = session(socket="/x")
    for words in (("a\nb\t\U0001f600",), ("--", "--wait"), ("--", "-")):
        assert barry.run("session", "send", row.id, *words).code == 0
    assert [each.content for each in messages(row.id)] == ["a\nb\t\U0001f600", "--wait", "-"]


def test_what_can_not_be_sent(barry: Barry) -> None:
    row = session(socket="/x")
    send = ("session", "send", row.id)
    says(barry.run(*send), 2, "there is no message", "reads it from stdin")
    says(barry.run(*send, ""), 2, "the message is empty")
    says(barry.run(*send, "a", "--", "b"), 2, "nothing after --")
    says(barry.run(*send, "--", "a", "b"), 2, "nothing after --")
    says(piped(barry, row.id, b"\xff\xfe"), 2, "not UTF-8")
    says(piped(barry, row.id, b"a\0b"), 2, "NUL")
    says(piped(barry, row.id, b""), 2, "the message is empty")
    says(piped(barry, row.id, b"x" * (LARGEST + 1)), 2, "more than 1000000 bytes")
    says(barry.run(*send, "x", "--from", "two\nlines"), 2, "one line")
    says(barry.run(*send, "x", "--id", "a b"), 2, "a message's id")
    says(barry.run(*send, "x", "--wait", "eaten"), 2, "--wait eaten", "written or consumed")
    says(barry.run(*send, "x", "--timeout", "1"), 2, "--timeout", "--wait")
    for number in ("0", "-1", "nan", "inf"):
        says(barry.run(*send, "x", "--wait", "written", "--timeout", number), 2, "is no time")
    error = barry.run("session", "send", "nobody", "x", "--json")
    assert (error.code, error.error["code"]) == (2, "session-not-found")
    assert messages(row.id) == []


def test_who_takes_no_messages(barry: Barry) -> None:
    for values, code, words in (
        ({"state": "ended"}, "session-over", "session resume"),
        ({"mode": "guest", "socket": None}, "no-way-in", "--mode instrumented"),
        ({"mode": "hosted"}, "no-way-in", "session start toy PROMPT --resume"),
    ):
        row = session(**{"socket": "/x", **values})  # type: ignore[arg-type]
        done = barry.run("session", "send", row.id, "x", "--json")
        assert (done.code, done.error["code"], done.out) == (2, code, "")
        assert words in done.error["hint"]
        assert row.id in done.error["message"]


def test_nobody_listens_and_it_is_held(barry: Barry) -> None:
    row = session(socket="/nowhere/x.sock")
    done = barry.run("session", "send", row.id, "x", "--id", "mine")
    assert (done.code, done.out) == (0, "mine held\n")
    assert barry.run("session", "send", row.id, "x", "--id", "mine").out == "mine held\n"
    assert len(messages(row.id)) == 1
    done = barry.run("session", "send", row.id, "y", "--id", "mine", "--json")
    assert (done.code, done.error["code"]) == (2, "message-id-reused")


def test_wait_until_it_has_arrived(barry: Barry) -> None:
    with reachable() as session_id:
        for goal in ("written", "consumed"):
            thread = threading.Thread(
                target=lambda name=goal: (until_held(session_id, name), deliver(session_id, name))
            )
            thread.start()
            done = barry.run(
                "session", "send", session_id, "x", "--id", goal, "--wait", goal,
                "--timeout", "20", "--json",
            )  # fmt: skip
            thread.join(20)
            assert done.code == 0, done.err
            assert done.json["state"] in (("written", "consumed") if goal == "written" else (goal,))


def until_held(session_id: str, message_id: str) -> None:
    for _ in range(400):
        if any(each.id == message_id for each in messages(session_id)):
            return
        time.sleep(0.05)
    raise AssertionError(message_id)


def test_not_in_time_it_stays(barry: Barry) -> None:
    row = session(socket="/x")
    done = barry.run(
        "session", "send", row.id, "x", "--id", "m", "--wait", "consumed", "--timeout", "0.3"
    )
    assert (done.code, done.out) == (124, "m held\n")
    assert "not consumed within 0.3 s; the message stays" in done.err
    assert [each.state for each in messages(row.id)] == ["held"]


def test_what_never_arrives_says_why(barry: Barry) -> None:
    row = session(socket="/x")
    with Spool(folders()) as spool:
        for message_id, act in (
            ("bad", lambda: spool.failed(row.id, "bad", "it was refused")),
            ("lost", lambda: spool.uncertain(row.id, "lost", "the pipe\nbroke")),
            ("silent", lambda: spool.written(row.id, "silent", reason=NOT_OBSERVABLE)),
        ):
            assert barry.run("session", "send", row.id, "x", "--id", message_id).code == 0
            spool.begin(row.id, message_id)
            assert act()
    send = ("session", "send", row.id, "x", "--wait", "consumed", "--id")
    for message_id, state, reason in (
        ("bad", "failed", "it was refused"),
        ("lost", "uncertain", "the pipe broke"),
        ("silent", "written", NOT_OBSERVABLE),
    ):
        done = barry.run(*send, message_id)
        assert (done.code, done.out) == (1, f"{message_id} {state}: {reason}\n")
    assert barry.run(*send[:-3], "--wait", "written", "--id", "silent").code == 0
    document = barry.run(*send, "bad", "--json")
    assert (document.code, document.json["reason"]) == (1, "it was refused")


def test_a_child_of_a_session_is_known(barry: Barry) -> None:
    token = new_token()
    me = session(token_digest=token_digest(token))
    env = {"BARRY_SESSION": me.id, "BARRY_TOKEN": token}
    with reachable() as session_id:
        assert barry.run("session", "send", session_id, "x", env=env).code == 0
        (found,) = messages(session_id)
        assert (found.sender_session, found.sender_name) == (me.id, None)
        wrong = barry.run("session", "send", session_id, "y", env={**env, "BARRY_TOKEN": "wrong"})
        says(wrong, 2, "token of no session", "unset BARRY_SESSION")
        assert "wrong" not in wrong.err
        assert len(messages(session_id)) == 1
        shown = barry.run("session", "show", session_id)
        assert f"from session {me.id}: x" in shown.out
        assert token not in shown.out


# --- show and list ---


def test_show_lists_the_messages(barry: Barry) -> None:
    row = session(socket="/x")
    barry.run("session", "send", row.id, "one\n\x1b[31mtwo", "--from", "ada", "--id", "a")
    barry.run("session", "send", row.id, "z" * 5000, "--id", "b")
    with Spool(folders()) as spool:
        spool.begin(row.id, "a")
        spool.uncertain(row.id, "a", "the pipe broke")
    pid = messages(row.id)[0].sender_pid
    lines = [
        line for line in barry.run("session", "show", row.id).out.splitlines()
        if line.startswith("message ")
    ]  # fmt: skip
    assert lines[0].split(maxsplit=1)[1] == (
        f'a uncertain (the pipe broke), 12 bytes from process {pid} as "ada": one \ufffd[31mtwo'
    )
    assert lines[1].endswith(f"{'z' * 57}...")
    first, second = barry.run("session", "show", row.id, "--json").json["messages"]
    assert first == {
        "id": "a",
        "seq": 1,
        "state": "uncertain",
        "reason": "the pipe broke",
        "from": "ada",
        "senderSession": None,
        "senderPid": pid,
        "senderUid": os.getuid(),
        "steer": False,
        "content": "one\n\x1b[31mtwo",
        "contentBytes": 12,
        "heldAt": first["heldAt"],
        "writtenAt": None,
        "endedAt": first["endedAt"],
    }
    assert (second["content"], second["contentBytes"]) == ("z" * 1000, 5000)
    Sessions(folders()).change(row.id, state="ended")
    _, second = barry.run("session", "show", row.id, "--json").json["messages"]
    assert second["state"] == "held"
    assert "nobody delivers it now" in second["reason"]


def test_list_says_what_is_promised(barry: Barry) -> None:
    session(
        id="a1", activity="waiting", asked={"bound": {"x": 1}, "boundSources": [
            "no-push", "/home/ada/site/.barry/bound.toml",
        ]},
    )  # fmt: skip
    session(
        id="b1", unverified=True, lowered={"delivery": "why"}, activity="idle", state="ended",
        guarantees={"gating": "hooks", "delivery": "none"}, asked={"bound": {}},
    )  # fmt: skip
    session(id="c1", mode="guest", guarantees={"gating": "none", "delivery": "none"})
    out = barry.run("session", "list").out
    rows = {line.split()[0]: line for line in out.splitlines()[1:4]}
    assert "running, waiting" in rows["a1"]
    assert "no-push, site" in rows["a1"]
    assert "gating hooks, delivery wake" in rows["a1"]
    assert "idle" not in rows["b1"]
    assert "  unnamed  " in rows["b1"]
    assert "gating hooks, delivery none*?" in rows["b1"]
    assert rows["c1"].count("  -  ") == 2
    assert "* less than its mode" in out
    assert "? never shown on this build" in out
    found = {each["id"]: each for each in barry.run("session", "list", "--json").json["sessions"]}
    assert found["a1"]["activity"] == "waiting"
    assert found["b1"]["activity"] is None
    assert found["a1"]["bound"] == ["no-push", "/home/ada/site/.barry/bound.toml"]
    assert (found["b1"]["bound"], found["c1"]["bound"]) == (["unnamed"], [])
    assert found["b1"]["lowered"] == {"delivery": "why"}
    assert not {"socket", "tokenDigest", "token_digest"} & set(found["a1"])


def test_a_launch_keeps_the_names_of_its_bounds(barry: Barry) -> None:
    barry.install()
    child = barry.launch("--supervise", "--bound", "no-push")
    child.sendline("quit")
    assert barry.ended(child) == 0
    assert barry.listed()["bound"] == ["no-push"]
    assert "no-push" in barry.run("session", "show", barry.row().id).out


# --- what it costs ---

HEAVY = {"asyncio", "pydantic", "rich", "ssl", "ctypes", "secrets", "hmac", "jsonschema"}


def test_sending_imports_nothing_heavy(barry: Barry) -> None:
    code = (
        "import sys; from barry_cli.cli.app import run; status = run(sys.argv[1:]);"
        "print(*sorted(sys.modules), file=sys.stderr); sys.exit(status)"
    )
    with reachable() as session_id:
        for words in ((), ("--json",), ("--wait", "written", "--timeout", "0.1")):
            done = barry.run("session", "send", session_id, "x", *words, python=("-c", code))
            assert done.code == (124 if words[:1] == ("--wait",) else 0)
            assert not HEAVY & set(done.err.split()), words
        assert len(messages(session_id)) == 3
