"""Calls as sessions make them all day: what ruling on them takes is read at once by a program."""

from __future__ import annotations

from dataclasses import dataclass

from barry_cli.policy.compile import PROJECT_FOLDER, compile_policy
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.schema import parse_bound

RULE = ("barry_cli.policy.ruling.rule", "rule")
"""What rules on a call: its module and its name."""

FIELD, FOLDER = "text", "/nowhere"

_LINES = (
    "ls -la",
    "ls src tests | head -n 50",
    "git status --short",
    "cd src && git diff --stat HEAD~1 | head -n 20",
    "git add -A && git commit -q -m 'Some words'",
    "grep -rn 'some words' src tests --include=*.py",
    "rg -n words src | head -30",
    "python -m pytest -q tests/unit/test_a.py 2>&1 | tail -n 5",
    "cd web && npm run build 2>&1 | tail -20",
    "make test; echo $?",
    "cat README.md docs/*.md | wc -l",
    "sed -n 1,40p src/a.txt",
    "find . -name '*.py' -not -path './build/*' | xargs wc -l",
    'for name in a b; do echo "$name"; done',
    "mkdir -p build && cp src/a.txt build/ && rm -rf build/old",
    "cat > out.txt <<'END'\nSome words\nEND",
)
CALLS = (("read", "src/a.txt"), ("write", "src/b.txt"), *(("shell", line) for line in _LINES))
"""Tools of the policy below, and what their one field holds."""

_BOUND = {
    "bash": {"denyPrograms": ["sudo", "git:push"]},
    "files": {"deny": [".env", "secrets/**", "~/.ssh/**"]},
}


@dataclass(frozen=True, slots=True)
class _Row:
    kind: str
    field: str = FIELD


def policy() -> Policy:
    """A policy that restricts what policies most often do."""
    tools = {kind: _Row(kind) for kind in ("shell", "read", "write")}
    bound, floor = parse_bound(_BOUND), (PROJECT_FOLDER,)
    return compile_policy(bound, root=FOLDER, home=FOLDER, tools=tools, floor=floor)
