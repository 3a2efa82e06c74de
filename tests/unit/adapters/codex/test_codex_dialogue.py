"""The app server's protocol: what is written to Codex, line by line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_adapter_codex.dialogue import Dialogue
from barry_adapter_codex.events import events
from barry_cli.agents import AgentInput, Continuation, LiveStep, Observed, Raw, Stopped
from barry_cli.contract.events import Done, Failed, Init, PermissionRequested, Result, ToolResult
from barry_cli.contract.session import Allowed, Denied, SessionConfig

THREAD = "01a22df1-fc76-7ba3-b422-f9d34d0693bd"
OTHER = "01a22df3-32a1-7161-92ac-04212120e498"
ASKING = {"approvalPolicy": "untrusted", "approvalsReviewer": "user"}


class Wire:
    """Codex's end: it answers what the dialogue asks."""

    def __init__(self, text: str = "a prompt", **asked: Any) -> None:
        config = SessionConfig(session_id="s", cwd="/w", **asked.pop("config", {}))
        self.dialogue = Dialogue(AgentInput(text=text, config=config, **asked))
        self.sent: list[dict[str, Any]] = []
        self.write(self.dialogue.start())

    def write(self, text: str | None) -> list[dict[str, Any]]:
        rows = [json.loads(line) for line in (text or "").splitlines()]
        self.sent += rows
        return rows

    def tell(self, row: dict[str, Any]) -> LiveStep:
        line = json.dumps(row)
        step = self.dialogue.read(line) or LiveStep(events=events(line))
        for reply in step.replies:
            assert not reply or reply.endswith("\n")
            self.write(reply)
        return step

    def asked(self, method: str) -> dict[str, Any]:
        """The newest request of a method."""
        return next(row for row in reversed(self.sent) if row.get("method") == method)

    def count(self, method: str) -> int:
        return sum(row.get("method") == method for row in self.sent)

    def greet(self, **account: Any) -> LiveStep:
        """Up to what it says of the user's login."""
        agent = "barry/0.171.0 (Debian 12) x (barry; 1)"
        (seen,) = self.grant("initialize", {"userAgent": agent}).events
        assert seen == Observed(version="0.171.0")
        told = {"account": None, "requiresOpenaiAuth": False, **account}
        return self.grant("account/read", told)

    def grant(self, method: str, result: Any) -> LiveStep:
        return self.tell({"id": self.asked(method)["id"], "result": result})

    def refuse(self, method: str, message: str) -> LiveStep:
        error = {"code": -32600, "message": message}
        return self.tell({"id": self.asked(method)["id"], "error": error})

    def note(self, method: str, **params: Any) -> LiveStep:
        return self.tell({"method": method, "params": {"threadId": THREAD, **params}})

    def item(self, when: str, **item: Any) -> LiveStep:
        return self.note(f"item/{when}", item={"id": "i1", **item}, turnId="t1")

    def over(self, status: str = "completed", turn: str = "t1", **more: Any) -> LiveStep:
        return self.note("turn/completed", turn={"id": turn, "status": status, **more})

    def ask(
        self, about: str = "commandExecution", /, *, number: int = 0, **params: Any
    ) -> LiveStep:
        given = {"threadId": THREAD, "turnId": "t1", "itemId": "i1", **params}
        method = about if "/" in about else f"item/{about}/requestApproval"
        return self.tell({"method": method, "id": number, "params": given})


def opened(
    method: str = "thread/start", named: str = THREAD, **asked: Any
) -> tuple[Wire, LiveStep]:
    wire = Wire(**asked)
    wire.greet()
    thread = {"thread": {"id": named}, "model": "gpt-5.5", **ASKING}
    return wire, wire.grant(method, thread)


def running(**asked: Any) -> Wire:
    wire, _ = opened(**asked)
    wire.grant("turn/start", {"turn": {"id": "t1"}})
    return wire


def said(row: dict[str, Any]) -> str:
    text = row["params"]["items"][0]["content"][0]["text"]
    assert isinstance(text, str)
    return text


# --- the beginning ---


def test_everything_is_to_be_asked_about_before_the_prompt_goes_out() -> None:
    wire, step = opened()
    assert [row.get("method") for row in wire.sent] == [
        "initialize",
        "initialized",
        "account/read",
        "thread/start",
        "turn/start",
    ]
    assert wire.sent[0]["params"]["capabilities"] == {"experimentalApi": True}
    begun, turn = wire.asked("thread/start")["params"], wire.asked("turn/start")["params"]
    assert {**begun, **ASKING} == begun
    assert {**turn, **ASKING} == turn
    assert turn["input"] == [{"type": "text", "text": "a prompt"}]
    assert list(step.events) == [Observed(model="gpt-5.5"), Init(harness_session_id=THREAD)]


