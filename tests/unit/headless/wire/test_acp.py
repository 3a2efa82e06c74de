"""A client of the Agent Client Protocol, against an agent made of sentences."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.contract.session import Allowed, Denied, HttpMcpServer, SessionConfig, StdioMcpServer
from barry_cli.headless.agent_events import Usage
from barry_cli.headless.agent_input import AgentInput, Continuation
from barry_cli.headless.live import LiveStep
from barry_cli.headless.wire.acp import MOST_TOLD, AcpDialogue
from barry_cli.headless.wire.acp_profile import AcpProfile, tool_of

ASKING = AcpProfile(ask_mode="ask")
OPTIONS = [
    {"optionId": "for-ever", "kind": "allow_always"},
    {"optionId": "once", "kind": "allow_once"},
    {"optionId": "no", "kind": "reject_once"},
    {"optionId": "never", "kind": "reject_always"},
]


class Agent:
    """Says what a test tells it to, and hears what the dialogue writes."""

    def __init__(
        self, profile: AcpProfile | None = None, *, asked: Continuation | None = None, **config: Any
    ) -> None:
        given = AgentInput(
            text="hello",
            config=SessionConfig(session_id="s", cwd="/w", **config),
            continuation=asked,
            live=True,
        )
        self.dialogue = AcpDialogue(given, profile or AcpProfile())
        self.heard: list[dict[str, Any]] = []
        self.events: list[Any] = []
        self.consumed = 0
        self.listen(self.dialogue.start())

    def listen(self, text: str | None) -> None:
        self.heard += [json.loads(line) for line in (text or "").splitlines()]

    def tell(self, **message: Any) -> LiveStep:
        step = self.dialogue.read(json.dumps({"jsonrpc": "2.0", **message}))
        assert step is not None
        for reply in step.replies:
            self.listen(reply)
        self.events += step.events
        self.consumed += step.consumed
        return step

    def answer(self, method: str, result: Any = None, *, error: Any = None) -> LiveStep:
        """Answer the last request, which must be this one."""
        last = self.heard[-1]
        assert last["method"] == method, self.heard
        body = {"result": result} if error is None else {"error": error}
        return self.tell(id=last["id"], **body)

    def update(self, kind: str, /, **fields: Any) -> LiveStep:
        return self.tell(
            method="session/update",
            params={"sessionId": "a1", "update": {"sessionUpdate": kind, **fields}},
        )

    def chunk(self, text: str) -> LiveStep:
        return self.update("agent_message_chunk", content={"type": "text", "text": text})

    def ask(self, call: str = "t1", number: Any = 7, options: Any = OPTIONS, **fields: Any) -> Any:
        step = self.tell(
            id=number,
            method="session/request_permission",
            params={
                "sessionId": "a1", "toolCall": {"toolCallId": call, **fields}, "options": options,
            },
        )  # fmt: skip
        return step.events[-1] if step.events else None

    def begin(self, hello: Any = None, opened: Any = None) -> Agent:
        self.answer("initialize", {"protocolVersion": 1, **(hello or {})})
        self.answer("session/new", {"sessionId": "a1", **(opened or {})})
        return self

    def kinds(self) -> list[str]:
        return [getattr(event, "type", type(event).__name__) for event in self.events]


def test_a_turn() -> None:
    agent = Agent().begin({"agentInfo": {"version": "1.2"}}, {"models": {"currentModelId": "m"}})
    hello, new, prompt = agent.heard
    assert hello["params"]["clientCapabilities"] == {
        "fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False,
    }  # fmt: skip
    assert new["params"] == {"cwd": "/w", "mcpServers": []}
    assert prompt["method"] == "session/prompt"
    assert prompt["params"] == {"sessionId": "a1", "prompt": [{"type": "text", "text": "hello"}]}
    agent.chunk("a")
    agent.chunk("b")
    agent.update("tool_call", toolCallId="t1", title="ls", kind="execute", status="pending")
    agent.update("tool_call_update", toolCallId="t1", rawInput={"command": "ls"})
    agent.update(
        "tool_call_update", toolCallId="t1", status="completed",
        content=[{"type": "content", "content": {"type": "text", "text": "x"}}],
    )  # fmt: skip
    agent.update("tool_call_update", toolCallId="t1", status="completed")
    agent.update("plan", entries=[])
    agent.update("nobody_knows_this")
    agent.chunk("c")
    agent.answer("session/prompt", {"stopReason": "end_turn"})
    assert agent.kinds() == [
        "Observed", "init", "Observed", "partial", "partial", "text", "tool_use", "tool_result",
        "partial", "text", "done",
    ]  # fmt: skip
    use, result = agent.events[6:8]
    assert (use.id, use.tool, use.input) == ("t1", "execute", {"command": "ls"})
    assert (result.id, result.result, result.error) == ("t1", "x", None)
    assert agent.events[5].text == "ab"
    assert agent.consumed == 1


def test_a_call_without_input_is_told_by_its_title_and_places() -> None:
    assert tool_of({"kind": "edit", "title": "Edit x", "rawInput": {}}) == (
        "edit", {"title": "Edit x"},
    )  # fmt: skip
    assert tool_of({"title": "Read", "locations": [{"path": "/x"}, {}, 5]}) == (
        "other", {"title": "Read", "locations": ["/x"]},
    )  # fmt: skip
    assert tool_of({"locations": 5, "title": 5, "kind": []}) == ("other", {"title": ""})
    agent = Agent().begin()
    agent.update("tool_call", toolCallId="t1", title="T", status="pending")
    agent.answer("session/prompt", {"stopReason": "end_turn"})
    assert agent.kinds() == ["init", "tool_use", "done"]


@pytest.mark.parametrize(
    ("decision", "options", "outcome"),
    [
        (Allowed(persist=True), OPTIONS, {"outcome": "selected", "optionId": "once"}),
        (Denied(reason="why"), OPTIONS, {"outcome": "selected", "optionId": "no"}),
        (Allowed(), OPTIONS[:1], {"outcome": "cancelled"}),
        (Denied(reason="why"), OPTIONS[3:], {"outcome": "cancelled"}),
        (Denied(reason="why"), None, {"outcome": "cancelled"}),
    ],
)
def test_a_ruling_is_for_once(decision: Any, options: Any, outcome: Any) -> None:
    agent = Agent().begin()
    agent.update("tool_call", toolCallId="t1", title="ls", kind="execute", status="pending")
    asked = agent.ask(rawInput={"command": "ls"}, title="ls", options=options)
    assert agent.kinds() == ["init", "tool_use", "permission_request"]
    assert (asked.id, asked.tool, asked.input) == ("t1", "execute", {"command": "ls"})
    agent.listen(agent.dialogue.answer("t1", decision))
    assert agent.heard[-1] == {"jsonrpc": "2.0", "id": 7, "result": {"outcome": outcome}}
    assert agent.dialogue.answer("t1", decision) == ""


def test_two_requests_for_one_call_are_two() -> None:
    agent = Agent().begin()
    first, second = agent.ask(number=1), agent.ask(number=2)
    assert first.id != second.id
    agent.listen(agent.dialogue.answer(second.id, Denied(reason="x")))
    assert agent.heard[-1]["id"] == 2


@pytest.mark.parametrize("reason", ["end_turn", "cancelled"])
def test_the_agent_gets_to_read_why_a_call_was_denied(reason: str) -> None:
    agent = Agent().begin()
    for call, number in (("t1", 1), ("t2", 2)):
        agent.ask(call, number)
        agent.dialogue.answer(call, Denied(reason="not to be written"))
    agent.answer("session/prompt", {"stopReason": reason})
    assert "done" not in agent.kinds()
    assert agent.heard[-1]["params"]["prompt"][0]["text"] == "not to be written"
    agent.chunk("understood")
    agent.answer("session/prompt", {"stopReason": "end_turn"})
    assert agent.kinds()[-2:] == ["text", "done"]
    assert agent.consumed == 1
    quiet = Agent(AcpProfile(tell_denials=False)).begin()
    quiet.ask()
    quiet.dialogue.answer("t1", Denied(reason="x"))
    quiet.answer("session/prompt", {"stopReason": "end_turn"})
    assert quiet.kinds()[-1] == "done"


def test_an_agent_that_never_understands_a_denial_is_stuck() -> None:
    agent = Agent().begin()
    for number in range(1, MOST_TOLD + 2):
        call = f"t{number}"
        agent.ask(call, number)
        agent.dialogue.answer(call, Denied(reason="not to be written"))
        assert "error" not in agent.kinds()
        agent.answer("session/prompt", {"stopReason": "end_turn"})
    assert "goes on asking" in agent.events[-1].error
    assert agent.consumed == 1


def test_its_asking_mode_is_forced_before_the_first_prompt() -> None:
    agent = Agent(ASKING).begin(opened={"modes": {"currentModeId": "auto"}})
    assert agent.heard[-1]["method"] == "session/set_mode"
    assert agent.heard[-1]["params"] == {"sessionId": "a1", "modeId": "ask"}
    agent.chunk("before anything was asked")
    assert "partial" not in agent.kinds()
    agent.answer("session/set_mode", {})
    assert agent.heard[-1]["method"] == "session/prompt"
    agent.update("current_mode_update", currentModeId="ask")
    assert "error" not in agent.kinds()
    agent.update("current_mode_update", currentModeId="yolo")
    assert "asks only in ask" in agent.events[-1].error


def test_a_mode_that_it_does_not_have() -> None:
    agent = Agent(ASKING).begin()
    agent.answer("session/set_mode", error={"code": -32602, "message": "no mode"})
    assert agent.heard[-1]["method"] == "session/set_mode"  # and no prompt
    assert "in which it asks: no mode" in agent.events[-1].error


def test_in_its_asking_mode_it_is_left() -> None:
    agent = Agent(ASKING).begin(opened={"modes": {"currentModeId": "ask"}})
    assert agent.heard[-1]["method"] == "session/prompt"


def test_a_model_is_set_where_it_can_be() -> None:
    profile = AcpProfile(model_id=lambda model: model.partition("/")[2])
    agent = Agent(profile, model="v/m-2").begin()
    assert agent.heard[-1]["params"] == {"sessionId": "a1", "modelId": "m-2"}
    agent.answer("session/set_model", {})
    assert agent.events[-1].model == "m-2"
    assert agent.heard[-1]["method"] == "session/prompt"
    agent = Agent(profile, model="v/m-2").begin()
    agent.answer("session/set_model", error={"code": -32602, "message": "no such model"})
    assert agent.events[-1].error == "no such model"


def test_an_authentication_comes_first() -> None:
    agent = Agent(AcpProfile(authenticate="key"))
    agent.answer("initialize", {"protocolVersion": 1})
    assert agent.heard[-1]["params"] == {"methodId": "key"}
    agent.answer("authenticate", {})
    assert agent.heard[-1]["method"] == "session/new"


@pytest.mark.parametrize("result", [{"protocolVersion": 2}, {}, None, []])
def test_another_protocol_is_refused(result: Any) -> None:
    agent = Agent()
    agent.answer("initialize", result)
    assert "of the protocol" in agent.events[-1].error


def test_a_conversation_is_taken_up_without_its_past() -> None:
    agent = Agent(asked=Continuation("a1"))
    agent.answer("initialize", {"protocolVersion": 1, "agentCapabilities": {"loadSession": True}})
    assert agent.heard[-1]["params"]["sessionId"] == "a1"
    agent.chunk("of old")
    agent.update("tool_call", toolCallId="t0", rawInput={"a": 1})
    assert agent.events == []
    agent.answer("session/load", None)
    agent.answer("session/prompt", {"stopReason": "end_turn"})
    assert agent.kinds() == ["init", "done"]
    assert agent.events[0].harness_session_id == "a1"


@pytest.mark.parametrize(
    ("profile", "asked", "abilities", "method"),
    [
        (AcpProfile(), Continuation("a1"), {"loadSession": False}, None),
        (AcpProfile(resume="resume"), Continuation("a1"), {}, "session/resume"),
        (AcpProfile(resume=None), Continuation("a1"), {"loadSession": True}, None),
        (AcpProfile(fork=True), Continuation("a1", fork=True), {}, "session/fork"),
        (AcpProfile(), Continuation("a1", fork=True), {"loadSession": True}, None),
    ],
)
def test_how_a_conversation_is_taken_up(
    profile: AcpProfile, asked: Continuation, abilities: Any, method: str | None
) -> None:
    agent = Agent(profile, asked=asked)
    agent.answer("initialize", {"protocolVersion": 1, "agentCapabilities": abilities})
    if method is None:
        assert agent.events[-1].error.startswith("conversation_lost:")
        return
    agent.answer(method, error={"code": -32002, "message": "not there"})
    assert agent.events[-1].error == "conversation_lost: not there"


def test_a_copy_has_the_id_that_the_agent_gives() -> None:
    agent = Agent(AcpProfile(fork=True), asked=Continuation("a0", fork=True))
    agent.answer("initialize", {"protocolVersion": 1})
    agent.answer("session/fork", {"sessionId": "a1"})
    assert agent.events[0].harness_session_id == "a1"


def test_a_session_without_an_id() -> None:
    agent = Agent()
    agent.answer("initialize", {"protocolVersion": 1})
    agent.answer("session/new", {})
    assert "no id" in agent.events[-1].error


SERVERS = {
    "one": StdioMcpServer(command="c", args=("a",), env={"K": "v"}),
    "two": HttpMcpServer(type="http", url="http://127.0.0.1:9", headers={"H": "v"}),
}


def test_mcp_servers() -> None:
    agent = Agent(mcp_servers=SERVERS)
    agent.answer(
        "initialize",
        {"protocolVersion": 1, "agentCapabilities": {"mcpCapabilities": {"http": True}}},
    )
    assert agent.heard[-1]["params"]["mcpServers"] == [
        {"name": "one", "command": "c", "args": ["a"], "env": [{"name": "K", "value": "v"}]},
        {
            "type": "http", "name": "two", "url": "http://127.0.0.1:9",
            "headers": [{"name": "H", "value": "v"}],
        },
    ]  # fmt: skip
    agent = Agent(mcp_servers=SERVERS)
    agent.answer("initialize", {"protocolVersion": 1})
    assert agent.events[-1].error == "it can't be given an MCP server over http"


def test_a_system_prompt_opens_a_new_conversation_only() -> None:
    agent = Agent(system_prompt="be brief").begin()
    assert agent.heard[-1]["params"]["prompt"][0]["text"] == "be brief\n\nhello"
    agent = Agent(AcpProfile(resume="resume"), asked=Continuation("a1"), system_prompt="be brief")
    agent.answer("initialize", {"protocolVersion": 1})
    agent.answer("session/resume", {})
    assert agent.heard[-1]["params"]["prompt"][0]["text"] == "hello"


def test_a_second_prompt_waits_for_the_first() -> None:
    agent = Agent().begin()
    assert agent.dialogue.encode("more") == ""
    agent.answer("session/prompt", {"stopReason": "end_turn"})
    assert "done" not in agent.kinds()
    assert agent.heard[-1]["params"]["prompt"][0]["text"] == "more"
    agent.answer("session/prompt", {"stopReason": "end_turn"})
    assert (agent.kinds()[-1], agent.consumed) == ("done", 2)
    agent.listen(agent.dialogue.encode("next turn"))  # idle: at once
    assert agent.heard[-1]["params"]["prompt"][0]["text"] == "next turn"


def test_a_message_before_the_session_is_open_waits_too() -> None:
    agent = Agent()
    assert agent.dialogue.encode("more") == ""
    agent.begin()
    assert agent.heard[-1]["params"]["prompt"][0]["text"] == "hello"


@pytest.mark.parametrize("offered", [True, False])
@pytest.mark.parametrize("works", [True, False])
def test_steering_by_an_extension(offered: bool, works: bool) -> None:
    agent = Agent(AcpProfile(steering="_session/steering"))
    agent.begin({"_meta": {"steering": {"supported": offered}}})
    prompt = agent.heard[-1]
    agent.listen(agent.dialogue.encode("more"))
    if not offered:
        assert agent.heard[-1] is prompt
        return
    if works:
        agent.answer("_session/steering", {"outcome": "injected"})
        assert agent.consumed == 1
        return
    agent.answer("_session/steering", error={"code": -32601, "message": "no"})
    assert "error" not in agent.kinds()
    agent.tell(id=prompt["id"], result={"stopReason": "end_turn"})
    assert agent.heard[-1]["params"]["prompt"][0]["text"] == "more"


def test_an_interrupt_answers_what_waits() -> None:
    agent = Agent()
    assert agent.dialogue.interrupt() is None  # nothing runs yet
    agent.begin()
    agent.ask()
    agent.dialogue.encode("more")
    agent.listen(agent.dialogue.interrupt())
    cancel, answered = agent.heard[-2:]
    assert (cancel["method"], "id" in cancel) == ("session/cancel", False)
    assert answered == {"jsonrpc": "2.0", "id": 7, "result": {"outcome": {"outcome": "cancelled"}}}
    assert agent.dialogue.answer("t1", Allowed()) == ""
    assert agent.ask("t2", 8) is None  # asked too late: it is cancelled as well
    assert agent.heard[-1]["result"] == {"outcome": {"outcome": "cancelled"}}
    prompt = next(each for each in agent.heard if each.get("method") == "session/prompt")
    agent.tell(id=prompt["id"], result={"stopReason": "cancelled"})
    assert agent.events[-1].reason == "aborted"
    assert len([each for each in agent.heard if each.get("method") == "session/prompt"]) == 1
    agent.listen(agent.dialogue.encode("again"))
    agent.answer("session/prompt", error={"code": -32603, "message": "broken"})
    assert agent.events[-1].error == "broken"


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal"])
def test_an_end_that_is_none(reason: str) -> None:
    agent = Agent().begin()
    agent.answer("session/prompt", {"stopReason": reason})
    assert agent.kinds()[-1] == "error"


def test_usage_and_own_updates() -> None:
    profile = AcpProfile(
        usage=lambda result: Usage(input=result["n"], output=0),
        update=lambda update: () if update["sessionUpdate"] == "agent_message_chunk" else None,
    )
    agent = Agent(profile).begin()
    agent.chunk("hidden")
    agent.answer("session/prompt", {"stopReason": "end_turn", "n": 5})
    assert agent.kinds() == ["init", "done"]
    assert agent.events[-1].usage.input == 5


def test_the_files_of_this_end_are_not_offered() -> None:
    agent = Agent().begin()
    for method in ("fs/read_text_file", "fs/write_text_file", "terminal/create"):
        agent.tell(id=9, method=method, params={"path": "/x"})
        assert agent.heard[-1]["error"]["code"] == -32601


def test_another_sessions_updates_are_not_ours() -> None:
    agent = Agent().begin()
    agent.tell(
        method="session/update",
        params={"sessionId": "other", "update": {"sessionUpdate": "agent_message_chunk",
                                                 "content": {"type": "text", "text": "x"}}},
    )  # fmt: skip
    assert agent.kinds() == ["init"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(
        st.sampled_from(
            ["toolCallId", "title", "kind", "status", "rawInput", "content", "text", "options",
             "optionId", "sessionUpdate", "toolCall", "locations", "stopReason", "sessionId",
             "update", "models", "modes", "currentModeId"]
        ),
        inner,
        max_size=6,
    ),
)  # fmt: skip


@given(
    kind=st.sampled_from(["tool_call", "tool_call_update", "agent_message_chunk", "x"]),
    fields=st.dictionaries(
        st.sampled_from(
            ["toolCallId", "title", "kind", "status", "rawInput", "content", "locations"]
        ),
        JSON,
    ),
    asked=JSON,
    ended=JSON,
)
def test_no_agent_breaks_it(kind: str, fields: Any, asked: Any, ended: Any) -> None:
    agent = Agent().begin()
    agent.update(kind, **fields)
    agent.tell(id=3, method="session/request_permission", params=asked)
    call = {"toolCall": fields, "options": asked}
    agent.tell(id=4, method="session/request_permission", params=call)
    prompt = next(each for each in agent.heard if each.get("method") == "session/prompt")
    agent.tell(id=prompt["id"], result=ended)
    for event in agent.events:
        if getattr(event, "type", "") == "permission_request":
            agent.dialogue.answer(event.id, Denied(reason="x"))
    agent.dialogue.interrupt()
