"""Sending: over the socket or past it, it is one message, and it is said what became of it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.paths import folders
from barry_cli.base.problems import SessionNotFound, StoreProblem
from barry_cli.groundwork.living import lives
from barry_cli.inbox import sender
from barry_cli.inbox.identity import new_token, token_digest
from barry_cli.inbox.messages import LARGEST, NOT_OBSERVABLE, Message
from barry_cli.inbox.place import claim
from barry_cli.inbox.problems import (
    InboxFull,
    MessageIdReused,
    MessageRefused,
    MessageTooLarge,
    NoWayIn,
    SessionOver,
    by_wire,
)
from barry_cli.inbox.record import messages_of
from barry_cli.inbox.sender import Sent, Waited, send, wait
from barry_cli.inbox.server import InboxServer
from barry_cli.inbox.spool import Spool
from barry_cli.turns.store.sessions import SessionRow, Sessions
from tests.unit.inbox.sessions import ME, session
from tests.unit.turns.store.places import dead_owner

ROOT = Path(__file__).parents[3]


@contextmanager
def listening(answer: Callable[[bytes], bytes | None], path: str) -> Iterator[list[bytes]]:
    """Something that answers each line that comes in its own way; None is no answer."""
    heard: list[bytes] = []
    done = threading.Event()
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(path)
    server.listen()

    def serve() -> None:
        while True:
            link, _ = server.accept()
            with link, link.makefile("rb") as file, suppress(OSError):
                if done.is_set():
                    return
                line = file.readline()
                heard.append(line)
                said = answer(line)
                if said is None:
                    done.wait(10)
                else:
                    link.sendall(said)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield heard
    finally:
        done.set()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
            last.connect(path)
        thread.join(20)
        server.close()


def path() -> str:
    """A short one, in the test's own folder."""
    run = folders().run
    run.mkdir(parents=True, exist_ok=True, mode=0o700)
    return str(run / "s.sock")


def sent(row: SessionRow, content: str = "hello", **more: Any) -> Sent:
    return send(folders(), row, content, lives=lives, **more)


def recorded(row: SessionRow) -> list[Message]:
    with Spool(folders()) as spool:
        return spool.list(row.id)


async def in_thread(work: Callable[[], Any]) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, work)


async def test_over_the_socket() -> None:
    token = new_token()
    me = session(token_digest=token_digest(token))
    with claim("abc") as place, Spool(folders()) as spool:
        row = session(id="abc", socket=place.path)
        server = InboxServer(place, spool, "abc", {})
        await server.start()
        content = "a\n\t/!\U0001f600\x01"
        found = await in_thread(
            lambda: sent(row, content, name="ada", steer=True, identity=(me.id, token))
        )
        assert (found.state, found.seq, found.through) == ("held", 1, "socket")
        (message,) = spool.list("abc")
        assert (message.id, message.content, message.steer) == (found.message_id, content, True)
        assert (message.sender_name, message.sender_session) == ("ada", me.id)
        again = await in_thread(
            lambda: sent(row, content, name="ada", steer=True, id=found.message_id)
        )
        assert again == found
        with pytest.raises(MessageIdReused, match="sent before"):
            await in_thread(lambda: sent(row, "other", id=found.message_id))
        with pytest.raises(MessageRefused, match="token of no session") as raised:
            await in_thread(lambda: sent(row, identity=(me.id, "wrong")))
        assert "BARRY_TOKEN" in raised.value.hint
        # Twice as long on the wire as on record, it goes past the socket.
        found = await in_thread(lambda: sent(row, '"' * LARGEST))
        assert (found.seq, found.through) == (2, "store")
        found = await in_thread(lambda: sent(row, "x" * LARGEST))
        assert (found.seq, found.through) == (3, "socket")
        await server.close()
        found = await in_thread(lambda: sent(row))
        assert (found.seq, found.through) == (4, "store")
        assert [each.seq for each in spool.list("abc")] == [1, 2, 3, 4]


def test_nobody_listens() -> None:
    row = session(socket="/nowhere/at.sock")
    found = sent(row, name="ada", identity=("abc", "whatever"))
    assert (found.state, found.seq, found.through) == ("held", 1, "store")
    (message,) = recorded(row)
    assert (message.sender_name, message.sender_pid) == ("ada", os.getpid())
    assert message.sender_session is None  # a token counts only at a socket
    assert message.sender_uid == os.getuid()


