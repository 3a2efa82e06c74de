"""What Codex's lines mean: its recorded streams, and single lines of every kind."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_adapter_codex import BUILD
from barry_adapter_codex import events as read
from barry_adapter_codex.dialogue import Dialogue
from barry_adapter_codex.events import events
from barry_cli.agents import AgentInput, Continuation, Observed, Quota, Raw, Retrying, Stopped
from barry_cli.contract.events import (
    Done,
    Failed,
    Init,
    Partial,
    PermissionRequested,
    Result,
    Text,
    ToolResult,
    ToolUse,
    UsageReported,
)
from barry_cli.contract.session import Allowed, Denied, SessionConfig
from tests.streams import Stream, kinds_of, read_stream, replay, streams_of

CASES = {case: read_stream(path) for case, path in streams_of("codex").items()}
SENTENCE = "Barry says no to this: it was tried in a test"
SCHEMA = {"type": "object"}


def means(line: dict[str, Any] | str) -> list[Any]:
    return list(events(line if isinstance(line, str) else json.dumps(line)))


def replayed(case: str) -> tuple[list[Any], list[str]]:
    asked: dict[str, Any] = {}
    if case == "structured":
        asked["output_schema"] = SCHEMA
    if case in ("resumed", "forked", "lost"):
        known = conversation_of(CASES["text"])
        asked["continuation"] = Continuation(known, case == "forked")
    config = SessionConfig(session_id="s", cwd="/w")
    dialogue = Dialogue(AgentInput(text="a prompt", config=config, **asked))
    denied = case.endswith("denied")

    def answer(request: Any) -> Allowed | Denied:
        return Denied(reason=SENTENCE) if denied else Allowed()

    return replay(CASES[case].lines, events, dialogue, answer)


def conversation_of(stream: Stream) -> str:
    answers = (json.loads(line).get("result", {}) for line in stream.lines)
    return str(next(each for each in answers if "thread" in each)["thread"]["id"])


def of(found: list[Any], kind: type) -> list[Any]:
    return [event for event in found if isinstance(event, kind)]


# --- recorded streams ---


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_means_what_it_meant(case: str) -> None:
    found, _ = replayed(case)
    assert kinds_of(found) == CASES[case].kinds


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_is_of_the_pinned_build_and_of_no_machine(case: str) -> None:
    stream = CASES[case]
    assert stream.version == BUILD
    text = "\n".join([*stream.argv, *stream.lines])
    assert not re.search(r"(?<![\w/])/(work|tmp|root/\.)/|\.harnesses|sk-made-up", text)


def test_every_way_a_turn_goes_was_recorded() -> None:
    assert set(CASES) >= {
        "text",
        "allowed",
        "denied",
        "both",
        "patch",
        "patch-denied",
        "server",
        "server-denied",
        "scripted",
        "structured",
        "retried",
        "resumed",
        "forked",
        "lost",
        "steered",
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
    found, _ = replayed(case)
    assert len(of(found, Done) + of(found, Failed) + of(found, Stopped)) == 1


@pytest.mark.parametrize("case", [case for case in CASES if "interrupted" not in case])
def test_every_call_has_its_result(case: str) -> None:
    found, _ = replayed(case)
    assert [each.id for each in of(found, ToolUse)] == sorted(
        (each.id for each in of(found, ToolResult)),
        key=[each.id for each in of(found, ToolUse)].index,
    )


def test_a_text_turn() -> None:
    found, written = replayed("text")
    assert {each.harness_session_id for each in of(found, Init)} == {conversation_of(CASES["text"])}
    assert [each.text for each in of(found, Text)] == ["the first answer"]
    assert "".join(each.text for each in of(found, Partial)) == "the first answer"
    assert of(found, Result)[0].result == "the first answer"
    (done,) = of(found, Done)
    assert done.usage.input > 1000
    assert done.usage.complete
    assert done.duration_ms > 0
    version, model = of(found, Observed)
    assert (version.version, model.model) == (BUILD, "gpt-5.5")
    methods = [json.loads(line)["method"] for line in "".join(written).splitlines()]
    assert methods == ["initialize", "initialized", "account/read", "thread/start", "turn/start"]


def test_a_command_and_its_result() -> None:
    found, _ = replayed("allowed")
    (call,) = of(found, ToolUse)
    (asked,) = of(found, PermissionRequested)
    (result,) = of(found, ToolResult)
    assert call.tool == asked.tool == "exec_command"
    assert call.input == asked.input == {"cmd": "touch canary", "workdir": "/w"}
    assert (result.id, result.result, result.error) == (call.id, "", None)


@pytest.mark.parametrize("case", ["denied", "patch-denied"])
def test_a_denied_call_has_the_sentence_as_its_result(case: str) -> None:
    found, written = replayed(case)
    (result,) = of(found, ToolResult)
    assert (result.result, result.error) == (SENTENCE, True)
    told = next(line for line in written if "inject_items" in line)
    said, declined = (json.loads(line) for line in told.splitlines())
    assert SENTENCE in said["params"]["items"][0]["content"][0]["text"]
    assert declined["result"] == {"decision": "decline"}


def test_a_change_of_files_is_a_patch() -> None:
    found, _ = replayed("patch")
    (asked,) = of(found, PermissionRequested)
    assert asked.tool == "apply_patch"
    assert asked.input["command"].splitlines() == [
        "*** Begin Patch",
        "*** Delete File: /w/gone.txt",
        "*** Add File: /w/new.txt",
        "+one",
        "*** Update File: /w/old.txt",
        "*** Move to: /w/moved.txt",
        "@@ -1 +1 @@",
        "-one",
        "+two",
        "*** End Patch",
    ]


def test_a_servers_call() -> None:
    found, _ = replayed("server")
    (call,) = of(found, ToolUse)
    (asked,) = of(found, PermissionRequested)
    assert call.tool == asked.tool == "mcp__small__greet"
    assert call.input == asked.input == {"to": "you"}
    (result,) = of(found, ToolResult)
    assert result.result == [{"type": "text", "text": "hello from the server"}]
    found, _ = replayed("server-denied")
    assert of(found, ToolResult)[0].error


def test_a_call_from_a_script_is_a_call() -> None:
    found, _ = replayed("scripted")
    (call,) = of(found, ToolUse)
    (asked,) = of(found, PermissionRequested)
    assert call.input == asked.input
    assert not of(found, Failed)


def test_the_tokens_of_a_turn_are_its_own() -> None:
    """Codex counts over the conversation."""
    first = of(replayed("text")[0], Done)[0].usage
    for case in ("resumed", "forked"):
        usage = of(replayed(case)[0], Done)[0].usage
        assert usage.complete
        assert usage.input + usage.cached < 1.5 * first.input


def test_a_message_in_a_turns_midst_is_seen_to_be_taken() -> None:
    config = SessionConfig(session_id="s", cwd="/w")
    dialogue = Dialogue(AgentInput(text="a prompt", config=config))
    dialogue.start()
    steps = [dialogue.read(line) for line in CASES["steered"].lines]
    assert sum(step.consumed for step in steps if step is not None) == 2
    assert not [each for step in steps if step for each in of(list(step.events), Text)][1:]


def test_a_structured_answer() -> None:
    found, written = replayed("structured")
    assert of(found, Result)[0].structured == {"n": 4}
    begun = next(json.loads(line) for line in written if '"turn/start"' in line)
    assert begun["params"]["outputSchema"] == SCHEMA


def test_a_retry_ends_nothing() -> None:
    found, _ = replayed("retried")
    assert of(found, Result)[0].result == "at last"
    assert not of(found, Failed)
    (tried,) = of(replayed("fault-refused")[0], Retrying)[-1:]
    assert tried.cause == "unavailable"
    assert "Connection failed" in tried.text


@pytest.mark.parametrize("case", ["interrupted-tool", "interrupted-text"])
def test_an_interrupted_turn_is_stopped_and_has_not_failed(case: str) -> None:
    found, _ = replayed(case)
    assert of(found, Stopped) == [Stopped("aborted")]
    assert not of(found, Failed)
    assert all(not each.usage.complete for each in of(found, UsageReported))


FAILURES = {
    "fault-401": "process",
    "fault-429": "quota",
    "fault-500": "unavailable",
    "fault-529": "unavailable",
    "fault-refused": "unavailable",
    "lost": "lost",
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_says_what_it_is(case: str) -> None:
    found, _ = replayed(case)
    (failed,) = of(found, Failed)
    told_by = {"quota": read.quota, "unavailable": read.unavailable, "lost": read.lost}
    told = {name for name, says in told_by.items() if says(failed.error)}
    assert told == ({FAILURES[case]} - {"process"})
    assert bool(of(found, Quota)) == (case == "fault-429")


# --- single lines ---


@pytest.mark.parametrize(
    "line",
    [
        "not JSON",
        "[]",
        "{}",
        '{"method": 1}',
        '{"method": "item/started"}',
        '{"method": "item/started", "params": {"item": {"type": "reasoning", "id": "i"}}}',
        '{"method": "item/completed", "params": {"item": {"type": "userMessage", "id": "i"}}}',
        '{"method": "item/completed", "params": {"item": {"type": "agentMessage", "text": ""}}}',
        '{"method": "item/agentMessage/delta", "params": {"delta": 3}}',
        '{"method": "turn/completed", "params": {"turn": {"status": "inProgress"}}}',
        '{"method": "error", "params": {"willRetry": false, "error": {"message": "m"}}}',
        '{"method": "account/rateLimits/updated", "params": {}}',
    ],
)
def test_what_means_nothing_stays_as_it_is(line: str) -> None:
    assert means(line) == [Raw(line)]


@pytest.mark.parametrize(
    ("info", "cause"),
    [
        ("usageLimitExceeded", "quota"),
        ("rateLimitExceeded", "quota"),
        ("internalServerError", "unavailable"),
        ("serverOverloaded", "unavailable"),
        ("unauthorized", None),
        ("contextWindowExceeded", None),
        ({"responseTooManyFailedAttempts": {"httpStatusCode": 429}}, "quota"),
        ({"httpConnectionFailed": {"httpStatusCode": 503}}, "unavailable"),
        ({"httpConnectionFailed": {"httpStatusCode": 401}}, None),
        ({"httpConnectionFailed": {"httpStatusCode": None}}, "unavailable"),
        ({"responseStreamDisconnected": {}}, "unavailable"),
        ({"activeTurnNotSteerable": {"turnKind": "review"}}, None),
        ({"a": 1, "b": 2}, None),
        (None, None),
    ],
)
def test_the_cause_of_a_trouble(info: object, cause: str | None) -> None:
    error = {"message": "m", "codexErrorInfo": info, "additionalDetails": "more"}
    (tried,) = means({"method": "error", "params": {"willRetry": True, "error": error}})
    assert (tried.cause, tried.text) == (cause, "m: more")


@pytest.mark.parametrize(
    ("text", "quota", "unavailable"),
    [
        ("exceeded retry limit, last status: 429 Too Many Requests", True, False),
        (
            "You\N{RIGHT SINGLE QUOTATION MARK}ve hit your usage limit. Try again at 3pm",
            True,
            False,
        ),
        ("Quota exceeded. Check your plan and billing details.", True, False),
        ("unexpected status 503 Service Unavailable: no", False, True),
        (
            "We\N{RIGHT SINGLE QUOTATION MARK}re currently experiencing high demand",
            False,
            True,
        ),
        ("Connection failed: error sending request", False, True),
        ("stream disconnected before completion: network error", False, True),
        ("unexpected status 401 Unauthorized: no such key", False, False),
        ("the context window is full", False, False),
        ("it wrote about the status of 500 limits", False, False),
    ],
)
def test_texts_of_failures(text: str, quota: bool, unavailable: bool) -> None:
    assert read.quota(text) is quota
    assert read.unavailable(text) is unavailable


def test_an_exit_code_makes_an_error_and_no_output_is_none() -> None:
    item = {"type": "commandExecution", "id": "c", "command": "false", "status": "failed"}
    (result,) = means({"method": "item/completed", "params": {"item": {**item, "exitCode": 1}}})
    assert (result.result, result.error) == ("", True)
    (result,) = means({"method": "item/completed", "params": {"item": item}})
    assert (result.result, result.error) == ("failed", True)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["type", "id", "item", "turn", "status", "error", "message", "codexErrorInfo", "text",
             "changes", "kind", "path", "diff", "command", "server", "tool", "arguments", "result",
             "durationMs", "delta", "aggregatedOutput", "httpStatusCode"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip
_ITEM = st.fixed_dictionaries(
    {
        "id": st.just("i"),
        "type": st.sampled_from(
            ["agentMessage", "commandExecution", "fileChange", "mcpToolCall", "webSearch"]
        ),
    },
    optional=dict.fromkeys(("changes", "command", "server", "tool", "arguments", "result"), _JSON),
)


@given(
    st.sampled_from(
        ["error", "item/started", "item/completed", "item/agentMessage/delta", "turn/completed"]
    ),
    st.dictionaries(st.sampled_from(["item", "turn", "error", "willRetry", "delta"]), _JSON)
    | st.builds(lambda item: {"item": item}, _ITEM),
)
def test_no_line_is_too_strange(method: str, params: dict[str, Any]) -> None:
    line = json.dumps({"method": method, "params": params})
    assert means(line)
    assert means(line[:-3])
