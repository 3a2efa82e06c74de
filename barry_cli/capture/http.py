"""A strict reader of HTTP/1.1 requests, for a receiver on the loopback interface.

Bytes go in as they come, whole requests come out. What is not plainly right is refused: nothing is
guessed about where a body ends.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

HEAD = 16 << 10
"""The longest head of a request, and the longest trailer, in bytes."""

BODY = 8 << 20
"""The longest body, in bytes, as it comes and as it is once it is unpacked."""

_TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(rb"[\t\x20-\x7e\x80-\xff]*")
_LENGTH = re.compile(rb"[0-9]{1,10}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(;[\t\x20-\x7e\x80-\xff]*)?")
_LINE = 1024  # the longest line that says how long a chunk is


class BadRequest(Exception):
    """What is wrong with a request: the status to answer with, then the connection is closed."""

    def __init__(self, status: int, why: str) -> None:
        self.status = status
        super().__init__(why)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a request; the names of headers in small letters."""

    method: str
    target: str
    headers: dict[str, str]
    keeps: bool
    """The connection is good for another request."""


@dataclass(frozen=True, slots=True)
class Request:
    """A whole request; its body is unpacked."""

    head: Head
    body: bytes


class RequestReader:
    """Reads one connection.

    ``admit`` looks at each head before any of its body is read, and raises BadRequest.
    """

    def __init__(self, admit: Callable[[Head], None]) -> None:
        self._admit = admit
        self._data = bytearray()
        self._body = bytearray()
        self._head: Head | None = None
        self._left = 0
        self._step = self._read_head

    @property
    def begun(self) -> bool:
        """Whether a request has begun that has not ended."""
        return self._head is not None or bool(self._data)

    def feed(self, data: bytes) -> Iterator[Request]:
        """The requests that are whole with these bytes. Raises BadRequest; then it is of no use."""
        self._data += data
        while self._step():
            if self._step == self._whole:
                head, self._head = self._head, None
                body, self._body = bytes(self._body), bytearray()
                self._step = self._read_head
                if head is not None:
                    yield Request(head, _unpacked(head, body))

    def _whole(self) -> bool:
        return True

    def _read_head(self) -> bool:
        while self._data.startswith(b"\r\n"):  # some clients end a body with one too many
            del self._data[:2]
        end = self._data.find(b"\r\n\r\n")
        if end > HEAD or (end < 0 and len(self._data) > HEAD):
            raise BadRequest(431, "the head is too long")
        if end < 0:
            return False
        head = _head(bytes(self._data[:end]))
        del self._data[: end + 4]
        self._admit(head)
        self._head = head
        coding, length = head.headers.get("transfer-encoding"), head.headers.get("content-length")
        if coding is not None:
            if length is not None:
                raise BadRequest(400, "it has two lengths")
            if coding.strip().lower() != "chunked":
                raise BadRequest(501, "its transfer encoding is unknown")
            self._step = self._read_size
        elif length is not None:
            if not _LENGTH.fullmatch(length.encode("latin-1")):
                raise BadRequest(400, "its length is no number")
            self._left = int(length)
            self._need_room(self._left)
            self._step = self._read_body
        else:
            self._step = self._whole
        return True

    def _read_body(self) -> bool:
        if len(self._data) < self._left:
            return False
        self._body += self._data[: self._left]
        del self._data[: self._left]
        self._step = self._whole
        return True

    def _read_size(self) -> bool:
        line = self._line(_LINE, "the length of a chunk is too long")
        if line is None:
            return False
        found = _CHUNK.fullmatch(line)
        if found is None:
            raise BadRequest(400, "the length of a chunk is no number")
        self._left = int(found[1], 16)
        self._need_room(len(self._body) + self._left)
        self._step = self._read_chunk if self._left else self._read_trailer
        self._trailer = 0
        return True

    def _read_chunk(self) -> bool:
        if len(self._data) < self._left + 2:
            return False
        if self._data[self._left : self._left + 2] != b"\r\n":
            raise BadRequest(400, "a chunk is longer than it said")
        self._body += self._data[: self._left]
        del self._data[: self._left + 2]
        self._step = self._read_size
        return True

    def _read_trailer(self) -> bool:
        line = self._line(HEAD - self._trailer, "the trailer is too long")
        if line is None:
            return False
        self._trailer += len(line) + 2
        if not line:
            self._step = self._whole
        return True

    def _line(self, most: int, why: str) -> bytes | None:
        end = self._data.find(b"\r\n")
        if end > most or (end < 0 and len(self._data) > most + 1):
            raise BadRequest(400, why)
        if end < 0:
            return None
        line = bytes(self._data[:end])
        del self._data[: end + 2]
        return line

    def _need_room(self, size: int) -> None:
        if size > BODY:
            raise BadRequest(413, "the body is too long")


def _head(data: bytes) -> Head:
    first, *lines = data.split(b"\r\n")
    words = first.split(b" ")
    if len(words) != 3 or not _TOKEN.fullmatch(words[0]) or not words[1].startswith(b"/"):
        raise BadRequest(400, "it is no request")
    if words[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
        raise BadRequest(505, "its version is unknown")
    if any(byte <= 0x20 or byte >= 0x7F for byte in words[1]):
        raise BadRequest(400, "its target is no path")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        value = value.strip(b" \t")
        if not colon or not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise BadRequest(400, "a header has no form")
        key = name.decode("ascii").lower()
        if key in headers:
            raise BadRequest(400, "a header stands twice")
        headers[key] = value.decode("latin-1")
    said = headers.get("connection", "").lower()
    keeps = words[2] == b"HTTP/1.1" and "close" not in said
    return Head(words[0].decode("ascii"), words[1].decode("ascii"), headers, keeps)


def _unpacked(head: Head, body: bytes) -> bytes:
    coding = head.headers.get("content-encoding", "identity").strip().lower()
    if coding in ("identity", ""):
        return body
    if coding not in ("gzip", "x-gzip"):
        raise BadRequest(415, "its content encoding is unknown")
    unpacking = zlib.decompressobj(16 + zlib.MAX_WBITS)
    try:
        found = unpacking.decompress(body, BODY + 1)
    except zlib.error:
        raise BadRequest(400, "the body is not packed as it says") from None
    if len(found) > BODY:
        raise BadRequest(413, "the body is too long once it is unpacked")
    if not unpacking.eof or unpacking.unused_data:
        raise BadRequest(400, "the body is not packed as it says")
    return found