def test_a_socket_that_its_session_left_behind() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as left:
        left.bind(path())
    row = session(socket=path())
    assert sent(row).through == "store"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"\n",
        b"garbage\n",
        b"[]\n",
        b'{"ok": true}\n',
        b'{"ok": true, "messageId": "another", "state": "held", "seq": 1}\n',
        b'{"ok": true, "messageId": "m", "state": "eaten", "seq": 1}\n',
        b'{"ok": true, "messageId": "m", "state": "held", "seq": "1"}\n',
        b'{"ok": false}\n',
        b'{"ok": false, "error": {"code": "busy", "message": "x"}}\n',
        b'{"ok": false, "error": {"code": "store", "message": "x"}}\n',
        b'{"ok": false, "error": {"code": ["refused"]}}\n',
        b'{"half": ',
        b"x" * 2_000_000 + b"\n",
    ],
)
def test_an_answer_that_makes_no_sense_is_none(answer: bytes) -> None:
    row = session(socket=path())
    with listening(lambda line: answer, path()) as heard:
        found = sent(row, id="m")
    assert (found.through, len(heard)) == ("store", 1)
    assert [each.id for each in recorded(row)] == ["m"]


def test_who_is_stuck_does_not_hold_the_sender_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sender, "ANSWERS_WITHIN", 0.3)
    row = session(socket=path())
    began = time.monotonic()
    with listening(lambda line: None, path()):
        found = sent(row, "x" * LARGEST)  # more than the kernel keeps for who doesn't read
        took = time.monotonic() - began
    assert found.through == "store"
    assert took < 5


def test_one_that_drips_does_not_either(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deadline holds for all of the answer, not for each byte of it."""
    monkeypatch.setattr(sender, "ANSWERS_WITHIN", 0.5)
    row = session(socket=path())
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(path())
    server.listen()

    def drip() -> None:
        link, _ = server.accept()
        with link:
            try:
                for _ in range(200):
                    link.sendall(b" ")
                    time.sleep(0.05)
            except OSError:
                pass

    thread = threading.Thread(target=drip)
    thread.start()
    began = time.monotonic()
    assert sent(row).through == "store"
    assert time.monotonic() - began < 4
    thread.join(20)
    server.close()


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("too_large", MessageTooLarge),
        ("inbox_full", InboxFull),
        ("ended", SessionOver),
        ("duplicate", MessageIdReused),
        ("refused", MessageRefused),
    ],
)
def test_what_the_session_refuses_is_refused(code: str, kind: type[MessageRefused]) -> None:
    row = session(socket=path())
    told = {"ok": False, "error": {"code": code, "message": "because", "hint": "do"}}
    with (
        listening(lambda line: json.dumps(told).encode() + b"\n", path()),
        pytest.raises(kind) as raised,
    ):
        sent(row)
    assert type(raised.value) is kind is by_wire(code)
    assert (str(raised.value), raised.value.hint) == ("because", "do")
    assert recorded(row) == []


def test_a_socket_of_another_user_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    row = session(socket=path())
    monkeypatch.setattr(sender, "peer_of", lambda link: None)
    with listening(lambda line: b"", path()) as heard:
        assert sent(row).through == "store"
    assert heard in ([], [b""])


def test_who_takes_no_messages() -> None:
    def refused(**values: Any) -> MessageRefused:
        row = session(**{"socket": "/x", **values})
        with pytest.raises(MessageRefused) as raised:
            sent(row)
        assert recorded(row) == []
        assert row.id in str(raised.value)
        return raised.value

    ended = refused(state="ended")
    assert isinstance(ended, SessionOver)
    assert "session resume" in ended.hint
    killed = refused(pid_started="other", supervisor_started="other")
    assert isinstance(killed, SessionOver)
    guest = refused(mode="guest", socket=None, guarantees={"delivery": "none"})
    assert isinstance(guest, NoWayIn)
    assert "guest mode" in str(guest)
    assert "--mode instrumented" in guest.hint
    hosted = refused(mode="hosted")
    assert isinstance(hosted, NoWayIn)
    assert "Barry drives" in str(hosted)
    lowered = refused(guarantees={"delivery": "none"}, lowered={"delivery": "this build has none"})
    assert isinstance(lowered, NoWayIn)
    assert "this build has none" in str(lowered)
    assert isinstance(refused(guarantees={"delivery": "on-resume"}), NoWayIn)
    assert isinstance(refused(socket=None), NoWayIn)


def test_a_session_of_another_user() -> None:
    row = session(socket="/x")
    Sessions(folders()).change(row.id, owner_uid=os.getuid() + 1)
    with pytest.raises(MessageRefused, match="another user"):
        sent(Sessions(folders()).get(row.id))
    assert recorded(row) == []


def test_what_can_not_be_sent_is_not_tried() -> None:
    row = session(socket=path())
    with listening(lambda line: b"", path()) as heard:
        with pytest.raises(MessageTooLarge):
            sent(row, "x" * (LARGEST + 1))
        with pytest.raises(MessageRefused):
            sent(row, "\udcff")
        with pytest.raises(MessageRefused):
            sent(row, name="two\nlines")
        with pytest.raises(MessageRefused):
            sent(row, id="a b")
    assert heard == []
    assert recorded(row) == []


def test_a_disk_that_is_full_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    row = session(socket="/x")
    database = folders().database
    size = database.stat().st_size
    real = Spool.__init__

    def small(self: Spool, *given: Any, **more: Any) -> None:
        real(self, *given, **more)
        pages = self._database._connection.execute("PRAGMA page_count").fetchone()[0]
        self._database._connection.execute(f"PRAGMA max_page_count = {pages}")

    with monkeypatch.context() as bent:
        bent.setattr(Spool, "__init__", small)
        with pytest.raises(StoreProblem, match="full"):
            sent(row, "x" * 100_000)
    assert recorded(row) == []
    assert database.stat().st_size >= size
    assert sent(row, "x" * 100_000).seq == 1


# --- killed in the middle ---

SERVER = """
    import asyncio, os, signal, sys
    from barry_cli.base.paths import folders
    from barry_cli.inbox.place import claim
    from barry_cli.inbox.server import InboxServer
    from barry_cli.inbox.spool import Spool

    def fall(when, what):
        if (when, what) == (sys.argv[2], "hold"):
            os.kill(os.getpid(), signal.SIGKILL)

    async def main():
        place = claim(sys.argv[1])
        await InboxServer(place, Spool(folders(), on_commit=fall), sys.argv[1], {}).start()
        print(place.path, flush=True)
        await asyncio.sleep(60)

    asyncio.run(main())
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_server_that_is_killed_around_its_commit(when: str) -> None:
    """Not acknowledged, so the sender keeps it itself: it is one message all the same."""
    child = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SERVER), "abc", when],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert child.stdout is not None
    where = child.stdout.readline().strip()
    row = session(id="abc", socket=where)
    found = sent(row, "once")
    assert child.wait(timeout=30) == -signal.SIGKILL
    child.stdout.close()
    assert (found.through, found.seq) == ("store", 1)
    assert [each.content for each in recorded(row)] == ["once"]
    assert sent(row, "once", id=found.message_id) == found
    assert len(recorded(row)) == 1


