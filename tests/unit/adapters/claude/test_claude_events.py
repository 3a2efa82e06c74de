"""What Claude Code's lines mean: its recorded streams, and single lines of every kind."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.agents import AgentInput, Observed, Quota, Raw, Retrying, Stopped
from barry_cli.contract.events import (
    Done,
    Failed,
    Init,
    Partial,
    Result,
    Text,
    ToolProgress,
    ToolResult,
    ToolUse,
    UsageReported,
)
from barry_cli.contract.session import Allowed, SessionConfig
from tests.streams import Stream, kinds_of, read_stream, replay, streams_of

CASES = {case: read_stream(path) for case, path in streams_of("claude").items()}


def means(line: dict[str, Any] | str) -> list[Any]:
    from barry_adapter_claude.events import events

    return list(events(line if isinstance(line, str) else json.dumps(line)))


def replayed(stream: Stream) -> tuple[list[Any], list[str]]:
    from barry_adapter_claude.dialogue import Dialogue
    from barry_adapter_claude.events import events

    config = SessionConfig(session_id="s", cwd="/w")
    schema = any(word.startswith("--json-schema") for word in stream.argv) or None
    dialogue = Dialogue(AgentInput(text="a prompt", config=config, output_schema=schema))
    return replay(stream.lines, events, dialogue, lambda request: Allowed())


def of(found: list[Any], kind: type) -> list[Any]:
    return [event for event in found if isinstance(event, kind)]


# --- recorded streams ---


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_means_what_it_meant(case: str) -> None:
    stream = CASES[case]
    found, _ = replayed(stream)
    assert kinds_of(found) == stream.kinds


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_is_of_the_pinned_build_and_of_no_machine(case: str) -> None:
    from barry_adapter_claude.declared import VERSION

    stream = CASES[case]
    assert stream.version == VERSION
    text = "\n".join([*stream.argv, *stream.lines])
    assert not re.search(r"(?<![\w/])/(work|tmp|root/\.)/|\.harnesses|sk-made-up", text)


def test_every_way_a_turn_goes_was_recorded() -> None:
    assert set(CASES) >= {
        "text",
        "allowed",
        "denied",
        "subagent",
        "structured",
        "max-turns",
        "retried",
        "resumed",
        "forked",
        "lost",
        "interrupted-tool",
        "interrupted-text",
        "fault-401",
        "fault-429",
        "fault-500",
        "fault-529",
        "fault-refused",
    }


@pytest.mark.parametrize("case", CASES)
def test_a_turn_ends_once(case: str) -> None:
    found, _ = replayed(CASES[case])
    assert len(of(found, Done) + of(found, Failed) + of(found, Stopped)) == 1


def test_a_text_turn() -> None:
    found, _ = replayed(CASES["text"])
    (init,) = of(found, Init)
    assert init.harness_session_id
    assert [each.text for each in of(found, Text)] == ["the first answer"]
    assert "".join(each.text for each in of(found, Partial)) == "the first answer"
    assert of(found, Result)[0].result == "the first answer"
    (done,) = of(found, Done)
    assert done.usage is not None
    assert done.usage.input > 1000
    assert done.usage.complete
    assert done.turns == 1
    assert of(found, Observed)[0].version == CASES["text"].version


def test_a_call_and_its_result() -> None:
    found, _ = replayed(CASES["allowed"])
    (call,) = of(found, ToolUse)
    (result,) = of(found, ToolResult)
    assert (call.tool, call.input["command"]) == ("Bash", "touch canary")
    assert result.id == call.id
    assert result.error is None


def test_a_denied_call_tells_the_agent_why() -> None:
    found, _ = replayed(CASES["denied"])
    (result,) = of(found, ToolResult)
    assert result.error
    assert result.result == "Barry says no to this: it was tried in a test"


def test_what_a_subagent_does_carries_the_call_that_began_it() -> None:
    found, _ = replayed(CASES["subagent"])
    agent, inner = of(found, ToolUse)
    assert (agent.tool, agent.parent_tool_use_id) == ("Agent", None)
    assert (inner.tool, inner.parent_tool_use_id) == ("Bash", agent.id)
    inner_texts = [each.text for each in of(found, Text) if each.parent_tool_use_id == agent.id]
    assert inner_texts == ["the inner task", "the inner task is done"]


def test_a_subagents_tokens_are_counted() -> None:
    """The final line's own ``usage`` leaves them out."""
    rows = [json.loads(each) for each in CASES["subagent"].lines]
    (line,) = [row for row in rows if row.get("type") == "result"]
    found, _ = replayed(CASES["subagent"])
    (done,) = of(found, Done)
    assert done.usage.input > line["usage"]["input_tokens"]


