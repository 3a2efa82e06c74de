"""The ways into Codex's TUI: to a hook that asks, or by Codex's own queue; and what shows them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from codex_inside import Inside, program
from codex_samples import ID

from barry_adapter_codex.inbox import Inbox
from barry_cli.contract.instrument import Notice

HARD = "two\n\tlines <b> & more \N{CRAB}\n\n"
Make = Callable[..., Inbox]


def message(id: str, content: str = HARD) -> dict[str, str]:
    return {"id": id, "content": content}


class Lab:
    """An inbox, what is inside, and its conversation's record."""

    def __init__(self, home: Path) -> None:
        self.inside = Inside()
        self.record = home / "rollout.jsonl"
        self.record.touch()
        self._asked = home / "asked"
        self._codex = program(home)
        self._env = {"PATH": "/usr/bin:/bin", "ASKED": str(self._asked)}
        self._cwd = str(home)

    def inbox(self, *, goes_on: bool = True, behave: str = "", find: Any = None) -> Inbox:
        return Inbox(
            self.inside,
            program=str(self._codex),
            env={**self._env, "BEHAVE": behave},
            cwd=self._cwd,
            conversation=ID if goes_on else None,
            transcript=str(self.record) if goes_on else None,
            find=find,
        )

    def queued(self) -> list[dict[str, Any]]:
        """What was put into Codex's queue; the text never stands among its arguments."""
        rows = [json.loads(row) for row in self._asked.read_text().splitlines()]
        assert not any("lines" in word for words, _ in rows for word in words)
        return [asked["params"] for _, asked in rows if asked["method"] == "thread/queue/add"]

    def write(self, kind: str, **payload: Any) -> None:
        with self.record.open("a") as out:
            out.write(json.dumps({"type": kind, "payload": payload}) + "\n")

    def notice(self, kind: Any, **document: Any) -> Notice:
        return Notice(
            kind=kind,
            document=document,
            harness_session_id=ID,
            transcript=str(self.record),
        )

    async def consumed(self, inbox: Inbox) -> list[str]:
        return [message_id async for message_id in inbox.consumed()]


@pytest.fixture
def lab(home: Path) -> Lab:
    return Lab(home)


async def test_before_its_first_turn_nothing_is_queued(lab: Lab) -> None:
    inbox = lab.inbox(goes_on=False)
    assert not await inbox.deliver(message("m1"))
    # The first prompt takes it along.
    inbox.heard(lab.notice("start"))
    assert not await inbox.deliver(message("m1"))
    lab.inside.asking = [lab.notice("prompt")]
    assert await inbox.deliver(message("m1"))
    assert lab.inside.handed == [HARD]


async def test_an_idle_one_finds_it_in_the_queue(lab: Lab) -> None:
    inbox = lab.inbox()
    assert await inbox.deliver({**message("m1"), "from": "a friend"})
    (queued,) = lab.queued()
    assert queued["threadId"] == ID
    assert queued["clientUserMessageId"] == "m1"
    assert queued["input"] == [
        {"type": "text", "text": f"[message from a friend, sent through Barry]\n{HARD}"}
    ]


async def test_a_busy_one_has_it_after_a_call(lab: Lab) -> None:
    inbox = lab.inbox()
    inbox.heard(lab.notice("prompt"))
    lab.write("event_msg", type="task_started")
    assert not await inbox.deliver(message("m1"))
    lab.inside.asking = [lab.notice("after-tool", agent_id="a-kid"), lab.notice("after-tool")]
    assert await inbox.deliver(message("m1"))
    assert lab.inside.handed == [HARD]


async def test_an_agents_agent_is_given_nothing(lab: Lab) -> None:
    inbox = lab.inbox()
    inbox.heard(lab.notice("prompt"))
    lab.inside.asking = [lab.notice("after-tool", agent_id="a-kid")]
    inbox.heard(lab.notice("stop", agent_id="a-kid"))
    assert not await inbox.deliver(message("m1"))


async def test_at_a_turns_end_it_is_in_the_queue_before_the_hook_goes(lab: Lab) -> None:
    inbox = lab.inbox()
    inbox.heard(lab.notice("prompt"))
    lab.inside.asking = [lab.notice("stop")]
    assert await inbox.deliver(message("m1"))
    assert lab.inside.handed == []
    assert [each["clientUserMessageId"] for each in lab.queued()] == ["m1"]


@pytest.mark.parametrize("end", ["task_complete", "turn_aborted"])
async def test_a_turn_that_ended_without_a_hook_is_over(lab: Lab, end: str) -> None:
    inbox = lab.inbox()
    inbox.heard(lab.notice("prompt"))
    lab.write("event_msg", type="task_started")
    lab.write("response_item", type="function_call_output", output="x" * 200_000)
    assert not await inbox.deliver(message("m1"))
    lab.write("event_msg", type=end)
    lab.write("event_msg", type="token_count")
    assert await inbox.deliver(message("m1"))
    assert len(lab.queued()) == 1


