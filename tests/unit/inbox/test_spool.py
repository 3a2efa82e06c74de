"""The spool: what is held stays, goes in once, and is never said to be more than is known."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from barry_cli.base.paths import folders
from barry_cli.base.problems import StoreProblem
from barry_cli.inbox import spool as spool_module
from barry_cli.inbox.messages import LARGEST, NOT_OBSERVABLE, Peer
from barry_cli.inbox.problems import (
    InboxFull,
    MessageIdReused,
    MessageRefused,
    MessageTooLarge,
    SessionOver,
)
from barry_cli.inbox.spool import Spool
from barry_cli.turns.store.sessions import Sessions
from tests.unit.inbox.sessions import ME, session
from tests.unit.turns.store.places import dead_owner


@pytest.fixture
def row_id() -> str:
    return session().id


@pytest.fixture
def spool(row_id: str) -> Iterator[Spool]:
    with Spool(folders()) as opened:
        yield opened


def held(spool: Spool, row_id: str, content: str = "hello", **more: object) -> str:
    return spool.hold(row_id, content, sender=ME, **more).id  # type: ignore[arg-type]


def state(spool: Spool, row_id: str, message_id: str) -> tuple[str, str | None]:
    found = spool.get(row_id, message_id)
    assert found is not None
    return found.state, found.reason


CONTENTS = [
    "one line",
    "two\nlines\r\n",
    "\ttab, \x1b[31mred\x1b[0m, \x07, \x7f",
    "/compact",
    "!ls",
    "-",
    "--wait",
    "n\xe9 \U0001f469\u200d\U0001f469 \u202e \u2028",
    "x" * 6144,
    "  kept  ",
    '"quotes" and \\ and {"json": 1}',
]


@pytest.mark.parametrize("content", CONTENTS)
def test_what_was_sent_is_what_is_held(spool: Spool, row_id: str, content: str) -> None:
    sent = spool.hold(row_id, content, sender=Peer(pid=7, uid=9), name="ada", steer=True)
    found = spool.get(row_id, sent.id)
    assert found == sent
    assert (found.content, found.state, found.seq) == (content, "held", 1)
    assert (found.sender_name, found.sender_pid, found.sender_uid) == ("ada", 7, 9)
    assert found.steer is True
    assert found.sender_session is None
    assert found.offered() == {"content": content, "id": sent.id, "from": "ada"}


def test_who_a_message_is_from(spool: Spool, row_id: str) -> None:
    plain = spool.hold(row_id, "a", sender=ME)
    assert "from" not in plain.offered()
    known = spool.hold(row_id, "b", sender=ME, sender_session="abc")
    assert known.offered()["from"] == "session abc"
    both = spool.hold(row_id, "c", sender=ME, sender_session="abc", name="ada")
    assert both.offered()["from"] == "ada"


def test_oldest_first_and_each_session_for_itself(spool: Spool, row_id: str) -> None:
    other = session().id
    ids = [held(spool, row_id, str(n)) for n in range(3)]
    held(spool, other, "elsewhere")
    assert [each.id for each in spool.list(row_id)] == ids
    assert [each.seq for each in spool.list(row_id)] == [1, 2, 3]
    for expected in ids:
        following = spool.next(row_id)
        assert following is not None
        assert following.id == expected
        assert spool.begin(row_id, expected)
        assert spool.written(row_id, expected)
    assert spool.next(row_id) is None
    assert spool.on_its_way(row_id) == 0
    assert spool.on_its_way(other) == 1


def test_sent_again_it_is_one_message(spool: Spool, row_id: str) -> None:
    first = spool.hold(row_id, "x", sender=ME, id="mine", name="ada")
    again = spool.hold(row_id, "x", sender=Peer(pid=1, uid=0), id="mine", name="ada")
    assert again == first
    spool.begin(row_id, "mine")
    spool.written(row_id, "mine")
    assert spool.hold(row_id, "x", sender=ME, id="mine", name="ada").state == "written"
    assert len(spool.list(row_id)) == 1
    for other in ({"name": "bob"}, {"steer": True, "name": "ada"}, {}):
        with pytest.raises(MessageIdReused):
            spool.hold(row_id, "x", sender=ME, id="mine", **other)  # type: ignore[arg-type]
    with pytest.raises(MessageIdReused):
        spool.hold(row_id, "y", sender=ME, id="mine", name="ada")
    # Another session's messages have ids of their own.
    assert spool.hold(session().id, "y", sender=ME, id="mine").content == "y"


def test_what_is_no_message(spool: Spool, row_id: str) -> None:
    for content, why in (
        ("", "empty"),
        (" \n\t", "empty"),
        ("a\0b", "NUL"),
        ("\udcff", "UTF-8"),
    ):
        with pytest.raises(MessageRefused, match=why):
            spool.hold(row_id, content, sender=ME)
    with pytest.raises(MessageTooLarge, match="1000001 bytes"):
        spool.hold(row_id, "é" * (LARGEST // 2) + "a", sender=ME)
    assert spool.hold(row_id, "é" * (LARGEST // 2), sender=ME).seq == 1
    for name in ("", " ", "a\nb", "a\x1b[m", "x" * 201):
        with pytest.raises(MessageRefused, match="name"):
            spool.hold(row_id, "x", sender=ME, name=name)
    for message_id in ("", "a b", "a\n", "é", "x" * 129):
        with pytest.raises(MessageRefused, match="id"):
            spool.hold(row_id, "x", sender=ME, id=message_id)
    assert len(spool.list(row_id)) == 1


def test_no_message_for_who_is_not_there(spool: Spool, row_id: str) -> None:
    with pytest.raises(MessageRefused, match="no session nobody"):
        spool.hold("nobody", "x", sender=ME)
    Sessions(folders()).change(row_id, owner_uid=os.getuid() + 1)
    with pytest.raises(MessageRefused, match="no session"):
        spool.hold(row_id, "x", sender=ME)
    Sessions(folders()).change(row_id, owner_uid=os.getuid(), state="ended")
    with pytest.raises(SessionOver, match="has ended") as raised:
        spool.hold(row_id, "x", sender=ME)
    assert f"session resume {row_id}" in raised.value.hint


def test_a_message_sent_again_after_the_end_is_still_known(spool: Spool, row_id: str) -> None:
    sent = spool.hold(row_id, "x", sender=ME, id="mine")
    Sessions(folders()).change(row_id, state="ended")
    assert spool.hold(row_id, "x", sender=ME, id="mine") == sent


def test_so_many_may_wait(spool: Spool, row_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool_module, "MOST_WAITING", 3)
    ids = [held(spool, row_id, str(n), id=f"m{n}") for n in range(3)]
    with pytest.raises(InboxFull, match="3 messages already wait"):
        held(spool, row_id)
    assert held(spool, row_id, "0", id="m0") == "m0"  # that one is in already
    assert held(spool, session().id)  # another session has room
    spool.begin(row_id, ids[0])  # one that is being written still waits
    with pytest.raises(InboxFull):
        held(spool, row_id)
    spool.written(row_id, ids[0], reason=NOT_OBSERVABLE)  # it may stay so for ever
    assert held(spool, row_id)


def test_the_way_of_a_message(spool: Spool, row_id: str) -> None:
    it = held(spool, row_id)
    assert not spool.written(row_id, it)  # nobody has begun
    assert not spool.consumed(row_id, it)
    assert not spool.back(row_id, it)
    assert not spool.uncertain(row_id, it, "x")
    assert spool.begin(row_id, it)
    assert not spool.begin(row_id, it)
    assert spool.back(row_id, it)
    assert state(spool, row_id, it) == ("held", None)
    assert spool.begin(row_id, it)
    assert spool.written(row_id, it)
    assert spool.consumed(row_id, it)
    found = spool.get(row_id, it)
    assert found is not None
    assert found.owner is None
    assert found.written_at is not None
    assert found.ended_at is not None
    assert found.held_at <= found.written_at <= found.ended_at
    for step in (spool.begin, spool.back, spool.written, spool.consumed):
        assert not step(row_id, it)
    assert not spool.failed(row_id, it, "x")
    assert not spool.uncertain(row_id, it, "x")


def test_evidence_may_come_early_or_late(spool: Spool, row_id: str) -> None:
    early, late = held(spool, row_id, "a"), held(spool, row_id, "b")
    spool.begin(row_id, early)
    assert spool.consumed(row_id, early)
    assert not spool.written(row_id, early)
    assert not spool.back(row_id, early)
    spool.begin(row_id, late)
    assert spool.uncertain(row_id, late, "the pipe broke")
    assert state(spool, row_id, late) == ("uncertain", "the pipe broke")
    assert spool.consumed(row_id, late)
    assert state(spool, row_id, late) == ("consumed", None)


def test_another_owner_takes_nothing_over(spool: Spool, row_id: str) -> None:
    it = held(spool, row_id)
    assert spool.begin(row_id, it)
    with Spool(folders()) as other:
        assert other.owner != spool.owner
        assert not other.begin(row_id, it)
        assert not other.written(row_id, it)
        assert not other.back(row_id, it)
        assert other.settle(row_id, over=False) == []  # its owner lives
    assert spool.written(row_id, it)


def test_what_a_dead_owner_was_writing_is_uncertain(spool: Spool, row_id: str) -> None:
    first, second, third = (held(spool, row_id, each) for each in "abc")
    with Spool(folders(), owner=dead_owner()) as dead:
        dead.begin(row_id, first)
        dead.written(row_id, first)
        dead.begin(row_id, second)
    (changed,) = spool.settle(row_id, over=False)
    assert (changed.id, changed.state, changed.owner) == (second, "uncertain", None)
    assert "is not sent again" in (changed.reason or "")
    assert spool.settle(row_id, over=False) == []
    assert state(spool, row_id, first) == ("written", None)
    following = spool.next(row_id)
    assert following is not None
    assert following.id == third


def test_the_end_of_a_session(spool: Spool, row_id: str) -> None:
    waits, mine, unseen, shown, silent = (held(spool, row_id, each) for each in "abcde")
    for each in (mine, unseen, shown, silent):
        spool.begin(row_id, each)
    spool.written(row_id, unseen)
    spool.written(row_id, shown)
    spool.consumed(row_id, shown)
    spool.written(row_id, silent, reason=NOT_OBSERVABLE)
    assert [each.id for each in spool.settle(row_id, over=True)] == [mine, unseen]
    assert state(spool, row_id, waits) == ("held", None)
    assert state(spool, row_id, mine)[0] == "uncertain"
    assert state(spool, row_id, unseen)[0] == "uncertain"
    assert state(spool, row_id, shown) == ("consumed", None)
    assert state(spool, row_id, silent) == ("written", NOT_OBSERVABLE)


def test_what_fails_says_why(spool: Spool, row_id: str) -> None:
    it = held(spool, row_id)
    assert spool.failed(row_id, it, "the harness refused it")
    assert state(spool, row_id, it) == ("failed", "the harness refused it")
    assert spool.next(row_id) is None


def test_a_full_disk_loses_nothing(spool: Spool, row_id: str) -> None:
    first = held(spool, row_id, "kept")
    connection: sqlite3.Connection = spool._database._connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    def fill() -> None:
        for n in range(100):
            held(spool, row_id, "y" * 4000 + str(n))

    with pytest.raises(StoreProblem, match="full") as raised:
        fill()
    assert "what was recorded is still there" in raised.value.hint
    kept = spool.list(row_id)
    assert kept[0].id == first
    assert [each.seq for each in kept] == list(range(1, len(kept) + 1))
    connection.execute("PRAGMA max_page_count = 1000000")
    assert spool.hold(row_id, "z", sender=ME).seq == len(kept) + 1


SENDER = """
    import os, sys
    from barry_cli.base.paths import folders
    from barry_cli.inbox.messages import Peer
    from barry_cli.inbox.spool import Spool

    row_id, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with Spool(folders()) as spool:
        for n in range(count):
            spool.hold(row_id, f"{name} {n}", sender=Peer(pid=os.getpid(), uid=os.getuid()))
            sys.stdout.write(f"{n}\\n")
            sys.stdout.flush()
"""


def sender(row_id: str, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(SENDER), row_id, name, str(count)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )


def test_two_senders_at_once(spool: Spool, row_id: str) -> None:
    children = [sender(row_id, name, 60) for name in ("ada", "bob")]
    for child in children:
        child.communicate(timeout=60)
        assert child.returncode == 0
    found = spool.list(row_id)
    assert [each.seq for each in found] == list(range(1, 121))
    for name in ("ada", "bob"):
        said = [each.content for each in found if each.content.startswith(name)]
        assert said == [f"{name} {n}" for n in range(60)]


def test_what_was_acknowledged_outlasts_a_kill(spool: Spool, row_id: str) -> None:
    child = sender(row_id, "ada", 100_000)
    assert child.stdout is not None
    acknowledged = [child.stdout.readline() for _ in range(40)]
    child.send_signal(signal.SIGKILL)
    rest = child.stdout.read().splitlines()
    child.wait(timeout=30)
    child.stdout.close()
    last = int((rest or acknowledged)[-1])
    found = [each.content for each in spool.list(row_id)]
    assert found == [f"ada {n}" for n in range(len(found))]
    assert len(found) >= last + 1
    assert spool._database._connection.execute("PRAGMA quick_check").fetchone()[0] == "ok"
