"""What only one API has, and that none is thrown by anything it is sent."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.verify.models.answer import WIRES
from barry_cli.verify.models.choose import choose, new_results
from barry_cli.verify.models.script import Script


def responses(server, request_of, body, stream=True):
    answer = request_of(server, "POST", "/v1/responses", {"stream": stream, **body})
    assert answer.status == 200
    return answer.events[-1]["response"]["output"] if stream else answer.document["output"]


def test_responses_custom_tools_take_free_text(serve, request_of):
    rules = [
        {"when": "text", "then": [{"tool": "patch", "input": "*** Begin"}]},
        {"when": "object", "then": [{"tool": "patch", "input": {"input": "*** Begin"}}]},
        {"when": "other", "then": [{"tool": "patch", "input": {"a": 1}}]},
        {"when": "plain", "then": [{"tool": "run", "input": "ls"}]},
        {"when": "unknown", "then": [{"tool": "gone", "input": "free"}]},
    ]
    tools = [{"type": "custom", "name": "patch"}, {"type": "function", "name": "run"}]
    with serve(*rules) as server:
        for stream in (True, False):
            for text, kind, given_ in (
                ("text", "custom_tool_call", "*** Begin"),
                ("object", "custom_tool_call", "*** Begin"),
                ("other", "custom_tool_call", '{"a": 1}'),
                ("plain", "function_call", '{"input": "ls"}'),
                ("unknown", "custom_tool_call", "free"),
            ):
                (item,) = responses(server, request_of, {"input": text, "tools": tools}, stream)
                assert item["type"] == kind
                assert item.get("input", item.get("arguments")) == given_
                assert "namespace" not in item


def test_responses_custom_rounds(serve, request_of):
    with serve({"when": "go", "then": [{"tool": "patch", "input": "x"}, "done"]}) as server:
        start = [{"role": "user", "content": [{"type": "input_text", "text": "go"}]}]
        tools = [{"type": "custom", "name": "patch"}]
        (item,) = responses(server, request_of, {"input": start, "tools": tools})
        result = {"type": "custom_tool_call_output", "call_id": item["call_id"], "output": "fine"}
        reasoning = {"type": "reasoning", "summary": []}
        (said,) = responses(
            server, request_of, {"input": [*start, reasoning, item, result], "tools": tools}
        )
        assert said["content"][0]["text"] == "done"
        assert [found.text for found in server.tool_results()] == ["fine"]


def test_responses_namespaces_and_tools_among_the_input(serve, request_of):
    rules = [
        {"when": "short", "then": [{"tool": "spawn"}]},
        {"when": "full", "then": [{"tool": "team/spawn"}]},
        {"when": "given", "then": [{"tool": "spawn", "namespace": "team"}]},
        {"when": "absent", "then": [{"tool": "else/where"}]},
    ]
    nested = [{"type": "function", "name": "spawn"}, {"type": "custom", "name": "exec"}]
    namespace = {"type": "namespace", "name": "team", "tools": nested}
    item_of_tools = {"type": "additional_tools", "role": "developer", "tools": [namespace]}
    with serve(*rules) as server:
        for text, expected in (
            ("short", ("team", "spawn")),
            ("full", ("team", "spawn")),
            ("given", ("team", "spawn")),
            ("absent", ("else", "where")),
        ):
            spoken = {"role": "user", "content": text}
            for body in (
                {"input": [item_of_tools, spoken]},
                {"input": [spoken], "tools": [namespace, {"type": "web_search"}]},
            ):
                (item,) = responses(server, request_of, body)
                assert (item["namespace"], item["name"]) == expected
        assert server.offered_tools() == ["team/spawn", "team/exec", "web_search"]


def test_chat_custom_tools(serve, request_of):
    with serve({"when": "x", "then": [{"tool": "patch", "input": "free"}]}) as server:
        body = {
            "messages": [{"role": "user", "content": "x"}],
            "tools": [{"type": "custom", "custom": {"name": "patch"}}],
        }
        answer = request_of(server, "POST", "/chat/completions", body).document
        (call,) = answer["choices"][0]["message"]["tool_calls"]
        assert call["custom"] == {"name": "patch", "input": "free"}


def test_chat_tells_usage_in_a_stream_only_when_asked(serve, request_of):
    with serve() as server:
        body = {"messages": [{"role": "user", "content": "x"}], "stream": True}
        assert not any(
            "usage" in e for e in request_of(server, "POST", "/chat/completions", body).events
        )
        body["stream_options"] = {"include_usage": True}
        last = request_of(server, "POST", "/chat/completions", body).events[-1]
        assert last["choices"] == []
        assert last["usage"]["total_tokens"] > 0


def test_gemini_streams_an_array_without_sse(serve, request_of):
    with serve({"when": "x", "then": ["hi"]}) as server:
        body = {"contents": [{"role": "user", "parts": [{"text": "x"}]}]}
        answer = request_of(server, "POST", "/v1beta/models/m:streamGenerateContent", body)
        (document,) = answer.document
        assert document["candidates"][0]["content"]["parts"] == [{"text": "hi"}]


def test_gemini_results(serve, request_of):
    with serve() as server:
        contents = [
            {"role": "user", "parts": [{"text": "x"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "a", "args": {}}}]},
            {
                "role": "user",
                "parts": [
                    {"functionResponse": {"name": "a", "response": {"error": "no such file"}}},
                    {"functionResponse": {"name": "a", "response": {"output": "fine"}}},
                    {"functionResponse": {"name": "a", "response": {"other": 1}}},
                ],
            },
        ]
        request_of(server, "POST", "/v1beta/models/m:generateContent", {"contents": contents})
        found = [(result.text, result.is_error) for result in server.tool_results()]
        assert found == [("no such file", True), ("fine", False), ('{"other": 1}', False)]


def test_anthropic_results(serve, request_of):
    with serve() as server:
        messages = [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "n"}]},
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "a",
                        "is_error": True,
                        "content": [{"type": "text", "text": "denied"}],
                    },
                    {"type": "text", "text": "<system-reminder>x</system-reminder>"},
                ],
            },
        ]
        request_of(server, "POST", "/v1/messages", {"messages": messages})
        (result,) = server.tool_results()
        assert (result.text, result.is_error) == ("denied", True)
        assert server.texts() == ["x"]


@pytest.mark.parametrize("prefix", ["", "/some/base", "/v1", "/openai/v1"])
def test_any_base_path_will_do(client, serve, request_of, prefix):
    with serve({"when": "x", "then": ["hi"]}) as server:
        body = client.body([("user", "x")], stream=False, tools=())
        answer = request_of(server, "POST", prefix + client.path(stream=False), body)
        assert client.read(answer, stream=False).text == "hi"


names = st.sampled_from(
    [
        *("messages", "input", "contents", "parts", "content", "text", "tools", "system"),
        *("role", "user", "assistant", "model", "type", "name", "id", "output", "namespace"),
        *("functionCall", "functionResponse", "response", "tool_calls", "function", "call_id"),
        *("tool_result", "tool_use_id", "generationConfig", "responseSchema", "format"),
        *("json_schema", "stream"),
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | names | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize("api", WIRES)
@given(body=st.dictionaries(names, values, max_size=6))
def test_any_object_can_be_read(api, body):
    request = WIRES[api].read("/v1beta/models/m:generateContent", body)
    json.dumps([turn.text for turn in request.turns])
    choose(Script(), request)
    new_results(request.turns)
