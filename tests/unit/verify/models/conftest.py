"""Four clients, one for each API, that speak as the vendors' own libraries do."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from barry_cli.verify.models import Api, ModelServer, Script

KEY = "sk-made-up-0123456789"
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
}


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.raw)

    @property
    def events(self) -> list[Any]:
        lines = self.raw.decode().splitlines()
        data = [line.removeprefix("data: ") for line in lines if line.startswith("data: ")]
        return [json.loads(line) for line in data if line != "[DONE]"]


@dataclass
class Said:
    """What a client reads out of an answer."""

    text: str = ""
    calls: list[tuple[str, Any]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    stop: str = ""
    tokens: tuple[int, int, int] = (0, 0, 0)


def send(
    server: ModelServer,
    method: str,
    path: str,
    body: Any = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    try:
        raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        connection.request(method, path, raw, headers or {})
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, found, response.read())
    finally:
        connection.close()


class Client:
    """One API: how a request is written and an answer is read."""

    api: Api
    key_header = "authorization"
    marks_errors = False

    def path(self, *, stream: bool) -> str:
        raise NotImplementedError

    def body(
        self,
        turns: list[tuple[str, Any]],
        *,
        stream: bool,
        tools: tuple[str, ...],
        system: str = "",
        schema: Any = None,
    ) -> dict[str, Any]:
        """`turns` are ("user", text), ("assistant", Said) and ("tool", [(id, text), ...])."""
        raise NotImplementedError

    def read(self, answer: Answer, *, stream: bool) -> Said:
        raise NotImplementedError

    def message(self, answer: Answer) -> str:
        return str(answer.document["error"]["message"])

    def ask(
        self,
        server: ModelServer,
        turns: list[tuple[str, Any]],
        *,
        stream: bool = True,
        tools: tuple[str, ...] = ("shell",),
        system: str = "",
        schema: Any = None,
    ) -> Answer:
        body = self.body(turns, stream=stream, tools=tools, system=system, schema=schema)
        value = KEY if self.key_header.startswith("x-") else f"Bearer {KEY}"
        headers = {self.key_header: value, "content-type": "application/json"}
        return send(server, "POST", self.path(stream=stream), body, headers)

    def say(self, server: ModelServer, turns: list[tuple[str, Any]], **options: Any) -> Said:
        answer = self.ask(server, turns, **options)
        assert answer.status == 200, answer.raw
        return self.read(answer, stream=options.get("stream", True))


class Anthropic(Client):
    api = "anthropic"
    key_header = "x-api-key"
    marks_errors = True

    def path(self, *, stream: bool) -> str:
        return "/v1/messages?beta=true"

    def body(self, turns, *, stream, tools, system="", schema=None):
        messages = []
        for role, content in turns:
            if role == "tool":
                blocks = [
                    {"type": "tool_result", "tool_use_id": call, "content": text, "is_error": False}
                    for call, text in content
                ]
                messages.append({"role": "user", "content": blocks})
            elif role == "assistant":
                blocks = [{"type": "text", "text": content.text}] if content.text else []
                blocks += [
                    {"type": "tool_use", "id": call, "name": name, "input": given}
                    for call, (name, given) in zip(content.ids, content.calls, strict=True)
                ]
                messages.append({"role": "assistant", "content": blocks})
            else:
                messages.append({"role": "user", "content": [{"type": "text", "text": content}]})
        body = {"model": "m", "max_tokens": 9, "stream": stream, "messages": messages}
        body["tools"] = [{"name": name, "input_schema": {}} for name in tools]
        if schema:
            body["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
        return {**body, "system": [{"type": "text", "text": system}]}

    def read(self, answer, *, stream):
        said = Said()
        if not stream:
            document = answer.document
            for block in document["content"]:
                if block["type"] == "text":
                    said.text += block["text"]
                else:
                    said.calls.append((block["name"], block["input"]))
                    said.ids.append(block["id"])
            said.stop, used = document["stop_reason"], document["usage"]
        else:
            used = {}
            for event in answer.events:
                delta = event.get("delta", {})
                if event.get("content_block", {}).get("type") == "tool_use":
                    said.calls.append((event["content_block"]["name"], None))
                    said.ids.append(event["content_block"]["id"])
                elif delta.get("type") == "text_delta":
                    said.text += delta["text"]
                elif delta.get("type") == "input_json_delta":
                    said.calls[-1] = (said.calls[-1][0], json.loads(delta["partial_json"]))
                elif event["type"] == "message_delta":
                    said.stop, used = delta["stop_reason"], event["usage"]
            assert answer.events[0]["type"] == "message_start"
            assert answer.events[-1] == {"type": "message_stop"}
        cached = used["cache_read_input_tokens"]
        said.tokens = (used["input_tokens"] + cached, cached, used["output_tokens"])
        return said


class Responses(Client):
    api = "openai-responses"

    def path(self, *, stream: bool) -> str:
        return "/v1/responses"

    def body(self, turns, *, stream, tools, system="", schema=None):
        items = [{"type": "message", "role": "developer", "content": system}]
        for role, content in turns:
            if role == "tool":
                items += [
                    {"type": "function_call_output", "call_id": call, "output": text}
                    for call, text in content
                ]
            elif role == "assistant":
                if content.text:
                    part = {"type": "output_text", "text": content.text}
                    items.append({"type": "message", "role": "assistant", "content": [part]})
                items += [
                    {
                        "type": "function_call",
                        "call_id": call,
                        "name": name,
                        "arguments": json.dumps(given),
                    }
                    for call, (name, given) in zip(content.ids, content.calls, strict=True)
                ]
            else:
                part = {"type": "input_text", "text": content}
                items.append({"type": "message", "role": "user", "content": [part]})
        offered = [{"type": "function", "name": name, "parameters": {}} for name in tools]
        body = {"model": "m", "stream": stream, "input": items, "tools": offered}
        if schema:
            body["text"] = {"format": {"type": "json_schema", "name": "x", "schema": schema}}
        return body

    def read(self, answer, *, stream):
        said = Said()
        document = answer.document if not stream else answer.events[-1]["response"]
        items = document["output"]
        if stream:
            events = answer.events
            assert [event["sequence_number"] for event in events] == list(range(len(events)))
            assert events[0]["type"] == "response.created"
            assert events[-1]["type"] == "response.completed"
            done = [e["item"] for e in events if e["type"] == "response.output_item.done"]
            assert done == items
            deltas = [e["delta"] for e in events if e["type"] == "response.output_text.delta"]
            said.text = "".join(deltas)
        for item in items:
            if item["type"] == "message":
                assert not stream or item["content"][0]["text"] == said.text
                said.text = item["content"][0]["text"]
            else:
                given = item.get("input") or json.loads(item["arguments"])
                said.calls.append((item["name"], given))
                said.ids.append(item["call_id"])
        used = document["usage"]
        cached = used["input_tokens_details"]["cached_tokens"]
        said.tokens = (used["input_tokens"], cached, used["output_tokens"])
        said.stop = document["status"]
        return said


class Chat(Client):
    api = "openai-chat"

    def path(self, *, stream: bool) -> str:
        return "/v1/chat/completions"

    def body(self, turns, *, stream, tools, system="", schema=None):
        messages = [{"role": "system", "content": system}]
        for role, content in turns:
            if role == "tool":
                messages += [
                    {"role": "tool", "tool_call_id": call, "content": text}
                    for call, text in content
                ]
            elif role == "assistant":
                calls = [
                    {
                        "id": call,
                        "type": "function",
                        "function": {"name": name, "arguments": json.dumps(given)},
                    }
                    for call, (name, given) in zip(content.ids, content.calls, strict=True)
                ]
                message = {"role": "assistant", "content": content.text or None}
                messages.append(message | ({"tool_calls": calls} if calls else {}))
            else:
                messages.append({"role": "user", "content": content})
        offered = [{"type": "function", "function": {"name": name}} for name in tools]
        body = {"model": "m", "stream": stream, "messages": messages, "tools": offered}
        body["stream_options"] = {"include_usage": True}
        if schema:
            body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
        return body

    def read(self, answer, *, stream):
        said = Said()
        if stream:
            assert answer.raw.endswith(b"data: [DONE]\n\n")
            used = answer.events[-1]["usage"]
            parts = [(e["choices"][0], e["choices"][0]["delta"]) for e in answer.events[:-1]]
        else:
            used = answer.document["usage"]
            choice = answer.document["choices"][0]
            parts = [(choice, choice["message"])]
        for choice, delta in parts:
            said.text += delta.get("content") or ""
            for call in delta.get("tool_calls", ()):
                given = json.loads(call["function"]["arguments"])
                said.calls.append((call["function"]["name"], given))
                said.ids.append(call["id"])
            said.stop = choice["finish_reason"] or said.stop
        cached = used["prompt_tokens_details"]["cached_tokens"]
        said.tokens = (used["prompt_tokens"], cached, used["completion_tokens"])
        return said


class Gemini(Client):
    api = "gemini"
    key_header = "x-goog-api-key"
    marks_errors = True

    def path(self, *, stream: bool) -> str:
        method = "streamGenerateContent?alt=sse" if stream else "generateContent"
        return f"/v1beta/models/m:{method}"

    def body(self, turns, *, stream, tools, system="", schema=None):
        contents = []
        for role, content in turns:
            if role == "tool":
                parts = [
                    {"functionResponse": {"id": call, "name": "x", "response": {"output": text}}}
                    for call, text in content
                ]
                contents.append({"role": "user", "parts": parts})
            elif role == "assistant":
                parts = [{"text": content.text}] if content.text else []
                parts += [
                    {"functionCall": {"id": call, "name": name, "args": given}}
                    for call, (name, given) in zip(content.ids, content.calls, strict=True)
                ]
                contents.append({"role": "model", "parts": parts})
            else:
                contents.append({"role": "user", "parts": [{"text": content}]})
        body = {"contents": contents, "systemInstruction": {"parts": [{"text": system}]}}
        if tools:
            body["tools"] = [{"functionDeclarations": [{"name": name} for name in tools]}]
        if schema:
            body["generationConfig"] = {"responseJsonSchema": schema}
        return body

    def read(self, answer, *, stream):
        said = Said()
        documents = answer.events if stream else [answer.document]
        for document in documents:
            candidate = document["candidates"][0]
            for part in candidate["content"]["parts"]:
                said.text += part.get("text", "")
                if "functionCall" in part:
                    said.calls.append((part["functionCall"]["name"], part["functionCall"]["args"]))
                    said.ids.append(part["functionCall"]["id"])
            said.stop = candidate.get("finishReason", said.stop)
        used = documents[-1]["usageMetadata"]
        cached = used["cachedContentTokenCount"]
        said.tokens = (used["promptTokenCount"], cached, used["candidatesTokenCount"])
        return said


CLIENTS = [Anthropic(), Responses(), Chat(), Gemini()]


@pytest.fixture(params=CLIENTS, ids=lambda client: client.api)
def client(request: pytest.FixtureRequest) -> Client:
    return request.param


@pytest.fixture(params=[True, False], ids=["stream", "whole"])
def stream(request: pytest.FixtureRequest) -> bool:
    return request.param


@pytest.fixture
def serve():
    """A context manager: a server for a script given as plain data."""

    @contextmanager
    def run(*rules: Any, **options: Any) -> Iterator[ModelServer]:
        script = Script.parse({"rules": list(rules), **options})
        with ModelServer(script) as server:
            yield server

    return run


@pytest.fixture
def request_of():
    """`send` for tests that need no client of an API."""
    return send


@pytest.fixture
def made_up_key() -> str:
    return KEY


@pytest.fixture
def answer_schema() -> dict[str, Any]:
    return SCHEMA