async def test_a_later_message_does_not_overtake_a_queued_one(lab: Lab) -> None:
    inbox = lab.inbox()
    assert await inbox.deliver(message("m1", "one"))
    inbox.heard(lab.notice("prompt"))
    lab.inside.asking = [lab.notice("after-tool")]
    assert await inbox.deliver(message("m2", "two"))
    assert lab.inside.handed == []
    assert [each["clientUserMessageId"] for each in lab.queued()] == ["m1", "m2"]
    # Once the first one is taken in, a hook takes the next.
    for name, text in (("m1", "one"), ("m2", "two")):
        item = {"type": "UserMessage", "client_id": name, "content": [{"text": text}]}
        lab.write("event_msg", type="item_completed", item=item)
    lab.inside.told = [lab.notice("prompt")]
    assert await lab.consumed(inbox) == ["m1", "m2"]
    assert await inbox.deliver(message("m3", "three"))
    assert lab.inside.handed == ["three"]


async def test_its_record_shows_what_was_taken_in(lab: Lab) -> None:
    inbox = lab.inbox()
    inbox.heard(lab.notice("prompt"))
    lab.inside.asking = [lab.notice("after-tool")]
    assert await inbox.deliver(message("m1", "one"))
    assert await inbox.deliver(message("m2", HARD))
    # Somebody else's word for it shows nothing.
    lab.write("response_item", type="message", role="user", content=[{"text": "one"}])
    item = {"type": "UserMessage", "client_id": None, "content": [{"text": "one"}]}
    lab.write("event_msg", type="item_completed", item=item)
    lab.inside.told = [lab.notice("after-tool")]
    assert await lab.consumed(inbox) == []
    given = [{"type": "input_text", "text": f"one\n\n{HARD}"}]
    lab.write("response_item", type="message", role="developer", content=given)
    assert await lab.consumed(inbox) == ["m1", "m2"]


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b'{"type": 1, "payload": 2}', b"\xff"])
async def test_what_is_no_line_of_a_record_shows_nothing(lab: Lab, line: bytes) -> None:
    inbox = lab.inbox()
    inbox.heard(lab.notice("prompt"))
    lab.record.write_bytes(line + b"\n")
    assert not await inbox.deliver(message("m1"))
    assert await lab.consumed(inbox) == []


async def test_what_the_queue_does_not_take_was_not_received(lab: Lab) -> None:
    for behave in ("refuses", "gone"):
        inbox = lab.inbox(behave=behave)
        assert not await inbox.deliver(message("m1"))
    # It is no obstacle to a hook's taking it.
    lab.inside.asking = [lab.notice("after-tool")]
    assert await inbox.deliver(message("m1"))


async def test_where_nobody_knows_it_is_said(lab: Lab) -> None:
    with pytest.raises(OSError, match="app server"):
        await lab.inbox(behave="lost").deliver(message("m1"))


async def test_a_conversation_that_was_picked_is_found(lab: Lab) -> None:
    found: list[str | None] = [None, ID]

    async def find() -> str | None:
        return found.pop(0)

    inbox = lab.inbox(goes_on=False, find=find)
    assert not await inbox.deliver(message("m1"))
    assert await inbox.deliver(message("m1"))
    assert lab.queued()[0]["threadId"] == ID


async def test_a_new_conversation_in_the_same_tui_is_the_one(lab: Lab) -> None:
    inbox = lab.inbox()
    other = "01a22d2b-0000-7533-a638-eb1c0741137a"
    inbox.heard(Notice(kind="start", harness_session_id=other, transcript=str(lab.record)))
    inbox.heard(lab.notice("stop", agent_id="x"))
    inbox.heard(Notice(kind="stop", harness_session_id=other))
    assert await inbox.deliver(message("m1"))
    assert lab.queued()[0]["threadId"] == other


async def test_a_server_that_never_answers_is_left(lab: Lab, monkeypatch: Any) -> None:
    from barry_adapter_codex import server

    async with asyncio.timeout(20):
        with pytest.raises(OSError, match="did not answer"):
            async with server.app_server(
                str(lab._codex),
                (),
                env={**lab._env, "BEHAVE": "deaf"},
                cwd=lab._cwd,
                seconds=1.0,
            ):
                raise AssertionError("it answered")


async def test_a_server_is_kept_for_the_next_message_and_no_longer(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from barry_adapter_codex import queued

    def starts() -> int:
        rows = (json.loads(row) for row in lab._asked.read_text().splitlines())
        return sum(asked["method"] == "initialize" for _, asked in rows)

    queue = queued.Queue(str(lab._codex), env=lab._env, cwd=lab._cwd)
    assert await queue.add(ID, "m1", "one")
    assert await queue.add(ID, "m2", "two")
    assert starts() == 1
    await queue.close()
    monkeypatch.setattr(queued, "_KEPT_SECONDS", 0.05)
    assert await queue.add(ID, "m3", "three")
    assert starts() == 2
    await asyncio.sleep(1.5)
    assert await queue.add(ID, "m4", "four")
    assert starts() == 3
    await queue.close()
    assert [each["clientUserMessageId"] for each in lab.queued()] == ["m1", "m2", "m3", "m4"]
