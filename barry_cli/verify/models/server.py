"""The HTTP server around the answers: loopback only, one thread a connection.

Threads, because a harness opens a handful of connections, a slow answer must not hold up another
one, and a test that holds the server in its own process needs no event loop for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import select
import socket
import sys
import threading
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self, get_args

from barry_cli.verify.models.answer import Answerer, Incoming, Outgoing
from barry_cli.verify.models.body import BodyError, read_body
from barry_cli.verify.models.log import LoggedRequest, RequestLog, ToolResult
from barry_cli.verify.models.script import Script
from barry_cli.verify.models.shapes import Api

HOST = "127.0.0.1"

_GLANCE = 0.05  # seconds between two looks at a client that waits for a slow answer
_PATHS: dict[Api, str] = {
    "anthropic": "",
    "openai-responses": "/v1",
    "openai-chat": "/v1",
    "gemini": "",
}


class ModelServer:
    """A scripted model server that runs while its `with` block does.

    `port` 0 takes any free one. `log_file` gets every request as one JSON line.
    Raises OSError when the port or the file can't be had.
    """

    def __init__(
        self, script: Script | None = None, *, port: int = 0, log_file: Path | None = None
    ) -> None:
        self._log = RequestLog(log_file)
        self._stopping = threading.Event()
        self._connections: set[socket.socket] = set()
        self._connecting = threading.Lock()
        self._numbers = itertools.count(1)
        self._answerer = Answerer(script or Script(), self._log)
        try:
            self._http = _Http((HOST, port), partial(_Handler, self))
        except BaseException:
            self._log.close()
            raise
        self._thread = threading.Thread(
            target=self._http.serve_forever, args=(_GLANCE,), name="model-server", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop at once: slow answers break off, open connections close. Safe to call twice."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        with self._connecting:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)
        self._log.close()

    def play(self, script: Script) -> None:
        """Answer by another script from now on; the log goes on."""
        self._answerer.play(script)

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return self._http.server_port

    def url(self, api: Api) -> str:
        """The base URL that a harness wants for this API."""
        return f"http://{HOST}:{self.port}{_PATHS[api]}"

    def urls(self) -> dict[Api, str]:
        """The base URL of every API."""
        return {api: self.url(api) for api in get_args(Api)}

    @property
    def requests(self) -> tuple[LoggedRequest, ...]:
        """Every request so far, probes and refused ones too."""
        return self._log.requests

    def model_requests(self) -> list[LoggedRequest]:
        """The real model calls only."""
        return [request for request in self.requests if request.kind == "model"]

    def texts(self) -> list[str]:
        """The newest user text of each model call."""
        return [request.text for request in self.model_requests()]

    def tool_results(self) -> list[ToolResult]:
        """What tools said, each once, in order; a retried request does not repeat it."""
        found: dict[str, ToolResult] = {}
        for request in self.model_requests():
            for index, result in enumerate(request.tool_results):
                found.setdefault(result.call_id or f"{request.seq}.{index}", result)
        return list(found.values())

    def offered_tools(self) -> list[str]:
        """The names of all tools that any model call offered, in the order first seen."""
        names = (name for request in self.model_requests() for name in request.tools)
        return list(dict.fromkeys(names))

    def clients_gone(self) -> tuple[int, ...]:
        """The `seq` of every request whose client left before its answer was complete."""
        return self._log.gone

    @property
    def log_fault(self) -> str:
        """Why the log file ends early; empty when it does not."""
        return self._log.fault

    def wait_for(
        self, predicate: Callable[[LoggedRequest], bool], timeout: float = 30.0
    ) -> LoggedRequest:
        """The first request, past or coming, that fulfils the predicate. Raises TimeoutError."""
        return self._log.wait_for(predicate, timeout)

    async def wait_for_async(
        self, predicate: Callable[[LoggedRequest], bool], timeout: float = 30.0
    ) -> LoggedRequest:
        """`wait_for` for asyncio; the predicate runs in another thread."""
        return await asyncio.to_thread(self.wait_for, predicate, timeout)

    # What follows is for the handler of connections.

    def number(self) -> int:
        """A new request's number."""
        return next(self._numbers)

    def answer(self, incoming: Incoming, connection: socket.socket) -> Outgoing:
        """The answer to a request that came over this connection."""
        return self._answerer.answer(incoming, partial(self._pause, connection))

    def opened(self, connection: socket.socket) -> None:
        """Remember a connection, so that `close` can end it."""
        with self._connecting:
            self._connections.add(connection)

    def closed(self, connection: socket.socket) -> None:
        """Forget a connection that has ended."""
        with self._connecting:
            self._connections.discard(connection)

    def lost(self, seq: int) -> None:
        """Note that a client left early; the server's own end does not count."""
        if not self._stopping.is_set():
            self._log.client_gone(seq)

    def _pause(self, connection: socket.socket, seconds: float) -> None:
        """Wait; raise ConnectionError when the client leaves or the server stops meanwhile."""
        while seconds > 0:
            if self._stopping.wait(min(seconds, _GLANCE)) or _left(connection):
                raise ConnectionAbortedError
            seconds -= _GLANCE


def _left(connection: socket.socket) -> bool:
    """Whether the client has closed its end, without waiting for it."""
    poll = select.poll()
    try:
        poll.register(connection, select.POLLIN)
        return bool(poll.poll(0)) and not connection.recv(1, socket.MSG_PEEK)
    except (OSError, ValueError):  # ValueError: closed on our side
        return True


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """One line for a fault of our own; a client that left is none."""
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            sys.stderr.write(f"model server: a request failed: {error!r}\n")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "scripted-models"
    sys_version = ""
    timeout = 300  # seconds that a client may keep an idle connection
    disable_nagle_algorithm = True

    def __init__(self, models: ModelServer, *args: Any) -> None:
        self._models = models
        super().__init__(*args)

    def setup(self) -> None:
        super().setup()
        self._models.opened(self.connection)

    def finish(self) -> None:
        self._models.closed(self.connection)
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet: the log of requests says it all."""

    def __getattr__(self, name: str) -> Any:
        """Every method of HTTP is handled alike; the base class looks for `do_<METHOD>`."""
        if name.startswith("do_"):
            return self._handle
        raise AttributeError(name)

    def _handle(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        body: bytes | BodyError
        try:
            body = read_body(self.rfile, headers)
        except BodyError as error:
            body = error
            self.close_connection = True
        incoming = Incoming(self._models.number(), self.command, self.path, headers, body)
        try:
            self._send(incoming.seq, self._models.answer(incoming, self.connection))
        except ConnectionError:
            self._models.lost(incoming.seq)
            self.close_connection = True

    def _send(self, seq: int, outgoing: Outgoing) -> None:
        if outgoing.cut:
            self.close_connection = True
        if outgoing.cut and not outgoing.body:
            return
        self.send_response(outgoing.status)
        self.send_header("content-type", outgoing.content_type)
        self.send_header("request-id", f"req_{seq:06d}")
        for name, value in outgoing.headers.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("connection", "close")
        if isinstance(outgoing.body, bytes):
            self.send_header("content-length", str(len(outgoing.body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(outgoing.body)
            return
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for part in outgoing.body:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
        if not outgoing.cut:
            self.wfile.write(b"0\r\n\r\n")
