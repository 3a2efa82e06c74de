"""How the demo harness is driven: what its lines mean, and what it is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.contract.events import Done, Failed, Init, PermissionRequested, Result
from barry_cli.contract.session import Allowed, Denied, SessionConfig, StdioMcpServer
from barry_cli.headless.agent_events import Quota, Raw, Stopped
from barry_cli.headless.agent_input import AgentInput, Continuation
from barry_cli.headless.faults import AgentFault

CONFIG = SessionConfig(session_id="s", cwd="/work", env={})


def config(**values: Any) -> SessionConfig:
    return replace(CONFIG, **values)


def arguments(settings: SessionConfig, **values: Any) -> tuple[str, ...]:
    from barry_adapter_demo.hosted import agent

    asked = AgentInput(text="hello", config=settings, home="/private", **values)
    return agent(settings).request(asked).args


def dialogue() -> Any:
    from barry_adapter_demo.dialogue import Dialogue

    return Dialogue(AgentInput(text="hello", config=CONFIG))


def row(**values: Any) -> str:
    return json.dumps(values)


# --- lines ---


@given(
    st.text()
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    ).map(json.dumps)
    | st.dictionaries(
        st.sampled_from(["id", "name", "text", "ok", "error", "output", "input_tokens"]),
        st.none() | st.booleans() | st.integers() | st.text(),
    ).flatmap(
        lambda fields: st.sampled_from(
            ["init", "text", "tool_use", "tool_result", "usage", "result", "ask", "more"]
        ).map(lambda kind: json.dumps({"type": kind, **fields}))
    )
)
def test_every_line_means_something(line: str) -> None:
    from barry_adapter_demo.events import events

    assert len(events(line)) >= 1
    try:
        dialogue().read(line)
    except json.JSONDecodeError:
        pytest.fail("a line that is no JSON was taken for one")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"code": "model", "message": "bad"}, (Failed(error="bad"),)),
        ({"code": "interrupted", "message": "interrupted"}, (Stopped("aborted"),)),
        (
            {"code": "quota", "message": "full", "reset_at": 1_900_000_000},
            (Quota("full", "2030-03-17T17:46:40Z"), Failed(error="full")),
        ),
        ({"code": "quota", "message": "full"}, (Quota("full", None), Failed(error="full"))),
        (
            {"code": "outage", "message": "back soon"},
            (Failed(error="service is out: back soon"),),
        ),
        (None, (Failed(error="it failed, and did not say why"),)),
    ],
    ids=["model", "interrupted", "quota", "quota without a time", "outage", "nothing said"],
)
def test_how_a_turn_ends(error: object, said: tuple[object, ...]) -> None:
    from barry_adapter_demo.events import events, unavailable

    assert events(row(type="result", ok=False, error=error)) == said
    failed = [event.error for event in said if isinstance(event, Failed)]
    out = isinstance(error, dict) and error["code"] == "outage"
    assert any(unavailable(each) for each in failed) == out


def test_a_turn_that_went_well() -> None:
    from barry_adapter_demo.events import events

    assert events(row(type="result", ok=True, text="all")) == (Result(result="all"), Done())
    assert events(row(type="unheard-of")) == (Raw(row(type="unheard-of")),)


# --- the dialogue ---


def test_a_call_is_asked_about_and_answered_once() -> None:
    talk = dialogue()
    assert json.loads(talk.start()) == {"type": "message", "text": "hello"}
    step = talk.read(row(type="init", session_id="c1", model="echo", version="1.0.0"))
    assert (step.consumed, step.events[0]) == (1, Init(harness_session_id="c1"))
    step = talk.read(row(type="ask", id="1", name="shell", input={"command": "ls"}))
    asked = PermissionRequested(id="1", tool="shell", input={"command": "ls"})
    assert step.events == (asked,)
    told = json.loads(talk.answer("1", Denied(reason="not here")))
    assert told == {"type": "answer", "id": "1", "allow": False, "reason": "not here"}
    assert talk.answer("1", Allowed()) == ""
    assert talk.answer("2", Allowed()) == ""


def test_what_ran_without_a_ruling_ends_the_turn() -> None:
    talk = dialogue()
    result = row(type="tool_result", id="1", ok=True, output="done")
    assert any(isinstance(event, Failed) for event in talk.read(result).events)
    talk = dialogue()
    talk.read(row(type="ask", id="1", name="shell", input={}))
    talk.answer("1", Allowed())
    assert talk.read(result) is None


def test_what_can_not_be_read_is_not_allowed() -> None:
    step = dialogue().read(row(type="ask", id=7))
    assert any(isinstance(event, Failed) for event in step.events)


def test_after_an_interrupt_nothing_is_allowed_any_more() -> None:
    talk = dialogue()
    talk.read(row(type="ask", id="1", name="shell", input={}))
    assert json.loads(talk.interrupt()) == {"type": "interrupt"}
    assert talk.answer("1", Allowed()) == ""


# --- the command ---


def test_what_it_is_started_with() -> None:
    settings = config(
        model="demo/shout",
        denied_tools=("read",),
        project_roots=("/more",),
        options={"style": "pirate"},
        mcp_servers={"small": StdioMcpServer(command="srv", env={"KEY": "hidden-value"})},
    )
    given_to = arguments(settings)
    assert "hello" not in given_to  # the prompt goes in over stdin
    text = " ".join(given_to)
    for part in (
        "-p --input ndjson --output ndjson",
        "--model shout",
        "--deny read",
        "--add-dir /more",
        "--settings /private/settings.json",
        "--mcp-config /private/mcp.json",
    ):
        assert part in text
    assert "hidden-value" not in text


def test_its_private_files_hold_the_secrets() -> None:
    from barry_adapter_demo.hosted import agent

    server = StdioMcpServer(command="srv", env={"KEY": "hidden-value"})
    made = agent(config(mcp_servers={"small": server}))
    assert made.configuration is not None
    planned: Any = made.configuration
    (file,) = planned({}).files
    assert file.path == "mcp.json"
    assert "hidden-value" in file.text


def test_a_conversation_goes_on() -> None:
    assert arguments(CONFIG, continuation=Continuation("c1"))[-2:] == ("--resume", "c1")
    copied = arguments(CONFIG, continuation=Continuation("c1", fork=True))
    assert copied[-3:] == ("--resume", "c1", "--fork")


def test_one_that_leaves_no_trace_can_not_go_on() -> None:
    from barry_adapter_demo.hosted import agent

    made = agent(config(ephemeral=True))
    assert (made.resumable, made.forkable, made.storage) == (False, False, None)
    assert "--ephemeral" in arguments(config(ephemeral=True))
    assert "--ephemeral" not in arguments(CONFIG)


@pytest.mark.parametrize("values", [{"extra_args": ("--bend",)}, {"options": {"allow": ["shell"]}}])
def test_what_could_undo_what_it_is_held_to(values: dict[str, Any]) -> None:
    with pytest.raises(AgentFault, match="could undo what it is held to"):
        arguments(config(**values))


def test_where_a_conversation_is_kept(tmp_path: Path) -> None:
    from barry_adapter_demo.hosted import _find, _where
    from barry_cli.headless.conversations import Place

    place = Place(cwd=str(tmp_path), env={"BARRY_DEMO_HOME": str(tmp_path / "kept")})
    known = "4f19dcfa-c94a-4b4b-8950-3d1f7cc2fdb9"
    assert _find(known, place) is None
    path = _where(known, place)
    path.parent.mkdir(parents=True)
    path.touch()
    assert _find(known, place) == path