@pytest.mark.parametrize(
    "said", [{**ASKING, "approvalPolicy": "never"}, {**ASKING, "approvalsReviewer": "auto"}, {}]
)
def test_nothing_is_prompted_where_barry_is_not_asked(said: dict[str, str]) -> None:
    wire = Wire()
    wire.greet()
    step = wire.grant("thread/start", {"thread": {"id": THREAD}, **said})
    (failed,) = step.events
    assert isinstance(failed, Failed)
    assert "does not let Barry rule" in failed.error
    assert wire.count("turn/start") == 0
    assert wire.dialogue.encode("more") == ""


@pytest.mark.parametrize(
    ("fork", "named", "begins"), [(False, THREAD, True), (False, OTHER, False),
                                  (True, OTHER, True), (True, THREAD, False)]
)  # fmt: skip
def test_a_conversation_goes_on_only_as_what_was_asked(
    fork: bool, named: str, begins: bool
) -> None:
    method = "thread/fork" if fork else "thread/resume"
    wire, step = opened(method, named, continuation=Continuation(THREAD, fork))
    assert wire.asked(method)["params"]["threadId"] == THREAD
    assert (wire.count("turn/start") == 1) is begins
    if not begins:
        (failed,) = step.events
        assert isinstance(failed, Failed)
        assert failed.error.startswith("conversation_lost:")


@pytest.mark.parametrize(
    ("account", "begins"),
    [
        ({"account": {"type": "chatgpt"}, "requiresOpenaiAuth": True}, True),
        ({"requiresOpenaiAuth": False}, True),
        ({"requiresOpenaiAuth": True}, False),
    ],
)
def test_nothing_is_sent_without_a_login(account: dict[str, Any], begins: bool) -> None:
    wire = Wire()
    step = wire.greet(**account)
    assert (wire.count("thread/start") == 1) is begins
    assert [type(each) for each in step.events] == ([] if begins else [Failed])


def test_a_login_that_can_not_be_asked_about_is_no_matter() -> None:
    wire = Wire()
    wire.grant("initialize", {})
    wire.refuse("account/read", "unknown method")
    assert wire.count("thread/start") == 1


def test_a_conversation_that_is_gone_fails_the_turn() -> None:
    wire = Wire(continuation=Continuation(THREAD))
    wire.greet()
    step = wire.refuse("thread/resume", f"no rollout found for thread id {THREAD}")
    assert [type(each) for each in step.events] == [Failed]


def test_what_a_session_is_asked_for() -> None:
    config = {
        "project_roots": ("/other",),
        "options": {"sandbox": "read-only"},
        "ephemeral": True,
    }
    wire, _ = opened(config=config, output_schema={"type": "object"})
    params = wire.asked("thread/start")["params"]
    assert params["runtimeWorkspaceRoots"] == ["/w", "/other"]
    assert (params["sandbox"], params["ephemeral"], params["cwd"]) == ("read-only", True, "/w")
    assert wire.asked("turn/start")["params"]["outputSchema"] == {"type": "object"}
    plain, _ = opened()
    assert not {"runtimeWorkspaceRoots", "sandbox", "ephemeral"} & set(
        plain.asked("thread/start")["params"]
    )
    assert "outputSchema" not in plain.asked("turn/start")["params"]


# --- messages ---


def test_messages_wait_for_the_turns_name_and_keep_their_order() -> None:
    wire = Wire("one")
    assert wire.dialogue.encode("two") == ""
    wire.greet()
    wire.grant("thread/start", {"thread": {"id": THREAD}, **ASKING})
    assert wire.dialogue.encode("three") == ""
    assert wire.count("turn/start") == 1
    wire.grant("turn/start", {"turn": {"id": "t1"}})
    steers = [row["params"] for row in wire.sent if row.get("method") == "turn/steer"]
    assert [each["input"][0]["text"] for each in steers] == ["two", "three"]
    assert {each["expectedTurnId"] for each in steers} == {"t1"}


def test_a_message_joins_the_turn_and_later_begins_another() -> None:
    wire = running()
    wire.write(wire.dialogue.encode("more"))
    assert wire.count("turn/steer") == 1
    wire.over()
    wire.write(wire.dialogue.encode("next"))
    assert wire.asked("turn/start")["params"]["input"][0]["text"] == "next"
    wire.grant("turn/start", {"turn": {"id": "t2"}})
    assert wire.over(turn="t1").events[0].__class__ is Raw  # an old one ends nothing
    assert any(isinstance(each, Done) for each in wire.over(turn="t2").events)


