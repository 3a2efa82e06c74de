"""HTTP requests are read whole however they are cut, and refused where they aren't plain."""

from __future__ import annotations

import contextlib
import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.capture.http import BODY, HEAD, BadRequest, Head, Request, RequestReader

HEADERS = "Host: x\r\nContent-Type: application/json\r\n"


def reader() -> RequestReader:
    return RequestReader(lambda head: None)


def chunked(*pieces: bytes, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    body = b"".join(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces)
    head = f"POST /v1/logs HTTP/1.1\r\n{HEADERS}Transfer-Encoding: chunked\r\n\r\n".encode()
    return head + body + b"0\r\n" + trailer + b"\r\n"


def plain(body: bytes, *more: str) -> bytes:
    extra = "".join(f"{line}\r\n" for line in more)
    head = f"POST /v1/logs HTTP/1.1\r\n{HEADERS}{extra}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def read(data: bytes) -> list[Request]:
    return list(reader().feed(data))


def byte_by_byte(data: bytes) -> None:
    one = reader()
    for at in range(len(data)):
        list(one.feed(data[at : at + 1]))


def refused(data: bytes) -> int:
    with pytest.raises(BadRequest) as found:
        read(data)
    return found.value.status


@given(
    st.lists(st.lists(st.binary(min_size=1, max_size=40), max_size=4), min_size=1, max_size=3),
    st.lists(st.integers(1, 60), max_size=80),
    st.booleans(),
)
def test_cut_anywhere_it_is_the_same(
    bodies: list[list[bytes]], cuts: list[int], extended: bool
) -> None:
    extension, trailer = (b";a=b", b"X-Sum: 1\r\n") if extended else (b"", b"")
    data = b""
    for pieces in bodies:
        data += chunked(*pieces, extension=extension, trailer=trailer)
        data += plain(b"".join(pieces))
    whole = reader()
    found: list[bytes] = []
    at = 0
    for size in [*cuts, len(data)]:
        found += [each.body for each in whole.feed(data[at : at + size])]
        at += size
    assert found == [body for pieces in bodies for body in [b"".join(pieces)] * 2]
    assert not whole.begun


def test_a_request_without_a_body() -> None:
    (found,) = read(b"GET /v1/logs HTTP/1.1\r\nHost: x\r\n\r\n")
    assert (found.head.method, found.head.target, found.body) == ("GET", "/v1/logs", b"")
    assert found.head.keeps


@pytest.mark.parametrize(
    ("said", "keeps"),
    [("HTTP/1.1\r\nConnection: close", False), ("HTTP/1.0", False), ("HTTP/1.1", True)],
)
def test_whether_the_connection_goes_on(said: str, keeps: bool) -> None:
    (found,) = read(f"POST / {said}\r\nHost: x\r\n\r\n".encode())
    assert found.head.keeps is keeps


def test_a_packed_body_is_unpacked() -> None:
    packed = gzip.compress(b'{"a": 1}', mtime=0)
    (found,) = read(plain(packed, "Content-Encoding: gzip"))
    assert found.body == b'{"a": 1}'
    (found,) = read(plain(b"as it is", "Content-Encoding: identity"))
    assert found.body == b"as it is"


@pytest.mark.parametrize(
    "body",
    [
        b"no gzip",
        gzip.compress(b"{}", mtime=0)[:-3],
        gzip.compress(b"{}", mtime=0) + b"more",
        zlib.compress(b"{}"),
    ],
)
def test_a_body_that_is_not_packed_as_it_says(body: bytes) -> None:
    assert refused(plain(body, "Content-Encoding: gzip")) == 400


def test_a_body_that_unpacks_to_too_much() -> None:
    assert refused(plain(gzip.compress(bytes(BODY + 1)), "Content-Encoding: gzip")) == 413
    (found,) = read(plain(gzip.compress(bytes(BODY)), "Content-Encoding: gzip"))
    assert len(found.body) == BODY


def test_a_body_that_is_too_long_is_refused_before_it_comes() -> None:
    head = f"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {BODY + 1}\r\n\r\n"
    assert refused(head.encode()) == 413
    head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert refused(head.encode() + b"%x\r\n" % (BODY + 1)) == 413


def test_pieces_that_are_too_much_together() -> None:
    piece = b"400000\r\n" + bytes(0x400000) + b"\r\n"
    data = chunked().removesuffix(b"0\r\n\r\n")
    assert refused(data + piece * 3) == 413


def test_a_head_that_is_too_long() -> None:
    assert refused(b"POST / HTTP/1.1\r\nA: " + b"x" * HEAD + b"\r\n\r\n") == 431
    assert refused(b"POST / HTTP/1.1\r\nA: " + b"x" * HEAD) == 431


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"HELLO\r\n\r\n", 400),
        (b"POST http://x/ HTTP/1.1\r\n\r\n", 400),
        (b"POST /a b HTTP/1.1\r\n\r\n", 400),
        (b"POST /\xff HTTP/1.1\r\n\r\n", 400),
        (b"POST / HTTP/2.0\r\n\r\n", 505),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nno colon\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nA : b\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\n A: folded\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nA: b\x00\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nA: b\nC: d\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 2000, 400),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"t" * (HEAD + 9), 400),
        (b"POST / HTTP/1.1\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx", 415),
    ],
)
def test_what_is_not_plainly_right_is_refused(data: bytes, status: int) -> None:
    assert refused(data) == status
    # Cut into single bytes it is refused as well, and before more of it is kept than allowed.
    with pytest.raises(BadRequest):
        byte_by_byte(data)


def test_the_head_is_looked_at_before_the_body() -> None:
    def refuse(head: Head) -> None:
        raise BadRequest(401, f"{head.method} without a token")

    with pytest.raises(BadRequest, match="POST without a token"):
        list(RequestReader(refuse).feed(plain(b"{}")[:-2]))


@given(st.binary(max_size=400))
def test_garbage_raises_nothing_else(data: bytes) -> None:
    with contextlib.suppress(BadRequest):
        assert read(data + b"\r\n\r\n") is not None
