"""Where a harness reports to: an OTLP receiver (HTTP with JSON) for one session, on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import secrets
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Self

from barry_cli.base.problems import Refused
from barry_cli.capture.http import BadRequest, Head, Request, RequestReader
from barry_cli.capture.records import Record, log_records, points

if TYPE_CHECKING:
    from barry_cli.contract.adapter import Adapter

HOST = "127.0.0.1"

CONNECTIONS = 16
"""How many may be open at once."""

IDLE = 120.0
"""Seconds that a connection may be silent between two requests."""

SLOW = 10.0
"""Seconds in which a request has to be there as a whole."""

_TOKEN = "x-barry-token"  # noqa: S105 - the header's name
_PATHS = ("/v1/logs", "/v1/metrics", "/v1/traces")
_NAMES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT")
_PIECE = 1 << 16

Taken = Callable[[list[Record], int], None]
"""(log records, number of metrics and spans): a harness reported."""


def wanted(adapter: Adapter, env: Mapping[str, str | None]) -> bool:
    """Whether telemetry is worth receiving: the adapter knows what it means, and no collector of
    the user's own would go without it.
    """
    return adapter.telemetry is not None and not any(env.get(name) for name in _NAMES)


class Door:
    """A port that is held for a session, and what has to be shown there."""

    def __init__(self, listener: socket.socket, token: str) -> None:
        self._listener = listener
        self._token = token
        port: int = listener.getsockname()[1]
        self.endpoint = f"http://{HOST}:{port}"

    @classmethod
    def bind(cls) -> Self:
        """Hold a free port; nothing is answered before it is served. Raises Refused."""
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            listener.bind((HOST, 0))
        except OSError as error:
            listener.close()
            raise Refused(
                f"no port for the harness's telemetry could be had on {HOST}: "
                f"{error.strerror or error}",
                hint="the machine may be out of ports or forbid them: try again",
            ) from error
        return cls(listener, secrets.token_urlsafe(24))

    @property
    def headers(self) -> dict[str, str]:
        """What a report must carry: a secret.

        A header of our own, and a value of letters and digits alone: exporters differ in whether
        they undo the escapes that a value such as ``Bearer ...`` needs in a variable.
        """
        return {_TOKEN: self._token}

    def shows(self, head: Head) -> bool:
        """Whether a request shows the token."""
        return hmac.compare_digest(head.headers.get(_TOKEN, "").encode(), self._token.encode())

    @property
    def listener(self) -> socket.socket:
        return self._listener

    def close(self) -> None:
        """Let go of the port. Idempotent."""
        self._listener.close()


class Receiver:
    """Serves a door on the running loop. A report is answered before anybody looks into it."""

    def __init__(self, door: Door, taken: Taken) -> None:
        self._door = door
        self._taken = taken
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Answer from now on."""
        self._server = await asyncio.start_server(
            self._connected, sock=self._door.listener, limit=_PIECE
        )

    async def close(self) -> None:
        """Answer no more; what was under way is cut."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._door.close()
        for each in list(self._connections):
            each.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or len(self._connections) >= CONNECTIONS:
            writer.transport.abort()
            return
        self._connections.add(task)
        try:
            # A client that is gone, or silent, ends its own connection only.
            with contextlib.suppress(OSError, TimeoutError, asyncio.CancelledError):
                await self._serve(reader, writer)
        finally:
            self._connections.discard(task)
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests = RequestReader(self._admit)
        clock = asyncio.get_running_loop().time
        until = clock() + SLOW  # who showed nothing yet has no claim to wait
        while True:
            async with asyncio.timeout_at(until):
                data = await reader.read(_PIECE)
            if not data:
                return
            begun = requests.begun
            try:
                for request in requests.feed(data):
                    self._take(request)
                    await _answer(writer, 200, b"{}", keeps=request.head.keeps)
                    if not request.head.keeps:
                        return
            except BadRequest as problem:
                said = json.dumps({"message": str(problem)}).encode()
                await _answer(writer, problem.status, said, keeps=False)
                return
            if not requests.begun:
                until = clock() + IDLE
            elif not begun:
                until = clock() + SLOW

    def _admit(self, head: Head) -> None:
        if not self._door.shows(head):
            raise BadRequest(401, "it does not show this session's token")
        if head.target not in _PATHS:
            raise BadRequest(404, "nothing is here")
        if head.method != "POST":
            raise BadRequest(405, "reports are posted")
        kind = head.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise BadRequest(415, "reports are taken as JSON")

    def _take(self, request: Request) -> None:
        try:
            document = json.loads(request.body)
        except (ValueError, RecursionError):
            raise BadRequest(400, "the body is not JSON") from None
        self._taken(list(log_records(document)), points(document))


async def _answer(writer: asyncio.StreamWriter, status: int, body: bytes, *, keeps: bool) -> None:
    phrase = "OK" if status == 200 else "Refused"
    head = (
        f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nConnection: {'keep-alive' if keeps else 'close'}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    async with asyncio.timeout(SLOW):
        await writer.drain()
