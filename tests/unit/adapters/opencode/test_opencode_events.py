"""What opencode tells: its recorded streams, and single things of every kind."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.agents import AgentInput, Continuation, Observed, Quota, Raw, Retrying, Stopped
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
from barry_cli.contract.models import Endpoint
from barry_cli.contract.session import Allowed, Denied, SessionConfig
from tests.streams import Stream, kinds_of, read_stream, replay, streams_of

CASES = {case: read_stream(path) for case, path in streams_of("opencode").items()}
SENTENCE = "Barry says no to this: it was tried in a test"


def replayed(case: str) -> tuple[list[Any], list[str]]:
    from barry_adapter_opencode.dialogue import Dialogue
    from barry_adapter_opencode.events import events

    stream = CASES[case]
    config = SessionConfig(
        session_id="s",
        cwd="/w",
        endpoint=Endpoint.model_validate({"url": "http://127.0.0.1:1", "api": "openai-chat"}),
        model="scripted/scripted-model",
    )
    goes_on = None
    if case in ("resumed", "forked"):
        goes_on = Continuation(resumed(stream), fork=case == "forked")
    dialogue = Dialogue(
        AgentInput(text="a prompt", config=config, continuation=goes_on), servers=("small",)
    )
    decision = Denied(reason=SENTENCE) if case == "denied" else Allowed()
    return replay(stream.lines, events, dialogue, lambda request: decision)


def resumed(stream: Stream) -> str:
    """A conversation's id in a stream."""
    found = re.search(r"ses_\w+", "\n".join(stream.lines))
    assert found
    return found.group()


def of(found: list[Any], kind: type) -> list[Any]:
    return [event for event in found if isinstance(event, kind)]


# --- recorded streams ---


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_means_what_it_meant(case: str) -> None:
    found, _ = replayed(case)
    assert kinds_of(found) == CASES[case].kinds


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_is_of_the_pinned_build_and_of_no_machine(case: str) -> None:
    from barry_adapter_opencode.declared import VERSION

    stream = CASES[case]
    assert stream.version == VERSION
    text = "\n".join([*stream.argv, *stream.lines])
    assert not re.search(r"(?<![\w/])/(work|tmp|root/\.)/|\.harnesses|sk-made-up", text)


