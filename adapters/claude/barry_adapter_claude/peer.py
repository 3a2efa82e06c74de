"""Writing to the socket on which a running Claude Code takes other sessions' messages."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import time

from barry_adapter_claude.declared import LABEL
from barry_adapter_claude.evidence import MARK
from barry_adapter_claude.live import Running
from barry_cli.adapters import Refused

_CONNECT_SECONDS = 3
_WRITE_SECONDS = 20
_READ_SECONDS = 2

# Claude Code drops a longer line, often without a word. In UTF-16 units, as it counts.
_LONGEST_LINE = 1 << 20

# Claude Code drops without a word what one sender sends beyond 30 at once and one in 2 seconds.
_AT_ONCE = 28
_A_SECOND = 0.5


class Pace:
    """Keeps a sender within what Claude Code takes from one."""

    def __init__(self) -> None:
        self._left = float(_AT_ONCE)
        self._looked = time.monotonic()

    def take(self) -> bool:
        """Whether one more may go now."""
        now = time.monotonic()
        self._left = min(_AT_ONCE, self._left + (now - self._looked) * _A_SECOND)
        self._looked = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def frame(message_id: str, text: str) -> bytes:
    """One message as a line for the socket. Raises Refused for one that is too long."""
    said = {
        "type": "user",
        "message": {"role": "user", "content": text},
        # A sender of its own for each message: two of the same words are not one sent twice.
        "from": f"{MARK}{message_id}",
    }
    line = json.dumps(said, ensure_ascii=False)
    if len(line.encode("utf-16-le")) // 2 >= _LONGEST_LINE:
        raise Refused(
            f"{LABEL} takes no message of more than {_LONGEST_LINE} characters, written as JSON",
            hint="write it to a file, and send the file's name",
        )
    return line.encode() + b"\n"


async def write(session: Running, line: bytes) -> bool:
    """Write one message's line to a session's socket; False when nothing received it.

    Raises OSError when it was written in part, and TimeoutError when the session stopped taking it:
    nobody knows then whether it arrived.
    """
    try:
        async with asyncio.timeout(_CONNECT_SECONDS):
            reader, writer = await asyncio.open_unix_connection(session.socket)
    except (OSError, TimeoutError):
        return False
    try:
        if not _is(writer.get_extra_info("socket"), session.pid):
            return False
        writer.write(line)
        async with asyncio.timeout(_WRITE_SECONDS):
            await writer.drain()
            writer.write_eof()
        # It closes when it has read the line. It says nothing, and may be too busy to.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_READ_SECONDS):
                await reader.read()
        return True
    finally:
        writer.close()


def _is(connection: socket.socket, pid: int) -> bool:
    """Whether the process at the other end is the one that the note is about."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # its folder, which is the user's own, has to do
    form = "3i"
    told = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize(form))
    found: int = struct.unpack(form, told)[0]
    return found == pid
