"""``deniedAccess = ["files"]``: files are read and not written, by every way a call is ruled on."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from barry_cli.policy.bound_file import read_bound_file
from barry_cli.policy.compile import compile_policy
from barry_cli.policy.guards import BoundGuardTool, apply_bound_guards
from barry_cli.policy.named import SHIPPED
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


READERS = """
git; git status; git diff; git log --oneline; git show HEAD; git --version; git -C x status
git branch; git branch --list; git branch -l 'a*'; git branch -a; git branch -vv
git branch --show-current; git branch --contains HEAD; git branch --merged main
git branch --sort=-committerdate; git branch --format '%(refname)'
git config --get user.name; git config -l; git config user.name; git config --list --show-origin
git config get user.name; git config list; git config --global --get-all x.y; git config -f x y.z
git tag; git tag -l; git tag --list 'v*'; git tag -n; git tag --contains HEAD; git tag -v v1
git stash list; git stash show -p; git remote; git remote -v; git remote show origin
git remote get-url origin; git worktree list; git notes; git notes show HEAD; git reflog
git reflog show main; git submodule; git submodule status; git bisect log; git sparse-checkout list
git symbolic-ref HEAD; git replace -l; git hash-object x; git apply --stat x.patch
git add --dry-run x; git clean -n; git commit --dry-run; git commit --help; git rev-parse HEAD
git ls-files; git blame x; git merge-base a b; git grep x; git describe; git fetch --dry-run
git -c a.b=c log; git lg
"""

WRITERS = """
git branch x; git branch -D x; git branch -d x; git branch -m a b; git branch -f a HEAD
git branch -u origin/x; git branch --unset-upstream; git branch -v x; git branch --edit-description
git config user.name x; git config --global user.name x; git config --unset user.name
git config --add a.b c; git config -e; git config set a.b c; git config unset a.b
git config --replace-all a.b c; git config --file .git/config a.b c; git config remove-section a
git tag v1; git tag -a v1 -m x; git tag -d v1; git tag -f v1 HEAD
git stash; git stash push; git stash pop; git stash drop; git stash -u; git stash clear
git remote add o https://x.test; git remote remove o; git remote set-url o y; git remote prune o
git worktree add ../x; git worktree remove x; git worktree prune
git notes add -m x; git reflog expire --all; git reflog delete HEAD@{1}; git submodule update
git submodule add https://x.test/a; git bisect start; git sparse-checkout set x
git symbolic-ref HEAD refs/heads/x; git symbolic-ref -d X; git replace a b; git hash-object -w x
git commit -m x; git add .; git fetch; git pull; git gc; git merge x; git rebase main; git reset
git update-ref -d refs/heads/x; git rm --cached x; git init; git apply x.patch; git checkout x
git -C x commit -m y; sudo git stash; sh -c 'git branch -D x'; git log && git tag v2
git maintenance run; git credential approve; git rerere; git lfs install
"""


def _split(text: str) -> list[str]:
    return [each.strip() for line in text.strip().splitlines() for each in line.split(";")]


@pytest.mark.parametrize("command", _split(READERS))
def test_git_commands_that_read(command: str) -> None:
    for bound in (BOUND, read_bound_file(f"{SHIPPED}/read-only.toml")):
        verdict = rule_command(compile_policy(bound, root="/nowhere"), command, "/nowhere")
        assert verdict.outcome == "allowed", verdict.human


@pytest.mark.parametrize("command", _split(WRITERS))
def test_git_commands_that_change_a_repository(command: str) -> None:
    verdict = rule_command(compile_policy(BOUND, root="/nowhere"), command, "/nowhere")
    assert (verdict.outcome, verdict.field) == ("denied", "deniedAccess"), command
    shipped = read_bound_file(f"{SHIPPED}/read-only.toml")
    assert not rule_command(compile_policy(shipped, root="/nowhere"), command, "/nowhere").allowed
    # It is the restriction that denies it, and files alone are another matter.
    only = parse_bound({"files": {"deny": ["*.pem"]}})
    assert rule_command(compile_policy(only, root="/nowhere"), command, "/nowhere").allowed


@pytest.mark.parametrize("command", ["git $x", "git stash $x", "git remote $x", "git branch $x"])
def test_git_commands_of_which_too_little_is_known(command: str) -> None:
    verdict = rule_command(compile_policy(BOUND, root="/nowhere"), command, "/nowhere")
    assert verdict.outcome == "undecidable", verdict.human


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
