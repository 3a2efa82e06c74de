"""pi's RPC mode: what is written to it, line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_adapter_pi.dialogue import Dialogue
from barry_cli.agents import AgentInput, Stopped
from barry_cli.contract.events import Done, Failed, Init, PermissionRequested, Result, ToolResult
from barry_cli.contract.session import Allowed, Denied, SessionConfig

KNOWN = "01a2"


def opened(text: str = "a prompt", **config: Any) -> Dialogue:
    given = SessionConfig(session_id="s", cwd="/w", **config)
    return Dialogue(AgentInput(text=text, config=given))


def ready(**config: Any) -> Dialogue:
    dialogue = opened(**config)
    dialogue.start()
    dialogue.read(gated())
    dialogue.read(state())
    return dialogue


def line(kind: str, **more: Any) -> str:
    return json.dumps({"type": kind, **more})


def gated() -> str:
    return line("extension_ui_request", id="u", method="setStatus", statusKey="barry-gate")


def state(**more: Any) -> str:
    data = {
        "sessionId": KNOWN,
        "isStreaming": False,
        "isCompacting": False,
        "pendingMessageCount": 0,
        **more,
    }
    return line("response", id="x", command="get_state", success=True, data=data)


def asks(name: str = "d1", call: str = "c1", tool: str = "bash", **given: Any) -> str:
    about = json.dumps({"call": call, "tool": tool, "input": given})
    return dialog(name, placeholder=about)


def dialog(name: str = "d1", **more: Any) -> str:
    row = {"id": name, "method": "input", "title": "barry-ruling", **more}
    return line("extension_ui_request", **row)


def answer(text: str = "the answer", **more: Any) -> str:
    content = [{"type": "text", "text": text}]
    message = {"role": "assistant", "content": content, "stopReason": "stop", **more}
    return line("message_end", message=message)


def rows(texts: tuple[str, ...] | str) -> list[dict[str, Any]]:
    """What is written, as JSON; every line of it is whole."""
    text = texts if isinstance(texts, str) else "".join(texts)
    assert text == "" or text.endswith("\n")
    return [json.loads(each) for each in text.splitlines()]


def ruling(written: tuple[str, ...] | str) -> dict[str, Any]:
    (row,) = rows(written)
    assert row["type"] == "extension_ui_response"
    found = json.loads(row["value"])
    assert isinstance(found, dict)
    return found


def ends(dialogue: Dialogue, *lines: str) -> tuple[Any, ...]:
    """What the turn comes to after these lines, once pi has said how it stands."""
    for each in (*lines, line("agent_end")):
        dialogue.read(each)
    step = dialogue.read(state())
    assert step is not None
    return step.events


# --- the beginning ---


def test_the_prompt_waits_until_pi_has_named_its_conversation() -> None:
    dialogue = opened()
    assert [row["type"] for row in rows(dialogue.start())] == ["get_state"]
    dialogue.read(gated())
    step = dialogue.read(state())
    assert step is not None
    assert step.events == (Init(harness_session_id=KNOWN),)
    (prompt,) = rows(step.replies)
    assert (prompt["type"], prompt["message"]) == ("prompt", "a prompt")


def test_nothing_is_prompted_where_the_calls_cannot_be_ruled_on() -> None:
    dialogue = opened()
    dialogue.start()
    step = dialogue.read(state())
    assert step is not None
    assert isinstance(step.events[-1], Failed)
    assert step.replies == ()
    assert dialogue.encode("more") == ""
    assert dialogue.interrupt() is None


def test_messages_wait_for_the_beginning_and_keep_their_order() -> None:
    dialogue = opened("one")
    dialogue.start()
    assert dialogue.encode("two") == ""
    dialogue.read(gated())
    step = dialogue.read(state())
    assert step is not None
    assert [row["message"] for row in rows(step.replies)] == ["one", "two"]


def test_a_prompt_that_pi_does_not_take_fails() -> None:
    for command in ("prompt", "get_state"):
        step = ready().read(line("response", command=command, success=False, error="no key"))
        assert step is not None
        (failed,) = step.events
        assert isinstance(failed, Failed)
        assert "no key" in failed.error


def test_a_message_is_never_a_command() -> None:
    dialogue = ready()
    for text in ("/skill:x", "/", "look at @secret.txt", "!ls", "a\nb", " /x"):
        (row,) = rows(dialogue.encode(text))
        assert not row["message"].startswith("/")
        assert row["message"].removeprefix(" ") == text.removeprefix(" ")
        assert row["streamingBehavior"] == "steer"  # joins a turn that runs, begins one else


def test_a_message_was_taken_in_when_it_is_the_models_to_read() -> None:
    dialogue = ready()
    step = dialogue.read(line("message_start", message={"role": "user", "content": "x"}))
    assert step is not None
    assert step.consumed == 1
    assert dialogue.read(line("message_start", message={"role": "assistant"})) is None
    assert dialogue.read(line("message_end", message={"role": "user"})) is None


# --- rulings ---


def test_a_call_is_asked_about_and_runs_when_it_is_allowed() -> None:
    dialogue = ready()
    step = dialogue.read(asks(command="ls"))
    assert step is not None
    assert step.events == (PermissionRequested(id="d1", tool="bash", input={"command": "ls"}),)
    assert step.replies == ()
    assert ruling(dialogue.answer("d1", Allowed(persist=True))) == {"allow": True}


def test_a_denial_carries_its_sentence() -> None:
    dialogue = ready()
    dialogue.read(asks())
    assert ruling(dialogue.answer("d1", Denied(reason="not here"))) == {
        "allow": False,
        "reason": "not here",
    }


def test_an_answer_to_nothing_is_not_written() -> None:
    dialogue = ready()
    assert dialogue.answer("d1", Allowed()) == ""
    dialogue.read(asks())
    assert dialogue.answer("d1", Allowed())
    assert dialogue.answer("d1", Allowed()) == ""


@pytest.mark.parametrize(
    "about", [None, "", "[]", "{}", '{"call": "c", "tool": "bash"}', "[" * 100_000]
)
def test_a_call_that_cannot_be_read_is_refused(about: str | None) -> None:
    step = ready().read(dialog(placeholder=about))
    assert step is not None
    assert step.events == ()
    assert ruling(step.replies)["allow"] is False


def test_another_dialog_is_closed_and_a_notice_is_not_answered() -> None:
    dialogue = ready()
    for method in ("select", "confirm", "input", "editor"):
        step = dialogue.read(line("extension_ui_request", id="o", method=method, title="other"))
        assert step is not None
        assert rows(step.replies) == [
            {"type": "extension_ui_response", "id": "o", "cancelled": True}
        ]
    step = dialogue.read(line("extension_ui_request", id="o", method="notify"))
    assert step is not None
    assert step.replies == ()


def ran(call: str, **more: Any) -> str:
    return line("tool_execution_end", toolCallId=call, result={"content": []}, **more)


def test_a_call_that_ran_unruled_ends_the_turn() -> None:
    dialogue = ready()
    dialogue.read(asks(call="c1"))
    dialogue.answer("d1", Allowed())
    assert dialogue.read(line("tool_execution_update", toolCallId="c1")) is None
    assert dialogue.read(ran("c1")) is None
    assert dialogue.read(ran("c2", isError=True)) is None  # pi refuses some by itself
    step = dialogue.read(ran("c2"))
    assert step is not None
    shown, failed = step.events
    assert isinstance(shown, ToolResult)
    assert isinstance(failed, Failed)
    assert "had not allowed" in failed.error


def test_a_call_that_begins_to_run_unruled_ends_the_turn() -> None:
    dialogue = ready()
    dialogue.read(asks(call="c1"))
    dialogue.answer("d1", Denied(reason="no"))
    step = dialogue.read(line("tool_execution_update", toolCallId="c1"))
    assert step is not None
    assert isinstance(step.events[-1], Failed)


def test_an_allowance_is_for_one_run() -> None:
    dialogue = ready()
    dialogue.read(asks(call="c1"))
    dialogue.answer("d1", Allowed())
    assert dialogue.read(ran("c1")) is None
    assert dialogue.read(ran("c1")) is not None


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ask", "allow", "deny", "interrupt", "run"]),
            st.sampled_from(["r1", "r2", "r3"]),
        ),
        max_size=20,
    )
)
def test_a_call_is_allowed_only_by_its_own_answer(steps: list[tuple[str, str]]) -> None:
    dialogue = ready()
    pending: set[str] = set()
    allowed: set[str] = set()
    cut = False
    for what, name in steps:
        if what == "ask":
            step = dialogue.read(asks(name, call=name))
            assert step is not None
            assert bool(step.events) != cut
            assert not cut or ruling(step.replies)["allow"] is False
            pending |= set() if cut else {name}
        elif what in ("allow", "deny"):
            text = dialogue.answer(name, Allowed() if what == "allow" else Denied(reason="no"))
            assert bool(text) == (name in pending)
            assert not text or ruling(text)["allow"] is (what == "allow")
            allowed |= {name} if text and what == "allow" else set()
            pending.discard(name)
        elif what == "run":
            assert (dialogue.read(ran(name)) is None) == (name in allowed)
            allowed.discard(name)
        else:
            dialogue.interrupt()
            cut = True
            pending.clear()


# --- the end ---


def test_an_end_is_one_only_when_pi_says_on_being_asked_that_it_rests() -> None:
    dialogue = ready()
    dialogue.read(line("agent_start"))
    dialogue.read(answer())
    step = dialogue.read(line("agent_end"))
    assert step is not None
    assert [row["type"] for row in rows(step.replies)] == ["get_state"]
    for busy in ({"isStreaming": True}, {"isCompacting": True}, {"isStreaming": None}):
        step = dialogue.read(state(**busy))
        assert step is not None
        assert step.events == ()
    result, done = ends(dialogue)
    assert result == Result(result="the answer")
    assert isinstance(done, Done)


def test_an_answer_to_an_older_question_ends_nothing() -> None:
    dialogue = ready()
    dialogue.read(line("agent_start"))
    step = dialogue.read(state())
    assert step is not None
    assert step.events == ()


def test_while_another_try_is_due_nothing_has_ended() -> None:
    dialogue = ready()
    failed = answer("", stopReason="error", errorMessage="500 it broke")
    assert ends(dialogue, failed) == (Failed(error="500 it broke"),)
    dialogue = ready()
    dialogue.read(failed)
    dialogue.read(line("agent_end"))
    dialogue.read(line("auto_retry_start", attempt=1, maxAttempts=1, errorMessage="500"))
    step = dialogue.read(state())
    assert step is not None
    assert step.events == ()
    dialogue.read(line("agent_start"))
    assert ends(dialogue, answer())[0] == Result(result="the answer")


def test_another_try_after_a_summary_is_believed_only_after_an_error() -> None:
    """pi announces one as well where the answer was good, and then does nothing."""
    summed = line("compaction_end", reason="overflow", willRetry=True, result={"summary": "s"})
    dialogue = ready()
    dialogue.read(answer("", stopReason="error", errorMessage="too long"))
    dialogue.read(line("agent_end"))
    dialogue.read(summed)
    step = dialogue.read(state())
    assert step is not None
    assert step.events == ()
    dialogue = ready()
    dialogue.read(answer())
    dialogue.read(line("agent_end"))
    step = dialogue.read(summed)
    assert step is not None
    assert [row["type"] for row in rows(step.replies)] == ["get_state"]
    step = dialogue.read(state())
    assert step is not None
    _, done = step.events
    assert isinstance(done, Done)
    assert done.usage is not None
    assert not done.usage.complete  # the summary's own tokens are told nowhere


def test_the_next_turn_counts_for_itself_and_names_its_conversation_again() -> None:
    dialogue = ready(max_turns=2)
    usage = {"input": 3, "output": 4, "cacheRead": 5, "cacheWrite": 6}
    for _ in range(3):
        _, done = ends(dialogue, line("agent_start"), answer(usage=usage), line("turn_end"))
        assert done.turns == 1
        assert (done.usage.input, done.usage.cached) == (3, 5)
        asked, prompt = rows(dialogue.encode("another"))
        assert (asked["type"], prompt["type"]) == ("get_state", "prompt")
        step = dialogue.read(state())
        assert step is not None
        assert step.events == (Init(harness_session_id=KNOWN),)


def test_an_end_that_was_said_before_the_next_message_does_not_end_its_turn() -> None:
    dialogue = ready()
    ends(dialogue, answer())
    dialogue.encode("another")
    step = dialogue.read(state())
    assert step is not None
    assert not [event for event in step.events if isinstance(event, Done)]


def test_an_interrupt_refuses_first_what_is_asked_about() -> None:
    dialogue = ready()
    dialogue.read(asks())
    refused, abort = rows(dialogue.interrupt() or "")
    assert json.loads(refused["value"])["allow"] is False
    assert abort["type"] == "abort"
    assert dialogue.answer("d1", Allowed()) == ""
    step = dialogue.read(asks("d2"))
    assert step is not None
    assert step.events == ()
    assert ruling(step.replies)["allow"] is False
    assert ends(dialogue, answer("", stopReason="aborted")) == (Stopped("aborted"),)


def test_an_interrupt_between_two_tries_ends_the_turn() -> None:
    dialogue = ready()
    dialogue.read(answer("", stopReason="error", errorMessage="500"))
    dialogue.read(line("agent_end"))
    dialogue.read(line("auto_retry_start", errorMessage="500"))
    dialogue.interrupt()
    dialogue.read(line("auto_retry_end", success=False))
    step = dialogue.read(line("response", command="abort", success=True))
    assert step is not None
    assert [row["type"] for row in rows(step.replies)] == ["get_state"]
    step = dialogue.read(state())
    assert step is not None
    assert step.events == (Stopped("aborted"),)


def test_what_begins_after_an_interrupt_is_interrupted_as_well() -> None:
    """pi takes no notice of an abort that comes between a prompt and the run that it begins."""
    dialogue = ready()
    dialogue.interrupt()
    dialogue.read(line("response", command="abort", success=True))
    step = dialogue.read(state())
    assert step is not None
    assert step.events == ()
    step = dialogue.read(line("agent_start"))
    assert step is not None
    assert [row["type"] for row in rows(step.replies)] == ["abort"]
    assert ends(dialogue, answer("", stopReason="aborted")) == (Stopped("aborted"),)
    assert ready().read(line("agent_start")) is None


def test_a_process_with_a_message_left_in_its_queue_is_not_used_again() -> None:
    dialogue = ready()
    dialogue.interrupt()
    dialogue.read(answer("", stopReason="aborted"))
    dialogue.read(line("agent_end"))
    step = dialogue.read(state(pendingMessageCount=1))
    assert step is not None
    assert isinstance(step.events[0], Failed)


def test_the_limit_of_turns_is_one_of_answers_that_call_a_tool() -> None:
    dialogue = ready(max_turns=1)
    more = line("turn_end", message={"role": "assistant", "stopReason": "toolUse"})
    last = line("turn_end", message={"role": "assistant", "stopReason": "stop"})
    assert dialogue.read(last) is None
    dialogue = ready(max_turns=2)
    assert dialogue.read(more) is None
    step = dialogue.read(more)
    assert step is not None
    assert [row["type"] for row in rows(step.replies)] == ["abort"]
    (failed,) = ends(dialogue, answer("", stopReason="aborted"))
    assert failed == Failed(error="the limit of 2 turns is reached")


def test_other_lines_are_left_to_the_events() -> None:
    dialogue = ready()
    for other in ("no JSON", "[]", "{}", line("turn_start"), line("message_update")):
        assert dialogue.read(other) is None
    step = dialogue.read(line("response", command="parse", success=False))
    assert step is not None
    assert step.events == ()
