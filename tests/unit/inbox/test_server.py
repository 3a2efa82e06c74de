"""The session's socket: whoever connects is answered, bounded, and never the end of it."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from barry_cli.base.ids import new_id
from barry_cli.base.paths import folders
from barry_cli.base.problems import StoreProblem
from barry_cli.inbox import incoming
from barry_cli.inbox import line as line_module
from barry_cli.inbox import server as server_module
from barry_cli.inbox.frames import LARGEST_FRAME
from barry_cli.inbox.identity import new_token, token_digest
from barry_cli.inbox.line import Line
from barry_cli.inbox.messages import LARGEST, Message, Peer
from barry_cli.inbox.peer import peer_of
from barry_cli.inbox.place import claim
from barry_cli.inbox.server import Handler, InboxServer, Limits
from barry_cli.inbox.spool import Spool
from barry_cli.turns.store.sessions import Sessions
from tests.conftest import AsNobody
from tests.unit.inbox.sessions import ME, session


@dataclass
class Served:
    path: str
    session_id: str
    spool: Spool
    server: InboxServer
    woken: list[Message] = field(default_factory=list)


@asynccontextmanager
async def serving(
    handlers: Mapping[str, Handler] | None = None, limits: Limits | None = None
) -> AsyncIterator[Served]:
    session_id = new_id()
    woken: list[Message] = []
    with claim(session_id) as place, Spool(folders()) as spool:
        session(id=session_id, socket=place.path)
        server = InboxServer(
            place, spool, session_id, handlers or {}, on_held=woken.append, limits=limits
        )
        await server.start()
        try:
            yield Served(place.path, session_id, spool, server, woken)
        finally:
            await server.close()


class Caller:
    """The other end of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    async def say(self, *frames: Any, end: bytes = b"\n") -> None:
        for each in frames:
            self.writer.write(each if isinstance(each, bytes) else json.dumps(each).encode() + end)
        await self.writer.drain()

    async def hear(self) -> Any:
        async with asyncio.timeout(10):
            line = await self.reader.readline()
        return json.loads(line) if line else None

    async def ask(self, *frames: Any) -> Any:
        await self.say(*frames)
        return await self.hear()

    def end(self) -> None:
        self.writer.transport.abort()


@asynccontextmanager
async def calling(path: str) -> AsyncIterator[Caller]:
    caller = Caller(*await asyncio.open_unix_connection(path, limit=4 * 1024 * 1024))
    try:
        yield caller
    finally:
        caller.end()


def refusal(answer: Any) -> str:
    assert answer["ok"] is False
    assert answer["error"]["message"]
    return str(answer["error"]["code"])


async def test_a_message_is_acknowledged_once_it_is_on_record() -> None:
    async with serving() as served, calling(served.path) as caller:
        answer = await caller.ask(
            {"type": "send", "id": "m1", "content": "a\n\U0001f600\t", "from": "ada", "steer": True}
        )
        assert answer == {"ok": True, "messageId": "m1", "state": "held", "seq": 1}
        with Spool(folders()) as beside:
            (found,) = beside.list(served.session_id)
        assert (found.content, found.sender_name, found.steer) == ("a\n\U0001f600\t", "ada", True)
        assert (found.sender_pid, found.sender_uid) == (os.getpid(), os.getuid())
        assert [each.id for each in served.woken] == ["m1"]
        again = await caller.ask(
            {"type": "send", "id": "m1", "content": "a\n\U0001f600\t", "from": "ada", "steer": True}
        )
        assert again == answer
        assert refusal(await caller.ask({"type": "send", "id": "m1", "content": "b"})) == (
            "duplicate"
        )
        other = await caller.ask({"type": "send", "content": "b"})
        assert (other["seq"], len(other["messageId"])) == (2, 12)


@pytest.mark.parametrize(
    "frame",
    [
        b"\n",
        b"nothing\n",
        b"[]\n",
        b"{}\n",
        b'{"type": 1}\n',
        b'{"type": "send"}\n',
        b'{"type": "send", "content": 1}\n',
        b'{"type": "send", "content": null}\n',
        b'{"type": "send", "content": ""}\n',
        b'{"type": "send", "content": "a", "steer": "yes"}\n',
        b'{"type": "send", "content": "a", "id": 5}\n',
        b'{"type": "send", "content": "a", "from": {}}\n',
        b'{"type": "send", "content": "a", "as": "me"}\n',
        b'{"type": "send", "content": "\\ud800"}\n',
        b'{"type": "send", "content": "\\u0000"}\n',
        b'{"type": "send", "content": NaN}\n',
        b'{"type": "send", "content": "\xff"}\n',
        b"[" * 20_000 + b"\n",
        b'{"type": "unheard"}\n',
        b"\0\0\0\n",
    ],
)
async def test_garbage_is_refused_and_the_next_frame_taken(frame: bytes) -> None:
    async with serving() as served, calling(served.path) as caller:
        assert refusal(await caller.ask(frame)) == "refused"
        assert (await caller.ask({"type": "send", "content": "x"}))["seq"] == 1


