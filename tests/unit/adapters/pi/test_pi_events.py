"""What pi's lines mean: its recorded streams, and single lines of every kind."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_adapter_pi import events as read
from barry_adapter_pi.declared import VERSION
from barry_adapter_pi.dialogue import Dialogue
from barry_cli.agents import AgentInput, Observed, Raw, Retrying, Stopped
from barry_cli.contract.events import (
    Done,
    Failed,
    Init,
    Partial,
    Result,
    Text,
    ToolResult,
    ToolUse,
    UsageReported,
)
from barry_cli.contract.session import Allowed, Denied, PermissionRequest, SessionConfig
from tests.streams import Stream, kinds_of, read_stream, replay, streams_of

CASES = {case: read_stream(path) for case, path in streams_of("pi").items()}


def means(line: dict[str, Any] | str) -> list[Any]:
    return list(read.events(line if isinstance(line, str) else json.dumps(line)))


def replayed(stream: Stream, *, limit: int | None = None) -> tuple[list[Any], list[str]]:
    limit = limit or (1 if stream is CASES["limited"] else None)
    config = SessionConfig(session_id="s", cwd="/w", max_turns=limit)
    denies = stream is CASES["denied"]

    def answer(request: PermissionRequest) -> Allowed | Denied:
        return Denied(reason="no") if denies else Allowed()

    dialogue = Dialogue(AgentInput(text="a prompt", config=config))
    return replay(stream.lines, read.events, dialogue, answer)


def of(found: list[Any], kind: type) -> list[Any]:
    return [event for event in found if isinstance(event, kind)]


# --- recorded streams ---


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_means_what_it_meant(case: str) -> None:
    found, _ = replayed(CASES[case])
    assert kinds_of(found) == CASES[case].kinds


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_is_of_the_pinned_build_and_of_no_machine(case: str) -> None:
    stream = CASES[case]
    assert stream.version == VERSION
    text = "\n".join([*stream.argv, *stream.lines])
    assert not re.search(r"(?<![\w/])/(work|tmp|root/\.)/|\.harnesses|sk-made-up", text)


def test_every_way_a_turn_goes_was_recorded() -> None:
    assert set(CASES) == {
        "text",
        "allowed",
        "denied",
        "read",
        "retried",
        "resumed",
        "forked",
        "steered",
        "limited",
        "compacted",
        "overflowed",
        "interrupted-tool",
        "interrupted-text",
        "interrupted-question",
        "fault-401",
        "fault-429",
        "fault-500",
        "fault-529",
        "fault-refused",
    }


@pytest.mark.parametrize("case", CASES)
def test_a_turn_ends_once_and_names_its_conversation_once(case: str) -> None:
    found, _ = replayed(CASES[case])
    assert len(of(found, Done) + of(found, Failed) + of(found, Stopped)) == 1
    assert isinstance(found[-1], Done | Failed | Stopped)
    assert len(of(found, Init)) == 1


def test_a_text_turn() -> None:
    found, _ = replayed(CASES["text"])
    assert [each.text for each in of(found, Text)] == ["the first answer"]
    assert "".join(each.text for each in of(found, Partial)) == "the first answer"
    assert of(found, Result)[0].result == "the first answer"
    assert of(found, Observed) == [Observed(model="scripted-model")]
    (done,) = of(found, Done)
    (reported,) = of(found, UsageReported)
    assert done.usage.input == reported.usage.input > 1000
    assert done.usage.complete
    assert done.turns == 1


def test_a_call_and_its_result() -> None:
    found, _ = replayed(CASES["allowed"])
    (call,) = of(found, ToolUse)
    (result,) = of(found, ToolResult)
    assert (call.tool, call.input) == ("bash", {"command": "touch canary"})
    assert (result.id, result.result, result.error) == (call.id, "(no output)", None)
    (done,) = of(found, Done)
    assert done.turns == 2
    assert done.usage.output == sum(each.usage.output for each in of(found, UsageReported))


def test_a_denied_call_tells_the_agent_why() -> None:
    found, _ = replayed(CASES["denied"])
    (result,) = of(found, ToolResult)
    assert result.error
    assert result.result == "Barry says no to this: it was tried in a test"


def test_what_a_tool_gave_is_text_or_blocks() -> None:
    found, _ = replayed(CASES["read"])
    given = {each.id: each for each in of(found, ToolResult)}  # they come as they are ready
    text, picture, gone = (given[call.id] for call in of(found, ToolUse))
    assert text.result.strip() == "heron"
    assert [block["type"] for block in picture.result] == ["text", "image"]
    assert gone.error


def test_a_retry_ends_nothing() -> None:
    found, _ = replayed(CASES["retried"])
    assert [each.cause for each in of(found, Retrying)] == ["unavailable"]
    assert of(found, Result)[0].result == "at last"
    assert not of(found, Failed)


def test_a_summary_ends_nothing_and_its_own_tokens_are_missing() -> None:
    for case, answer in (("compacted", "the first answer"), ("overflowed", "it fits now")):
        found, _ = replayed(CASES[case])
        assert of(found, Result)[0].result == answer
        (done,) = of(found, Done)
        assert not done.usage.complete
        assert not of(found, Failed)


@pytest.mark.parametrize("case", ["interrupted-tool", "interrupted-text", "interrupted-question"])
def test_an_interrupted_turn_is_stopped_and_has_not_failed(case: str) -> None:
    found, _ = replayed(CASES[case])
    assert of(found, Stopped) == [Stopped("aborted")]
    assert not of(found, Result)


def test_what_was_said_before_an_interrupt_is_kept() -> None:
    found, _ = replayed(CASES["interrupted-text"])
    (text,) = of(found, Text)
    assert "a b c d e f g h".startswith(text.text)


def test_a_limit_of_turns_is_a_failure_that_says_so() -> None:
    found, written = replayed(CASES["limited"])
    assert [each.error for each in of(found, Failed)] == ["the limit of 1 turns is reached"]
    assert sum('"abort"' in each for each in written) == 1
    # With a higher limit the same lines are only an interrupted turn.
    found, written = replayed(CASES["limited"], limit=5)
    assert of(found, Stopped) == [Stopped("aborted")]
    assert not any('"abort"' in each for each in written)


FAILURES = {
    "fault-401": set[str](),
    "fault-429": {"quota"},
    "fault-500": {"unavailable"},
    "fault-529": {"unavailable"},
    "fault-refused": {"unavailable"},
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_says_what_it_is(case: str) -> None:
    found, _ = replayed(CASES[case])
    (failed,) = of(found, Failed)
    told = {name for name in ("quota", "unavailable", "lost") if getattr(read, name)(failed.error)}
    assert told == FAILURES[case]
    assert {each.cause for each in of(found, Retrying)} == FAILURES[case]
    assert not of(found, Text)


# --- single lines ---


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[]",
        "{}",
        '{"type": 1}',
        '{"type": "agent_end", "messages": []}',
        '{"type": "message_end"}',
        '{"type": "message_end", "message": {"role": "user", "content": "hello"}}',
        '{"type": "message_end", "message": {"role": "assistant", "content": "hello"}}',
        '{"type": "message_update", "assistantMessageEvent": {"type": "thinking_delta"}}',
        '{"type": "message_update", "assistantMessageEvent": {"type": "text_delta", "delta": 3}}',
        '{"type": "tool_execution_start", "toolCallId": "c", "toolName": "bash", "args": {}}',
        '{"type": "tool_execution_end", "isError": false}',
        '{"type": "extension_error", "error": "it broke"}',
        '{"type": "of another build"}',
    ],
)
def test_what_means_nothing_stays_as_it_is(line: str) -> None:
    assert means(line) == [Raw(line)]


def answer(**more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": [], "stopReason": "stop", "timestamp": 7, **more}
    return {"type": "message_end", "message": message}


def test_the_calls_of_an_answer_that_broke_off_are_not_run() -> None:
    call = {"type": "toolCall", "id": "c", "name": "bash", "arguments": {"command": "l"}}
    assert means(answer(content=[call], stopReason="toolUse")) == [
        ToolUse(id="c", tool="bash", input={"command": "l"})
    ]
    for reason in ("error", "aborted"):
        assert not of(means(answer(content=[call], stopReason=reason)), ToolUse)


def test_the_model_that_answered_outranks_the_one_that_was_asked() -> None:
    assert means(answer(model="alias", responseModel="real-1")) == [Observed(model="real-1")]


def test_tokens_are_told_only_where_pi_counts_them_all() -> None:
    usage = {"input": 3, "output": 4, "cacheRead": 5, "cacheWrite": 6, "totalTokens": 18}
    (reported,) = means(answer(usage=usage))
    assert reported.id == "7"
    counted = reported.usage
    assert (counted.input, counted.output, counted.cached, counted.cache_write) == (3, 4, 5, 6)
    del usage["cacheWrite"]
    assert not of(means(answer(usage=usage)), UsageReported)


@pytest.mark.parametrize(
    ("text", "quota", "unavailable"),
    [
        ("429 too many requests", True, False),
        ('429 {"type":"error","error":{"type":"rate_limit_error"}}', True, False),
        ('{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}', True, False),
        ("You exceeded your current quota, please check your plan", True, False),
        ("insufficient_quota", True, False),
        ("529 overloaded", False, True),
        ('500 {"type":"error","error":{"type":"api_error","message":"it broke"}}', False, True),
        ('{"error":{"code":503,"status":"UNAVAILABLE"}}', False, True),
        ("Connection error.", False, True),
        ("fetch failed", False, True),
        ("connect ECONNREFUSED 127.0.0.1:9", False, True),
        ("Request timed out.", False, True),
        ("401 no such key", False, False),
        ("400 the input has 500 words and 429 lines", False, False),
        ("No API key found for anthropic", False, False),
    ],
)
def test_texts_of_failures(text: str, quota: bool, unavailable: bool) -> None:
    assert read.quota(text) is quota
    assert read.unavailable(text) is unavailable


def test_a_conversation_that_is_not_there() -> None:
    assert read.lost("No session found matching 'abc'")
    assert not read.lost("401 no such key")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["type", "role", "message", "content", "text", "id", "name", "usage", "arguments",
             "input", "output", "cacheRead", "cacheWrite", "delta", "timestamp", "model",
             "stopReason", "sessionId", "isStreaming"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                ["message_end", "message_start", "message_update", "tool_execution_end",
                 "tool_execution_update", "auto_retry_start", "auto_retry_end", "agent_start",
                 "agent_end", "turn_end", "compaction_end", "response", "extension_ui_request"]
            ),
            st.dictionaries(
                st.sampled_from(
                    ["message", "assistantMessageEvent", "toolCallId", "toolName", "result",
                     "isError", "errorMessage", "attempt", "willRetry", "command", "success",
                     "data", "id", "method", "title", "placeholder", "statusKey"]
                ),
                _JSON | st.sampled_from(["get_state", "input", "barry-ruling", "setStatus"]),
            ),
        ),
        max_size=6,
    )
)  # fmt: skip
def test_no_line_is_too_strange(rows: list[tuple[str, dict[str, Any]]]) -> None:
    dialogue = Dialogue(AgentInput(text="a prompt", config=SessionConfig(session_id="s", cwd="/w")))
    dialogue.start()
    for kind, row in rows:
        line = json.dumps({**row, "type": kind})
        assert means(line)
        assert means(line[:-3])
        dialogue.read(line)
