"""The desk: what plugins and hooks say is checked, ruled on and passed on; messages move once."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from barry_cli.base.problems import BarryError, Refused, StoreProblem
from barry_cli.contract.data import snapshot
from barry_cli.contract.guarantees import Guarantees
from barry_cli.contract.instrument import Inside, Notice
from barry_cli.contract.levels import DeliveryLevel
from barry_cli.contract.plan import LaunchInbox, LaunchPlan
from barry_cli.inbox.messages import NOT_OBSERVABLE, Message, Peer
from barry_cli.inbox.place import claim
from barry_cli.inbox.spool import Spool
from barry_cli.launch.desk import Desk, Kept
from barry_cli.launch.inside import TOGETHER_LETTERS, Within
from barry_cli.launch.instruments import Instruments, arrange
from barry_cli.policy.bound_file import bound_of
from barry_cli.registry.sample import test_adapter as sample
from barry_cli.turns.store.sessions import SessionRow, Sessions, now
from tests.toy import Barry, eventually

ID = "desk00000000"
FULL = Guarantees(
    capture="post-hoc", delivery="wake", gating="hooks", identity="hooks", interrupt=False,
    keeps_vendor_ui=True, steer=False,
)  # fmt: skip


class Inbox:
    """One that delivers as a test says."""

    guarantee: DeliveryLevel = "wake"

    def __init__(self, deliver: Callable[[Mapping[str, str]], Any]) -> None:
        self.had: list[str] = []
        self._deliver = deliver

    async def deliver(self, message: Mapping[str, str]) -> bool:
        received = self._deliver(message)
        received = await received if asyncio.iscoroutine(received) else received
        if received is True:
            self.had.append(message["content"])
        return received  # type: ignore[no-any-return]  # what adapters return


class Evident(Inbox):
    """One whose harness shows at once what it took in."""

    evidence = "its word"

    async def consumed(self) -> AsyncIterator[str]:
        shown: set[str] = set()
        while True:
            for each in self.had:
                if each not in shown:
                    shown.add(each)
                    yield self.ids[each]
            await asyncio.sleep(0.01)

    def __init__(self, deliver: Callable[[Mapping[str, str]], Any]) -> None:
        self.ids: dict[str, str] = {}

        def noted(message: Mapping[str, str]) -> Any:
            self.ids[message["content"]] = message["id"]
            return deliver(message)

        super().__init__(noted)


class Session:
    """A desk, and what speaks to it."""

    def __init__(self, barry: Barry, desk: Desk, instruments: Instruments) -> None:
        self.barry = barry
        self.desk = desk
        self.key = instruments.instrument.key
        self.fingerprint = instruments.instrument.fingerprint
        self.path = instruments.instrument.socket
        self.lines: list[Wire] = []

    def line(self) -> Wire:
        self.lines.append(Wire(self.path, self.key))
        return self.lines[-1]

    def close(self) -> None:
        for line in self.lines:
            line.gone()
        self.desk.close()

    def plugin(self) -> Wire:
        """A plugin's line that has reported."""
        line = self.line()
        line.say(type="loaded", session=ID, fingerprint=self.fingerprint)
        assert line.hear() == {"ok": True}
        return line

    def send(self, *contents: str) -> None:
        with Spool(self.barry.folders) as spool:
            for content in contents:
                spool.hold(ID, content, sender=Peer(pid=os.getpid(), uid=os.getuid()))

    def messages(self) -> list[Message]:
        with Spool(self.barry.folders) as spool:
            return spool.list(ID)

    def states(self) -> list[str]:
        return [message.state for message in self.messages()]

    def row(self) -> SessionRow:
        return self.barry.sessions.get(ID)


