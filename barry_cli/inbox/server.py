"""The end of a session's socket that Barry holds: it takes messages, and passes other frames on.

Whoever connects is of this user, or is not heard. What they send may be anything: too much, too
slow, half of it, garbage. It is bounded and answered, and the next one is served all the same.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from barry_cli.base.problems import BarryError
from barry_cli.inbox.frames import LARGEST_FRAME, Frame, NoFrame, frame_of, refusal
from barry_cli.inbox.identity import is_token_of
from barry_cli.inbox.incoming import Lines, TooLong
from barry_cli.inbox.line import Line
from barry_cli.inbox.messages import Message
from barry_cli.inbox.peer import peer_of
from barry_cli.inbox.place import Place
from barry_cli.inbox.problems import MessageRefused
from barry_cli.inbox.spool import Spool

Handler = Callable[[Frame, Line], Awaitable[None]]
"""Takes one frame of a connection; it is awaited before the next one is read."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """What one session's socket bears."""

    connections: int = 64
    """Those that are open at a time, kept ones included."""
    silence_seconds: float = 30.0
    """How long a connection may go without a whole frame, unless it is kept."""
    close_seconds: float = 1.0
    """How long the end of the server waits for those that are being answered."""


class InboxServer:
    """Serves one place, for one session, in the loop that started it."""

    def __init__(
        self,
        place: Place,
        spool: Spool,
        session_id: str,
        handlers: Mapping[str, Handler],
        *,
        on_held: Callable[[Message], None] = lambda message: None,
        limits: Limits | None = None,
    ) -> None:
        """``on_held`` is called after the commit of each message that is new, or sent again.

        The spool belongs to the thread of the loop.
        """
        self._place = place
        self._spool = spool
        self._session_id = session_id
        self._handlers: Mapping[str, Handler] = {**handlers, "send": self._take}
        self._on_held = on_held
        self._limits = limits or Limits()
        self._server: asyncio.Server | None = None
        self._lines: dict[Line, asyncio.Task[None]] = {}

    async def start(self) -> None:
        """Listen from now on."""
        self._server = await asyncio.start_unix_server(
            self._connected, sock=self._place.listener, limit=64 * 1024, backlog=128
        )

    async def close(self) -> None:
        """Listen no more, and end every connection; within a second. The place stays claimed."""
        if self._server is not None:
            self._server.close()
            self._server = None
        tasks = list(self._lines.values())
        for line in list(self._lines):
            line.end()
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=self._limits.close_seconds)
            for line in list(self._lines):
                line.cut()
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link: socket.socket = writer.get_extra_info("socket")
        peer = peer_of(link)
        if peer is None or peer.uid != os.getuid():
            writer.transport.abort()
            return
        line = Line(peer, writer)
        task = asyncio.current_task()
        if task is None or len(self._lines) >= self._limits.connections:
            await line.refuse("busy", "too many connections to this session are open")
            line.end()
            return
        self._lines[line] = task
        try:
            await self._converse(line, reader)
        except asyncio.CancelledError:
            line.cut()
        except (OSError, asyncio.IncompleteReadError):
            line.cut()
        except Exception as error:  # what a handler got wrong is no reason to stop listening
            line.cut()
            asyncio.get_running_loop().call_exception_handler(
                {
                    "message": "a frame of a session's socket could not be handled",
                    "exception": error,
                }
            )
        finally:
            line.end()
            del self._lines[line]

    async def _converse(self, line: Line, reader: asyncio.StreamReader) -> None:
        lines = Lines(reader, LARGEST_FRAME)
        while True:
            try:
                text = await lines.next(self._limits.silence_seconds, patient=lambda: line.kept)
            except TimeoutError:
                await line.refuse("silent", "no whole frame came in time")
                return
            except TooLong:
                await line.refuse("too_large", f"a frame has at most {LARGEST_FRAME} bytes")
                await lines.discard()
                return
            if text is None:
                return
            try:
                frame = frame_of(text)
            except NoFrame as problem:
                await line.refuse("refused", str(problem))
                continue
            handler = self._handlers.get(frame["type"])
            if handler is None:
                await line.refuse("refused", "there is no frame of this type")
                continue
            await handler(frame, line)

    # --- messages ---

    async def _take(self, frame: Frame, line: Line) -> None:
        """``send``: acknowledged once it is on record."""
        try:
            message = self._held(frame, line)
        except MessageRefused as problem:
            await line.send(_told(problem, problem.wire))
        except BarryError as problem:
            await line.send(_told(problem, "store"))
        else:
            await line.send(
                {"ok": True, "messageId": message.id, "state": message.state, "seq": message.seq}
            )

    def _held(self, frame: Frame, line: Line) -> Message:
        content = _text(frame, "content")
        if content is None:
            raise MessageRefused('the frame has no "content"')
        sender_session = self._verified(frame.get("as"))
        message = self._spool.hold(
            self._session_id,
            content,
            sender=line.peer,
            id=_text(frame, "id"),
            name=_text(frame, "from"),
            steer=_flag(frame, "steer"),
            sender_session=sender_session,
        )
        self._on_held(message)
        return message

    def _verified(self, shown: Any) -> str | None:
        """The session that a sender is of; None for one that shows nothing."""
        if shown is None:
            return None
        session, token = (
            (shown.get("session"), shown.get("token")) if isinstance(shown, dict) else (None, None)
        )
        if not (
            isinstance(session, str)
            and isinstance(token, str)
            and is_token_of(self._spool.folders, session, token)
        ):
            raise MessageRefused(
                "the sender shows the token of no session that runs",
                hint="unset BARRY_SESSION and BARRY_TOKEN to send as yourself",
            )
        return session


def _told(problem: BarryError, code: str) -> dict[str, Any]:
    """A refusal with all that the sender's side needs to make the same problem of it."""
    answer = refusal(code, str(problem))
    answer["error"] |= {"hint": problem.hint}
    return answer


def _text(frame: Frame, key: str) -> str | None:
    found = frame.get(key)
    if found is None or isinstance(found, str):
        return found
    raise MessageRefused(f'"{key}" of the frame is no text')


def _flag(frame: Frame, key: str) -> bool:
    found = frame.get(key, False)
    if isinstance(found, bool):
        return found
    raise MessageRefused(f'"{key}" of the frame is neither true nor false')
