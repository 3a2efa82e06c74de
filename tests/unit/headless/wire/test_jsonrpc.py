"""JSON-RPC both ways: nothing hangs, nothing is answered twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_cli.contract.events import Failed, Text
from barry_cli.headless.live import LiveStep
from barry_cli.headless.wire.jsonrpc import NOTHING, JsonRpc, RpcError


def line(**message: Any) -> str:
    return json.dumps(message)


def said(text: str) -> dict[str, Any]:
    assert text.endswith("\n")
    assert "\n" not in text[:-1]
    found: dict[str, Any] = json.loads(text)
    return found


def test_requests_and_answers() -> None:
    rpc = JsonRpc()
    first = said(rpc.request("a", {"x": "é\n"}, on_result=lambda r: LiveStep(consumed=r)))
    second = said(rpc.request("b", on_error=lambda e: LiveStep(consumed=e.code)))
    assert first == {"jsonrpc": "2.0", "id": 1, "method": "a", "params": {"x": "é\n"}}
    assert second == {"jsonrpc": "2.0", "id": 2, "method": "b"}
    assert rpc.read(line(id=2, error={"code": 7, "message": "m"})) == LiveStep(consumed=7)
    assert rpc.read(line(id=1, result=5)) == LiveStep(consumed=5)
    assert rpc.read(line(id=1, result=5)) == NOTHING  # once
    assert rpc.read(line(id=99, result=5)) == NOTHING


def test_an_error_nobody_expects_fails_the_turn() -> None:
    rpc = JsonRpc(version=None)
    assert "jsonrpc" not in said(rpc.request("a"))
    step = rpc.read(line(id=1, error={"code": -32603, "message": "m", "data": {"details": "d"}}))
    assert step == LiveStep(events=(Failed(error="m: d"),))
    step = rpc.read(line(id=None, error={"code": -32700, "message": "parse"}))
    assert step == LiveStep(events=(Failed(error="parse"),))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (RpcError(401, "no"), "401 no"),
        (
            RpcError(-32603, "Internal error", {"message": "status 429"}),
            "Internal error: status 429",
        ),
        (RpcError(-32603, "status 429", "status 429"), "status 429"),
        (RpcError(0, "m", ["x"]), "m"),
    ],
)
def test_an_error_in_one_line(error: RpcError, text: str) -> None:
    assert error.text() == text


@pytest.mark.parametrize("number", [0, 1, "x", 1.5, None, "1"])
def test_a_request_of_the_other_end_is_answered_under_its_own_id(number: object) -> None:
    rpc = JsonRpc(served={"ask": lambda key, params: LiveStep(events=(Text(text=key),))})
    step = rpc.read(line(id=number, method="ask", params={}))
    assert step is not None
    (event,) = step.events
    assert isinstance(event, Text)
    assert rpc.pending == (event.text,)
    assert said(rpc.result(event.text, {"a": 1})) == {
        "jsonrpc": "2.0", "id": number, "result": {"a": 1},
    }  # fmt: skip
    assert rpc.result(event.text, {}) == ""
    assert rpc.error(event.text, 1, "late") == ""


def test_equal_looking_ids_are_told_apart() -> None:
    keys: list[str] = []

    def ask(key: str, params: Any) -> LiveStep:
        keys.append(key)
        return NOTHING

    rpc = JsonRpc(served={"ask": ask})
    rpc.read(line(id=1, method="ask"))
    rpc.read(line(id="1", method="ask"))
    assert [said(rpc.result(key, None))["id"] for key in keys] == [1, "1"]


def test_what_nobody_serves_is_refused_at_once() -> None:
    step = JsonRpc().read(line(id=3, method="fs/read", params={}))
    assert step is not None
    assert said(step.replies[0])["error"]["code"] == -32601


def test_notifications() -> None:
    rpc = JsonRpc(notified={"n": lambda params: LiveStep(consumed=params)})
    assert rpc.read(line(method="n", params=4)) == LiveStep(consumed=4)
    assert rpc.read(line(method="other")) == NOTHING
    assert said(rpc.notify("n", {"a": 1})) == {"jsonrpc": "2.0", "method": "n", "params": {"a": 1}}


MESSAGES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "method", "params", "result", "error", "code", "message", "x"]),
            inner,
            max_size=5,
        )
    ),
)


@given(MESSAGES)
def test_no_message_breaks_it(message: Any) -> None:
    rpc = JsonRpc()
    rpc.request("a")
    step = rpc.read(json.dumps(message))
    assert step is None or isinstance(step, LiveStep)
