"""The control protocol: what is written to Claude Code, line by line."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from barry_cli.agents import AgentInput
from barry_cli.contract.events import Failed, PermissionRequested, ToolResult
from barry_cli.contract.session import Allowed, Denied, SessionConfig


def opened(text: str = "a prompt", **asked: Any) -> Any:
    from barry_adapter_claude.dialogue import Dialogue

    return Dialogue(AgentInput(text=text, config=SessionConfig(session_id="s", cwd="/w"), **asked))


def ready(**asked: Any) -> Any:
    dialogue = opened(**asked)
    dialogue.start()
    dialogue.read(agreed())
    return dialogue


def agreed() -> str:
    response = {"subtype": "success", "request_id": "barry-hello", "response": {}}
    return json.dumps({"type": "control_response", "response": response})


def request(kind: str, name: str = "r1", **more: Any) -> str:
    row = {"type": "control_request", "request_id": name, "request": {"subtype": kind, **more}}
    return json.dumps(row)


def may(tool: str = "Bash", name: str = "r1", **input: Any) -> str:
    return request("can_use_tool", name, tool_name=tool, input=input, description="a try")


def hook(tool: str = "Bash") -> str:
    return request("hook_callback", callback_id="barry", input={"tool_name": tool})


def only(texts: tuple[str, ...] | str) -> dict[str, Any]:
    """The one line among what is written, as JSON."""
    (line,) = (texts,) if isinstance(texts, str) else texts
    assert line.endswith("\n")
    assert line.count("\n") == 1
    found = json.loads(line)
    assert isinstance(found, dict)
    return found


def test_every_call_is_asked_about_before_the_prompt_goes_out() -> None:
    dialogue = opened()
    hello = only(dialogue.start())
    (every,) = hello["request"]["hooks"]["PreToolUse"]
    assert hello["request"]["subtype"] == "initialize"
    assert every["matcher"] == ""
    assert every["timeout"] > 24 * 3600  # a person may be asked
    step = dialogue.read(agreed())
    assert only(step.replies)["message"]["content"] == "a prompt"


def test_nothing_is_prompted_where_the_calls_cannot_be_ruled_on() -> None:
    dialogue = opened()
    dialogue.start()
    refused = {"subtype": "error", "request_id": "barry-hello", "error": "hooks are off"}
    step = dialogue.read(json.dumps({"type": "control_response", "response": refused}))
    (failed,) = step.events
    assert isinstance(failed, Failed)
    assert "hooks are off" in failed.error
    assert step.replies == ()
    assert dialogue.encode("more") == ""


def test_a_message_is_never_a_command() -> None:
    dialogue = ready()
    for text in ("/clear", "look at @secret.txt", "!ls", "a\nb"):
        row = only(dialogue.encode(text))
        assert row["message"] == {"role": "user", "content": text}
        assert row["text_not_typed"] is True


def test_messages_wait_for_the_beginning_and_keep_their_order() -> None:
    dialogue = opened("one")
    dialogue.start()
    assert dialogue.encode("two") == ""
    replies = dialogue.read(agreed()).replies
    assert [json.loads(each)["message"]["content"] for each in replies] == ["one", "two"]
    assert dialogue.read(agreed()).replies == ()


def test_a_callback_leads_to_the_question_that_is_ruled_on() -> None:
    dialogue = ready()
    step = dialogue.read(hook())
    assert step.events == ()
    answer = only(step.replies)["response"]["response"]["hookSpecificOutput"]
    assert answer["permissionDecision"] == "ask"
    (asked,) = dialogue.read(may(command="ls")).events
    assert asked == PermissionRequested(
        id="r1", tool="Bash", input={"command": "ls"}, description="a try"
    )


def test_what_was_ruled_on_is_what_runs() -> None:
    dialogue = ready()
    dialogue.read(may(command="ls"))
    answer = only(dialogue.answer("r1", Allowed(persist=True)))["response"]
    assert answer["request_id"] == "r1"
    assert answer["response"] == {"behavior": "allow", "updatedInput": {"command": "ls"}}


def test_a_denial_carries_its_sentence() -> None:
    dialogue = ready()
    dialogue.read(may(command="ls"))
    answer = only(dialogue.answer("r1", Denied(reason="not here")))["response"]["response"]
    assert answer == {"behavior": "deny", "message": "not here"}
    dialogue.read(may(command="ls"))
    answer = only(dialogue.answer("r1", Denied()))["response"]["response"]
    assert answer["behavior"] == "deny"
    assert answer["message"]


def test_an_answer_to_nothing_is_not_written() -> None:
    dialogue = ready()
    assert dialogue.answer("r1", Allowed()) == ""
    dialogue.read(may(command="ls"))
    dialogue.read(json.dumps({"type": "control_cancel_request", "request_id": "r1"}))
    assert dialogue.answer("r1", Allowed()) == ""
    dialogue.read(may(command="ls"))
    assert dialogue.answer("r1", Allowed())
    assert dialogue.answer("r1", Allowed()) == ""


def test_a_call_that_cannot_be_read_is_refused() -> None:
    dialogue = ready()
    for line in (
        request("can_use_tool", tool_name="Bash", input="ls"),
        request("can_use_tool", input={}),
    ):
        step = dialogue.read(line)
        assert step.events == ()
        assert only(step.replies)["response"]["response"]["behavior"] == "deny"


def test_a_callback_that_cannot_be_read_is_asked_about() -> None:
    """An error would let the call pass."""
    dialogue = ready(output_schema={"type": "object"})
    for line in (request("hook_callback"), request("hook_callback", input="?"), hook()):
        answer = only(dialogue.read(line).replies)["response"]
        assert answer["subtype"] == "success"
        assert answer["response"]["hookSpecificOutput"]["permissionDecision"] == "ask"


def test_an_answer_with_a_schema_is_handed_over_freely_and_only_then() -> None:
    line = hook("StructuredOutput")
    free = only(ready(output_schema={"type": "object"}).read(line).replies)
    assert free["response"]["response"] == {}
    asked = only(ready().read(line).replies)
    assert "hookSpecificOutput" in asked["response"]["response"]


def test_a_request_that_barry_does_not_serve_is_answered() -> None:
    answer = only(ready().read(request("elicitation")).replies)["response"]
    assert (answer["subtype"], answer["request_id"]) == ("error", "r1")


def test_a_replayed_message_was_taken_in() -> None:
    dialogue = ready()
    row = {"type": "user", "message": {"role": "user", "content": "a prompt"}, "isReplay": True}
    assert dialogue.read(json.dumps(row)).consumed == 1
    del row["isReplay"]
    assert dialogue.read(json.dumps(row)) is None


def test_an_interrupt_takes_back_what_was_asked() -> None:
    dialogue = ready()
    dialogue.read(may(command="ls"))
    one, two = (json.loads(dialogue.interrupt() or "") for _ in range(2))
    assert one["request"] == {"subtype": "interrupt"}
    assert one["request_id"] != two["request_id"]
    assert dialogue.answer("r1", Allowed()) == ""


def test_before_the_prompt_there_is_nothing_to_interrupt() -> None:
    dialogue = opened()
    dialogue.start()
    assert dialogue.interrupt() is None


def result(call: str, **more: Any) -> str:
    block = {"type": "tool_result", "tool_use_id": call, "content": "done", **more}
    return json.dumps({"type": "user", "message": {"role": "user", "content": [block]}})


def may_run(dialogue: Any, call: str, decision: Allowed | Denied) -> None:
    dialogue.read(request("can_use_tool", tool_name="Bash", input={}, tool_use_id=call))
    dialogue.answer("r1", decision)


def test_a_call_that_ran_unruled_ends_the_turn() -> None:
    dialogue = ready()
    may_run(dialogue, "t1", Allowed())
    assert dialogue.read(result("t1")) is None
    # Claude Code refuses some calls before it asks.
    assert dialogue.read(result("t2", is_error=True)) is None
    shown, failed = dialogue.read(result("t2")).events
    assert isinstance(shown, ToolResult)
    assert isinstance(failed, Failed)
    assert "had not allowed" in failed.error


def test_a_denied_call_that_ran_ends_the_turn() -> None:
    dialogue = ready()
    may_run(dialogue, "t1", Denied(reason="no"))
    assert dialogue.read(result("t1", is_error=True)) is None
    assert isinstance(dialogue.read(result("t1")).events[-1], Failed)


def test_other_lines_are_left_to_the_events() -> None:
    dialogue = ready()
    for line in ("no JSON", "[]", "{}", '{"type": "assistant"}', '{"type": "result"}'):
        assert dialogue.read(line) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ask", "allow", "deny", "cancel", "interrupt", "hook"]),
            st.sampled_from(["r1", "r2", "r3"]),
        ),
        max_size=20,
    )
)
def test_a_call_is_allowed_only_by_its_own_answer(steps: list[tuple[str, str]]) -> None:
    dialogue = ready()
    open_calls: set[str] = set()
    for what, name in steps:
        if what == "ask":
            dialogue.read(may(name=name, command=name))
            open_calls.add(name)
        elif what == "hook":
            text = "".join(dialogue.read(hook()).replies)
            assert '"allow"' not in text
        elif what in ("allow", "deny"):
            text = dialogue.answer(name, Allowed() if what == "allow" else Denied(reason="no"))
            assert bool(text) == (name in open_calls)
            assert not text or (f'"{what}"' in text and f'"{name}"' in text)
            open_calls.discard(name)
        elif what == "cancel":
            line = {"type": "control_cancel_request", "request_id": name}
            dialogue.read(json.dumps(line))
            open_calls.discard(name)
        else:
            dialogue.interrupt()
            open_calls.clear()
