"""What a harness reports over OTLP is taken in, from that harness alone."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.capture import otlp
from barry_cli.capture.otlp import CONNECTIONS, HOST, Door, Receiver, wanted
from barry_cli.capture.records import log_records, points

SAMPLE = (Path(__file__).parent / "logs.json").read_text()
"""What a harness of the pinned build sent for one turn; who and where are left out."""


class Heard:
    """A receiver, and what it took."""

    def __init__(self) -> None:
        self.door = Door.bind()
        self.records: list[dict[str, Any]] = []
        self.others = 0
        self.receiver = Receiver(self.door, self.take)

    def take(self, records: list[dict[str, Any]], others: int) -> None:
        self.records += records
        self.others += others

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(HOST, int(self.door.endpoint.rpartition(":")[2]))

    async def post(self, body: bytes, path: str = "/v1/logs", **headers: str | None) -> int:
        """The status of one report on a connection of its own."""
        said: dict[str, str | None] = {"content-type": "application/json", **self.door.headers}
        said |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = "".join(f"{name}: {value}\r\n" for name, value in said.items() if value is not None)
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
        reader, writer = await self.connect()
        writer.write(head.encode() + body)
        status = await answer(reader)
        writer.close()
        return status


async def answer(reader: asyncio.StreamReader) -> int:
    async with asyncio.timeout(10):
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        body = await reader.readexactly(length)
    status = int(head.split()[1])
    assert (body == b"{}") is (status == 200)
    return status


@pytest.fixture
async def heard() -> AsyncIterator[Heard]:
    made = Heard()
    await made.receiver.start()
    yield made
    await made.receiver.close()


async def test_a_harness_reports(heard: Heard) -> None:
    assert await heard.post(SAMPLE.encode()) == 200
    assert await heard.post(gzip.compress(SAMPLE.encode()), content_encoding="gzip") == 200
    names = [record["name"] for record in heard.records]
    once = ["managed_settings_resolved", "user_prompt", "api_request", "assistant_response"]
    assert names == once * 2
    asked = heard.records[1]
    assert asked["attributes"]["prompt"] == "hello there"
    counted = heard.records[2]["attributes"]
    assert type(counted["input_tokens"]) is int
    assert type(counted["cost_usd"]) in (int, float)


async def test_a_report_in_chunks_and_another_behind_it(heard: Heard) -> None:
    reader, writer = await heard.connect()
    token = "".join(f"{name}: {value}\r\n" for name, value in heard.door.headers.items())
    head = (
        f"POST /v1/logs HTTP/1.1\r\nHost: x\r\nContent-Type: application/json; charset=utf-8\r\n"
        f"{token}Transfer-Encoding: chunked\r\n\r\n"
    ).encode()
    data = SAMPLE.encode()
    pieces = [data[at : at + 1000] for at in range(0, len(data), 1000)]
    for _ in range(2):
        writer.write(head)
        for piece in pieces:
            writer.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await writer.drain()
        writer.write(b"0\r\n\r\n")
        assert await answer(reader) == 200
    writer.close()
    assert len(heard.records) == 8


async def test_metrics_and_traces_are_counted(heard: Heard) -> None:
    metrics = {"resourceMetrics": [{"scopeMetrics": [{"metrics": [{}, {}]}]}]}
    spans = {"resourceSpans": [{"scopeSpans": [{"spans": [{}]}]}]}
    assert await heard.post(json.dumps(metrics).encode(), "/v1/metrics") == 200
    assert await heard.post(json.dumps(spans).encode(), "/v1/traces") == 200
    assert (heard.records, heard.others) == ([], 3)


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/v1/logs", {"x_barry_token": None}, 401),
        ("/v1/logs", {"x_barry_token": ""}, 401),
        ("/v1/logs", {"x_barry_token": "another"}, 401),
        ("/v1/logs", {"x_barry_token": "\xe9"}, 401),
        ("/v2/logs", {"x_barry_token": None}, 401),
        ("/v2/logs", {}, 404),
        ("/v1/logs/../..", {}, 404),
        ("/v1/logs", {"content_type": "application/x-protobuf"}, 415),
        ("/v1/logs", {"content_type": None}, 415),
    ],
)
async def test_who_and_what_is_refused(
    heard: Heard, path: str, headers: dict[str, str | None], status: int
) -> None:
    assert await heard.post(SAMPLE.encode(), path, **headers) == status
    assert heard.records == []
    assert await heard.post(SAMPLE.encode()) == 200


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b"nul"])
async def test_what_is_no_json_is_refused(heard: Heard, body: bytes) -> None:
    assert await heard.post(body) == 400
    assert heard.records == []


@pytest.mark.parametrize("body", [b"[]", b"null", b'{"resourceLogs": {"a": 1}}'])
async def test_json_that_holds_no_report_is_nothing(heard: Heard, body: bytes) -> None:
    assert await heard.post(body) == 200
    assert heard.records == []


async def test_another_method_is_refused(heard: Heard) -> None:
    reader, writer = await heard.connect()
    token = "".join(f"{name}: {value}\r\n" for name, value in heard.door.headers.items())
    writer.write(f"GET /v1/logs HTTP/1.1\r\nHost: x\r\n{token}\r\n".encode())
    assert await answer(reader) == 405
    assert await reader.read() == b""  # and the connection is closed
    writer.close()


async def test_who_shows_nothing_is_not_waited_for(
    heard: Heard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp, "SLOW", 0.2)
    silent, first = await heard.connect()
    slow, second = await heard.connect()
    second.write(b"POST /v1/logs HT")
    async with asyncio.timeout(5):
        assert await silent.read() == b""
        assert await slow.read() == b""
    first.close()
    second.close()


async def test_more_connections_than_there_may_be(heard: Heard) -> None:
    held = [await heard.connect() for _ in range(CONNECTIONS)]
    await asyncio.sleep(0.05)
    reader, writer = await heard.connect()
    async with asyncio.timeout(5):
        with contextlib.suppress(ConnectionError):  # cut, as the system tells it
            assert await reader.read() == b""
    writer.close()
    for _, each in held:
        each.close()
    await asyncio.sleep(0.05)
    assert await heard.post(SAMPLE.encode()) == 200


async def test_closing_cuts_what_is_under_way() -> None:
    heard = Heard()
    await heard.receiver.start()
    reader, writer = await heard.connect()
    await asyncio.sleep(0.05)
    async with asyncio.timeout(5):
        await heard.receiver.close()
        assert await reader.read() == b""
    with pytest.raises(OSError, match="Connect call failed"):
        await heard.connect()
    writer.close()
    await heard.receiver.close()


async def test_only_this_machine_reaches_it(heard: Heard) -> None:
    assert heard.door.listener.getsockname()[0] == "127.0.0.1"
    other = Door.bind()
    assert other.headers != heard.door.headers
    assert other.endpoint != heard.door.endpoint
    other.close()
    other.close()


def test_it_is_wanted_where_it_is_understood_and_takes_nothing_away() -> None:
    knows = cast("Any", SimpleNamespace(telemetry=lambda record: []))
    assert wanted(knows, {})
    assert not wanted(knows, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector"})
    assert not wanted(knows, {"OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://collector"})
    assert not wanted(cast("Any", SimpleNamespace(telemetry=None)), {})


def test_values_of_all_kinds() -> None:
    values = {
        "text": {"stringValue": "a"},
        "count": {"intValue": "9007199254740993"},
        "number": {"intValue": 3},
        "share": {"doubleValue": 0.5},
        "yes": {"boolValue": True},
        "list": {"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "b"}]}},
        "map": {"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": False}}]}},
        "none": {},
        "odd": {"intValue": "many"},
    }
    record = {"eventName": "e", "attributes": [{"key": k, "value": v} for k, v in values.items()]}
    (found,) = log_records({"resourceLogs": [{"scopeLogs": [{"logRecords": [record, 7]}]}]})
    assert found["name"] == "e"
    assert found["attributes"] == {
        "text": "a",
        "count": 9007199254740993,
        "number": 3,
        "share": 0.5,
        "yes": True,
        "list": [1, "b"],
        "map": {"k": False},
        "none": None,
        "odd": None,
    }


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "resourceLogs", "scopeLogs", "logRecords", "attributes", "body", "key", "value",
                    "stringValue", "arrayValue", "kvlistValue", "values", "intValue", "eventName",
                    "resourceMetrics", "scopeMetrics", "metrics",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=30,
)  # fmt: skip


@given(_JSON)
def test_no_document_is_too_odd(document: object) -> None:
    for record in log_records(document):
        assert set(record) == {"name", "body", "attributes"}
    assert points(document) >= 0
