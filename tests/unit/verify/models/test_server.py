"""The server itself: its life, its other paths, its log."""

from __future__ import annotations

import http.client
import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from barry_cli.verify.models import ModelServer, Script


def hello(client, text: str = "hello"):
    return [("user", text)]


def test_only_loopback_and_a_free_port():
    with ModelServer() as one, ModelServer() as two:
        assert one.port != two.port
        for api, url in one.urls().items():
            parts = urlsplit(url)
            assert (parts.hostname, parts.port) == ("127.0.0.1", one.port)
            assert url == one.url(api)
        assert list(one.urls()) == ["anthropic", "openai-responses", "openai-chat", "gemini"]


def test_a_port_that_is_taken_is_an_os_error():
    with ModelServer() as server, pytest.raises(OSError, match="in use"):
        ModelServer(port=server.port)


def test_probes_and_other_paths(serve, request_of):
    with serve(models=("a", "b/c")) as server:
        assert request_of(server, "HEAD", "/").status == 200
        assert request_of(server, "HEAD", "/").raw == b""
        assert request_of(server, "GET", "/").document == {}
        openai = request_of(server, "GET", "/v1/models").document
        assert [model["id"] for model in openai["data"]] == ["a", "b/c"]
        assert request_of(server, "GET", "/v1/models/b/c").document["id"] == "b/c"
        version = {"anthropic-version": "2023-06-01"}
        anthropic = request_of(server, "GET", "/v1/models", headers=version).document
        assert (anthropic["first_id"], anthropic["last_id"]) == ("a", "b/c")
        assert anthropic["has_more"] is False
        assert request_of(server, "GET", "/v1/models/a", headers=version).document["id"] == "a"
        gemini = request_of(server, "GET", "/v1beta/models?pageSize=5").document
        assert [model["name"] for model in gemini["models"]] == ["models/a", "models/b/c"]
        one = request_of(server, "GET", "/v1beta/models/a").document
        assert one["inputTokenLimit"] > 0
        for method, path in (
            ("GET", "/x"),
            ("POST", "/x"),
            ("DELETE", "/v1/messages"),
            ("GET", "/v1/responses"),
        ):
            answer = request_of(server, method, path, {"a": 1})
            assert answer.status == 404
            assert method in answer.document["error"]["message"]
        assert server.model_requests() == []
        assert server.texts() == []
        assert [request.seq for request in server.requests] == list(range(1, 14))
        assert {request.kind for request in server.requests} == {"probe", "models"}


def test_counting_tokens(serve, request_of):
    with serve() as server:
        body = {"messages": [{"role": "user", "content": "x" * 400}]}
        count = request_of(server, "POST", "/v1/messages/count_tokens?beta=true", body).document
        assert 100 < count["input_tokens"] < 200
        count = request_of(server, "POST", "/v1beta/models/m:countTokens", body).document
        assert 100 < count["totalTokens"] < 200
        count = request_of(server, "POST", "/v1/responses/input_tokens", body).document
        assert 100 < count["input_tokens"] < 200
        assert [request.kind for request in server.requests] == ["count"] * 3
        assert server.model_requests() == []


def test_one_connection_serves_many_requests(client, stream, serve):
    with serve({"when": "hello", "then": ["hi"]}) as server:
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        body = json.dumps(client.body(hello(client), stream=stream, tools=()))
        ports = set()
        for _ in range(3):
            link.request("POST", client.path(stream=stream), body)
            response = link.getresponse()
            assert response.status == 200
            assert response.read()
            assert link.sock is not None
            ports.add(link.sock.getsockname()[1])
        link.close()
        assert len(ports) == 1


def test_a_slow_answer_holds_up_no_other(client, serve):
    slow = {"when": "slow", "then": [{"text": "late", "delay": 1}]}
    with serve(slow) as server, ThreadPoolExecutor(1) as pool:
        late = pool.submit(client.say, server, hello(client, "slow"))
        server.wait_for(lambda request: request.text == "slow", 5)
        start = time.monotonic()
        assert client.say(server, hello(client, "fast")).text == "ok"
        assert time.monotonic() - start < 0.7
        assert late.result(10).text == "late"


def test_many_at_once_are_each_counted_once(client, serve):
    rule = {"when": "x", "then": [{"status": 500, "times": 5}, "fine"]}
    with serve(rule) as server, ThreadPoolExecutor(8) as pool:
        statuses = list(
            pool.map(lambda _: client.ask(server, hello(client, "x")).status, range(20))
        )
        assert sorted(statuses) == [200] * 15 + [500] * 5
        assert sorted(request.seq for request in server.requests) == list(range(1, 21))


def test_closing_ends_slow_answers_at_once(client, stream, serve):
    slow = {"when": "slow", "then": [{"text": "abc", "chunks": 3, "delay": 60}]}
    with serve(slow) as server, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(client.ask, server, hello(client, "slow"), stream=stream)
        server.wait_for(lambda request: request.text == "slow", 5)
        start = time.monotonic()
        server.close()
        with pytest.raises((http.client.HTTPException, OSError)):
            waiting.result(5)
        assert time.monotonic() - start < 3
        server.close()
        assert server.clients_gone() == ()
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port), 1)


