"""What Gemini CLI's lines mean: its recorded streams, and what its dialogue makes of them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from barry_cli.agents import AgentInput, Continuation, Observed, Raw
from barry_cli.contract.events import (
    Done,
    Failed,
    Init,
    PermissionRequested,
    Result,
    Text,
    ToolResult,
    ToolUse,
)
from barry_cli.contract.session import Allowed, Denied, SessionConfig, StdioMcpServer
from barry_cli.headless.capabilities import PermissionPolicy
from tests.streams import Stream, kinds_of, read_stream, replay, streams_of

CASES = {case: read_stream(path) for case, path in streams_of("gemini").items()}
SENTENCE = "Barry says no to this: it was tried in a test"


def dialogue(case: str = "text", text: str = "a prompt", **more: Any) -> Any:
    from barry_adapter_gemini.dialogue import Dialogue

    config = SessionConfig(
        session_id="s", cwd="/w", mcp_servers={"small": StdioMcpServer(command="server")}
    )
    goes_on = Continuation(known_of(CASES["text"])) if case == "resumed" else None
    return Dialogue(AgentInput(text=text, config=config, continuation=goes_on, **more))


def known_of(stream: Stream) -> str:
    rows = [json.loads(line) for line in stream.lines]
    return str(
        next(row["result"]["sessionId"] for row in rows if "sessionId" in row.get("result", ()))
    )


def replayed(case: str) -> tuple[list[Any], list[str]]:
    from barry_adapter_gemini.events import events

    decision = Denied(reason=SENTENCE) if case == "denied" else Allowed()
    return replay(CASES[case].lines, events, dialogue(case), lambda request: decision)


def of(found: list[Any], kind: type) -> list[Any]:
    return [event for event in found if isinstance(event, kind)]


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_means_what_it_meant(case: str) -> None:
    assert kinds_of(replayed(case)[0]) == CASES[case].kinds


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_is_of_the_pinned_build_and_of_no_machine(case: str) -> None:
    from barry_adapter_gemini.declared import VERSION

    stream = CASES[case]
    assert stream.version == VERSION
    text = "\n".join([*stream.argv, *stream.lines])
    assert not re.search(r"(?<![\w/])/(work|tmp|root/\.)/|\.harnesses|sk-made-up", text)


def test_every_way_a_turn_goes_was_recorded() -> None:
    assert set(CASES) >= {
        "text", "allowed", "denied", "files", "elsewhere", "others", "resumed", "interrupted",
        "fault-401", "fault-429", "fault-500", "fault-529", "fault-refused",
    }  # fmt: skip


def test_a_turn_names_its_conversation_and_its_build() -> None:
    found, _ = replayed("text")
    assert [each.harness_session_id for each in of(found, Init)] == [known_of(CASES["text"])]
    assert "0.61.0" in [each.version for each in of(found, Observed)]
    assert [each.text for each in of(found, Text)] == ["the first answer"]
    (done,) = of(found, Done)
    assert done.usage.output > 0
    assert not done.usage.complete


def test_nothing_is_written_into_the_users_own_login() -> None:
    _, written = replayed("text")
    assert not any('"authenticate"' in line for line in written)


def test_an_allowed_call_is_allowed_this_once() -> None:
    found, written = replayed("allowed")
    (asked,) = of(found, PermissionRequested)
    assert (asked.tool, asked.input) == ("run_shell_command", {"command": "touch canary"})
    (reply,) = [json.loads(line) for line in written if '"outcome"' in line]
    assert reply["result"]["outcome"] == {"outcome": "selected", "optionId": "proceed_once"}
    assert [each.error for each in of(found, ToolResult)] == [None]


def test_a_denied_call_is_rejected_this_once_and_the_reason_is_told() -> None:
    found, written = replayed("denied")
    (reply,) = [json.loads(line) for line in written if '"outcome"' in line]
    assert reply["result"]["outcome"] == {"outcome": "selected", "optionId": "cancel"}
    prompts = [json.loads(line) for line in written if '"session/prompt"' in line]
    assert [each["params"]["prompt"][0]["text"] for each in prompts] == ["a prompt", SENTENCE]
    (result,) = of(found, Result)  # the answers to both, not run together
    assert result.result == "I try.it was tried\n\nok"
    (done,) = of(found, Done)
    counts = [
        json.loads(line)["result"]["_meta"]["quota"]["token_count"]["output_tokens"]
        for line in CASES["denied"].lines
        if "token_count" in line
    ]
    assert len(counts) == 2
    assert done.usage.output == sum(counts)  # of both prompts


def test_each_tool_is_told_by_its_name_and_its_input() -> None:
    found, _ = replayed("files")
    asked = {each.tool: each.input for each in of(found, PermissionRequested)}
    assert asked["read_file"] == {"file_path": "/w/word.txt"}
    assert asked["write_file"] == {"file_path": "/w/new.txt", "content": "new"}
    assert asked["replace"] == {"file_path": "/w/word.txt", "content": "zebu"}
    assert asked["list_directory"] == {"dir_path": "."}
    assert asked["glob"] == {"pattern": "*.txt"}
    assert asked["grep_search"]["pattern"] == "ze"
    # A change that can't be made fails before anybody is asked: that is no call that ran.
    assert of(found, Failed) == []
    assert [each.error for each in of(found, ToolResult)].count(True) == 1
    (other,) = of(replayed("elsewhere")[0], PermissionRequested)
    assert other.input == {"command": "ls", "dir_path": "deep"}


def test_what_cannot_be_read_is_refused_without_asking() -> None:
    found, written = replayed("others")
    asked = [each.tool for each in of(found, PermissionRequested)]
    assert asked == ["update_topic", "web_fetch", "write_todos", "mcp__small__greet"]
    (greeted,) = [each for each in of(found, PermissionRequested) if "greet" in each.tool]
    assert greeted.input == {"name": "you"}
    outcomes = [json.loads(line)["result"]["outcome"] for line in written if '"outcome"' in line]
    assert [each.get("optionId") for each in outcomes].count("cancel") == 1
    assert "Barry can't tell" in written[-1]


@pytest.mark.parametrize("denied", ["web_fetch", "mcp__small", "mcp__small__greet"])
def test_what_a_policy_denies_is_refused_without_asking(denied: str) -> None:
    from barry_adapter_gemini.events import events

    policy = PermissionPolicy(denied_tools=(denied,))
    held = dialogue("others", policy=policy)
    found, _ = replay(CASES["others"].lines, events, held, lambda request: Allowed())
    plain = {each.tool for each in of(replayed("others")[0], PermissionRequested)}
    asked = {each.tool for each in of(found, PermissionRequested)}
    assert plain - asked == {"mcp__small__greet" if "small" in denied else denied}


def test_a_conversation_is_taken_up_under_an_id_of_its_own() -> None:
    found, written = replayed("resumed")
    known = known_of(CASES["text"])
    load = next(json.loads(line) for line in written if '"session/load"' in line)
    assert load["params"]["sessionId"] == f" {known}"
    assert [each.harness_session_id for each in of(found, Init)] == [known]
    # What was said before is told again, and is no part of the turn.
    assert "the first answer" in "\n".join(CASES["resumed"].lines)
    assert "the first answer" not in [each.text for each in of(found, Text)]
    assert all(f'"sessionId": " {known}"' in line for line in written if '"sessionId"' in line)


def test_the_asking_mode_is_set_whatever_is_said_of_it() -> None:
    _, written = replayed("text")
    (line,) = [json.loads(line) for line in written if '"session/set_mode"' in line]
    assert line["params"]["modeId"] == "default"


@pytest.mark.parametrize("text", ["/about", "  /about", "$x", "\n/memory show"])
def test_a_message_that_begins_like_a_command_is_none(text: str) -> None:
    from barry_adapter_gemini.events import events

    _, written = replay(CASES["text"].lines, events, dialogue(text=text))
    (prompt,) = [json.loads(line) for line in written if '"session/prompt"' in line]
    said = prompt["params"]["prompt"][0]["text"]
    assert said.endswith(text)
    assert not said.strip().startswith(("/", "$"))


UPDATE = {"sessionUpdate": "tool_call", "toolCallId": "glob__x", "kind": "search", "title": "'*'"}


@pytest.mark.parametrize(
    ("update", "ends"),
    [
        ({**UPDATE, "status": "in_progress"}, True),
        ({**UPDATE, "kind": "edit", "status": "in_progress"}, False),  # it may only fail
        ({**UPDATE, "sessionUpdate": "tool_call_update", "status": "completed"}, True),
        ({**UPDATE, "sessionUpdate": "tool_call_update", "status": "failed"}, False),
    ],
)
def test_a_call_that_ran_unasked_ends_the_turn(update: dict[str, Any], ends: bool) -> None:
    from barry_adapter_gemini.events import events

    known = known_of(CASES["text"])
    row = {"method": "session/update", "params": {"sessionId": known, "update": update}}
    before = [line for line in CASES["text"].lines if "agent_message_chunk" not in line][:-1]
    found, _ = replay([*before, json.dumps(row)], events, dialogue())
    assert bool(of(found, Failed)) is ends
    assert ends or of(found, ToolUse)


@pytest.mark.parametrize(
    ("case", "called"),
    [("fault-429", "quota"), ("fault-500", "unavailable"), ("fault-529", "unavailable"),
     ("fault-refused", "unavailable"), ("fault-401", None)],
)  # fmt: skip
def test_a_failure_is_called_by_its_name(case: str, called: str | None) -> None:
    from barry_adapter_gemini.events import lost, quota, unavailable

    (failed,) = of(replayed(case)[0], Failed)
    assert quota(failed.error) == (called == "quota")
    assert unavailable(failed.error) == (called == "unavailable")
    assert not lost(failed.error)


def test_a_lost_conversation_is_called_so() -> None:
    from barry_adapter_gemini.events import lost

    assert lost("Internal error: No previous sessions found for this project.")
    assert lost('Internal error: Invalid session identifier "x".')
    assert not lost("API key not valid")


@pytest.mark.parametrize("line", ["{}", '{"type": "x"}', "[1]", '{"jsonrpc": "2.0"}'])
def test_any_other_line_means_nothing(line: str) -> None:
    from barry_adapter_gemini.events import events

    assert events(line) == (Raw(line),)