def test_a_message_that_came_too_late_begins_a_turn() -> None:
    wire = running()
    wire.write(wire.dialogue.encode("more"))
    wire.over()
    wire.refuse("turn/steer", "no active turn to steer")
    assert wire.asked("turn/start")["params"]["input"][0]["text"] == "more"


def test_a_message_that_the_turn_can_not_take_waits_for_its_end() -> None:
    wire = running()
    wire.write(wire.dialogue.encode("more"))
    wire.refuse("turn/steer", "this turn can't be steered")
    assert wire.count("turn/start") == 1
    wire.over()
    assert wire.asked("turn/start")["params"]["input"][0]["text"] == "more"


def test_what_is_taken_in_is_counted() -> None:
    wire = running()
    assert wire.item("completed", type="userMessage").consumed == 1
    assert wire.item("completed", type="agentMessage", text="a").consumed == 0


# --- rulings ---


def test_a_command_is_asked_about_as_it_runs() -> None:
    wire = running()
    step = wire.ask(command="/bin/bash -lc 'touch a'", cwd="/w/b", reason="it must")
    (asked,) = step.events
    assert asked == PermissionRequested(
        id="i1",
        tool="exec_command",
        input={"cmd": "touch a", "workdir": "/w/b"},
        description="it must",
    )
    (answer,) = wire.write(wire.dialogue.answer("i1", Allowed(persist=True)))
    assert answer == {"id": 0, "result": {"decision": "accept"}}


def test_a_denial_puts_its_sentence_before_the_agent_first() -> None:
    wire = running()
    wire.ask(command="ls")
    told, answer = wire.write(wire.dialogue.answer("i1", Denied(reason="not here")))
    assert told["method"] == "thread/inject_items"
    assert said(told).endswith("refused exec_command: not here")
    assert told["params"]["items"][0]["role"] == "developer"
    assert answer == {"id": 0, "result": {"decision": "decline"}}
    item = {"type": "commandExecution", "command": "ls", "status": "declined", "exitCode": None}
    (result,) = wire.item("completed", **item).events
    assert result == ToolResult(id="i1", result="not here", error=True)


def test_an_answer_to_nothing_is_not_written() -> None:
    wire = running()
    assert wire.dialogue.answer("i1", Allowed()) == ""
    wire.ask(command="ls")
    wire.note("serverRequest/resolved", requestId=0)
    assert wire.dialogue.answer("i1", Allowed()) == ""
    wire.ask(command="ls", number=1)
    assert wire.dialogue.answer("i1", Allowed())
    assert wire.dialogue.answer("i1", Denied(reason="no")) == ""


def test_two_questions_about_one_item_have_names_of_their_own() -> None:
    wire = running()
    for number, name in ((4, "i1"), (5, "5")):
        (asked,) = wire.ask(command="ls", number=number).events
        assert isinstance(asked, PermissionRequested)
        assert asked.id == name
    for number, name in ((5, "5"), (4, "i1")):
        (answer,) = wire.write(wire.dialogue.answer(name, Allowed()))
        assert answer["id"] == number


def test_a_change_of_files_is_asked_about_with_its_patch() -> None:
    wire = running()
    change = {"path": "/w/a", "kind": {"type": "add"}, "diff": "x\n"}
    wire.item("started", type="fileChange", changes=[change], status="inProgress")
    (asked,) = wire.ask("fileChange").events
    assert isinstance(asked, PermissionRequested)
    assert asked.tool == "apply_patch"
    assert "*** Add File: /w/a" in asked.input["command"]


def test_a_servers_call_is_asked_about() -> None:
    wire = running()
    meta = {"codex_approval_kind": "mcp_tool_call", "tool_name": "greet", "tool_params": {"a": 1}}
    step = wire.ask("mcpServer/elicitation/request", serverName="small", _meta=meta, message="?")
    (asked,) = step.events
    assert isinstance(asked, PermissionRequested)
    assert (asked.tool, asked.input) == ("mcp__small__greet", {"a": 1})
    told, answer = wire.write(wire.dialogue.answer("0", Denied(reason="no")))
    assert "no" in said(told)
    assert answer["result"]["action"] == "decline"
    wire.ask("mcpServer/elicitation/request", number=1, serverName="small", _meta=meta)
    (answer,) = wire.write(wire.dialogue.answer("1", Allowed()))
    assert answer["result"] == {"action": "accept", "content": {}}