def test_nothing_runs_on_after_the_block(client):
    before = threading.active_count()
    with ModelServer() as server:
        client.say(server, hello(client))
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert threading.active_count() <= before


def test_a_client_that_leaves_is_noted(client, stream, serve):
    slow = {"when": "slow", "then": [{"text": "abc", "chunks": 3, "delay": 60}]}
    with serve(slow) as server:
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
        body = json.dumps(client.body(hello(client, "slow"), stream=stream, tools=("t",)))
        link.request("POST", client.path(stream=stream), body)
        logged = server.wait_for(lambda request: request.text == "slow", 5)
        assert server.clients_gone() == ()
        link.close()
        deadline = time.monotonic() + 5
        while not server.clients_gone() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert server.clients_gone() == (logged.seq,)


def test_waiting_for_a_request(client, serve):
    with serve() as server:
        with pytest.raises(TimeoutError, match=r"no such request within 0\.1 s; 0 others"):
            server.wait_for(lambda request: True, 0.1)
        client.say(server, hello(client, "past"))
        assert server.wait_for(lambda request: request.text == "past", 0).seq == 1
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(server.wait_for, lambda request: request.text == "coming", 5)
            client.say(server, hello(client, "other"))
            client.say(server, hello(client, "coming"))
            assert waiting.result(5).seq == 3
        with pytest.raises(TimeoutError, match="3 others"):
            server.wait_for(lambda request: False, 0.05)


async def test_waiting_in_asyncio(client, serve):
    with serve() as server:
        client.say(server, hello(client, "past"))
        found = await server.wait_for_async(lambda request: request.text == "past", 1)
        assert found.contains("pas")
        assert not found.contains("coming")


def test_the_log_file(client, serve, tmp_path, made_up_key):
    path = tmp_path / "log.ndjson"
    script = Script.parse({"rules": [{"when": "go", "then": [{"tool": "shell"}, "done"]}]})
    with ModelServer(script, log_file=path) as server:
        said = client.say(server, [("user", "go")], system="be kind")
        turns = [("user", "go"), ("assistant", said), ("tool", [(said.ids[0], "out")])]
        client.say(server, turns)
        held = [request.as_json() for request in server.requests]
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == json.loads(json.dumps(held))
    assert [line["seq"] for line in lines] == [1, 2]
    assert lines[0]["kind"] == "model"
    assert lines[0]["api"] == client.api
    assert lines[0]["tools"] == ["shell"]
    assert lines[0]["system"] == "be kind"
    assert lines[0]["answer"] == "rule 0 step 0: call"
    assert lines[0]["time"].endswith("Z")
    assert lines[0]["keys"][0]["header"] == client.key_header
    assert lines[0]["headers"]["content-type"] == "application/json"
    assert lines[1]["toolResults"][0]["text"] == "out"
    assert lines[1]["body"]
    assert made_up_key not in path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_log_file_is_appended_to(client, tmp_path):
    path = tmp_path / "log.ndjson"
    for _ in range(2):
        with ModelServer(log_file=path) as server:
            client.say(server, hello(client))
    assert len(path.read_text().splitlines()) == 2


def test_a_log_that_can_not_be_opened(tmp_path):
    with pytest.raises(IsADirectoryError):
        ModelServer(log_file=tmp_path)


def test_a_log_that_breaks_ends_the_log_not_the_answers(client, tmp_path, capfd):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with ModelServer(log_file=path) as server:
        assert client.say(server, hello(client)).text == "ok"
        assert json.loads(os.read(reader, 100_000))["seq"] == 1
        assert server.log_fault == ""
        os.close(reader)
        for _ in range(2):
            assert client.say(server, hello(client)).text == "ok"
        assert len(server.requests) == 3
        assert server.log_fault == f"The log {path} can't be written: Broken pipe; it ends here."
    assert capfd.readouterr().err == server.log_fault + "\n"


def test_keys_are_masked_wherever_they_travel(serve, request_of):
    secret = "sk-secret-value"
    headers = {
        "authorization": f"Bearer {secret}",
        "x-api-key": secret,
        "x-session-token": secret,
        "cookie": secret,
        "user-agent": "kept",
    }
    with serve() as server:
        request_of(
            server, "POST", f"/v1beta/models/m:generateContent?key={secret}&alt=x", {}, headers
        )
        request_of(server, "GET", "/v1/models", headers={"authorization": "Bearer "})
        first, second = server.requests
    assert secret not in json.dumps(first.as_json())
    assert first.headers["user-agent"] == "kept"
    assert "alt=x" in first.path
    assert [key.header for key in first.keys] == ["authorization", "x-api-key", "query"]
    assert len({key.digest for key in first.keys}) == 1
    assert first.key_matches(secret)
    assert not second.key_matches(secret)


def test_lone_surrogates_are_kept_and_logged(client, stream, tmp_path):
    path = tmp_path / "log.ndjson"
    with ModelServer(log_file=path) as server:
        client.say(server, hello(client, "odd \ud800 text"), stream=stream)
        assert server.texts() == ["odd \ud800 text"]
    assert json.loads(path.read_text())["text"] == "odd \ud800 text"
