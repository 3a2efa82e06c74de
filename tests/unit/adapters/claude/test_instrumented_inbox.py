"""Messages into a running Claude Code: by its socket, by its hooks, and what shows them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.base.problems import Refused
from barry_cli.contract.instrument import Notice
from barry_cli.contract.plan import EvidentInbox

CONVERSATION = "0d6f2b3c-1111-4222-8333-444455556666"


class Hooks:
    """What runs inside: notices that a test tells, and a hook that takes texts or doesn't."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[Notice | None] = asyncio.Queue()
        self.asking: Notice | None = None
        self.given: list[str] = []

    async def notices(self) -> AsyncIterator[Notice]:
        while (notice := await self.told.get()) is not None:
            yield notice

    async def hand(self, text: str, *, fits: Any = None) -> bool:
        if self.asking is None or not fits(self.asking):
            return False
        self.given.append(text)
        return True

    async def ask(self, frame: Any, *, seconds: float = 5) -> None:
        raise AssertionError("it has no plugin")


class Claude:
    """A running Claude Code's note, socket and transcript."""

    def __init__(self, home: Path) -> None:
        self.sessions = home / ".claude" / "sessions"
        self.sessions.mkdir(parents=True)
        self.socket = home / "in.sock"
        self.transcript = home / "conversation.jsonl"
        self.transcript.touch()
        self.frames: list[dict[str, Any]] = []

    def notes(self, pid: int | None = None, **said: object) -> Path:
        note = self.sessions / f"{pid or os.getpid()}.json"
        row = {
            "sessionId": CONVERSATION,
            "startedAt": 5,
            "status": "idle",
            "messagingSocketPath": str(self.socket),
            **said,
        }
        note.write_text(json.dumps({key: value for key, value in row.items() if value is not None}))
        return note

    def writes(self, *rows: dict[str, Any]) -> None:
        with self.transcript.open("a") as out:
            out.writelines(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while line := await reader.readline():
                    self.frames.append(json.loads(line))
            writer.close()

        server = await asyncio.start_unix_server(take, self.socket, limit=1 << 24)
        try:
            yield
        finally:
            await asyncio.sleep(0.05)  # connections that were begun are taken, and closed
            server.close()


class Inbox:
    """The inbox of one session, with all around it."""

    def __init__(self, home: Path, **given: Any) -> None:
        from barry_adapter_claude.inbox import ClaudeInbox

        self.hooks, self.claude = Hooks(), Claude(home)
        self.inbox = ClaudeInbox(
            self.hooks,
            env={"HOME": str(home)},
            conversation=CONVERSATION,
            **{"socket": True, "otherwise": "turn-end", **given},
        )
        self.seen: list[str] = []
        self._watching: asyncio.Task[None] | None = None

    async def watch(self) -> None:
        async for message_id in self.inbox.consumed():
            self.seen.append(message_id)

    async def begin(self, **said: object) -> None:
        self._watching = asyncio.create_task(self.watch())
        await self.tell("start", **said)

    async def tell(self, kind: Any, **said: Any) -> None:
        notice = Notice(
            kind=kind,
            harness_session_id=CONVERSATION,
            transcript=str(self.claude.transcript),
            document={"hook_event_name": kind},
            **said,
        )
        await self.hooks.told.put(notice)
        await asyncio.sleep(0.01)

    async def end(self) -> list[str]:
        assert self._watching is not None
        await self.hooks.told.put(None)
        await self._watching
        return self.seen

    async def deliver(self, id: str, content: str = "hello", **more: str) -> bool:
        return await self.inbox.deliver({"id": id, "content": content, **more})


def began(sender: str, text: str = "hello") -> dict[str, Any]:
    return {
        "type": "user",
        "isMeta": True,
        "origin": {"kind": "peer", "from": sender},
        "message": {"role": "user", "content": f"Another Claude session sent a message:\n{text}"},
    }


def joined(sender: str, text: str = "hello") -> dict[str, Any]:
    attached = {
        "type": "queued_command", "prompt": text, "origin": {"kind": "peer", "from": sender},
    }  # fmt: skip
    return {"type": "attachment", "attachment": attached}


def context(*texts: str, event: str = "PostToolUse") -> dict[str, Any]:
    attached = {"type": "hook_additional_context", "content": list(texts), "hookEvent": event}
    return {"type": "attachment", "attachment": attached}


Run = Callable[[Callable[[Inbox], Coroutine[Any, Any, None]]], None]


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., None]:
    def run(scene: Callable[[Inbox], Coroutine[Any, Any, None]], **given: Any) -> None:
        async def play() -> None:
            async with asyncio.timeout(20):
                await scene(Inbox(tmp_path, **given))

        asyncio.run(play())

    return run


