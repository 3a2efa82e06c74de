"""A guarded tool is ruled on as hooks and ``bound check`` rule: same verdict, same rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from barry_cli.bags.manifest import ToolRow
from barry_cli.base.paths import folders
from barry_cli.policy.compile import compile_policy, floor_patterns
from barry_cli.policy.guards import BoundGuardTool, apply_bound_guards
from barry_cli.policy.problems import NotAllowed
from barry_cli.policy.ruling.rule import rule
from barry_cli.policy.schema import parse_bound
from barry_cli.policy.tools import McpAnnotations
from tests.unit.policy.ruling.rows import rows

TABLE = {"shell": ToolRow(kind="shell", field="command")}
FILES = ("programs", "files", "network", "domains")


async def done(params: object, context: object) -> str:
    return "done"


def bounds_of(name: str, row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The bounds that a row speaks of, and one that denies something else."""
    if name == "programs":
        if row["rule"]:  # an empty one is in no bound
            yield {"bash": {"denyPrograms": [row["rule"]]}}
    elif name == "files" and "bound" in row:
        yield {"files": row["bound"]}
    elif name == "files" and "command" in row:
        yield {"deniedAccess": ["files"], "files": {"allowOnly": ["src/**"]}}
    elif name == "network":
        yield {"network": {"actions": row["actions"] or ["all"]}}
        yield {"network": {"actions": ["git:push"]}, "bash": {"deny": ["x"]}}
    elif "command" in row:
        yield {"network": {"domains": row["hosts"] or ["*.y.test"]}}
        yield {"network": {"enforce": "sandbox", "allowDomains": ["x.test"]}}


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in (".env", "src/app.py", "secrets/key.pem"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


@pytest.mark.parametrize("name", FILES)
async def test_the_rows_are_ruled_alike(name: str, project: Path) -> None:
    floor = floor_patterns(folders())
    outcomes = {"allowed": 0, "denied": 0, "undecidable": 0}
    for row in rows(name):
        for given in bounds_of(name, row):
            bound = parse_bound(given)
            policy = compile_policy(bound, root=str(project), tools=TABLE, floor=floor)
            params = {"command": row["command"]}
            verdict = rule(policy, "shell", params, str(project))
            (tool,) = apply_bound_guards([BoundGuardTool(done, "shell")], bound)
            outcomes[verdict.outcome] += 1
            if verdict.allowed:
                assert await tool.handler(params, None) == "done", row
                continue
            with pytest.raises(NotAllowed) as refused:
                await tool.handler(params, None)
            said = (refused.value.rule, refused.value.field)
            assert said == (verdict.rule, verdict.field), row
            assert verdict.agent in str(refused.value)
    assert outcomes["allowed"] > 0
    assert outcomes["denied"] > 0


@dataclass(frozen=True)
class Described(BoundGuardTool):
    access: str | None = None
    annotations: McpAnnotations | None = None


WRITES = McpAnnotations(read_only_hint=False)
READS = McpAnnotations(read_only_hint=True)


@pytest.mark.parametrize(
    ("tool", "may"),
    [
        (Described(done, "read_file"), True),
        (Described(done, "barry:readFile"), True),
        (Described(done, "mcp__fs__list_directory"), True),
        (Described(done, "find_and_replace"), False),
        (Described(done, "edit"), False),
        (Described(done, "save"), False),
        (Described(done, "save", access="read"), True),
        (Described(done, "read", access="write"), False),
        (Described(done, "read", annotations=WRITES), False),
        # What a server says of its own tool grants nothing.
        (Described(done, "save", annotations=READS), False),
    ],
)
async def test_a_path_is_read_or_written_by_what_the_tool_is(tool: Described, may: bool) -> None:
    (held,) = apply_bound_guards([tool], {"deniedAccess": ["files"]})
    (free,) = apply_bound_guards([tool], {})
    assert await free.handler({"path": "src/app.py"}, None) == "done"
    if may:
        assert await held.handler({"path": "src/app.py"}, None) == "done"
        return
    with pytest.raises(NotAllowed) as refused:
        await held.handler({"path": "src/app.py"}, None)
    assert refused.value.field == "deniedAccess"


DIFF = "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-x\n+y\n"


@pytest.mark.parametrize(
    ("name", "params", "bound", "field"),
    [
        ("apply", {"patch": DIFF}, {"files": {"deny": [".env"]}}, "files.deny"),
        ("apply", {"diff": DIFF.replace(".env", "x")}, {"files": {"deny": [".env"]}}, ""),
        ("bump", {"patch": "1"}, {"files": {"deny": [".env"]}}, ""),
        ("write", {"path": ".barry/bound.toml"}, {}, "floor"),
        ("read", {"path": ".barry/bound.toml"}, {}, ""),
        ("write", {"path": ".env\n*** Begin Patch"}, {"files": {"allowOnly": []}}, "files.allow"),
        ("run", {"command": "cat key.pem", "dir": "secrets"}, {"files": {"deny": ["s*/*"]}}, "fi"),
        ("list", {"dir": "secrets"}, {"files": {"deny": ["secrets"]}}, "files.deny"),
        ("glob", {"cwd": "secrets"}, {"files": {"deny": ["secrets"]}}, "files.deny"),
        ("fetch", {"url": "https://"}, {"network": {"domains": ["x.test"]}}, "network.domains"),
        ("clone", {"url": "https://x.test/r"}, {"network": {"actions": ["http:read"]}}, ""),
        ("clone", {}, {"network": {"actions": ["git:fetch"]}}, "network.actions"),
        ("note", {}, {"nodes": {"deny": ["local"]}}, "nodes.deny"),
        ("barry:read", {}, {"deniedAccess": ["barry"]}, ""),
        ("barry:edit", {}, {"deniedAccess": ["barry"]}, "deniedAccess"),
        ("barry:read", {"command": "ls"}, {"deniedAccess": ["barry"]}, "deniedAccess"),
    ],
)
async def test_other_calls(
    name: str, params: dict[str, Any], bound: dict[str, Any], field: str
) -> None:
    (tool,) = apply_bound_guards([BoundGuardTool(done, name)], bound)
    if not field:
        assert await tool.handler(params, None) == "done"
        return
    with pytest.raises(NotAllowed) as refused:
        await tool.handler(params, None)
    assert refused.value.field.startswith(field)