def test_a_structured_answer() -> None:
    found, _ = replayed(CASES["structured"])
    assert of(found, Result)[0].structured == {"n": 4}
    # The answer's own tool is nobody's to rule on.
    assert "permission_request" not in kinds_of(found)


def test_a_retry_ends_nothing() -> None:
    found, _ = replayed(CASES["retried"])
    assert [each.cause for each in of(found, Retrying)] == ["unavailable"]
    assert of(found, Result)[0].result == "at last"
    assert not of(found, Failed)


@pytest.mark.parametrize("case", ["interrupted-tool", "interrupted-text"])
def test_an_interrupted_turn_is_stopped_and_has_not_failed(case: str) -> None:
    found, _ = replayed(CASES[case])
    assert of(found, Stopped) == [Stopped("aborted")]
    assert not of(found, Failed)
    assert not any("interrupted by user" in each.text for each in of(found, Text))


def test_what_was_said_before_an_interrupt_is_kept() -> None:
    found, _ = replayed(CASES["interrupted-text"])
    (text,) = of(found, Text)
    assert "a b c d e f g h".startswith(text.text)


FAILURES = {
    "fault-401": "process",
    "fault-429": "quota",
    "fault-500": "unavailable",
    "fault-529": "unavailable",
    "fault-refused": "unavailable",
    "lost": "lost",
    "max-turns": "process",
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_says_what_it_is(case: str) -> None:
    from barry_adapter_claude import events as read

    found, _ = replayed(CASES[case])
    (failed,) = of(found, Failed)
    told = {
        name
        for name, told_by in (
            ("quota", read.quota),
            ("unavailable", read.unavailable),
            ("lost", read.lost),
        )
        if told_by(failed.error)
    }
    assert told == ({FAILURES[case]} - {"process"})
    assert bool(of(found, Quota)) == (case == "fault-429")
    # Claude Code says an error as if the model had said it; that is told once.
    assert not of(found, Text) or case == "max-turns"


# --- single lines ---


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[]",
        "{}",
        '{"type": 1}',
        '{"type": "keep_alive"}',
        '{"type": "assistant"}',
        '{"type": "assistant", "message": {"content": ["text", {"type": "text"}]}}',
        '{"type": "user", "message": {"content": 3}}',
        '{"type": "system", "subtype": "init"}',
        '{"type": "stream_event", "event": {"delta": {"type": "text_delta", "text": 3}}}',
        '{"type": "tool_progress", "tool_use_id": "t"}',
        '{"type": "command_lifecycle", "state": "queued"}',
    ],
)
def test_what_means_nothing_stays_as_it_is(line: str) -> None:
    assert means(line) == [Raw(line)]


def progress(name: str, parent: str | None, tool: str = "Bash") -> dict[str, Any]:
    return {
        "type": "tool_progress",
        "tool_use_id": name,
        "tool_name": tool,
        "parent_tool_use_id": parent,
        "elapsed_time_seconds": 30,
        "heartbeat": True,
    }


def test_a_heartbeat_while_barry_rules_is_no_progress() -> None:
    (found,) = means(progress("hook-PreToolUse-t-heartbeat-0", "t", "PreToolUse"))
    assert isinstance(found, Raw)


