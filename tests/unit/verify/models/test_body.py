"""Bodies on the wire: every form a client may choose, and every way to get it wrong."""

from __future__ import annotations

import gzip
import io
import socket
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.verify.models import body as bodies
from barry_cli.verify.models.body import BodyError, read_body

TEXT = b'{"a": "' + b"x" * 5000 + b'"}'


def chunked(data: bytes, size: int, tail: bytes = b"\r\n") -> bytes:
    parts = [data[i : i + size] for i in range(0, len(data), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts) + b"0\r\n" + tail


def read(raw: bytes, **headers: str) -> bytes:
    return read_body(io.BytesIO(raw), {name.replace("_", "-"): v for name, v in headers.items()})


@given(st.binary(max_size=2000), st.integers(1, 700))
def test_a_chunked_body_comes_together(data, size):
    assert read(chunked(data, size), transfer_encoding="chunked") == data


def test_forms_of_a_body():
    assert read(b"") == b""
    assert read(TEXT, content_length=str(len(TEXT))) == TEXT
    assert read(TEXT + b"next", content_length=str(len(TEXT))) == TEXT
    trailer = chunked(TEXT, 100, b"x-sum: 1\r\n\r\n")
    assert read(trailer, transfer_encoding="Chunked") == TEXT
    assert read(b"3;name=value\r\nabc\r\n0\r\n\r\n", transfer_encoding="chunked") == b"abc"
    for packed, name in ((gzip.compress(TEXT), "gzip"), (zlib.compress(TEXT), "deflate")):
        assert read(packed, content_length=str(len(packed)), content_encoding=name) == TEXT
        assert read(chunked(packed, 9), transfer_encoding="chunked", content_encoding=name) == TEXT


@pytest.mark.parametrize(
    ("raw", "headers", "status"),
    [
        (b"abc", {"content_length": "4"}, 400),
        (b"abc", {"content_length": "-1"}, 400),
        (b"abc", {"content_length": "x"}, 400),
        (b"abc", {"content_length": "\u0663"}, 400),
        (b"", {"content_length": str(bodies.LIMIT + 1)}, 413),
        (b"", {"content_length": "9" * 5000}, 413),
        (b"-1\r\n", {"transfer_encoding": "chunked"}, 400),
        (b"0x1\r\na\r\n0\r\n\r\n", {"transfer_encoding": "chunked"}, 400),
        (b"2\r\nabc\r\n0\r\n\r\n", {"transfer_encoding": "chunked"}, 400),
        (b"5\r\nabc", {"transfer_encoding": "chunked"}, 400),
        (b"ffffffff\r\n", {"transfer_encoding": "chunked"}, 413),
        (b"0\r\n" + b"a: b\r\n" * 200, {"transfer_encoding": "chunked"}, 400),
        (b"", {"transfer_encoding": "gzip, chunked"}, 501),
        (b"abc", {"content_length": "3", "content_encoding": "gzip"}, 400),
        (
            gzip.compress(TEXT, mtime=0)[:30],
            {"content_length": "30", "content_encoding": "gzip"},
            400,
        ),
        (b"abc", {"content_length": "3", "content_encoding": "zstd"}, 415),
        (b"abc", {"content_length": "3", "content_encoding": "br"}, 415),
    ],
)
def test_what_is_refused(raw, headers, status):
    with pytest.raises(BodyError) as caught:
        read(raw, **headers)
    assert caught.value.status == status
    assert str(caught.value).endswith(".")


def test_what_unpacks_to_too_much(monkeypatch):
    monkeypatch.setattr(bodies, "LIMIT", 1000)
    bomb = gzip.compress(b"0" * 100_000)
    assert len(bomb) < 1000
    with pytest.raises(BodyError) as caught:
        read(bomb, content_length=str(len(bomb)), content_encoding="gzip")
    assert caught.value.status == 413
    fine = gzip.compress(b"0" * 1000)
    assert len(read(fine, content_length=str(len(fine)), content_encoding="gzip")) == 1000


def test_bodies_over_the_wire(client, serve, request_of):
    import json

    with serve({"when": "packed", "then": ["unpacked"]}) as server:
        raw = json.dumps(client.body([("user", "packed")], stream=False, tools=())).encode()
        path = client.path(stream=False)
        for data, headers in (
            (gzip.compress(raw), {"content-encoding": "gzip"}),
            (chunked(raw, 50), {"transfer-encoding": "chunked"}),
        ):
            answer = request_of(server, "POST", path, data, headers)
            assert client.read(answer, stream=False).text == "unpacked"
        answer = request_of(server, "POST", path, raw, {"content-encoding": "zstd"})
        assert answer.status == 415
        assert "'zstd' is not supported: use identity" in client.message(answer)
        for broken in (b"", b"{", b"[]", b'{"a": NaN}', b"\xff", b"[" * 100_000):
            answer = request_of(server, "POST", path, broken)
            assert answer.status == 400
            assert "JSON" in client.message(answer)
        assert [request.kind for request in server.requests] == ["model"] * 2 + ["refused"] * 7


def test_a_client_that_says_nothing_more_is_refused_not_waited_for(serve):
    with serve() as server, socket.create_connection(("127.0.0.1", server.port), 5) as link:
        link.sendall(b"POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nabc")
        link.shutdown(socket.SHUT_WR)
        assert link.recv(100).startswith(b"HTTP/1.1 400 ")