def test_a_message_goes_to_its_socket_as_it_is(run: Any) -> None:
    hard = "/clear\n\t!x \N{PARTY POPPER}\n" + "z" * 6000 + "\n"

    async def scene(here: Inbox) -> None:
        here.claude.notes()
        async with here.claude.listening():
            await here.begin()
            assert await here.deliver("one", hard)
            assert await here.deliver("two", "hi", **{"from": "a\nfriend"})
        first, second = here.claude.frames
        assert first["message"] == {"role": "user", "content": hard}
        assert second["message"]["content"] == "[message from a friend, sent through Barry]\nhi"
        assert first["from"] != second["from"]  # else the same words twice would count as once
        assert isinstance(here.inbox, EvidentInbox)
        assert here.hooks.given == []

    run(scene)


@pytest.mark.parametrize("shows", [began, joined])
def test_the_transcript_shows_what_arrived(run: Any, shows: Any) -> None:
    async def scene(here: Inbox) -> None:
        here.claude.notes()
        here.claude.writes(shows("barry:two"))  # a row from before shows nothing
        async with here.claude.listening():
            await here.begin()
            for each in ("one", "two", "three"):
                assert await here.deliver(each, f"say {each}")
            here.claude.writes(shows("barry:two"), shows("alice"), shows("barry:never"))
            await asyncio.sleep(0.6)
            assert here.seen == ["two"]
            here.claude.writes(shows("barry:one"))
            assert await here.end() == ["two", "one"]

    run(scene)


def test_a_prompt_hook_alone_shows_nothing(run: Any) -> None:
    """It is called for a prompt that another hook then drops."""

    async def scene(here: Inbox) -> None:
        here.claude.notes()
        async with here.claude.listening():
            await here.begin()
            assert await here.deliver("one")
            await here.tell("prompt", prompt="hello")
        assert await here.end() == []

    run(scene)


NOT_YET = {
    "no note": lambda claude: None,
    "not ready": lambda claude: claude.notes(status=None),
    "another conversation": lambda claude: claude.notes(sessionId="other"),
    "another process": lambda claude: claude.notes(pid=os.getppid()),
    "garbage": lambda claude: claude.notes().write_text("[" * 100_000),
}


@pytest.mark.parametrize("case", NOT_YET)
def test_before_it_can_take_one_it_is_held(run: Any, case: str) -> None:
    async def scene(here: Inbox) -> None:
        NOT_YET[case](here.claude)
        async with here.claude.listening():
            await here.begin()
            assert not await here.deliver("one")
            assert here.inbox.guarantee == "wake-peer-framed"
        assert here.claude.frames == []
        assert await here.end() == []

    run(scene)


def test_before_any_hook_told_of_its_start_it_is_held(run: Any) -> None:
    async def scene(here: Inbox) -> None:
        here.claude.notes()
        async with here.claude.listening():
            assert not await here.deliver("one")
            await here.begin()
            assert await here.deliver("one")
            await here.end()

    run(scene)


def test_nobody_at_the_socket_is_no_delivery(run: Any) -> None:
    async def scene(here: Inbox) -> None:
        here.claude.notes()
        await here.begin()
        assert not await here.deliver("one")
        await here.end()

    run(scene)


def test_only_so_many_wait_inside_a_busy_session(run: Any) -> None:
    async def scene(here: Inbox) -> None:
        here.claude.notes(status="busy")
        async with here.claude.listening():
            await here.begin()
            given = [await here.deliver(f"m{number}", f"say {number}") for number in range(10)]
            assert given == [True] * 8 + [False] * 2
            here.claude.writes(joined("barry:m0"))
            await asyncio.sleep(0.6)
            assert await here.deliver("m8", "say 8")
            assert not await here.deliver("m9", "say 9")
            await here.end()

    run(scene)


