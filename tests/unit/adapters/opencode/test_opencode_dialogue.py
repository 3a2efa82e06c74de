"""What is written to opencode, line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.agents import AgentInput, LiveStep, Stopped
from barry_cli.contract.events import Done, Failed, Init, PermissionRequested, Result, ToolUse
from barry_cli.contract.session import Allowed, Denied, SessionConfig

SESSION = "ses_1"


def opened(text: str = "a prompt", *, denied: Any = (), servers: Any = (), **config: Any) -> Any:
    from barry_adapter_opencode.dialogue import Dialogue

    asked = SessionConfig(session_id="s", cwd="/w", **config)
    return Dialogue(AgentInput(text=text, config=asked), denied=denied, servers=servers)


def line(**message: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", **message})


def said(kind: str, **params: Any) -> str:
    return line(method=f"_barry/{kind}", params=params)


def happened(kind: str, **more: Any) -> str:
    return said("event", type=kind, sessionID=SESSION, **more)


def ask(number: int = 1, tool: str = "bash", call: str = "c1", **args: Any) -> str:
    return said("ask", ask=number, tool=tool, session=SESSION, call=call, args=args)


def all_of(texts: tuple[str, ...] | str) -> list[dict[str, Any]]:
    """What is written, as JSON."""
    text = texts if isinstance(texts, str) else "".join(texts)
    assert not text or text.endswith("\n")
    return [json.loads(each) for each in text.splitlines()]


def only(texts: tuple[str, ...] | str) -> dict[str, Any]:
    (found,) = all_of(texts)
    return found


def greeted(dialogue: Any) -> Any:
    """Up to the answer to a new session."""
    assert only(dialogue.start())["method"] == "initialize"
    step = dialogue.read(line(id=1, result={"protocolVersion": 1, "agentCapabilities": {}}))
    assert only(step.replies)["method"] == "session/new"
    return dialogue.read(line(id=2, result={"sessionId": SESSION}))


def prompted(**asked: Any) -> Any:
    dialogue = opened(**asked)
    dialogue.read(said("ready"))
    step = greeted(dialogue)
    assert only(step.replies)["method"] == "session/prompt"
    return dialogue


def idle(dialogue: Any) -> Any:
    return dialogue.read(happened("session.status", status={"type": "idle"}))


def over(dialogue: Any, number: int = 3, reason: str = "end_turn") -> Any:
    return dialogue.read(line(id=number, result={"stopReason": reason}))


# --- the beginning ---


def test_the_prompt_waits_for_the_gate() -> None:
    step = greeted(opened())
    assert step.replies == ()
    init, failed = step.events
    assert init == Init(harness_session_id=SESSION)
    assert isinstance(failed, Failed)
    assert "nothing was begun" in failed.error
    dialogue = opened()
    dialogue.read(said("ready"))
    step = greeted(dialogue)
    assert only(step.replies)["params"]["prompt"] == [{"type": "text", "text": "a prompt"}]


@pytest.mark.parametrize("text", ["/clear", "  /compact now", "\n/x"])
def test_a_message_is_never_a_command(text: str) -> None:
    from barry_adapter_opencode.dialogue import worded

    assert worded(text).endswith(text)
    # It is taken for a command where its first character, blanks aside, is a slash.
    assert not worded(text).strip(" \t\n\r\v\f\ufeff").startswith("/")
    assert worded("see /etc") == "see /etc"
    dialogue = opened(text)
    dialogue.read(said("ready"))
    (part,) = only(greeted(dialogue).replies)["params"]["prompt"]
    assert part["text"] == worded(text)


def test_the_agent_and_the_model_asked_for_are_set_and_checked() -> None:
    dialogue = opened(model="a/b", options={"agent": "plan"})
    dialogue.read(said("ready"))
    step = greeted(dialogue)
    asked = only(step.replies)
    assert (asked["method"], asked["params"]["modeId"]) == ("session/set_mode", "plan")
    asked = only(dialogue.read(line(id=3, result={})).replies)
    assert (asked["method"], asked["params"]["modelId"]) == ("session/set_model", "a/b")
    step = dialogue.read(line(id=4, error={"code": -32602, "message": "model not found: a/b"}))
    (failed,) = step.events
    assert "model not found" in failed.error
    assert step.replies == ()


# --- rulings ---


def test_a_call_is_told_and_put_to_barry() -> None:
    dialogue = prompted()
    step = dialogue.read(ask(command="ls"))
    assert step.events == (
        ToolUse(id="c1", tool="bash", input={"command": "ls"}),
        PermissionRequested(id="c1", tool="bash", input={"command": "ls"}),
    )
    assert step.replies == ()
    answer = only(dialogue.answer("c1", Allowed()))
    assert answer["method"] == "_barry/ruled"
    assert (answer["params"]["ask"], answer["params"]["allow"]) == (1, True)


def test_a_denial_carries_its_sentence() -> None:
    dialogue = prompted()
    dialogue.read(ask())
    given = only(dialogue.answer("c1", Denied(reason="not here")))["params"]
    assert given == {"ask": 1, "allow": False, "reason": "not here"}
    dialogue.read(ask(2, call="c2"))
    given = only(dialogue.answer("c2", Denied()))["params"]
    assert given["allow"] is False
    assert given["reason"]


def test_an_answer_to_nothing_is_not_written() -> None:
    dialogue = prompted()
    assert dialogue.answer("c1", Allowed()) == ""
    dialogue.read(ask())
    assert dialogue.answer("c1", Allowed())
    assert dialogue.answer("c1", Allowed()) == ""


def test_two_calls_of_one_id_are_two() -> None:
    dialogue = prompted()
    dialogue.read(ask(1))
    (second,) = [
        event for event in dialogue.read(ask(2)).events if isinstance(event, PermissionRequested)
    ]
    assert second.id != "c1"
    assert only(dialogue.answer(second.id, Denied(reason="x")))["params"]["ask"] == 2


def test_a_call_that_cannot_be_read_is_refused() -> None:
    dialogue = prompted()
    for more in ({"tool": 3, "call": "c"}, {"tool": "bash"}, {"tool": "bash", "call": ["c"]}):
        step = dialogue.read(said("ask", ask=1, session=SESSION, **more))
        assert step.events == ()
        assert only(step.replies)["params"]["allow"] is False


def test_a_tool_that_is_off_is_refused_without_asking_anybody() -> None:
    dialogue = prompted(denied=("bash", "mcp__small__greet"), servers=("small",))
    for tool in ("bash", "small_greet"):
        step = dialogue.read(ask(tool=tool, call=tool))
        assert not [each for each in step.events if isinstance(each, PermissionRequested)]
        assert only(step.replies)["params"]["allow"] is False
    assert dialogue.read(ask(tool="read", call="r")).replies == ()


def test_a_servers_tool_has_barrys_name() -> None:
    dialogue = prompted(servers=("a b", "a b_c"))
    step = dialogue.read(ask(tool="a_b_c_do_it"))
    assert step.events[-1].tool == "mcp__a b_c__do_it"
    assert dialogue.read(ask(2, tool="apply_patch", call="c2")).events[-1].tool == "apply_patch"


OPTIONS = [
    {"optionId": "always", "kind": "allow_always"},
    {"optionId": "once", "kind": "allow_once"},
    {"optionId": "reject", "kind": "reject_once"},
]


def native(call: str, options: Any = OPTIONS) -> str:
    params = {"sessionId": SESSION, "toolCall": {"toolCallId": call}, "options": options}
    return line(id=0, method="session/request_permission", params=params)


def test_its_own_question_is_answered_by_what_was_ruled() -> None:
    dialogue = prompted()
    dialogue.read(ask())
    dialogue.answer("c1", Allowed(persist=True))
    outcome = only(dialogue.read(native("c1")).replies)
    assert outcome["id"] == 0
    assert outcome["result"]["outcome"] == {"outcome": "selected", "optionId": "once"}
    for call in ("c2", ""):
        outcome = only(dialogue.read(native(call)).replies)
        assert outcome["result"]["outcome"]["optionId"] == "reject"
    for options in ([], [OPTIONS[0]], "x"):
        outcome = only(dialogue.read(native("c1", options)).replies)
        assert outcome["result"]["outcome"] == {"outcome": "cancelled"}


def result_of(call: str, status: str = "completed") -> str:
    state = {"status": status, "input": {}, "output": "done", "error": "no"}
    part = {"type": "tool", "tool": "bash", "callID": call, "sessionID": SESSION, "state": state}
    return happened("message.part.updated", part=part)


def test_a_call_that_ran_without_having_been_allowed_ends_the_turn() -> None:
    dialogue = prompted()
    dialogue.read(ask())
    dialogue.answer("c1", Allowed())
    dialogue.read(ask(2, call="c2"))
    dialogue.answer("c2", Denied(reason="x"))
    assert not [each for each in dialogue.read(result_of("c1")).events if isinstance(each, Failed)]
    for call in ("c2", "c3"):
        *_, failed = dialogue.read(result_of(call)).events
        assert isinstance(failed, Failed)
        assert "had not allowed" in failed.error
    failed_before = dialogue.read(result_of("c4", "error")).events
    assert not [each for each in failed_before if isinstance(each, Failed)]


# --- the end ---


def test_the_turn_ends_once_all_is_told() -> None:
    for first, second in ((idle, over), (over, idle)):
        dialogue = prompted()
        assert not first(dialogue).events
        assert second(dialogue).events == (Result(), Done())


def test_the_next_turn_begins_in_the_same_process() -> None:
    dialogue = prompted()
    idle(dialogue)
    over(dialogue)
    asked = only(dialogue.encode("more"))
    assert asked["method"] == "session/prompt"
    assert asked["params"]["prompt"] == [{"type": "text", "text": "more"}]
    assert not over(dialogue, asked["id"]).events  # what was idle before does not count
    assert idle(dialogue).events == (Result(), Done())


def test_a_message_beside_a_prompt_joins_it_and_is_waited_for() -> None:
    dialogue = prompted()
    asked = only(dialogue.encode("more"))
    assert asked["method"] == "session/prompt"
    assert asked["params"]["sessionId"] == SESSION
    idle(dialogue)
    assert not [each for each in over(dialogue).events if isinstance(each, Done)]
    step = dialogue.read(line(id=asked["id"], result={"stopReason": "end_turn"}))
    assert step == LiveStep((Result(), Done()), consumed=1)
    assert dialogue.read(line(id=asked["id"], result={})) == LiveStep()


def test_messages_wait_for_the_beginning() -> None:
    dialogue = opened("one")
    dialogue.read(said("ready"))
    dialogue.start()
    assert dialogue.encode("two") == ""


def test_an_interrupt_refuses_what_waits_and_forgets_other_messages() -> None:
    dialogue = prompted()
    assert only(dialogue.encode("more"))
    dialogue.read(ask())
    cancel, refused = all_of(dialogue.interrupt())
    assert cancel["method"] == "session/cancel"
    assert (refused["params"]["ask"], refused["params"]["allow"]) == (1, False)
    assert dialogue.answer("c1", Allowed()) == ""
    step = over(dialogue, reason="cancelled")
    assert step.events == (Stopped("aborted"),)
    assert step.consumed == 2


def test_nothing_is_interrupted_where_nothing_runs() -> None:
    assert opened().interrupt() is None


def test_a_failure_is_told_in_the_services_own_words() -> None:
    dialogue = prompted()
    error = {"name": "APIError", "data": {"message": "no such key", "statusCode": 401}}
    dialogue.read(happened("session.error", error=error))
    step = dialogue.read(line(id=3, error={"code": -32603, "message": "Internal error"}))
    assert step.events == (Failed(error="no such key (401)"),)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["ask", "tool", "call", "session", "type", "sessionID", "part", "id"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(
    method=st.sampled_from(
        ["_barry/ready", "_barry/ask", "_barry/event", "_barry/x", "session/request_permission",
         "session/update", None]
    ),
    params=_JSON,
    number=_JSON,
)  # fmt: skip
def test_whatever_it_writes_nothing_breaks(method: str | None, params: Any, number: Any) -> None:
    dialogue = prompted()
    message = {"params": params, "id": number, **({"method": method} if method else {})}
    step = dialogue.read(line(**message))
    for reply in step.replies if step else ():
        assert json.loads(reply)
