"""Reading a request body: plain or chunked, as it is or compressed, never without a limit."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Protocol

LIMIT = 64 * 1024 * 1024  # bytes, on the wire and unpacked

_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")
_LINE = 8192


class Stream(Protocol):
    """The part of a binary stream that reading a body takes."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes; fewer only at the end."""

    def readline(self, limit: int, /) -> bytes:
        """A line with its end, cut at `limit` bytes."""


class BodyError(Exception):
    """A body that can't be used: the HTTP status to answer, and one sentence why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def read_body(stream: Stream, headers: Mapping[str, str]) -> bytes:
    """The unpacked body. `headers` has lower-case names. Raises BodyError."""
    transfer = headers.get("transfer-encoding", "").strip().lower()
    if transfer == "chunked":
        raw = _chunked(stream)
    elif transfer:
        raise BodyError(501, f"transfer encoding {transfer!r} is not supported: use chunked.")
    else:
        raw = _exactly(stream, _length(headers.get("content-length", "0")))
    return _unpacked(raw, headers.get("content-encoding", "identity").strip().lower())


def _length(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise BodyError(400, "content-length must be a whole number.")
    if len(text) > 12 or int(text) > LIMIT:
        raise _too_large()
    return int(text)


def _chunked(stream: Stream) -> bytes:
    chunks: list[bytes] = []
    total = 0
    while True:
        line = _CHUNK_SIZE.fullmatch(stream.readline(_LINE))
        if line is None:
            raise BodyError(400, "a chunk of the body has no valid size.")
        size = int(line[1], 16)
        total += size
        if total > LIMIT:
            raise _too_large()
        if size == 0:
            break
        chunks.append(_exactly(stream, size))
        if stream.readline(3).strip():
            raise BodyError(400, "a chunk of the body is longer than it says.")
    for _ in range(100):  # trailers, which nobody here needs
        if stream.readline(_LINE) in (b"\r\n", b"\n", b""):
            return b"".join(chunks)
    raise BodyError(400, "the body has too many trailers.")


def _exactly(stream: Stream, size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise BodyError(400, "the body ended early.")
    return data


def _unpacked(raw: bytes, encoding: str) -> bytes:
    if encoding in ("identity", ""):
        return raw
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise BodyError(
            415, f"content encoding {encoding!r} is not supported: use identity, gzip or deflate."
        )
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # 32: tell gzip and zlib apart
    try:
        data = unpacker.decompress(raw, LIMIT + 1)
    except zlib.error:
        raise BodyError(400, f"the body is not valid {encoding}.") from None
    if len(data) > LIMIT:
        raise _too_large()
    if not unpacker.eof:
        raise BodyError(400, f"the {encoding} body ended early.")
    return data


def _too_large() -> BodyError:
    return BodyError(413, f"the body is larger than {LIMIT // 1024 // 1024} MiB.")