async def test_half_a_frame_is_no_frame() -> None:
    async with serving() as served:
        async with calling(served.path) as caller:
            await caller.say(b'{"type": "send", "content": "x"}')
            caller.writer.write_eof()
            assert await caller.hear() is None
        async with calling(served.path) as caller:
            await caller.say(b'{"type": "send", ')
            caller.end()
        async with calling(served.path) as caller:  # in pieces, it is a whole one
            for byte in b'{"type": "send", "content": "y"}\n':
                await caller.say(bytes([byte]))
            assert (await caller.hear())["seq"] == 1
        assert [each.content for each in served.spool.list(served.session_id)] == ["y"]


async def test_frames_that_come_together_are_taken_in_order() -> None:
    async with serving() as served, calling(served.path) as caller:
        frames = [{"type": "send", "content": f"n{n}"} for n in range(200)]
        await caller.say(b"".join(json.dumps(each).encode() + b"\n" for each in frames))
        for n in range(200):
            assert (await caller.hear())["seq"] == n + 1
        found = served.spool.list(served.session_id)
        assert [each.content for each in found] == [f"n{n}" for n in range(200)]


async def test_order_per_sender() -> None:
    async with serving() as served:

        async def one(name: str) -> None:
            async with calling(served.path) as caller:
                for n in range(30):
                    answer = await caller.ask({"type": "send", "content": f"{name} {n}"})
                    assert answer["ok"]

        await asyncio.gather(*(one(name) for name in "abcd"))
        said = [each.content for each in served.spool.list(served.session_id)]
    for name in "abcd":
        own = [each for each in said if each.startswith(name)]
        assert own == [f"{name} {n}" for n in range(30)]


async def test_the_largest_message_fits() -> None:
    async with serving() as served, calling(served.path) as caller:
        answer = await caller.ask({"type": "send", "content": "x" * LARGEST})
        assert answer["ok"]
        assert refusal(await caller.ask({"type": "send", "content": "x" * (LARGEST + 1)})) == (
            "too_large"
        )
        assert (await caller.ask({"type": "send", "content": "y"}))["seq"] == 2