@pytest.mark.parametrize(
    ("kind", "params", "answer"),
    [
        ("commandExecution", {}, {"decision": "decline"}),
        ("commandExecution", {"kind": "writeStdin", "command": "x"}, {"decision": "decline"}),
        ("commandExecution", {"kind": "humanCommand", "command": "x"}, {"decision": "decline"}),
        ("commandExecution", {"command": 3}, {"decision": "decline"}),
        ("fileChange", {}, {"decision": "decline"}),
        ("fileChange", {"itemId": "unknown"}, {"decision": "decline"}),
        ("permissions", {"permissions": {"network": {"enabled": True}}}, {"permissions": {}}),
        (
            "mcpServer/elicitation/request",
            {"serverName": "s", "message": "your name?"},
            {"action": "decline", "content": None},
        ),
    ],
)
def test_what_cannot_be_ruled_on_is_refused(
    kind: str, params: dict[str, Any], answer: dict[str, Any]
) -> None:
    wire = running()
    assert wire.ask(kind, **params).events == ()
    assert wire.sent[-1] == {"id": 0, "result": answer}


def test_a_root_is_not_granted_for_good() -> None:
    wire = running()
    change = {"path": "/w/a", "kind": {"type": "add"}, "diff": "x\n"}
    wire.item("started", type="fileChange", changes=[change], status="inProgress")
    assert wire.ask("fileChange", grantRoot="/").events == ()
    assert wire.sent[-1]["result"] == {"decision": "decline"}


def test_what_nobody_serves_is_answered_with_an_error() -> None:
    wire = running()
    assert wire.ask("item/tool/requestUserInput", questions=[]).events == ()
    assert wire.sent[-1]["error"]["code"] == -32601


def test_denied_tools_are_refused_without_asking() -> None:
    wire = running(config={"denied_tools": ("Exec_Command",)})
    assert wire.ask(command="ls").events == ()
    assert "denied exec_command" in said(wire.sent[-2])
    assert wire.sent[-1]["result"] == {"decision": "decline"}


def fails(step: LiveStep) -> bool:
    return any(isinstance(each, Failed) and "did not allow" in each.error for each in step.events)


@pytest.mark.parametrize(
    ("item", "asked"),
    [
        ({"type": "commandExecution", "command": "ls", "status": "completed", "exitCode": 0}, True),
        ({"type": "commandExecution", "command": "ls", "status": "failed", "exitCode": 1}, True),
        ({"type": "commandExecution", "command": "ls", "status": "declined"}, False),
        ({"type": "fileChange", "changes": [], "status": "completed"}, True),
        ({"type": "fileChange", "changes": [], "status": "failed"}, False),
        ({"type": "mcpToolCall", "server": "s", "tool": "t", "status": "completed"}, True),
        ({"type": "mcpToolCall", "server": "s", "tool": "t", "status": "failed"}, False),
        (
            {"type": "mcpToolCall", "server": "s", "tool": "read_mcp_resource",
             "status": "completed"},
            False,
        ),
        ({"type": "webSearch", "query": "q"}, True),
        ({"type": "collabAgentToolCall", "tool": "spawnAgent", "status": "completed"}, True),
        ({"type": "reasoning"}, False),
    ],
)  # fmt: skip
def test_a_call_that_ran_unasked_ends_the_turn(item: dict[str, Any], asked: bool) -> None:
    assert fails(running().item("completed", **item)) is asked


def test_a_call_that_was_asked_about_ends_nothing() -> None:
    wire = running()
    wire.ask(command="ls")
    wire.write(wire.dialogue.answer("i1", Allowed()))
    item = {"type": "commandExecution", "command": "ls", "status": "completed", "exitCode": 0}
    assert not fails(wire.item("completed", **item))
    meta = {"codex_approval_kind": "mcp_tool_call", "tool_name": "t", "tool_params": {"a": 1}}
    wire.ask("mcpServer/elicitation/request", number=1, serverName="s", _meta=meta)
    wire.write(wire.dialogue.answer("1", Allowed()))
    call = {"type": "mcpToolCall", "server": "s", "tool": "t", "status": "completed"}
    assert not fails(wire.item("completed", **call, arguments={"a": 1}))
    assert fails(wire.item("completed", **call, arguments={"a": 1}))  # once each
    assert fails(wire.item("completed", **call, arguments={"a": 2}))


