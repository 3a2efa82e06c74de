"""Guarded tools in a launch: where they come in, and what a dry run says of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.toy import Barry


def plan(barry: Barry, *words: str) -> dict[str, Any]:
    command = ("session", "launch", "demo", "--mode", "guest", "--dry-run", "--json")
    done = barry.run(*command, *words)
    assert done.code == 0, done
    found: dict[str, Any] = done.json["plan"]
    return found


@pytest.fixture(autouse=True)
def demo(barry: Barry) -> None:
    barry.install_shipped("demo")


def test_a_bound_brings_them(barry: Barry) -> None:
    found = plan(barry, "--bound", "no-push")
    assert "shell" in found["bound"]["guarded"]
    assert "--mcp-config" in found["argv"]
    assert any("MCP server barry" in note for note in found["notes"])
    (kept,) = barry.folders.policies.glob("guard-*.marshal")
    again = plan(barry, "--bound", "no-push")
    assert again["bound"] == found["bound"]
    assert list(barry.folders.policies.glob("guard-*.marshal")) == [kept]
    text = barry.run("session", "launch", "demo", "--mode", "guest", "--dry-run", "--bound", "ci")
    assert "in their place  barry: shell" in text.out


def test_without_one_nothing_comes(barry: Barry) -> None:
    for words in ((), ("--deny-tool", "shell")):
        found = plan(barry, *words)
        assert found["bound"]["guarded"] == []
        assert "--mcp-config" not in found["argv"]
    assert not list(barry.folders.policies.glob("guard-*"))
