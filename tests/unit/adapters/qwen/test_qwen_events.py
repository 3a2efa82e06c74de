"""What Qwen Code's lines mean: its recorded streams, and what its dialogue makes of them."""

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
    UsageReported,
)
from barry_cli.contract.session import Allowed, Denied, SessionConfig, StdioMcpServer
from tests.streams import Stream, kinds_of, read_stream, replay, streams_of

CASES = {case: read_stream(path) for case, path in streams_of("qwen").items()}
SENTENCE = "Barry says no to this: it was tried in a test"


def dialogue(case: str = "text", text: str = "a prompt") -> Any:
    from barry_adapter_qwen.dialogue import Dialogue

    config = SessionConfig(
        session_id="s", cwd="/w", mcp_servers={"small": StdioMcpServer(command="server")}
    )
    goes_on = Continuation(known_of(CASES["text"])) if case == "resumed" else None
    return Dialogue(AgentInput(text=text, config=config, continuation=goes_on))


def known_of(stream: Stream) -> str:
    rows = [json.loads(line) for line in stream.lines]
    return str(
        next(row["result"]["sessionId"] for row in rows if "sessionId" in row.get("result", ()))
    )


def replayed(case: str) -> tuple[list[Any], list[str]]:
    from barry_adapter_qwen.events import events

    decision = Denied(reason=SENTENCE) if case == "denied" else Allowed()
    return replay(CASES[case].lines, events, dialogue(case), lambda request: decision)


def of(found: list[Any], kind: type) -> list[Any]:
    return [event for event in found if isinstance(event, kind)]


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_means_what_it_meant(case: str) -> None:
    assert kinds_of(replayed(case)[0]) == CASES[case].kinds


@pytest.mark.parametrize("case", CASES)
def test_a_recorded_stream_is_of_the_pinned_build_and_of_no_machine(case: str) -> None:
    from barry_adapter_qwen.declared import VERSION

    stream = CASES[case]
    assert stream.version == VERSION
    text = "\n".join([*stream.argv, *stream.lines])
    assert not re.search(r"(?<![\w/])/(work|tmp|root/\.)/|\.harnesses|sk-made-up", text)


def test_every_way_a_turn_goes_was_recorded() -> None:
    assert set(CASES) >= {
        "text", "allowed", "denied", "files", "others", "resumed", "interrupted",
        "fault-401", "fault-429", "fault-500", "fault-529", "fault-refused",
    }  # fmt: skip


def test_a_turn_names_its_conversation_and_its_build() -> None:
    found, _ = replayed("text")
    assert [each.harness_session_id for each in of(found, Init)] == [known_of(CASES["text"])]
    assert "0.15.10" in [each.version for each in of(found, Observed)]
    assert [each.text for each in of(found, Text)] == ["the first answer"]
    (done,) = of(found, Done)
    assert done.usage is None  # each call to the model told of its own
    (told,) = of(found, UsageReported)
    assert told.usage.output > 0
    assert told.usage.cached > 0
    assert told.usage.complete


def test_nothing_is_written_into_the_users_own_login() -> None:
    _, written = replayed("text")
    assert not any('"authenticate"' in line for line in written)


def test_an_allowed_call_is_allowed_this_once() -> None:
    found, written = replayed("allowed")
    (asked,) = of(found, PermissionRequested)
    assert (asked.tool, asked.input["command"]) == ("run_shell_command", "touch canary")
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


def test_each_tool_is_told_by_its_name_and_its_input() -> None:
    found, _ = replayed("files")
    asked = {each.tool: each.input for each in of(found, PermissionRequested)}
    assert asked["read_file"] == {"file_path": "/w/word.txt"}
    assert asked["write_file"] == {"file_path": "/w/new.txt", "content": "new"}
    assert asked["edit"]["new_string"] == "zebu"
    assert asked["list_directory"] == {"path": "/w"}
    assert asked["grep_search"]["pattern"] == "ze"
    # A change that can't be made fails before anybody is asked: that is no call that ran.
    assert of(found, Failed) == []
    assert [each.error for each in of(found, ToolResult)].count(True) == 1
    others = [each.tool for each in of(replayed("others")[0], PermissionRequested)]
    assert others == ["todo_write", "web_fetch"]


def test_no_server_is_connected() -> None:
    """Of a server's tool it is not told which one is asked about."""
    _, written = replayed("text")
    (opened,) = [json.loads(line) for line in written if '"session/new"' in line]
    assert opened["params"]["mcpServers"] == []


ASKED = {"toolCallId": "x", "kind": "other", "title": "t", "rawInput": {"name": "you"}}