def test_a_heartbeat_is_that_of_its_call() -> None:
    assert means(progress("t-heartbeat-0", "t")) == [
        ToolProgress(id="t", tool="Bash", elapsed_seconds=30)
    ]
    assert means(progress("t-heartbeat-1", "agent"))[0].parent_tool_use_id == "agent"


def test_only_a_rejected_limit_is_a_quota() -> None:
    info = {"status": "rejected", "resetsAt": 1796070000, "rateLimitType": "five_hour"}
    line = {"type": "rate_limit_event", "rate_limit_info": info}
    (quota,) = means(line)
    assert quota.reset_at == "2026-11-30T20:20:00Z"
    info["status"] = "allowed_warning"
    assert len(of(means(line), Raw)) == 1


def test_without_the_whole_count_the_main_threads_is_a_lower_bound() -> None:
    line = {
        "type": "result",
        "subtype": "success",
        "usage": {"input_tokens": 3, "output_tokens": 4, "cache_read_input_tokens": 5},
    }
    _, done = means(line)
    assert (done.usage.input, done.usage.output, done.usage.cached) == (3, 4, 5)
    assert not done.usage.complete


def test_the_tokens_of_a_turn_that_failed_are_reported() -> None:
    usage = {"claude-x": {"inputTokens": 7, "outputTokens": 1, "cacheReadInputTokens": 2}}
    line = {
        "type": "result",
        "subtype": "success",
        "is_error": True,
        "uuid": "u",
        "result": "API Error: 500",
        "model_usage_since_last_result": usage,
    }
    reported, failed = means(line)
    assert isinstance(reported, UsageReported)
    assert (reported.usage.input, reported.usage.cached) == (7, 2)
    assert isinstance(failed, Failed)


@pytest.mark.parametrize(
    ("text", "quota", "unavailable"),
    [
        ("API Error: Request rejected (429) · slow down", True, False),
        ("You\N{RIGHT SINGLE QUOTATION MARK}ve hit your weekly limit · resets 3pm", True, False),
        ("Claude usage limit reached. Your limit will reset at 3pm", True, False),
        ("Credit balance is too low", True, False),
        ("API Error: 529 Overloaded. This is a server-side issue", False, True),
        ("API Error: Connection dropped (ECONNRESET). Check the gateway", False, True),
        ("API Error: Unable to connect to API (ConnectionRefused)", False, True),
        ("Failed to authenticate. API Error: 401 no such key", False, False),
        ("API Error: 400 the input is too long", False, False),
        ("it wrote about the usage of limits in 500 words", False, False),
    ],
)
def test_texts_of_failures(text: str, quota: bool, unavailable: bool) -> None:
    from barry_adapter_claude import events as read

    assert read.quota(text) is quota
    assert read.unavailable(text) is unavailable


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["type", "subtype", "message", "content", "text", "id", "name", "usage", "errors",
             "model_usage_since_last_result", "num_turns", "event", "delta", "session_id",
             "rate_limit_info", "resetsAt", "status", "elapsed_time_seconds", "tool_use_id",
             "tool_name", "uuid", "is_error"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(
    st.sampled_from(
        ["assistant", "user", "system", "result", "stream_event", "tool_progress",
         "rate_limit_event", "control_request"]
    ),
    st.dictionaries(st.sampled_from(["subtype", "message", "event", "usage", "errors", "uuid",
        "model_usage_since_last_result", "num_turns", "duration_ms", "rate_limit_info",
        "session_id", "elapsed_time_seconds", "tool_use_id", "tool_name", "is_error"]), _JSON),
)  # fmt: skip
def test_no_line_is_too_strange(kind: str, row: dict[str, Any]) -> None:
    for line in (json.dumps({**row, "type": kind}), json.dumps({**row, "type": kind})[:-3]):
        assert means(line)
