"""What a driven harness is told when it asks."""

from __future__ import annotations

from typing import Any

import pytest

from barry_cli.contract.session import Allowed, Denied, PermissionRequest
from barry_cli.host.ruling import Ruler
from barry_cli.policy.schema import Bound
from barry_cli.registry.adapters import Adapters
from tests.toy import Barry

READ_ONLY = {"deniedAccess": ["write"]}


def ruler(barry: Barry, bound: dict[str, Any] | None = None, denied: tuple[str, ...] = ()) -> Ruler:
    return Ruler(
        None if bound is None else Bound.model_validate(bound),
        Adapters(barry.folders).record("toy"),
        str(barry.work),
        barry.folders,
        denied=denied,
    )


def call(tool: str, value: Any) -> PermissionRequest:
    return PermissionRequest(id="1", tool=tool, input=value)


SHELL = {"command": "touch made"}
BOUND = {"name": "no-make", "bash": {"deny_programs": ["touch"]}}


@pytest.mark.parametrize(
    ("tool", "given", "allowed"),
    [
        ("Shell", SHELL, False),
        ("Shell", {"command": "ls"}, True),
        ("Shell", {"command": "sh -c 'ls && touch made'"}, False),
        ("Read", {"path": "a"}, True),
        ("Shell", "touch made", False),
        ("Shell", None, False),
    ],
)
async def test_the_bound_rules(barry: Barry, tool: str, given: Any, allowed: bool) -> None:
    decision = await ruler(barry, BOUND)(call(tool, given))
    assert decision.allow is allowed
    assert allowed or "Refused by the policy of this session" in decision.reason


async def test_without_a_bound_everything_else_is_allowed(barry: Barry) -> None:
    rules = ruler(barry)
    assert await rules(call("Shell", SHELL)) == Allowed()
    assert await rules(call("mcp__server__tool", {"a": 1})) == Allowed()
    for path in (barry.folders.registry, barry.work / ".toyrc"):
        decision = await rules(call("Write", {"path": str(path)}))
        assert isinstance(decision, Denied), path
    assert await rules(call("Write", {"path": str(barry.work / "other")})) == Allowed()


async def test_a_tool_that_is_off_is_off_in_any_spelling(barry: Barry) -> None:
    rules = ruler(barry, denied=("Shell",))
    for name in ("Shell", "shell"):
        assert isinstance(await rules(call(name, {"command": "ls"})), Denied)
    assert await rules(call("Read", {"path": "a"})) == Allowed()


async def test_who_watches_is_told_each_ruling(barry: Barry) -> None:
    rules = ruler(barry, BOUND)
    seen: list[tuple[str, bool, str]] = []
    rules.watch = lambda asked, decision, sentence: seen.append(
        (asked.tool, decision.allow, sentence)
    )
    await rules(call("Shell", SHELL))
    await rules(call("Read", {"path": "a"}))
    (denied, allowed) = seen
    assert denied[:2] == ("Shell", False)
    assert "touch" in denied[2]
    assert allowed == ("Read", True, "")
