"""Which tool Qwen Code asks about, told by the call's kind and its input."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

CALLS = [
    ("run_shell_command", "execute", {"command": "ls", "is_background": False}),
    ("write_file", "edit", {"file_path": "/w/a", "content": ""}),
    ("edit", "edit", {"file_path": "/w/a", "old_string": "", "new_string": "x"}),
    ("read_file", "read", {"file_path": "/w/a"}),
    ("grep_search", "search", {"pattern": "x", "path": "/w"}),
    ("list_directory", "search", {"path": "/w"}),
    ("web_fetch", "fetch", {"url": "http://x", "prompt": "y"}),
    ("todo_write", "think", {"todos": []}),
]


def understood(kind: Any, given: Any) -> Any:
    from barry_adapter_qwen.calls import understood

    return understood({"toolCallId": "x", "kind": kind, "rawInput": given})


@pytest.mark.parametrize(("tool", "kind", "given_"), CALLS)
def test_a_call_is_told_by_its_kind_and_its_input(
    tool: str, kind: str, given_: dict[str, Any]
) -> None:
    assert understood(kind, given_) == (tool, given_)


@pytest.mark.parametrize(("tool", "kind", "given_"), CALLS)
def test_the_input_alone_makes_no_tool(tool: str, kind: str, given_: dict[str, Any]) -> None:
    for other in ("other", "move", "delete", None, 3):
        assert understood(other, given_) is None
    assert understood(kind, {}) is None
    assert understood(kind, None) is None


def test_every_tool_that_is_left_can_be_told_and_no_other() -> None:
    from barry_adapter_qwen.declared import HOSTED_NATIVE

    assert {tool for tool, _, _ in CALLS} == set(HOSTED_NATIVE.grantable)


@given(
    kind=st.sampled_from(["execute", "edit", "read", "search", "fetch", "think", "other"]),
    more=st.dictionaries(
        st.sampled_from(["command", "content", "old_string", "skill", "pattern", "url", "todos"]),
        st.text() | st.none() | st.lists(st.text()),
    ),
)
def test_more_input_makes_no_command_of_a_file_nor_a_read_of_a_change(
    kind: str, more: dict[str, Any]
) -> None:
    found = understood(kind, {"file_path": "/w/a", **more})
    groups = {"run_shell_command": "execute", "edit": "edit", "write_file": "edit",
              "read_file": "read", "grep_search": "search", "list_directory": "search",
              "web_fetch": "fetch", "todo_write": "think"}  # fmt: skip
    assert found is None or groups[found[0]] == kind
