"""What every API does alike, spoken as each one's own clients do."""

from __future__ import annotations

import http.client
import json
import time

import pytest

SHELL = {"tool": "shell", "input": {"command": "ls"}}


def test_a_text(client, stream, serve):
    with serve({"when": "hello", "then": ["hi there"]}) as server:
        said = client.say(server, [("user", "hello you")], stream=stream, system="be brief")
        assert said.text == "hi there"
        assert not said.calls
        assert said.stop in ("end_turn", "completed", "stop", "STOP")
        assert server.texts() == ["hello you"]
        logged = server.model_requests()[0]
        assert (logged.api, logged.model, logged.stream) == (client.api, "m", stream)
        assert logged.system == "be brief"
        assert logged.tools == ("shell",)


def test_no_rule_gets_the_default(client, stream, serve):
    with serve(default="nothing to say") as server:
        assert client.say(server, [("user", "x")], stream=stream).text == "nothing to say"
    with serve() as server:
        assert client.say(server, [("user", "x")], stream=stream).text == "ok"


def test_an_empty_text_is_an_answer_too(client, stream, serve):
    with serve({"when": "x", "then": [""]}) as server:
        assert client.say(server, [("user", "x")], stream=stream).text == ""


def test_text_is_kept_letter_by_letter(client, stream, serve):
    text = 'line\n\n  däta: \u2028 \U0001f600 "quoted" \\ end\n'
    with serve({"when": "x", "then": [{"text": text, "chunks": 5}]}) as server:
        assert client.say(server, [("user", "x")], stream=stream).text == text


def test_tool_rounds(client, stream, serve):
    rule = {
        "when": "work",
        "then": [
            {**SHELL, "text": "I look."},
            {"tools": [SHELL, {"tool": "other", "input": {"n": 1}}]},
            "all done",
        ],
    }
    turns = [("user", "work now")]
    with serve(rule) as server:
        first = client.say(server, turns, stream=stream)
        assert first.text == "I look."
        assert first.calls == [("shell", {"command": "ls"})]
        assert first.stop in ("tool_use", "completed", "tool_calls", "STOP")

        turns += [("assistant", first), ("tool", [(first.ids[0], "a.txt")])]
        second = client.say(server, turns, stream=stream)
        assert second.calls == [("shell", {"command": "ls"}), ("other", {"n": 1})]
        assert len(set(first.ids + second.ids)) == 3

        results = list(zip(second.ids, ["b", "c"], strict=True))
        turns += [("assistant", second), ("tool", results)]
        third = client.say(server, turns, stream=stream)
        assert (third.text, third.calls) == ("all done", [])

        turns += [("assistant", third), ("user", "work again")]
        assert client.say(server, turns, stream=stream).text == "I look."

        assert [result.text for result in server.tool_results()] == ["a.txt", "b", "c"]
        marks = {result.is_error for result in server.tool_results()}
        assert marks == ({False} if client.marks_errors else {None})
        counts = [len(request.tool_results) for request in server.model_requests()]
        assert counts == [0, 1, 2, 0]
        assert server.offered_tools() == ["shell"]


def test_after_the_last_step_comes_the_default(client, serve):
    with serve({"when": "work", "then": [SHELL]}) as server:
        first = client.say(server, [("user", "work")])
        turns = [("user", "work"), ("assistant", first), ("tool", [(first.ids[0], "x")])]
        assert client.say(server, turns).text == "ok"


def test_a_retried_request_repeats_its_step_and_no_result(client, serve):
    with serve({"when": "work", "then": [SHELL, "done"]}) as server:
        first = client.say(server, [("user", "work")])
        turns = [("user", "work"), ("assistant", first), ("tool", [(first.ids[0], "x")])]
        for _ in range(2):
            assert client.say(server, turns).text == "done"
        assert len(server.tool_results()) == 1


def test_parallel_calls_listed_one_by_one_are_one_round(client, serve):
    """Call, result, call, result: some harnesses keep their history so."""
    with serve({"when": "work", "then": [{"tools": [SHELL, SHELL]}, "done"]}) as server:
        first = client.say(server, [("user", "work")])
        turns = [("user", "work")]
        for call, call_id in zip(first.calls, first.ids, strict=True):
            alone = type(first)(calls=[call], ids=[call_id])
            turns += [("assistant", alone), ("tool", [(call_id, "x")])]
        assert client.say(server, turns).text == "done"
        assert len(server.tool_results()) == 2


def test_a_request_without_tools_gets_texts_only(client, stream, serve):
    rules = [
        {"when": "call", "then": [SHELL]},
        {"when": "fail", "then": [{"status": 500}]},
        {"when": "drop", "then": [{"drop": True}]},
        {"when": "slow", "then": [{"text": "abcdef", "chunks": 6, "delay": 5}]},
    ]
    with serve(*rules) as server:
        for text, expected in (("call", "ok"), ("fail", "ok"), ("drop", "ok"), ("slow", "abcdef")):
            said = client.say(server, [("user", text)], stream=stream, tools=())
            assert (said.text, said.calls) == (expected, [])


def test_always_lifts_that(client, stream, serve):
    with serve({"when": "call", "then": [SHELL], "always": True}) as server:
        said = client.say(server, [("user", "call")], stream=stream, tools=())
        assert said.calls == [("shell", {"command": "ls"})]


def test_a_tool_that_is_not_offered_is_called_all_the_same(client, stream, serve):
    with serve({"when": "x", "then": [{"tool": "nowhere", "input": {}}]}) as server:
        said = client.say(server, [("user", "x")], stream=stream, tools=("shell",))
        assert said.calls == [("nowhere", {})]