def test_every_way_a_turn_goes_was_recorded() -> None:
    assert set(CASES) >= {
        "text",
        "allowed",
        "denied",
        "unasked",
        "subagent",
        "no-such-tool",
        "server",
        "retried",
        "resumed",
        "forked",
        "interrupted-tool",
        "interrupted-text",
        "steered",
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


def test_a_text_turn() -> None:
    found, _ = replayed("text")
    (init,) = of(found, Init)
    assert init.harness_session_id.startswith("ses_")
    assert [each.text for each in of(found, Text)] == ["the first answer"]
    assert "".join(each.text for each in of(found, Partial)) == "the first answer"
    assert of(found, Result)[0].result == "the first answer"
    (usage,) = of(found, UsageReported)
    assert usage.usage.input > 1000
    assert usage.usage.complete
    observed = of(found, Observed)
    assert observed[0].version == CASES["text"].version
    assert observed[-1].model == "barry/scripted-model"


def test_a_call_and_its_result() -> None:
    found, _ = replayed("allowed")
    (call,) = of(found, ToolUse)
    (result,) = of(found, ToolResult)
    assert (call.tool, call.input["command"]) == ("bash", "touch canary")
    assert result.id == call.id
    assert result.error is None
    assert [each.text for each in of(found, Text)] == ["I try it.", "it was tried"]
    assert of(found, Result)[0].result == "it was tried"


def test_a_denied_call_tells_the_agent_why() -> None:
    found, written = replayed("denied")
    (result,) = of(found, ToolResult)
    assert (result.error, result.result) == (True, SENTENCE)
    assert any(SENTENCE in line for line in written)


def test_what_opencode_does_not_ask_about_is_put_to_barry() -> None:
    assert "session/request_permission" not in "\n".join(CASES["unasked"].lines)
    found, _ = replayed("unasked")
    assert "permission_request" in kinds_of(found)


def test_what_a_subagent_does_carries_the_call_that_began_it() -> None:
    found, _ = replayed("subagent")
    task, inner = of(found, ToolUse)
    assert (task.tool, task.parent_tool_use_id) == ("task", None)
    assert (inner.tool, inner.parent_tool_use_id) == ("bash", task.id)
    assert [each.text for each in of(found, Text) if each.parent_tool_use_id == task.id] == [
        "the inner task is done"
    ]
    assert len([each for each in of(found, UsageReported) if each.parent_tool_use_id]) == 2


def test_a_tool_that_is_not_there_acts_on_nothing_and_is_nobodys_to_rule_on() -> None:
    found, _ = replayed("no-such-tool")
    assert [each.tool for each in of(found, ToolUse)] == ["invalid"]
    assert "permission_request" not in kinds_of(found)


def test_a_servers_tool_has_the_name_that_bounds_give_it() -> None:
    found, _ = replayed("server")
    assert [each.tool for each in of(found, ToolUse)] == ["mcp__small__greet"]


def test_a_retry_ends_nothing() -> None:
    found, _ = replayed("retried")
    assert len(of(found, Retrying)) == 1
    assert of(found, Result)[0].result == "at last"


@pytest.mark.parametrize("case", ["resumed", "forked"])
def test_a_conversation_that_goes_on_is_not_told_again(case: str) -> None:
    found, _ = replayed(case)
    assert [each.text for each in of(found, Text)] == ["the first answer"]


@pytest.mark.parametrize("case", ["interrupted-tool", "interrupted-text"])
def test_an_interrupted_turn_is_stopped_and_has_not_failed(case: str) -> None:
    found, _ = replayed(case)
    assert of(found, Stopped) == [Stopped("aborted")]
    assert not of(found, Failed)
    assert not any(each.usage.complete for each in of(found, UsageReported))


FAILURES = {
    "fault-401": "process",
    "fault-429": "quota",
    "fault-500": "unavailable",
    "fault-529": "unavailable",
    "fault-refused": "unavailable",
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_says_what_it_is(case: str) -> None:
    from barry_adapter_opencode import events as read

    found, _ = replayed(case)
    (failed,) = of(found, Failed)
    told = "quota" if read.quota(failed.error) else "process"
    if told == "process" and read.unavailable(failed.error):
        told = "unavailable"
    assert told == FAILURES[case]
    assert bool(of(found, Quota)) == (case == "fault-429")
    assert not of(found, Text)


@pytest.mark.parametrize(
    ("text", "quota", "unavailable"),
    [
        ("Too Many Requests", True, False),
        ("rate limit exceeded (429)", True, False),
        ("You exceeded your current quota", True, False),
        ("overloaded (after 3 attempts)", False, True),
        ("Bad Gateway (502)", False, True),
        ("Cannot connect to API: Unable to connect.", False, True),
        ("read ECONNRESET", False, True),
        ("no such key (401)", False, False),
        ("Invalid params: model not found: a/b", False, False),
        ("it wrote 5000 words", False, False),
    ],
)
def test_texts_of_failures(text: str, quota: bool, unavailable: bool) -> None:
    from barry_adapter_opencode import events as read

    assert read.quota(text) is quota
    assert read.unavailable(text) is unavailable


# --- single things ---


def told() -> Any:
    from barry_adapter_opencode.events import Told

    it = Told()
    it.session = "ses_1"
    return it


def thing(kind: str, session: str = "ses_1", **more: Any) -> dict[str, Any]:
    return {"type": kind, "sessionID": session, **more}


def test_lines_of_nobody_stay_as_they_are() -> None:
    from barry_adapter_opencode.events import events

    assert events('{"x": 1}') == (Raw('{"x": 1}'),)


def test_of_sessions_that_nobody_knows_nothing_is_made() -> None:
    delta = {"delta": "x", "field": "text"}
    assert told().read(thing("message.part.delta", "ses_2", **delta)) == ()
    assert told().read(thing("message.part.delta", **delta)) == (Partial(text="x"),)


def test_a_text_is_told_once_it_is_whole_and_only_once() -> None:
    it = told()
    part = {"id": "p", "messageID": "m", "type": "text", "text": "hello", "time": {"start": 1}}
    assert it.read(thing("message.part.updated", part=part)) == ()
    part["time"] = {"start": 1, "end": 2}
    assert it.read(thing("message.part.updated", part=part)) == (
        Text(text="hello", role="assistant"),
    )
    assert it.read(thing("message.part.updated", part=part)) == ()


@pytest.mark.parametrize("mark", ["synthetic", "ignored"])
def test_texts_that_nobody_said_are_left_out(mark: str) -> None:
    part = {"id": "p", "type": "text", "text": "x", "time": {"end": 2}, mark: True}
    assert told().read(thing("message.part.updated", part=part)) == ()


def test_the_last_answers_texts_are_the_result() -> None:
    it = told()
    for name, message, text in (("1", "m1", "first"), ("2", "m2", "a"), ("3", "m2", "b")):
        part = {"id": name, "messageID": message, "type": "text", "text": text, "time": {"end": 1}}
        it.read(thing("message.part.updated", part=part))
    assert it.answer == "ab"


def test_a_call_that_failed_before_it_was_asked_about_is_told_whole() -> None:
    state = {"status": "error", "input": {"a": 1}, "error": "it broke"}
    part = {"type": "tool", "tool": "bash", "callID": "c", "sessionID": "ses_1", "state": state}
    found = told().read(thing("message.part.updated", part=part))
    assert found == (
        ToolUse(id="c", tool="bash", input={"a": 1}),
        ToolResult(id="c", result="it broke", error=True),
    )


def test_the_last_attempt_is_the_turns_end() -> None:
    def status(attempt: int, message: str) -> Any:
        told_of = {"type": "retry", "attempt": attempt, "message": message}
        return told().read(thing("session.status", status=told_of))

    assert status(1, "Too Many Requests") == (
        Retrying(text="attempt 1: Too Many Requests", cause="quota"),
    )
    assert status(2, "what") == (Retrying(text="attempt 2: what"),)
    quota, failed = status(3, "Too Many Requests")
    assert isinstance(quota, Quota)
    assert failed == Failed(error="Too Many Requests (after 3 attempts)")


def test_an_errors_status_is_told_with_it() -> None:
    it = told()
    error = {"name": "APIError", "data": {"message": "no such key", "statusCode": 401}}
    assert it.read(thing("session.error", error=error)) == ()
    assert it.error == "no such key (401)"


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["type", "info", "part", "status", "error", "data", "message", "id", "role", "time",
             "tokens", "completed", "text", "end", "state", "callID", "tool", "sessionID",
             "attempt", "metadata", "sessionId", "delta", "output", "input", "statusCode"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(
    kind=st.sampled_from(
        ["message.updated", "message.part.updated", "message.part.delta", "session.status",
         "session.error", "session.new"]
    ),
    more=st.dictionaries(
        st.sampled_from(["info", "part", "delta", "status", "error"]), _JSON, max_size=4
    ),
)  # fmt: skip
def test_whatever_is_told_nothing_breaks(kind: str, more: dict[str, Any]) -> None:
    for event in told().read(thing(kind, **more)):
        assert event is not None