def test_a_call_that_ran_although_it_was_refused_ends_the_turn() -> None:
    wire = running()
    wire.ask(command="ls")
    item = {"type": "commandExecution", "command": "ls", "status": "completed", "exitCode": 0}
    wire.write(wire.dialogue.answer("i1", Denied(reason="no")))
    assert fails(wire.item("completed", **item))
    meta = {"codex_approval_kind": "mcp_tool_call", "tool_name": "t", "tool_params": {}}
    wire.ask("mcpServer/elicitation/request", number=1, serverName="s", _meta=meta)
    wire.write(wire.dialogue.answer("1", Denied(reason="no")))
    call = {"type": "mcpToolCall", "server": "s", "tool": "t", "arguments": {}}
    assert not fails(wire.item("completed", **call, status="failed"))
    assert fails(wire.item("completed", **call, status="completed"))


def test_a_resource_is_read_only_where_that_is_granted() -> None:
    read = {"type": "mcpToolCall", "server": "s", "tool": "read_mcp_resource"}
    assert not fails(running().item("started", **read))
    denied = running(config={"denied_tools": ("read_mcp_resource",)})
    assert fails(denied.item("started", **read))


# --- the end ---


def test_the_answer_is_the_last_that_was_said() -> None:
    wire = running()
    for text, phase in (("first", None), ("it thinks", "commentary"), ("last", "final_answer")):
        wire.item("completed", type="agentMessage", text=text, phase=phase)
    wire.item("completed", type="agentMessage", text="it goes on", phase="commentary")
    result, done = wire.over(durationMs=5).events
    assert result == Result(result="last")
    assert isinstance(done, Done)
    assert done.duration_ms == 5


@pytest.mark.parametrize(("text", "structured"), [('{"n": 4}', {"n": 4}), ("four", None)])
def test_an_answer_with_a_schema(text: str, structured: Any) -> None:
    wire = running(output_schema={"type": "object"})
    wire.item("completed", type="agentMessage", text=text)
    result = wire.over().events[0]
    assert isinstance(result, Result)
    assert result.structured == structured


def test_an_interrupt_ends_what_runs_and_what_waits() -> None:
    wire = running()
    wire.ask(command="ls")
    cut, cleaned = wire.write(wire.dialogue.interrupt())
    assert (cut["method"], cut["params"]["turnId"]) == ("turn/interrupt", "t1")
    assert cleaned["method"] == "thread/backgroundTerminals/clean"
    assert wire.dialogue.answer("i1", Allowed()) == ""
    assert wire.refuse("turn/interrupt", "no active turn to interrupt").events == ()
    (stopped,) = wire.over("interrupted").events
    assert stopped == Stopped("aborted")


def test_an_interrupt_waits_for_the_turns_name() -> None:
    wire, _ = opened()
    assert wire.dialogue.interrupt() == ""
    wire.grant("turn/start", {"turn": {"id": "t1"}})
    assert wire.asked("turn/interrupt")["params"]["turnId"] == "t1"


def test_before_there_is_a_conversation_there_is_nothing_to_cut() -> None:
    assert Wire().dialogue.interrupt() is None


def test_what_other_conversations_tell_is_not_this_ones() -> None:
    wire = running()
    turn = {"id": "t1", "status": "completed"}
    step = wire.tell({"method": "turn/completed", "params": {"threadId": OTHER, "turn": turn}})
    assert [type(each) for each in step.events] == [Raw]
    # A call in one of them is asked about all the same.
    step = wire.ask(threadId=OTHER, command="ls")
    assert [type(each) for each in step.events] == [PermissionRequested]


@given(
    st.lists(
        st.sampled_from(
            ["say", "name", "over", "cut", "late", "ask", "answer", "taken", "resolved"]
        ),
        max_size=20,
    )
)
def test_no_order_is_too_strange(steps: list[str]) -> None:
    """Nothing raises, and no two turns run at once."""
    wire, _ = opened()
    turns, busy = 1, True
    for number, step in enumerate(steps):
        before = wire.count("turn/start")
        if step == "say":
            wire.write(wire.dialogue.encode(f"message {number}"))
        elif step == "name":
            wire.grant("turn/start", {"turn": {"id": f"t{turns}"}})
        elif step == "over":
            busy = False
            wire.over(turn=f"t{turns}")
        elif step == "cut":
            wire.write(wire.dialogue.interrupt())
        elif step == "late" and wire.count("turn/steer"):
            wire.refuse("turn/steer", "no active turn to steer")
        elif step == "ask":
            wire.ask(number=number, command="ls")
        elif step == "answer":
            wire.write(wire.dialogue.answer("i1", Allowed()))
        elif step == "taken":
            wire.item("completed", type="userMessage")
        elif step == "resolved":
            wire.note("serverRequest/resolved", requestId=number - 1)
        begun = wire.count("turn/start") - before
        assert begun <= (0 if busy else 1)
        turns, busy = turns + begun, busy or begun == 1