def test_a_schema_is_answered_in_its_shape(client, stream, serve, answer_schema):
    rules = [
        {"when": "meant", "then": ['{"answer": "42"}']},
        {"when": "prose", "then": ["just words"]},
    ]
    with serve(*rules) as server:
        for text, tools, expected in (
            ("unscripted", (), {"answer": "ok"}),
            ("unscripted", ("shell",), {"answer": "ok"}),
            ("meant", (), {"answer": "42"}),
            ("meant", ("shell",), {"answer": "42"}),
            ("prose", (), {"answer": "ok"}),
        ):
            said = client.say(
                server, [("user", text)], stream=stream, tools=tools, schema=answer_schema
            )
            assert json.loads(said.text) == expected
        # A script may answer wrongly on purpose, to see the harness refuse it.
        said = client.say(server, [("user", "prose")], stream=stream, schema=answer_schema)
        assert said.text == "just words"


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500, 503, 529])
def test_an_error_status(client, stream, serve, status):
    step = {"status": status, "message": "no, thank you", "headers": {"retry-after": "7"}}
    with serve({"when": "x", "then": [step]}) as server:
        answer = client.ask(server, [("user", "x")], stream=stream)
        assert answer.status == status
        assert client.message(answer) == "no, thank you"
        assert answer.headers["retry-after"] == "7"
        # It stands for as long as nothing says otherwise.
        assert client.ask(server, [("user", "x")], stream=stream).status == status


def test_an_error_for_some_times_only(client, serve):
    rule = {"when": "x", "then": [{"status": 529, "times": 2}, SHELL, "done"]}
    with serve(rule) as server:
        # A side request takes no part in the count.
        assert client.ask(server, [("user", "x")], tools=()).status == 200
        assert [client.ask(server, [("user", "x")]).status for _ in range(3)] == [529, 529, 200]
        said = client.say(server, [("user", "x")])
        turns = [("user", "x"), ("assistant", said), ("tool", [(said.ids[0], "y")])]
        assert client.say(server, turns).text == "done"


def test_a_connection_dropped_before_the_answer(client, stream, serve):
    with serve({"when": "x", "then": [{"drop": True, "times": 1}, "back"]}) as server:
        with pytest.raises(http.client.RemoteDisconnected):
            client.ask(server, [("user", "x")], stream=stream)
        assert client.say(server, [("user", "x")], stream=stream).text == "back"
        assert server.clients_gone() == ()


def test_a_connection_dropped_midway(client, stream, serve):
    with serve({"when": "x", "then": [{"drop": "midway"}]}) as server:
        with pytest.raises(http.client.IncompleteRead) as caught:
            client.ask(server, [("user", "x")], stream=stream)
        assert caught.value.partial


def test_a_slow_answer_takes_its_time(client, stream, serve):
    with serve({"when": "x", "then": [{"text": "abcd", "chunks": 4, "delay": 0.1}]}) as server:
        start = time.monotonic()
        assert client.say(server, [("user", "x")], stream=stream).text == "abcd"
        assert time.monotonic() - start >= 0.4


def test_a_slow_call_takes_its_time(client, stream, serve):
    with serve({"when": "x", "then": [{**SHELL, "delay": 0.3}]}) as server:
        start = time.monotonic()
        assert client.say(server, [("user", "x")], stream=stream).calls
        assert time.monotonic() - start >= 0.3


def test_chunks_arrive_one_by_one(client, serve):
    step = {"text": "one two three", "chunks": 13, "delay": 0.01}
    with serve({"when": "x", "then": [step]}) as server:
        answer = client.ask(server, [("user", "x")], stream=True)
        assert client.read(answer, stream=True).text == "one two three"
        assert len(answer.events) >= 13


def test_usage_grows_with_the_conversation(client, stream, serve):
    with serve({"when": "x", "then": [SHELL, "done"]}) as server:
        first = client.say(server, [("user", "x" * 400)], stream=stream)
        given, cached, out = first.tokens
        assert given > 100
        assert cached == 0
        assert out > 0
        turns = [("user", "x" * 400), ("assistant", first), ("tool", [(first.ids[0], "y")])]
        later = client.say(server, turns, stream=stream).tokens
        assert later[0] > given
        assert 0 < later[1] < later[0]


def test_usage_as_scripted(client, stream, serve):
    with serve(usage={"input": 1000, "cached": 300, "output": 50}) as server:
        assert client.say(server, [("user", "x")], stream=stream).tokens == (1000, 300, 50)


def test_the_key_is_recognised_and_never_kept(client, serve, made_up_key):
    with serve() as server:
        client.say(server, [("user", "x")])
        logged = server.requests[0]
        assert [key.header for key in logged.keys] == [client.key_header]
        assert logged.key_matches(made_up_key)
        assert not logged.key_matches(made_up_key + "x")
        assert made_up_key not in json.dumps(logged.as_json())


def test_another_script_from_now_on(client, serve):
    from barry_cli.verify.models import Script

    rule = {"when": "x", "then": [{"status": 500, "times": 1}, "first"]}
    with serve(rule) as server:
        assert client.ask(server, [("user", "x")]).status == 500
        assert client.say(server, [("user", "x")]).text == "first"
        server.play(Script.parse({"rules": [rule]}))
        assert client.ask(server, [("user", "x")]).status == 500
        server.play(Script())
        assert client.say(server, [("user", "x")]).text == "ok"
        assert len(server.requests) == 4
