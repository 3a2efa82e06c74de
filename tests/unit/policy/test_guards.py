"""A guarded tool does what it did, or refuses before it does anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from barry_cli.policy.guards import BoundGuardTool, apply_bound_guards
from barry_cli.policy.problems import NotAllowed
from barry_cli.policy.schema import parse_bound

SCHEMA = {"type": "object"}


class Recorder:
    def __init__(self) -> None:
        self.calls: list[tuple[object, object]] = []

    async def __call__(self, params: object, context: object) -> object:
        self.calls.append((params, context))
        return "done"


def guarded(name: str, bound: dict[str, Any]) -> tuple[BoundGuardTool, Recorder]:
    recorder = Recorder()
    (tool,) = apply_bound_guards(
        tools=[BoundGuardTool(recorder, name, SCHEMA)], scope=parse_bound(bound)
    )
    return tool, recorder


@pytest.fixture(autouse=True)
def _in_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/.env").write_text("KEY=1", encoding="utf-8")


DENIED: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("push", {}, {"deniedTools": ["push"]}, "deniedTools"),
    ("git:push", {}, {"deniedTools": ["git"]}, "deniedTools"),
    ("mcp__git__push", {}, {"deniedTools": ["git:push"]}, "deniedTools"),
    ("push", {}, {"network": {"actions": ["write"]}}, "network.actions"),
    ("shell", {"command": "rm -rf x"}, {"bash": {"deny": ["rm -rf"]}}, "bash.deny"),
    ("shell", {"command": "a; git push"}, {"bash": {"denyPrograms": ["git:push"]}}, "bash.denyPr"),
    ("shell", {"cmd": ["git", "push"]}, {"bash": {"denyPrograms": ["git"]}}, "bash.denyPrograms"),
    ("shell", {"command": 'echo "x'}, {"bash": {"denyPrograms": ["git"]}}, "bash.denyPrograms"),
    ("shell", {"command": "curl a.b"}, {"network": {"actions": ["read"]}}, "network.actions"),
    ("shell", {"command": "curl x.co"}, {"network": {"domains": ["x.co"]}}, "network.domains"),
    ("shell", {"command": 'echo "x'}, {"network": {"domains": ["x.co"]}}, "network.domains"),
    ("shell", {"command": 'echo "x'}, {"files": {"deny": ["x"]}}, "files"),
    ("shell", {"command": "cat sub/.env"}, {"files": {"deny": [".env"]}}, "files.deny"),
    ("shell", {"command": "cat .env", "cwd": "sub"}, {"files": {"deny": ["sub/*"]}}, "files.deny"),
    ("shell", {"command": "echo > x"}, {"files": {"allowOnly": ["src/**"]}}, "files.allowOnly"),
    ("fetch", {"url": "https://u:p@API.x.co/"}, {"network": {"domains": ["*.x.co"]}}, "network.do"),
    ("fetch", {"url": "https://a.b"}, {"network": {"enforce": "sandbox"}}, "network.allowDomains"),
    ("fetch", {"url": "file:///etc/passwd"}, {"files": {"deny": ["/etc/**"]}}, "files.deny"),
    ("read", {"path": "./sub/../sub/.env"}, {"files": {"deny": [".env"]}}, "files.deny"),
    ("read", {"file_path": "x"}, {"files": {"allowOnly": []}}, "files.allowOnly"),
    ("read", {"filePath": ".env", "workdir": "sub"}, {"files": {"deny": ["sub/*"]}}, "files.deny"),
    ("edit", {"edits": [{"path": "a"}, {"path": ".env"}]}, {"files": {"deny": [".env"]}}, "files"),
    (
        "patch",
        {"input": "*** Begin Patch\n*** Delete File: .env\n*** End Patch"},
        {"files": {"deny": [".env"]}},
        "files.deny",
    ),
]


@pytest.mark.parametrize(("name", "params", "bound", "field"), DENIED)
async def test_a_denied_call_does_nothing(
    name: str, params: dict[str, Any], bound: dict[str, Any], field: str
) -> None:
    tool, recorder = guarded(name, bound)
    with pytest.raises(NotAllowed) as caught:
        await tool.handler(params, None)
    assert caught.value.field.startswith(field)
    assert name in str(caught.value)
    assert "u:p" not in str(caught.value)
    assert recorder.calls == []
    # The counter-case: the same call without the bound.
    free, used = guarded(name, {})
    assert await free.handler(params, "context") == "done"
    assert used.calls == [(params, "context")]


@pytest.mark.parametrize(
    ("name", "params", "bound"),
    [
        ("push", {}, {"deniedTools": ["git:push", "pull"]}),
        ("shell", {"command": "git status"}, {"bash": {"denyPrograms": ["git:push"]}}),
        ("shell", {"command": "cat sub/x"}, {"files": {"deny": [".env"]}}),
        ("shell", {"command": 'echo "x'}, {"nodes": {"deny": ["far"]}}),
        ("fetch", {"url": "https://x.co/"}, {"network": {"domains": ["*.x.co"]}}),
        ("fetch", {"url": "http://localhost:1/"}, {"network": {"enforce": "sandbox"}}),
        (
            "fetch",
            {"url": "https://x.co"},
            {"network": {"enforce": "sandbox", "allowDomains": ["x.co"]}},
        ),
        ("read", {"path": "src/a"}, {"files": {"allowOnly": ["src/**"], "deny": [".env"]}}),
        ("note", {"text": "rm -rf .env https://x.co"}, {"bash": {"deny": ["rm -rf"]}}),
    ],
)
async def test_any_other_call_is_made(
    name: str, params: dict[str, Any], bound: dict[str, Any]
) -> None:
    tool, recorder = guarded(name, bound)
    assert await tool.handler(params, None) == "done"
    assert len(recorder.calls) == 1


def test_schema_name_and_kind_stay() -> None:
    @dataclass(frozen=True)
    class Labelled(BoundGuardTool):
        label: str = ""

    recorder = Recorder()
    tool = Labelled(recorder, "read", SCHEMA, label="Read")
    (found,) = apply_bound_guards([tool], {"deniedTools": ["read"]})
    assert (found.name, found.schema, found.label) == ("read", SCHEMA, "Read")
    assert type(found) is Labelled
    assert found.schema is SCHEMA
    assert tool.handler is recorder  # the tool that was given stays as it was
    assert apply_bound_guards([], {}) == []


async def test_parameters_may_be_a_model() -> None:
    class Params(BaseModel):
        path: str

    tool, recorder = guarded("read", {"files": {"deny": [".env"]}})
    with pytest.raises(NotAllowed):
        await tool.handler(Params(path=".env"), None)
    await tool.handler(Params(path="x"), None)
    assert len(recorder.calls) == 1


async def test_two_guards_hold_both() -> None:
    recorder = Recorder()
    tools = [BoundGuardTool(recorder, "shell")]
    once = apply_bound_guards(tools, {"bash": {"deny": ["one"]}})
    (tool,) = apply_bound_guards(once, {"bash": {"deny": ["two"]}})
    for word, denied in (("one", True), ("two", True), ("three", False)):
        params: Mapping[str, str] = {"command": word}
        if denied:
            with pytest.raises(NotAllowed):
                await tool.handler(params, None)
        else:
            await tool.handler(params, None)
    assert len(recorder.calls) == 1
