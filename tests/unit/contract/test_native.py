"""Which native tools a session has: never one that is denied, never half a group."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from barry_cli.contract.adapter import NativeControl
from barry_cli.contract.native import (
    allowed_native,
    configure_harness_session,
    configure_session,
    disallowed_tools,
)
from barry_cli.contract.session import SessionConfig

TOOLS = ("Bash", "Read", "Write", "Edit", "Web")
SPELT = st.sampled_from(TOOLS).flatmap(
    lambda tool: st.sampled_from([tool, tool.lower(), tool.upper(), tool.swapcase()])
)
NAMES = st.lists(SPELT, max_size=5)
OTHERS = st.lists(st.sampled_from(["mcp__x", "Nope", "nope", "mcp__X"]), max_size=3)
GROUPS = st.lists(st.lists(st.sampled_from(TOOLS), min_size=2, max_size=3).map(tuple), max_size=3)
CONTROL = st.none() | st.builds(
    NativeControl, grantable=NAMES.map(tuple), inseparable=st.none() | GROUPS.map(tuple)
)


def config(allowed: list[str] | None, denied: list[str] | None) -> SessionConfig:
    return SessionConfig(session_id="s", cwd="/", allowed_native_tools=allowed, denied_tools=denied)


def fold(names: list[str] | tuple[str, ...] | None) -> set[str]:
    return {name.casefold() for name in names or ()}


@given(allowed=st.none() | NAMES, denied=st.none() | NAMES, native=CONTROL)
def test_what_is_allowed(
    allowed: list[str] | None, denied: list[str] | None, native: NativeControl | None
) -> None:
    found = allowed_native(config(allowed, denied), TOOLS, native)
    assert [tool for tool in TOOLS if tool in found] == found  # spelt and ordered as declared
    assert fold(found) <= fold(allowed)
    assert not fold(found) & fold(denied)
    if native is not None:
        assert fold(found) <= fold(native.grantable)
        for group in native.inseparable or ():
            assert set(group) <= set(found) or not set(group) & set(found)
        # No more is taken away than these rules ask for: without groups, all of it is there.
    if native is None or not native.inseparable:
        wanted = fold(allowed) - fold(denied)
        if native is not None:
            wanted &= fold(native.grantable)
        assert fold(found) == wanted


@given(allowed=NAMES, denied=NAMES, others=OTHERS, native=CONTROL)
def test_what_is_refused_is_the_rest(
    allowed: list[str], denied: list[str], others: list[str], native: NativeControl | None
) -> None:
    asked = config(allowed, [*denied, *others])
    may = allowed_native(asked, TOOLS, native)
    refused = disallowed_tools(asked, TOOLS, native)
    assert len(refused) == len(set(refused))
    assert set(refused) == {*TOOLS, *others} - set(may)
    assert refused[: len(TOOLS) - len(may)] == [tool for tool in TOOLS if tool not in may]


@given(allowed=NAMES, denied=NAMES, native=CONTROL, seed=st.integers(0, 99))
def test_the_order_and_case_of_the_asking_do_not_matter(
    allowed: list[str], denied: list[str], native: NativeControl | None, seed: int
) -> None:
    before = allowed_native(config(allowed, denied), TOOLS, native)
    shaken = [name.swapcase() for name in allowed], [name.swapcase() for name in denied]
    for names in shaken:
        random.Random(seed).shuffle(names)
    assert allowed_native(config(*shaken), TOOLS, native) == before


@given(allowed=NAMES, denied=NAMES, more=NAMES, native=CONTROL)
def test_a_denial_more_never_widens(
    allowed: list[str], denied: list[str], more: list[str], native: NativeControl | None
) -> None:
    before = allowed_native(config(allowed, denied), TOOLS, native)
    assert set(allowed_native(config(allowed, [*denied, *more]), TOOLS, native)) <= set(before)


@given(allowed=NAMES, denied=NAMES, native=CONTROL)
def test_configuring_twice_changes_nothing(
    allowed: list[str], denied: list[str], native: NativeControl | None
) -> None:
    once = configure_harness_session(config(allowed, denied), TOOLS, native)
    twice = configure_harness_session(once, TOOLS, native)
    assert twice == once
    assert not set(once.allowed_native_tools or ()) & set(once.denied_tools or ())


def test_groups_that_overlap_fall_together() -> None:
    chained = NativeControl(grantable=TOOLS, inseparable=(("Read", "Write"), ("Write", "Edit")))
    assert allowed_native(config(list(TOOLS), ["edit"]), TOOLS, chained) == ["Bash", "Web"]


def test_nobody_changes_a_configured_session_later() -> None:
    env, tools, headers = {"A": "1"}, ["Bash"], {"k": "v"}
    own = configure_session(
        SessionConfig(
            session_id="s", cwd="/", env=env, allowed_native_tools=tools, telemetry_headers=headers
        )
    )
    env["B"] = "2"
    tools.append("Web")
    headers["x"] = "y"
    assert (own.env, own.allowed_native_tools) == ({"A": "1"}, ("Bash",))
    assert own.telemetry_headers == {"k": "v"}