@pytest.mark.parametrize("size", [LARGEST_FRAME, LARGEST_FRAME + 10, 4 * LARGEST_FRAME])
async def test_a_frame_that_is_too_large(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sender is told, though it may still be writing; the server goes on."""
    monkeypatch.setattr(incoming, "_THROWING_SECONDS", 0.3)
    async with serving() as served:
        async with calling(served.path) as caller:
            with suppress(ConnectionError):
                await caller.say(b"x" * size + b"\n")
            assert refusal(await caller.hear()) == "too_large"
            with suppress(ConnectionError):
                assert await caller.hear() is None
        async with calling(served.path) as caller:
            assert (await caller.ask({"type": "send", "content": "y"}))["seq"] == 1


async def test_a_frame_of_just_a_mebibyte_is_read() -> None:
    async with serving() as served, calling(served.path) as caller:
        frame = b'{"type": "unheard"}'
        padded = frame + b" " * (LARGEST_FRAME - len(frame) - 1) + b"\n"
        assert len(padded) == LARGEST_FRAME
        assert refusal(await caller.ask(padded)) == "refused"


async def test_who_is_silent_is_told_and_let_go() -> None:
    async with serving(limits=Limits(silence_seconds=0.3)) as served:
        for start in (b"", b'{"type":'):
            async with calling(served.path) as caller:
                await caller.say(start)
                assert refusal(await caller.hear()) == "silent"
                assert await caller.hear() is None
        async with calling(served.path) as caller:  # a byte now and then is no frame
            began = time.monotonic()
            with suppress(ConnectionError):
                while time.monotonic() - began < 5 and not caller.reader.at_eof():
                    await caller.say(b" ")
                    await asyncio.sleep(0.02)
            assert time.monotonic() - began < 4


async def test_a_plugin_may_be_silent_but_not_in_the_middle_of_a_frame() -> None:
    lines: list[Line] = []

    async def loaded(frame: Mapping[str, Any], line: Line) -> None:
        line.keep()
        lines.append(line)
        await line.send({"ok": True})

    async with serving({"loaded": loaded}, Limits(silence_seconds=0.6)) as served:
        async with calling(served.path) as caller:
            assert await caller.ask({"type": "loaded"}) == {"ok": True}
            await asyncio.sleep(1.0)
            assert (await caller.ask({"type": "send", "content": "x"}))["ok"]
            assert await lines[0].send({"type": "ask", "id": 1})
            assert await caller.hear() == {"type": "ask", "id": 1}
            await caller.say(b'{"type":')
            assert refusal(await caller.hear()) == "silent"
        async with asyncio.timeout(5):
            await lines[0].closed()
        assert not await lines[0].send({"type": "ask"})


async def test_so_many_connections_and_no_more() -> None:
    async with serving(limits=Limits(connections=64)) as served:
        open_ones = [await asyncio.open_unix_connection(served.path) for _ in range(64)]
        for reader, writer in open_ones:  # each of them is served
            writer.write(b'{"type": "send", "content": "x"}\n')
            assert json.loads(await reader.readline())["ok"]
        for _ in range(20):
            async with calling(served.path) as caller:
                assert refusal(await caller.hear()) == "busy"
                assert await caller.hear() is None
        for _, writer in open_ones[:3]:
            writer.transport.abort()
        async with asyncio.timeout(5):
            while len(served.server._lines) > 61:
                await asyncio.sleep(0.01)
        async with calling(served.path) as caller:
            assert (await caller.ask({"type": "send", "content": "y"}))["seq"] == 65
        for _, writer in open_ones[3:]:
            writer.transport.abort()


async def test_who_never_reads_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "_READS_WITHIN", 0.3)
    async with serving() as served:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.connect(served.path)
        link.setblocking(False)
        loop = asyncio.get_running_loop()
        frames = b'{"type": "unheard"}\n' * 2000
        with pytest.raises(ConnectionError):  # noqa: PT012 - until it is cut
            async with asyncio.timeout(20):
                while True:
                    await loop.sock_sendall(link, frames)
        link.close()
        async with calling(served.path) as caller:
            assert (await caller.ask({"type": "send", "content": "y"}))["ok"]


async def test_a_handler_gets_its_frames_in_order_and_can_answer_later() -> None:
    seen: list[str] = []
    tasks = []

    async def notice(frame: Mapping[str, Any], line: Line) -> None:
        assert line.peer == Peer(pid=os.getpid(), uid=os.getuid())
        seen.append(frame["kind"])

        async def later() -> None:
            await asyncio.sleep(0.1)
            await line.send({"text": "now"})

        tasks.append(asyncio.create_task(later()))

    async def given(frame: Mapping[str, Any], line: Line) -> None:
        seen.append("given")

    async with serving({"notice": notice, "given": given}) as served:
        async with calling(served.path) as caller:
            assert await caller.ask({"type": "notice", "kind": "stop"}) == {"text": "now"}
            await caller.say({"type": "given"})
            assert (await caller.ask({"type": "send", "content": "x"}))["ok"]
        assert seen == ["stop", "given"]
        await asyncio.gather(*tasks)


async def test_a_handler_that_fails_ends_its_line_alone() -> None:
    told: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))

    async def bad(frame: Mapping[str, Any], line: Line) -> None:
        raise ZeroDivisionError

    async with serving({"bad": bad}) as served:
        async with calling(served.path) as caller:
            await caller.say({"type": "bad"})
            with suppress(ConnectionError):
                assert await caller.hear() is None
        async with calling(served.path) as caller:
            assert (await caller.ask({"type": "send", "content": "x"}))["ok"]
    assert [type(each["exception"]) for each in told] == [ZeroDivisionError]


async def test_nobody_replaces_send() -> None:
    async def mine(frame: Mapping[str, Any], line: Line) -> None:
        await line.send({"ok": "mine"})

    async with serving({"send": mine}) as served, calling(served.path) as caller:
        assert (await caller.ask({"type": "send", "content": "x"}))["ok"] is True


async def test_a_store_that_fails_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving() as served, calling(served.path) as caller:

        def hold(*given: object, **more: object) -> None:
            raise StoreProblem("the disk is full", hint="free some")

        with monkeypatch.context() as bent:
            bent.setattr(served.spool, "hold", hold)
            answer = await caller.ask({"type": "send", "content": "x"})
        assert refusal(answer) == "store"
        assert answer["error"]["hint"] == "free some"
        assert (await caller.ask({"type": "send", "content": "x"}))["ok"]


async def test_the_end_is_quick_whoever_hangs_on() -> None:
    stuck = asyncio.Event()

    async def wait(frame: Mapping[str, Any], line: Line) -> None:
        stuck.set()
        await asyncio.sleep(60)

    async with serving({"wait": wait}, Limits(close_seconds=0.2)) as served:
        callers = [Caller(*await asyncio.open_unix_connection(served.path)) for _ in range(5)]
        await callers[0].say({"type": "wait"})
        await stuck.wait()
        began = time.monotonic()
        await served.server.close()
        assert time.monotonic() - began < 3
        for each in callers:
            with suppress(ConnectionError):
                assert await each.hear() is None
        with pytest.raises(OSError):
            await asyncio.open_unix_connection(served.path)
        await served.server.close()  # again
        for each in callers:
            each.end()


# --- who sends ---


async def test_a_child_of_a_session_is_known_by_its_token() -> None:
    token = new_token()
    sender = session(token_digest=token_digest(token))
    shown = {"session": sender.id, "token": token}
    async with serving() as served, calling(served.path) as caller:

        async def sent(identity: Any) -> Any:
            return await caller.ask({"type": "send", "content": "x", "as": identity})

        answer = await sent(shown)
        found = served.spool.get(served.session_id, answer["messageId"])
        assert found is not None
        assert found.sender_session == sender.id
        for wrong in (
            {**shown, "token": token + "x"},
            {**shown, "token": ""},
            {**shown, "token": None},
            {**shown, "session": served.session_id},  # it has no token at all
            {**shown, "session": "nobody"},
            {"session": served.session_id, "token": ""},
            {},
            [],
        ):
            assert refusal(await sent(wrong)) == "refused", wrong
        Sessions(folders()).change(sender.id, token_digest=None)  # revoked
        assert refusal(await sent(shown)) == "refused"
        Sessions(folders()).change(sender.id, token_digest=token_digest(token))
        assert (await sent(shown))["ok"]
        Sessions(folders()).change(sender.id, state="ended")
        assert refusal(await sent(shown)) == "refused"
        # One that was killed: nobody revoked anything.
        gone = {"pid_started": "gone", "supervisor_started": "gone"}
        Sessions(folders()).change(sender.id, state="running", **gone)
        assert refusal(await sent(shown)) == "refused"
        assert len(served.spool.list(served.session_id)) == 2


def test_a_token_is_long_and_its_digest_says_nothing() -> None:
    tokens = {new_token() for _ in range(50)}
    assert len(tokens) == 50
    for each in tokens:
        assert len(each) >= 43
        assert each not in token_digest(each)


async def test_another_user_is_not_heard(as_nobody: AsNobody) -> None:
    """Let in by the modes, it is still another user."""
    async with serving() as served:
        if os.getuid() != 0:
            return
        path = Path(served.path)
        path.parents[2].chmod(0o755)
        path.parent.chmod(0o755)
        path.chmod(0o666)

        def send() -> bytes:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                link.settimeout(10)
                link.connect(served.path)
                with suppress(OSError):
                    link.sendall(b'{"type": "send", "content": "x"}\n')
                try:
                    return link.recv(1000)
                except ConnectionError:
                    return b""

        loop = asyncio.get_running_loop()
        assert await loop.run_in_executor(None, as_nobody, send) == b""
        assert served.spool.list(served.session_id) == []
        async with calling(served.path) as caller:  # the counter-case: as ourselves
            assert (await caller.ask({"type": "send", "content": "x"}))["ok"]


async def test_a_peer_that_the_kernel_does_not_tell_is_not_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server_module, "peer_of", lambda link: None)
    async with serving() as served, calling(served.path) as caller:
        with suppress(ConnectionError):
            assert await caller.ask({"type": "send", "content": "x"}) is None
        assert served.spool.list(served.session_id) == []


def test_the_peer_is_as_the_kernel_says() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert peer_of(one) == ME
    with socket.socket(socket.AF_INET) as none:
        found = peer_of(none)
    assert found is None or found.pid is None


def test_the_peer_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the other kernel lays it out."""

    class Link:
        def getsockopt(self, level: int, option: int, size: int) -> bytes:
            assert level == 0
            told = {1: struct.pack("2Ih16I", 0, 501, 1, *[20] * 16), 2: struct.pack("i", 77)}
            return told[option][:size]

    monkeypatch.setattr("sys.platform", "darwin")
    assert peer_of(Link()) == Peer(pid=77, uid=501)  # type: ignore[arg-type]