class Wire:
    """One connection to the session's socket."""

    def __init__(self, path: str, key: str) -> None:
        self._key = key
        self._link = socket.socket(socket.AF_UNIX)
        self._link.settimeout(10)
        self._link.connect(path)
        self._file = self._link.makefile("rb")

    def say(self, **frame: Any) -> None:
        self._link.sendall(json.dumps({"key": self._key, **frame}).encode() + b"\n")

    def hear(self) -> Any:
        return json.loads(self._file.readline())

    def gone(self) -> None:
        self._file.close()
        self._link.close()


@pytest.fixture
def session(barry: Barry) -> Iterator[Callable[..., Session]]:
    """Opens a desk: with this inbox, under this bound."""
    with made_sessions(barry) as make:
        yield make


@contextmanager
def made_sessions(barry: Barry) -> Iterator[Callable[..., Session]]:
    undo: list[Callable[[], None]] = []

    def make(
        inbox: LaunchInbox | Callable[[Inside], LaunchInbox] | None = None,
        bound: Mapping[str, object] | None = None,
        guarantees: Guarantees = FULL,
        **kept: Any,
    ) -> Session:
        adapter = sample(id="toy", label="Toy")
        instruments = arrange(
            ID,
            adapter=adapter,
            manifest=None,
            bound=None if bound is None else bound_of("of the test", dict(bound)),
            cwd=str(barry.work),
            folders=barry.folders,
            env={},
        )
        place = claim(ID)
        undo.extend((place.release, instruments.discard))
        made = inbox(instruments.within) if callable(inbox) else inbox
        plan = LaunchPlan(command="toy", guarantees=guarantees, inbox=made)
        plan = replace(plan, reports_loaded=kept.pop("reports_loaded", False))
        Sessions(barry.folders).add(
            SessionRow(
                id=ID, adapter="toy", mode="instrumented", cwd=str(barry.work), asked={},
                guarantees=snapshot(guarantees), state="running", created_at=now(),
                socket=place.path, activity="starting",
            )
        )  # fmt: skip
        desk = Desk(
            Kept(
                session_id=ID, instruments=instruments, plan=plan, folders=barry.folders,
                adapter=adapter, cwd=str(barry.work), env={}, **kept,
            ),
            place,
        )  # fmt: skip
        desk.open()
        opened = Session(barry, desk, instruments)
        undo.insert(0, opened.close)
        return opened

    try:
        yield make
    finally:
        for each in undo:
            each()


# --- plugins ---


def test_a_plugin_is_ruled_for(session: Callable[..., Session]) -> None:
    one = session(bound={"deniedTools": ["shout"]})
    line = one.plugin()
    line.say(type="rule", id=7, tool="shout", input={"text": "hey"}, cwd="/", call="c1")
    ruling = line.hear()
    assert (ruling["type"], ruling["id"], ruling["allowed"]) == ("ruling", 7, False)
    assert "shout" in ruling["reason"]
    line.say(type="rule", id=8, tool="whisper", input={"text": "hey"}, cwd="/")
    assert line.hear() == {"type": "ruling", "id": 8, "allowed": True, "reason": ""}


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        ({"tool": "", "input": {}, "cwd": "/"}, "which tool"),
        ({"input": {}, "cwd": "/"}, "which tool"),
        ({"tool": 4, "input": {}, "cwd": "/"}, "which tool"),
        ({"tool": "shout", "input": {}, "cwd": "here"}, "in which folder"),
        ({"tool": "shout", "input": {}}, "in which folder"),
        ({"tool": "shout", "cwd": "/"}, "what shout is called with"),
    ],
)
def test_what_can_not_be_ruled_on_is_refused(
    session: Callable[..., Session], frame: Mapping[str, Any], why: str
) -> None:
    line = session().plugin()
    line.say(type="rule", id="x", **frame)
    ruling = line.hear()
    assert (ruling["allowed"], ruling["id"]) == (False, "x")
    assert ruling["reason"].startswith("Barry could not rule on this call, so it is refused: ")
    assert why in ruling["reason"]


