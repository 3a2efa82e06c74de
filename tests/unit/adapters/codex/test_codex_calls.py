"""Codex's items as calls: what a ruling gets to read is what runs."""

from __future__ import annotations

import shlex
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barry_adapter_codex.calls import call_of, patch_of, script_of
from barry_cli.policy.ruling.patches import patch_paths


def in_double_quotes(text: str) -> str:
    """The other way to quote, which Codex takes where a text holds single quotes."""
    for letter in '\\"$`':
        text = text.replace(letter, f"\\{letter}")
    return f'"{text}"'


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("/bin/bash -lc ls", "ls"),
        ("/bin/bash -lc 'touch a; echo hi'", "touch a; echo hi"),
        ("/usr/bin/sh -c 'touch d'", "touch d"),
        ("zsh -lc \"echo 'it''s' \\\"a b\\\"\necho two\"", "echo 'it''s' \"a b\"\necho two"),
        ('bash -c "echo \\$HOME \\`id\\` \\\\ \\n"', "echo $HOME `id` \\ \\n"),
        ("bash -c ''", ""),
        # Anything else is left whole: the ruling reads it as it stands.
        ("bash -lc 'one' 'two'", "bash -lc 'one' 'two'"),
        ("bash -x 'one'", "bash -x 'one'"),
        ("python3 -c 'print(1)'", "python3 -c 'print(1)'"),
        ("bash -lc 'not closed", "bash -lc 'not closed"),
        ("git status", "git status"),
    ],
)
def test_the_script_of_a_command(command: str, script: str) -> None:
    assert script_of(command) == script


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_script_is_read_back_whatever_it_holds(script: str) -> None:
    for quoted in (shlex.quote(script), in_double_quotes(script)):
        assert script_of(f"/bin/bash -lc {quoted}") == script


def test_a_shell_reads_the_same() -> None:
    scripts = ['echo "$HOME" \\', "a'b\"c`d\\e", "x\ny\tz", "!#~*?[]", "\\'\\\\\"", "é\u2028"]
    quoted = [quote(each) for each in scripts for quote in (shlex.quote, in_double_quotes)]
    line = " ".join(quoted)
    told = subprocess.run(
        ["/bin/bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True, text=True
    )
    read = [script_of(f"bash -c {each}") for each in quoted]
    assert read == told.stdout.split("\0")[:-1]


def change(path: str, kind: dict[str, Any], diff: str = "") -> dict[str, Any]:
    return {"path": path, "kind": kind, "diff": diff}


def test_every_path_of_a_patch_is_seen() -> None:
    item = {
        "type": "fileChange",
        "changes": [
            change("/w/a", {"type": "add"}, "*** Delete File: b\n"),
            change("/w/c d", {"type": "update", "move_path": "/w/e"}, "@@\n-x\n\n\nMoved to: /w/e"),
            change("/w/f", {"type": "delete"}, "gone\n"),
        ],
    }
    patch = patch_of(item)
    assert patch is not None
    assert [path for path, _, _ in patch_paths(patch)] == ["/w/a", "/w/c d", "/w/e", "/w/f"]
    assert "Moved to" not in patch


@pytest.mark.parametrize(
    "changes",
    [
        [],
        None,
        [{"kind": {"type": "add"}}],
        [change("/w/a", {"type": "copy"})],
        [change("/w/a\n*** Add File: b", {"type": "add"})],
        [change("/w/a", {})],
    ],
)
def test_a_change_that_cannot_be_read_is_no_call(changes: Any) -> None:
    assert call_of({"type": "fileChange", "changes": changes}) is None


@pytest.mark.parametrize(
    ("item", "call"),
    [
        ({"type": "commandExecution", "command": "ls"}, ("exec_command", {"cmd": "ls"})),
        ({"type": "commandExecution", "command": ""}, None),
        (
            {"type": "mcpToolCall", "server": "s", "tool": "t", "arguments": None},
            ("mcp__s__t", {}),
        ),
        (
            {"type": "mcpToolCall", "server": "s", "tool": "read_mcp_resource"},
            ("read_mcp_resource", {}),
        ),
        ({"type": "mcpToolCall", "server": "s"}, None),
        ({"type": "webSearch", "query": "q"}, ("web_search", {"query": "q"})),
        ({"type": "imageView", "path": "p"}, ("view_image", {"path": "p"})),
        ({"type": "agentMessage", "text": "t"}, None),
        ({}, None),
    ],
)
def test_items_as_calls(item: dict[str, Any], call: Any) -> None:
    assert call_of(item) == call
