"""The guarded tools over HTTP: the token, the names it answers to, and clients that leave."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from tests.toy import alive, eventually
from tests.unit.guard.guarded import Session, Tools
from tests.unit.guard.test_stdio import INITIALIZE, TREE, running

MODES = ("legacy", "auto")


@dataclass
class Served:
    process: asyncio.subprocess.Process
    url: str
    token: str

    @property
    def port(self) -> int:
        return httpx2.URL(self.url).port or 0

    @asynccontextmanager
    async def client(self, mode: str = "legacy", token: str | None = None) -> AsyncIterator[Tools]:
        headers = {"Authorization": f"Bearer {token or self.token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=mode) as client,
        ):
            yield Tools(client)

    async def post(self, **headers: str) -> httpx2.Response:
        """The first request of a client, as it stands on the wire."""
        given = {
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self.token}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        async with httpx2.AsyncClient() as http:
            return await http.post(self.url, json=INITIALIZE, headers=given)


@asynccontextmanager
async def serving(session: Session, *, ends: int = 0) -> AsyncIterator[Served]:
    """The server, until its input ends; ``ends``: the code that it leaves with."""
    server = session.server()
    process = await asyncio.create_subprocess_exec(
        server.command,
        *server.args,
        "--http",
        cwd=session.work,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout
        said = json.loads(await process.stdout.readline())
        yield Served(process, said["url"], said["token"])
    finally:
        assert process.stdin
        process.stdin.close()
        assert await asyncio.wait_for(process.wait(), 20) == ends


@pytest.mark.parametrize("mode", MODES)
async def test_calls(session: Session, mode: str) -> None:
    session.bound = {"bash": {"denyPrograms": ["git:push"]}}
    told: list[str | None] = []

    async def progress(count: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async with serving(session) as served, served.client(mode) as tools:
        command = "echo one; sleep 0.6; echo two"
        text = await tools("shell", command=command, on_progress=progress)
        assert text == "one\ntwo\n[exit code 0]"
        assert told[0] == "one\n"
        assert "git:push" in await tools.refused("shell", command="git push; touch no")
        await tools("write_file", path="made", content="x")
    assert (session.work / "made").read_text() == "x"
    assert not (session.work / "no").exists()


async def test_only_the_token_lets_in(session: Session) -> None:
    async with serving(session) as served:
        assert (await served.post()).status_code == 200
        for shown in ("Bearer wrong", "", served.token, f"Basic {served.token}"):
            answer = await served.post(Authorization=shown)
            assert answer.status_code == 401
            assert served.token not in answer.text
        async with httpx2.AsyncClient() as http:
            for path in ("/mcp", "/", "/other"):
                address = f"http://127.0.0.1:{served.port}{path}"
                assert (await http.get(address)).status_code == 401
        with pytest.raises(ExceptionGroup):
            async with served.client(token="wrong"):
                pass


async def test_other_names_and_pages_are_turned_away(session: Session) -> None:
    async with serving(session) as served:
        own = f"127.0.0.1:{served.port}"
        assert (await served.post(Host=own, Origin=f"http://{own}")).status_code == 200
        for host in ("evil.test", f"evil.test:{served.port}", f"localhost:{served.port}"):
            assert (await served.post(Host=host)).status_code == 421
        for origin in ("http://evil.test", "null", "http://127.0.0.1:1"):
            assert (await served.post(Origin=origin)).status_code == 403


async def test_what_a_client_does_wrong_is_no_news_for_the_terminal(session: Session) -> None:
    server = session.server()
    process = await asyncio.create_subprocess_exec(
        server.command, *server.args, "--http", cwd=session.work,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout
    said = json.loads(await process.stdout.readline())
    served = Served(process, said["url"], said["token"])
    await served.post(Host="elsewhere.test")
    _, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(
        f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nContent-Length: 99\r\n"
        f"Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
        f"Authorization: Bearer {served.token}\r\n\r\n{{".encode()
    )
    await writer.drain()
    await asyncio.sleep(0.2)  # it waits for the rest, which never comes
    writer.close()
    await asyncio.sleep(0.2)
    _, errors = await asyncio.wait_for(process.communicate(b""), 20)
    assert (process.returncode, errors) == (0, b"")


async def test_it_listens_on_this_machine_alone(session: Session) -> None:
    async with serving(session) as served:
        listening = [
            line.split()[1]
            for name in ("tcp", "tcp6")
            if (table := Path("/proc/net", name)).exists()
            for line in table.read_text().splitlines()[1:]
            if line.split()[3] == "0A" and line.split()[1].endswith(f":{served.port:04X}")
        ]
        loopback = socket.inet_aton("127.0.0.1")[::-1].hex().upper()
        assert [each.partition(":")[0] for each in listening] == [loopback]


async def test_two_clients_at_once(session: Session) -> None:
    async with serving(session) as served, served.client() as one, served.client("auto") as two:

        async def several(tools: Tools, name: str) -> list[str]:
            calls = [tools("shell", command=f"sleep 0.1; echo {name}{n}") for n in range(4)]
            return await asyncio.gather(*calls)

        found = await asyncio.gather(several(one, "a"), several(two, "b"))
    for name, texts in zip("ab", found, strict=True):
        assert texts == [f"{name}{n}\n[exit code 0]" for n in range(4)]


@pytest.mark.parametrize("mode", MODES)
async def test_a_cancelled_call_takes_its_whole_tree_along(session: Session, mode: str) -> None:
    async with serving(session) as served, served.client(mode) as tools:
        work = asyncio.ensure_future(tools.answer("shell", command=TREE))
        pid = await running(session, tools, work)
        work.cancel()
        assert await gone(pid)
        assert "on" in await tools("shell", command="echo on")


async def test_a_client_that_is_gone_takes_its_calls_along(session: Session) -> None:
    async with serving(session) as served:
        first = await served.post()
        name = first.headers["mcp-session-id"]
        body: dict[str, Any] = {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "shell", "arguments": {"command": TREE}},
        }  # fmt: skip
        text = json.dumps(body)
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
            f"Authorization: Bearer {served.token}\r\nMcp-Session-Id: {name}\r\n"
            "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(text)}\r\n\r\n"
        )
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write((head + text).encode())
        await writer.drain()
        assert await asyncio.to_thread(eventually, (session.work / "up").exists, 10)
        pid = int((session.work / "pid").read_text())
        assert alive(pid)
        writer.transport.abort()
        assert await gone(pid)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
async def test_a_killed_server_leaves_no_child(session: Session, number: int) -> None:
    async with serving(session, ends=-number) as served:
        with suppress(ExceptionGroup, MCPError):
            async with served.client() as tools:
                work = asyncio.ensure_future(tools.answer("shell", command=TREE))
                pid = await running(session, tools, work)
                served.process.send_signal(number)
                assert await gone(pid)
                work.cancel()


async def test_it_ends_with_its_input_and_takes_everything_along(session: Session) -> None:
    async with serving(session) as served, served.client() as tools:
        work = asyncio.ensure_future(tools.answer("shell", command=TREE))
        pid = await running(session, tools, work)
        assert served.process.stdin
        served.process.stdin.close()
        assert await gone(pid)
        work.cancel()


async def gone(pid: int) -> bool:
    return await asyncio.to_thread(eventually, lambda: not alive(pid), 10)