SENDER = """
    import os, signal, sys
    from barry_cli.base.paths import folders
    from barry_cli.groundwork.living import lives
    from barry_cli.inbox import sender
    from barry_cli.turns.store.sessions import Sessions

    def fall(*given):
        os.kill(os.getpid(), signal.SIGKILL)

    sender._acknowledged = fall
    sender.send(folders(), Sessions(folders()).get("abc"), "once", lives=lives, id="m")
"""


async def test_a_sender_that_is_killed_before_it_knows() -> None:
    with claim("abc") as place, Spool(folders()) as spool:
        row = session(id="abc", socket=place.path)
        server = InboxServer(place, spool, "abc", {})
        await server.start()
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-c", textwrap.dedent(SENDER), cwd=ROOT
        )
        assert await child.wait() == -signal.SIGKILL
        found = await in_thread(lambda: sent(row, "once", id="m"))
        assert (found.seq, found.through) == (1, "socket")
        assert len(spool.list("abc")) == 1
        await server.close()


# --- waiting ---


def waited(row: SessionRow, message_id: str, until: Any, seconds: float | None = 20) -> Waited:
    return wait(folders(), row.id, message_id, until, seconds, lives=lives)


@contextmanager
def soon(work: Callable[[Spool], object]) -> Iterator[None]:
    """Do something in a moment, beside who waits for it."""
    failed: list[BaseException] = []

    def run() -> None:
        time.sleep(0.15)
        try:
            with Spool(folders()) as spool:
                work(spool)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join(20)
    assert failed == []