def test_a_wrong_key_counts_for_nothing(session: Callable[..., Session]) -> None:
    seen: list[Notice] = []
    one = session()
    one.desk.listeners.append(seen.append)
    for key in ("", "guessed", "\N{PILE OF POO}", None, 7):
        line = one.line()
        for kind in ("ruled", "notice", "loaded", "rule", "own", "answer", "given"):
            line.say(key=key, type=kind, kind="prompt", fingerprint=one.fingerprint)
            assert line.hear()["error"]["code"] == "refused"
        line.gone()
    assert seen == []
    assert one.row().activity == "starting"


def test_what_is_told_is_passed_on_and_recorded(session: Callable[..., Session]) -> None:
    seen: list[Notice] = []
    one = session()
    one.desk.listeners.append(seen.append)
    line = one.plugin()
    line.say(type="own", kind="start", harnessSessionId="abc")
    line.say(type="own", kind="prompt", prompt="hello", harnessSessionId="abc")
    line.say(type="own", kind="strange", more=1)
    assert eventually(lambda: len(seen) == 4)
    assert [notice.kind for notice in seen] == ["loaded", "start", "prompt", "own"]
    assert (seen[2].prompt, seen[3].document["more"]) == ("hello", 1)
    assert eventually(lambda: one.row().harness_session_id == "abc")
    assert one.row().activity == "active"
    line.say(type="own", kind="stop")
    assert eventually(lambda: one.row().activity == "idle")


def test_half_a_letter_spoils_no_record(session: Callable[..., Session]) -> None:
    one = session()
    line = one.plugin()
    line.say(type="own", kind="start", harnessSessionId="a\ud800", prompt="\ud800")
    line.say(type="own", kind="prompt", harnessSessionId="abc\udc00")
    assert eventually(lambda: one.row().harness_session_id == "abc?")
    assert one.row().activity == "active"
    one.desk.close()
    assert one.desk.faults == []


