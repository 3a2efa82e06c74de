"""The guarded tools over HTTP, for clients on this machine that hold the session's token.

It listens on a free port of 127.0.0.1 alone. Host and Origin must be its own, so that no page in a
browser reaches it under another name.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import secrets
import socket
from typing import TYPE_CHECKING

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from barry_cli.guard.line import connection
from barry_cli.guard.server import server

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from barry_cli.guard.calls import Calls

HOST = "127.0.0.1"
PATH = "/mcp"
BODY_BYTES = 24 << 20
"""The largest request: a file that is written comes as one."""


async def serve_http(calls: Calls) -> None:
    """Serve until standard input ends. The first line on standard output says where:
    ``{"url": ..., "token": ...}``. Raises OSError where there is no port.
    """
    token = secrets.token_urlsafe(32)
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listener:
        listener.bind((HOST, 0))
        own = f"{HOST}:{listener.getsockname()[1]}"
        app = server(calls).streamable_http_app(
            streamable_http_path=PATH,
            host=HOST,
            max_request_body_size=BODY_BYTES,
            transport_security=TransportSecuritySettings(
                enable_dns_rebinding_protection=True,
                allowed_hosts=[own],
                allowed_origins=[f"http://{own}"],
            ),
        )
        running = uvicorn.Server(
            uvicorn.Config(
                _Gate(app, token),
                log_config=None,
                log_level="critical",
                timeout_graceful_shutdown=1,
                lifespan="on",
            )
        )
        listener.listen()
        # Whoever reads this line may connect at once: the port listens already.
        told = json.dumps({"url": f"http://{own}{PATH}", "token": token}) + "\n"
        os.write(1, told.encode())  # at once, or not at all
        async with anyio.create_task_group() as group:
            group.start_soon(_stop_with_input, running)
            await running.serve(sockets=[listener])
            group.cancel_scope.cancel()


async def _stop_with_input(running: uvicorn.Server) -> None:
    """Who started the server holds its standard input open, and takes it along when it goes."""
    with open(0, "rb", buffering=0, closefd=False) as stdin:
        while True:
            with contextlib.suppress(PermissionError):  # a file, which never makes one wait
                await anyio.wait_readable(stdin)
            if not stdin.read(4096):
                running.should_exit = True
                return


class _Gate:
    """Lets only requests with the token in, and notes when their client has gone."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        shown = [value for name, value in scope.get("headers", ()) if name == b"authorization"]
        if len(shown) != 1 or not hmac.compare_digest(shown[0], self._wanted):
            await _refuse(send)
            return
        gone = anyio.Event()

        async def watched() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                gone.set()
            return message

        connection.set(gone)
        await self._app(scope, watched, send)


async def _refuse(send: Send) -> None:
    headers = [(b"www-authenticate", b"Bearer"), (b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 401, "headers": headers})
    await send({"type": "http.response.body", "body": b"the token is not this session's\n"})