def asking(call: dict[str, Any]) -> str:
    known = known_of(CASES["text"])
    options = [
        {"optionId": "yes", "kind": "allow_once"},
        {"optionId": "always", "kind": "allow_always"},
        {"optionId": "no", "kind": "reject_once"},
    ]
    params = {"sessionId": known, "toolCall": call, "options": options}
    return json.dumps({"id": 9, "method": "session/request_permission", "params": params})


def begun() -> list[str]:
    """The lines of a turn up to where the model says something."""
    rows = list(CASES["text"].lines)
    return rows[: next(at for at, row in enumerate(rows) if "agent_message_chunk" in row)]


def test_what_cannot_be_read_is_refused_without_asking() -> None:
    from barry_adapter_qwen.events import events

    found, written = replay([*begun(), asking(ASKED)], events, dialogue(), lambda _: Allowed())
    assert of(found, PermissionRequested) == []
    assert json.loads(written[-1])["result"]["outcome"]["optionId"] == "no"


def test_a_turn_is_over_once_its_last_lines_are_written() -> None:
    from barry_adapter_qwen.events import events

    lines = CASES["text"].lines
    found, written = replay(lines, events, dialogue())
    lists = [json.loads(line) for line in written if '"session/list"' in line]
    assert len(lists) == 2
    assert kinds_of(replay(lines[:-1], events, dialogue())[0])[-1] != "done"
    assert kinds_of(found)[-1] == "done"


def test_while_they_are_written_there_is_nothing_to_cut_short() -> None:
    from barry_adapter_qwen.events import events

    held = dialogue()
    replay(CASES["text"].lines[:-1], events, held)
    assert held.interrupt() == ""


def test_a_conversation_goes_on_without_being_told_again() -> None:
    found, written = replayed("resumed")
    known = known_of(CASES["text"])
    load = next(json.loads(line) for line in written if '"session/load"' in line)
    assert load["params"]["sessionId"] == known
    assert [each.harness_session_id for each in of(found, Init)] == [known]
    assert "the first answer" in "\n".join(CASES["resumed"].lines)
    assert "the first answer" not in [each.text for each in of(found, Text)]


@pytest.mark.parametrize("text", ["/help", "  /help", "?", "\n/memory show"])
def test_a_message_that_begins_like_a_command_is_none(text: str) -> None:
    from barry_adapter_qwen.events import events

    _, written = replay(CASES["text"].lines, events, dialogue(text=text))
    (prompt,) = [json.loads(line) for line in written if '"session/prompt"' in line]
    said = prompt["params"]["prompt"][0]["text"]
    assert said.endswith(text)
    assert not said.strip().startswith(("/", "?"))


UPDATE = {"toolCallId": "x", "kind": "search", "title": "'*'", "rawInput": {"pattern": "*"}}


@pytest.mark.parametrize(
    ("update", "ends"),
    [
        ({"sessionUpdate": "tool_call", "status": "in_progress"}, True),
        ({"sessionUpdate": "tool_call_update", "status": "completed"}, True),
        ({"sessionUpdate": "tool_call_update", "status": "failed"}, False),
    ],
)
def test_a_call_that_ran_unasked_ends_the_turn(update: dict[str, Any], ends: bool) -> None:
    from barry_adapter_qwen.events import events

    params = {"sessionId": known_of(CASES["text"]), "update": {**UPDATE, **update}}
    row = json.dumps({"method": "session/update", "params": params})
    found, _ = replay([*begun(), row], events, dialogue())
    assert bool(of(found, Failed)) is ends
    assert of(found, ToolUse)


@pytest.mark.parametrize(
    ("case", "called"),
    [("fault-429", "quota"), ("fault-500", "unavailable"), ("fault-529", "unavailable"),
     ("fault-refused", "unavailable"), ("fault-401", None)],
)  # fmt: skip
def test_a_failure_is_called_by_its_name(case: str, called: str | None) -> None:
    from barry_adapter_qwen.events import lost, quota, unavailable

    (failed,) = of(replayed(case)[0], Failed)
    assert quota(failed.error) == (called == "quota")
    assert unavailable(failed.error) == (called == "unavailable")
    assert not lost(failed.error)


def test_a_lost_conversation_is_called_so() -> None:
    from barry_adapter_qwen.events import lost

    assert lost("No saved session found with ID x.")
    assert not lost("401 no such key")


@pytest.mark.parametrize("line", ["{}", '{"type": "x"}', "[1]", '{"jsonrpc": "2.0"}'])
def test_any_other_line_means_nothing(line: str) -> None:
    from barry_adapter_qwen.events import events

    assert events(line) == (Raw(line),)