def test_what_could_not_be_recorded_is_with_the_next_change(
    session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A conversation that is told once is not lost to a disk that was full then."""
    one = session()
    line = one.plugin()
    full = StoreProblem("the disk is full")
    with monkeypatch.context() as bent:
        bent.setattr(Sessions, "change", Mock(side_effect=full))
        line.say(type="own", kind="start", harnessSessionId="abc")
        assert eventually(lambda: one.desk.faults == [full])
    assert one.row().harness_session_id is None
    line.say(type="own", kind="prompt")
    assert eventually(lambda: one.row().activity == "active")
    assert one.row().harness_session_id == "abc"


def test_a_plugin_is_asked_and_answers(session: Callable[..., Session]) -> None:
    def inbox(inside: Inside) -> LaunchInbox:
        async def deliver(message: Mapping[str, str]) -> bool:
            answer = await inside.ask({"do": "say", "text": message["content"]}, seconds=1)
            return answer is not None and answer["taken"] is True

        return Inbox(deliver)

    one = session(inbox)
    one.send("first")
    assert eventually(lambda: one.states() == ["held"])
    line = one.plugin()
    asked = line.hear()
    assert asked["frame"] == {"do": "say", "text": "first"}
    line.say(type="answer", id=asked["id"] + 1, taken=True)  # nobody asked that
    line.say(type="answer", id=asked["id"], taken=False)
    asked = line.hear()
    line.say(type="answer", id=asked["id"], taken=True)
    assert eventually(lambda: one.states() == ["written"])
    line.gone()
    one.send("second")
    assert eventually(lambda: one.states() == ["written", "held"])
    line = one.plugin()
    asked = line.hear()
    line.gone()  # while it is asked
    assert eventually(lambda: one.states() == ["written", "held"])


# --- a plugin that has to rule ---


def test_a_plugin_that_reports_keeps_the_promise(session: Callable[..., Session]) -> None:
    one = session(reports_loaded=True, require={"gating": "hooks"}, restricted=True)
    line = one.plugin()
    line.say(type="own", kind="prompt", prompt="hi")
    assert eventually(lambda: one.row().activity == "active")
    assert one.row().guarantees["gating"] == "hooks"
    assert one.desk.refusal is None


@pytest.mark.parametrize("fingerprint", [None, "of another policy"])
def test_one_that_does_not_lowers_it(
    session: Callable[..., Session], fingerprint: str | None
) -> None:
    one = session(reports_loaded=True)
    line = one.line()
    if fingerprint is not None:
        line.say(type="loaded", fingerprint=fingerprint)
        assert line.hear()["ok"] is False
    line.say(type="own", kind="prompt", prompt="hi")
    assert eventually(lambda: one.row().guarantees["gating"] == "static")
    assert "its plugin" in one.row().lowered["gating"]
    assert one.desk.refusal is None


@pytest.mark.parametrize("kept", [{"require": {"gating": "hooks"}}, {"restricted": True}])
def test_where_something_depends_on_it_the_harness_is_ended(
    session: Callable[..., Session], kept: dict[str, Any]
) -> None:
    ended: list[bool] = []
    one = session(reports_loaded=True, end=lambda: ended.append(True), **kept)
    one.line().say(type="own", kind="prompt", prompt="hi")
    assert eventually(lambda: bool(ended))
    assert "before the first prompt" in str(one.desk.refusal)


def test_on_a_busy_machine_it_has_longer(
    session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    load = [1000.0]
    monkeypatch.setattr("barry_cli.launch.desk.LOADED_SECONDS", 0.1)
    monkeypatch.setattr("os.getloadavg", lambda: (load[0], 0.0, 0.0))
    one = session(reports_loaded=True, restricted=True)
    time.sleep(0.5)
    assert one.desk.refusal is None
    load[0] = 0.0
    assert eventually(lambda: one.desk.refusal is not None)
    assert "in time" in str(one.desk.refusal)


# --- messages ---


def test_they_are_delivered_in_order_and_once(session: Callable[..., Session]) -> None:
    inbox = Evident(lambda message: True)
    one = session(inbox)
    sent = [f"message {number}" for number in range(25)]
    one.send(*sent)
    assert eventually(lambda: one.states() == ["consumed"] * 25, 15)
    assert inbox.had == sent


def test_without_evidence_one_stays_written(session: Callable[..., Session]) -> None:
    one = session(Inbox(lambda message: True))
    one.send("one")
    assert eventually(lambda: one.states() == ["written"])
    assert one.messages()[0].reason == NOT_OBSERVABLE
    one.desk.close()
    assert one.states() == ["written"]


def test_what_nothing_received_is_offered_again_before_any_other(
    session: Callable[..., Session],
) -> None:
    tries: list[str] = []

    def deliver(message: Mapping[str, str]) -> bool:
        tries.append(message["content"])
        return len(tries) > 3

    inbox = Evident(deliver)
    one = session(inbox)
    one.send("first", "second")
    assert eventually(lambda: one.states() == ["consumed"] * 2, 10)
    assert tries == ["first"] * 4 + ["second"]


def test_a_message_that_can_never_go_in_has_failed_and_the_next_goes_on(
    session: Callable[..., Session],
) -> None:
    def deliver(message: Mapping[str, str]) -> bool:
        if message["content"] == "long":
            raise Refused("it is too long")
        return True

    inbox = Evident(deliver)
    one = session(inbox)
    one.send("long", "good")
    assert eventually(lambda: one.states() == ["failed", "consumed"])
    assert one.messages()[0].reason == "it is too long"
    one.desk.close()
    assert one.desk.faults == []


@pytest.mark.parametrize("error", [OSError("it went away"), ValueError("a mistake"), KeyError("x")])
def test_a_delivery_that_fails_is_uncertain_and_the_next_goes_on(
    session: Callable[..., Session], error: Exception
) -> None:
    def deliver(message: Mapping[str, str]) -> bool:
        if message["content"] == "bad":
            raise error
        return True

    inbox = Evident(deliver)
    one = session(inbox)
    one.send("bad", "good")
    assert eventually(lambda: one.states() == ["uncertain", "consumed"])
    assert "its delivery failed" in (one.messages()[0].reason or "")
    assert inbox.had == ["good"]
    one.desk.close()
    # An adapter's mistake is told of in the end; that the other end went away is none.
    assert bool(one.desk.faults) is not isinstance(error, OSError)


def test_evidence_may_come_before_the_delivery_has_returned(
    session: Callable[..., Session],
) -> None:
    class Early(Evident):
        async def deliver(self, message: Mapping[str, str]) -> bool:
            self.ids[message["content"]] = message["id"]
            self.had.append(message["content"])
            await asyncio.sleep(0.2)
            return True

    one = session(Early(lambda message: True))
    one.send("one")
    assert eventually(lambda: one.states() == ["consumed"])
    time.sleep(0.3)
    assert one.states() == ["consumed"]


def test_what_is_under_way_at_the_end_is_uncertain(session: Callable[..., Session]) -> None:
    async def deliver(message: Mapping[str, str]) -> bool:
        await asyncio.sleep(60)
        return True

    one = session(Inbox(deliver))
    one.send("stuck", "after")
    assert eventually(lambda: one.states() == ["writing", "held"])
    one.desk.close()
    assert one.states() == ["uncertain", "held"]


def test_what_is_under_way_is_cut_short_before_the_end_is_recorded(
    session: Callable[..., Session],
) -> None:
    """Or it could go on after it was called uncertain, with nobody to record how it went."""
    seen: list[list[str]] = []

    async def deliver(message: Mapping[str, str]) -> bool:
        try:
            await asyncio.sleep(60)
        finally:
            seen.append(one.states())
        return True

    one = session(Inbox(deliver))
    one.send("stuck")
    assert eventually(lambda: one.states() == ["writing"])
    one.desk.close()
    assert seen == [["writing"]]
    assert one.states() == ["uncertain"]


def test_a_desk_that_hangs_is_left_behind(session: Callable[..., Session]) -> None:
    """Closing it is bounded, whatever an adapter does in its loop."""

    let_go = threading.Event()
    one = session(Inbox(lambda message: let_go.wait(30)))
    one.send("blocks everything")
    assert eventually(lambda: one.states() == ["writing"])
    before = time.monotonic()
    one.desk.close()
    assert time.monotonic() - before < 15
    assert not let_go.is_set()
    let_go.set()
    assert eventually(lambda: "desk" not in [each.name for each in threading.enumerate()])


# --- hooks that take messages ---


def by_hook(inside: Inside) -> LaunchInbox:
    return Inbox(lambda message: inside.hand(message["content"]))


def test_a_hook_that_asks_is_given_all_that_waits(session: Callable[..., Session]) -> None:
    one = session(by_hook)
    one.send("first", "second\nline")
    assert one.states() == ["held", "held"]
    hook = one.line()
    hook.say(type="notice", session=ID, kind="stop", takes=True, parts={})
    assert hook.hear() == {"text": "first\n\nsecond\nline"}
    assert one.states() == ["writing", "writing"]
    hook.say(type="given")
    hook.gone()
    assert eventually(lambda: one.states() == ["written", "written"])


def test_a_hook_is_given_no_more_than_it_can_pass_on(session: Callable[..., Session]) -> None:
    """What does not fit is for the next one; a text that alone is too long is given alone."""
    half, whole = "h" * (TOGETHER_LETTERS // 2), "w" * (TOGETHER_LETTERS + 1)
    one = session(by_hook)
    one.send("first", half, whole, half, "last")
    for given in (f"first\n\n{half}", whole, f"{half}\n\nlast"):
        hook = one.line()
        hook.say(type="notice", session=ID, kind="stop", takes=True, parts={})
        assert hook.hear() == {"text": given}
        hook.say(type="given")
        hook.gone()
        assert eventually(lambda: "writing" not in one.states())
    assert one.states() == ["written"] * 5


def test_a_hook_that_began_to_ask_during_an_offer_is_offered_it(
    session: Callable[..., Session],
) -> None:
    offers = 0

    def made(inside: Within) -> LaunchInbox:
        async def deliver(message: Mapping[str, str]) -> bool:
            nonlocal offers
            offers += 1
            if offers > 1:
                return await inside.hand(message["content"])
            while not inside.asks:  # where the hook was looked for a moment ago
                await asyncio.sleep(0.01)
            return False

        return Inbox(deliver)

    one = session(made)
    one.send("now")
    assert eventually(lambda: offers == 1)
    hook = one.line()
    hook.say(type="notice", session=ID, kind="stop", takes=True, parts={})
    assert hook.hear() == {"text": "now"}
    hook.say(type="given")
    hook.gone()
    assert eventually(lambda: one.states() == ["written"])


def test_a_hook_that_asks_for_nothing_is_let_go_at_once(session: Callable[..., Session]) -> None:
    one = session(by_hook)
    for _ in range(3):
        hook = one.line()
        before = time.monotonic()
        hook.say(type="notice", session=ID, kind="stop", takes=True, parts={})
        assert hook.hear() == {}
        assert time.monotonic() - before < 1.5
        hook.gone()


def test_a_hook_that_took_it_and_was_gone_leaves_it_uncertain(
    session: Callable[..., Session],
) -> None:
    one = session(by_hook)
    one.send("first")
    hook = one.line()
    hook.say(type="notice", session=ID, kind="stop", takes=True, parts={})
    assert hook.hear() == {"text": "first"}
    hook.gone()
    assert eventually(lambda: one.states() == ["uncertain"])
    hook = one.line()
    hook.say(type="notice", session=ID, kind="stop", takes=True, parts={})
    assert hook.hear() == {}


# --- its own end and beginning ---


def test_a_guarantee_is_never_more_than_planned(session: Callable[..., Session]) -> None:
    inbox = Inbox(lambda message: False)
    inbox.guarantee = "turn-end"
    one = session(inbox, guarantees=FULL.model_copy(update={"steer": True}))
    assert eventually(lambda: one.row().guarantees["delivery"] == "turn-end")
    # What comes only when a turn is over can't join one.
    assert one.row().guarantees["steer"] is False
    assert set(one.row().lowered) == {"delivery", "steer"}
    inbox.guarantee = "wake"
    assert eventually(lambda: one.row().guarantees["delivery"] == "wake")
    assert one.row().guarantees["steer"] is True
    assert one.row().lowered == {}


def test_one_that_can_not_be_there_says_so(
    barry: Barry, session: Callable[..., Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(self: object) -> None:
        raise OSError(28, "no room")

    monkeypatch.setattr("barry_cli.inbox.server.InboxServer.start", broken)
    with pytest.raises(BarryError, match=r"what serves the session .* no room"):
        session()


def test_a_crash_beside_it_is_logged_and_harms_nobody(session: Callable[..., Session]) -> None:
    one = session(Evident(lambda message: True))

    def broken(notice: Notice) -> None:
        raise RuntimeError("a listener's mistake")

    one.desk.listeners.append(broken)
    line = one.plugin()
    one.send("still")
    assert eventually(lambda: one.states() == ["consumed"])
    line.say(type="rule", id=1, tool="x", input={}, cwd="/")
    assert line.hear()["allowed"] is True
    one.desk.close()
    assert [str(fault) for fault in one.desk.faults] == ["a listener's mistake"]
    (log,) = one.barry.folders.crashes.glob("*.log")
    assert "a listener's mistake" in log.read_text()
