"""``deniedAccess = ["files"]``: files are read and not written, by every way a call is ruled on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from barry_cli.policy.compile import compile_policy
from barry_cli.policy.guards import BoundGuardTool, apply_bound_guards
from barry_cli.policy.problems import NotAllowed
from barry_cli.policy.ruling.rule import rule, rule_command
from barry_cli.policy.schema import parse_bound

BOUND = parse_bound({"deniedAccess": ["files"]})

COMMANDS = [
    ("ls -la", "allowed"),
    ("cat a b | grep x > /dev/null 2>&1", "allowed"),
    ("sed -n 1p a", "allowed"),
    ('[[ a > b ]] && echo "x > y"', "allowed"),
    ("echo x > y", "denied"),
    ("echo x >> ~/y", "denied"),
    ("rm -rf build", "denied"),
    ("mkdir a", "denied"),
    ("mv a b", "denied"),
    ("cp a b", "denied"),
    ("sed -i s/a/b/ c", "denied"),
    ("sudo sh -c 'echo x > /etc/y'", "denied"),
    ("find . -name x -delete", "denied"),
    ("cat <<E | tee y\nx\nE", "denied"),
    ("echo x > $y", "denied"),
    ("curl -o a example.org", "denied"),
    ("chmod +x a", "denied"),
    ("$x", "undecidable"),
    ("echo 'x", "undecidable"),
]  # fmt: skip


class Row:
    def __init__(self, kind: str, field: str) -> None:
        self.kind = kind
        self.field = field


@pytest.mark.parametrize(("command", "outcome"), COMMANDS)
def test_commands(tmp_path: Path, command: str, outcome: str) -> None:
    policy = compile_policy(BOUND, root=str(tmp_path))
    verdict = rule_command(policy, command, str(tmp_path))
    assert verdict.outcome == outcome, verdict.human
    if outcome != "allowed":
        assert (verdict.field, verdict.rule) == ("deniedAccess", "files")
    free = rule_command(compile_policy(None, root=str(tmp_path)), command, str(tmp_path))
    assert free.outcome == "allowed"


def test_tools(tmp_path: Path) -> None:
    tools = {
        "Peek": Row("read", "where"), "Scribble": Row("write", "where"),
        "Mend": Row("patch", "diff"), "Zap": Row("shell", "line"),
    }  # fmt: skip
    policy = compile_policy(BOUND, root=str(tmp_path), harness="acme", tools=tools)

    def outcome(tool: str, given: dict[str, Any]) -> str:
        return rule(policy, tool, given, str(tmp_path)).outcome

    assert outcome("Peek", {"where": "a"}) == "allowed"
    assert outcome("Scribble", {"where": "a"}) == "denied"
    patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
    assert outcome("Mend", {"diff": patch}) == "denied"
    assert outcome("Zap", {"line": "ls"}) == "allowed"
    assert outcome("Zap", {"line": "touch x"}) == "denied"


@pytest.mark.parametrize(("command", "outcome"), COMMANDS)
def test_guarded_tools(command: str, outcome: str) -> None:
    async def handler(params: Any, context: Any) -> str:
        return "done"

    (tool,) = apply_bound_guards([BoundGuardTool(handler, "barry:shell")], BOUND)
    if outcome == "allowed":
        assert asyncio.run(_call(tool, command)) == "done"
    else:
        with pytest.raises(NotAllowed) as problem:
            asyncio.run(_call(tool, command))
        assert problem.value.field == "deniedAccess"


async def _call(tool: BoundGuardTool, command: str) -> object:
    return await tool.handler({"command": command}, None)