def test_wait_until_it_is_written_or_consumed() -> None:
    row = session(socket="/x")
    it = sent(row).message_id

    def write(spool: Spool) -> None:
        spool.begin(row.id, it)
        spool.written(row.id, it)

    with soon(write):
        found = waited(row, it, "written")
    assert (found.end, found.message.state) == ("reached", "written")
    with soon(lambda spool: spool.consumed(row.id, it)):
        found = waited(row, it, "consumed")
    assert (found.end, found.message.state) == ("reached", "consumed")
    assert waited(row, it, "written").end == "reached"


def test_not_in_time() -> None:
    row = session(socket="/x")
    it = sent(row).message_id
    began = time.monotonic()
    found = waited(row, it, "consumed", 0.3)
    assert (found.end, found.message.state) == ("timeout", "held")
    assert 0.3 <= time.monotonic() - began < 5
    assert recorded(row)[0].state == "held"  # it stays


def test_what_never_comes_is_not_waited_for() -> None:
    row = session(socket="/x")
    silent, failed, lost = (sent(row).message_id for _ in range(3))
    with Spool(folders()) as spool:
        for each in (silent, lost):
            spool.begin(row.id, each)
        spool.written(row.id, silent, reason=NOT_OBSERVABLE)
        spool.uncertain(row.id, lost, "the pipe broke")
        spool.failed(row.id, failed, "it was refused")
    found = waited(row, silent, "consumed")
    assert (found.end, found.message.reason) == ("never", NOT_OBSERVABLE)
    assert waited(row, silent, "written").end == "reached"
    for each, why in ((failed, "it was refused"), (lost, "the pipe broke")):
        found = waited(row, each, "written")
        assert (found.end, found.message.reason) == ("never", why)


def test_the_end_of_the_session_ends_the_wait() -> None:
    row = session(socket="/x")
    left, unseen = sent(row).message_id, sent(row).message_id
    with Spool(folders()) as spool:
        spool.begin(row.id, unseen)
        spool.written(row.id, unseen)
    with soon(lambda spool: Sessions(folders()).change(row.id, state="ended")):
        found = waited(row, left, "consumed")
    assert (found.end, found.message.state) == ("never", "held")
    assert "ended before this could be delivered" in (found.message.reason or "")
    found = waited(row, unseen, "consumed")
    assert (found.end, found.message.state) == ("never", "uncertain")
    listed = {each.message.id: each.message for each in messages_of(folders(), row, lives)}
    assert listed[left].reason is None  # as it is known here, it lives
    again = Sessions(folders()).get(row.id)
    listed = {each.message.id: each.message for each in messages_of(folders(), again, lives)}
    assert (listed[left].state, listed[unseen].state) == ("held", "uncertain")
    assert "nobody delivers it" in (listed[left].reason or "")
    # Nothing was written by looking.
    assert [each.state for each in recorded(row)] == ["held", "written"]


def test_a_launcher_that_was_killed_leaves_nothing_open() -> None:
    row = session(socket="/x")
    it = sent(row).message_id
    with Spool(folders(), owner=dead_owner()) as dead:
        dead.begin(row.id, it)
    found = waited(row, it, "consumed")
    assert (found.end, found.message.state) == ("never", "uncertain")
    assert "is not sent again" in (found.message.reason or "")


def test_while_barry_still_reads_the_end_it_is_not_over() -> None:
    """The harness is gone, and Barry beside it looks for the last evidence."""
    row = session(socket="/x")
    it = sent(row).message_id
    Sessions(folders()).change(row.id, pid_started="gone")
    with Spool(folders()) as spool:
        spool.begin(row.id, it)
        spool.written(row.id, it)
    with soon(lambda spool: spool.consumed(row.id, it)):
        assert waited(row, it, "consumed").end == "reached"


def test_a_session_that_was_taken_back() -> None:
    row = session(socket="/x")
    it = sent(row).message_id
    with (
        soon(lambda spool: Sessions(folders()).forget(row.id)),
        pytest.raises(SessionNotFound, match="is forgotten"),
    ):
        waited(row, it, "consumed")


def test_a_list_shows_the_beginning_of_what_is_long() -> None:
    row = session(socket="/x")
    assert messages_of(folders(), row, lives) == []
    with Spool(folders()) as spool:
        spool.hold(row.id, "é" * 5000, sender=ME)
        spool.hold(row.id, "short", sender=ME)
    long, short = messages_of(folders(), row, lives)
    assert (long.message.content, long.bytes) == ("é" * 1000, 10_000)
    assert (short.message.content, short.bytes) == ("short", 5)