def test_what_an_idle_session_has_lost_holds_nothing_up(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import barry_adapter_claude.inbox as room

    monkeypatch.setattr(room, "_PATIENCE", 0.0)

    async def scene(here: Inbox) -> None:
        here.claude.notes()
        async with here.claude.listening():
            await here.begin()
            assert all([await here.deliver(f"m{number}") for number in range(12)])
            await here.end()

    run(scene)


def test_what_is_too_long_for_its_socket_is_refused(run: Any) -> None:
    async def scene(here: Inbox) -> None:
        here.claude.notes()
        async with here.claude.listening():
            await here.begin()
            assert await here.deliver("one", "z" * 1_000_000)
            assert await here.deliver("two", "\N{PARTY POPPER}" * 250_000)
            for longer in ("z" * (1 << 20), "\n" * 900_000, "\N{PARTY POPPER}" * 600_000):
                with pytest.raises(Refused, match="no message of more than"):
                    await here.deliver("three", longer)
        assert len(here.claude.frames) == 2
        await here.end()

    run(scene)


def test_what_is_too_long_for_a_hook_is_refused_and_one_hook_gets_no_more_than_it_can_pass_on(
    run: Any,
) -> None:
    async def scene(here: Inbox) -> None:
        await here.begin()
        here.hooks.asking = Notice(kind="stop", document={"x": 1})
        with pytest.raises(Refused, match="passes on no more"):
            await here.deliver("long", "z" * 9_901)
        assert await here.deliver("one", "a" * 6_000)
        assert not await here.deliver("two", "b" * 6_000)
        assert await here.deliver("three", "c" * 3_000)
        here.hooks.asking = Notice(kind="stop", document={"x": 1})
        assert await here.deliver("two", "b" * 6_000)
        assert [text[0] for text in here.hooks.given] == ["a", "c", "b"]
        await here.end()

    run(scene, socket=False, otherwise="tool-call")


def test_it_keeps_to_the_pace_that_claude_code_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    from barry_adapter_claude import peer

    now = 100.0
    monkeypatch.setattr(peer.time, "monotonic", lambda: now)
    pace = peer.Pace()
    at_once = 0
    while pace.take():
        at_once += 1
    assert 20 < at_once <= 30  # it drops the 31st
    now += 4
    assert [pace.take() for _ in range(3)] == [True, True, False]
    now += 3600
    assert sum(pace.take() for _ in range(100)) == at_once


def test_without_a_socket_it_promises_less_and_goes_by_hooks(
    run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import barry_adapter_claude.inbox as room

    async def scene(here: Inbox) -> None:
        here.claude.notes(messagingSocketPath=None)
        await here.begin()
        assert here.inbox.guarantee == "wake-peer-framed"
        here.hooks.asking = Notice(kind="stop", document={"x": 1})
        assert not await here.deliver("one")  # it may yet come
        monkeypatch.setattr(room, "_GRACE", 0.0)
        assert here.inbox.guarantee == "turn-end"
        assert await here.deliver("one", "by a hook")
        assert here.hooks.given == ["by a hook"]
        here.claude.notes()
        assert here.inbox.guarantee == "wake-peer-framed"
        await here.end()

    run(scene)


def test_by_hooks_alone_only_the_sessions_own_are_given_anything(run: Any) -> None:
    async def scene(here: Inbox) -> None:
        here.claude.notes()
        async with here.claude.listening():
            await here.begin()
            assert not await here.deliver("one")
            for document in ({"agent_id": "a1"}, {}):  # too long an event tells nothing of itself
                here.hooks.asking = Notice(kind="after-tool", document=document)
                assert not await here.deliver("one")
            here.hooks.asking = Notice(kind="after-tool", document={"tool_name": "Bash"})
            assert await here.deliver("one", "first\n")
            assert await here.deliver("two", "second")
        assert here.claude.frames == []
        here.claude.writes(context("something else"), context("first\n\n\nsecond"))
        assert await here.end() == ["one", "two"]

    run(scene, socket=False, otherwise="tool-call")


def test_what_a_stop_hook_said_shows_it_once(run: Any) -> None:
    async def scene(here: Inbox) -> None:
        await here.begin()
        here.hooks.asking = Notice(kind="stop", document={"x": 1})
        assert await here.deliver("one", "again")
        assert await here.deliver("two", "again")
        here.claude.writes(context("again", event="Stop"))
        await asyncio.sleep(0.6)
        assert here.seen == ["one"]
        here.claude.writes(context("again", event="Stop"))
        assert await here.end() == ["one", "two"]

    run(scene, socket=False, otherwise="tool-call")


@given(line=st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_line_can_be_looked_at(line: bytes) -> None:
    from barry_adapter_claude.evidence import Shown, shown_by

    for each in (line, b'"barry:' + line, b'{"origin":{"from":"barry:' + line):
        assert isinstance(shown_by(each), Shown)


@given(
    row=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.just("barry:x"),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["type", "origin", "from", "attachment", "content"])
                | st.text(max_size=4),
                inner,
                max_size=4,
            )
        ),
        max_leaves=12,
    )
)
def test_any_row_can_be_looked_at(row: object) -> None:
    from barry_adapter_claude.evidence import Shown, shown_by

    line = json.dumps({"mark": "barry:", "row": row}).encode()
    assert isinstance(shown_by(line), Shown)
    if isinstance(row, dict):
        assert isinstance(shown_by(json.dumps({**row, "z": "barry:"}).encode()), Shown)
