"""An adapter is checked when it is made: what contradicts itself is no adapter."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from barry_cli.contract.plan import Command
from barry_cli.contract.session import SessionConfig
from barry_cli.headless.agent_adapter import AgentAdapter
from barry_cli.headless.agent_events import Usage, reset_time
from barry_cli.headless.agent_input import AgentInput
from barry_cli.headless.capabilities import CapabilitySettings, PermissionPolicy, shortcomings
from barry_cli.headless.faults import AgentFault, unavailable_fault
from barry_cli.headless.live import AgentLiveInput
from tests.unit.headless.test_conversations import store
from tests.unit.headless.toy_agent import LIVE

STORE = store(Path("/"))


def adapter(**more: Any) -> AgentAdapter:
    least: dict[str, Any] = {
        "name": "toy",
        "request": lambda given: Command(command="toy"),
        "events": lambda line: (),
    }
    return AgentAdapter(**{**least, **more})


async def fork(name: str, invoke: Any) -> str:
    return name


def can(**flags: bool) -> CapabilitySettings:
    return CapabilitySettings(**flags)


RIGHT: list[dict[str, Any]] = [
    {},
    {"resumable": True, "forkable": True, "capabilities": can(session_resume=True)},
    {"resumable": False, "forkable": False},
    {"fork": fork},
    {"usage": "session", "usage_command": lambda name: None, "usage_result": lambda text: None},
    {"live_input": LIVE, "capabilities": can(permission_hooks=True)},
    {"live_input": AgentLiveInput(open=LIVE.open)},
    {"storage": STORE, "transcript_usage": lambda text: None, "capture": True},
    {"partial_policy": "only the denials", "bootstrap": "npm:toy@1.0.0"},
]
WRONG: list[dict[str, Any]] = [
    {"name": ""},
    {"resumable": False, "forkable": True},
    {"fork": fork, "forkable": False},
    {"usage_command": lambda name: None},
    {"usage_result": lambda text: None},
    {"usage": "session"},
    {"usage": "events", "usage_command": lambda name: None, "usage_result": lambda text: None},
    {"transcript_usage": lambda text: None},
    {"capture": True},
    {"resumable": True},
    {"resumable": False, "capabilities": can(session_resume=True)},
    {"capabilities": can(session_resume=True)},
    {"live_input": LIVE},
    {"capabilities": can(permission_hooks=True)},
    {"usage": "unavailable", "capabilities": can(usage_reporting=True)},
    {"capabilities": can(permission_policy=True), "partial_policy": "in part"},
    {"live_input": AgentLiveInput(open=LIVE.open), "requires_finished_event": False},
    {"bootstrap": "toy"},
]


@pytest.mark.parametrize("features", RIGHT)
def test_what_agrees(features: dict[str, Any]) -> None:
    made = adapter(**features)
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "other"  # type: ignore[misc] - that it can't be is what is tested


@pytest.mark.parametrize("features", WRONG)
def test_what_contradicts_itself(features: dict[str, Any]) -> None:
    with pytest.raises(AgentFault) as caught:
        adapter(**features)
    assert caught.value.code == "configuration"
    assert caught.value.exit_code == 2


def test_faults_by_their_cause() -> None:
    out = AgentFault("process", "x", details={"unavailable": "502"})
    assert (unavailable_fault(out), out.exit_code) == ("502", 75)
    for other in (
        AgentFault("process", "x"),
        AgentFault("quota", "x", details={"unavailable": "502"}),
        AgentFault("process", "x", details={"unavailable": 5}),
        ValueError("502"),
        None,
    ):
        assert unavailable_fault(other) is None


@pytest.mark.parametrize("seconds", [None, True, "1800000000", -1, 0, 4e12, float("nan")])
def test_what_is_no_time(seconds: object) -> None:
    assert reset_time(seconds) is None


def test_lists_of_tools() -> None:
    def lists(config: dict[str, Any], policy: PermissionPolicy) -> tuple[Any, Any]:
        given = AgentInput(
            text="", config=SessionConfig(session_id="s", cwd="/", **config), policy=policy
        )
        return given.allowed_tools, given.denied_tools

    assert lists({}, PermissionPolicy()) == (None, ())
    assert lists({"denied_tools": ("A",)}, PermissionPolicy(denied_tools=("B", "A"))) == (
        None, ("A", "B"),
    )  # fmt: skip
    policy = PermissionPolicy(allowed_tools=("b", "c"), denied_tools=("C",))
    assert lists({"allowed_native_tools": ("A", "B", "C")}, policy) == (("B",), ("C",))
    assert lists({}, PermissionPolicy(allowed_tools=())) == ((), ())


def test_a_policy_that_is_enforced_has_no_shortcomings() -> None:
    policy = PermissionPolicy(allowed_tools=("A",), denied_tools=("B",))
    whole = can(permission_policy=True, permission_hooks=True)
    assert shortcomings(policy, whole, None, "toy") == ()
    (one,) = shortcomings(policy, can(permission_hooks=True), "toy keeps the denials only", "toy")
    assert one == "toy keeps the denials only"
    (one,) = shortcomings(policy, can(permission_hooks=True), None, "toy")
    assert all(word in one for word in ("strict", "A", "B"))
    (one,) = shortcomings(policy, can(permission_policy=True), None, "toy")
    assert "not put to anybody" in one
    loose = PermissionPolicy(posture="dangerous")
    assert shortcomings(loose, can(permission_policy=True), None, "toy") == ()


def test_usage_is_token_usage() -> None:
    assert Usage(input=1, output=2).cumulative is False
