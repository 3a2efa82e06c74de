"""The longest command lines that are read take a bounded time: measured against a short one.

Nothing here is an absolute time: a busy machine is slow for the short line too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from barry_cli.policy.compile import compile_policy
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.rule import rule_command
from barry_cli.policy.ruling.shell.reading import read
from barry_cli.policy.ruling.shell.source import MOST_CHARACTERS, MOST_COMMANDS, MOST_WORDS
from barry_cli.policy.schema import parse_bound

SHORT = "cd src && git status --short | head -n 20 && python -m pytest -q tests 2>&1 | tail -n 5"
MOST = 2_000
"""How many times as long as a line of 100 characters any line takes."""

MOST_READING = 2_000
"""How many times as long as the reading of such a line any reading takes."""


def many(form: str, count: int = MOST_CHARACTERS) -> str:
    """As many of these as may be, with a number in place of each #."""
    pieces: list[str] = []
    size = 0
    for number in range(count):
        piece = form.replace("#", str(number))
        size += len(piece)
        if size > MOST_CHARACTERS - 64:
            break
        pieces.append(piece)
    return "".join(pieces)


LINES = {
    "moves": many("cd d#;cat f#;"),
    "stacked moves": many("pushd d#;cat f#;"),
    "globs": "cat " + many("*# "),
    "moves and globs": many("cd *#;cat *#;"),
    "files": "cp " + many("d/f# ") + "t",
    "commands": many("a;"),
    "pipes": many("cat f#|") + "cat",
    "substitutions": many("$(a) "),
    "backticks": many("`a` "),
    "functions": many("f#() { cat $1; };"),
    "loops": many("for x in a; do cat $x; done;"),
    "variables": many("x#=a;cat $x#;"),
    "redirections": many(">f# "),
    "here-documents": many("cat <<E\nx\nE\n"),
    "strings": many("bash -c 'ls; bash -c \"ls\"';"),
    "parentheses": "(" * 60_000,
    "arithmetic": "((" * 30_000,
    "tildes": "cat " + "~/a " * 15_000,
    "braces": "cat " + many("{a,b}{c,d} "),
    "remotes": "rsync " + many("h#:a ") + "b",
    "wrappers": "env " * 15_000 + "ls",
    "stars": "cat " + "*" * 60_000,
    "a class": "cat *[" + "a" * 60_000 + "]",
    "a name with stars": "find . -name '" + "*" * 60_000 + "'",
    "one word": "cat " + "a" * 65_000,
    "too long": "cat " + "a " * 500_000,
}  # fmt: skip


@pytest.fixture(scope="module")
def policy() -> Policy:
    bound = parse_bound(
        {
            "bash": {"denyPrograms": ["git:push", "sudo", "docker"]},
            "files": {"deny": [".env", "secrets/**", "~/.ssh/**", "*.pem"]},
            "network": {"domains": ["*.evil.test"]},
        }
    )
    return compile_policy(bound, root="/nowhere", floor=(".barry",))


def took(call: Callable[[], object], times: int) -> float:
    """The least of some runs, in seconds of its own time: others may be busy, too."""
    best = float("inf")
    for _ in range(times):
        began = time.process_time()
        call()
        best = min(best, time.process_time() - began)
    return best


@pytest.mark.parametrize("name", LINES)
def test_no_line_takes_forever(name: str, policy: Policy, tmp_path: Path) -> None:
    line, cwd = LINES[name], str(tmp_path)
    for number in range(400):
        (tmp_path / f"file {number}").touch()
    assert len(line) >= 20_000
    reading = took(lambda: read(SHORT), 50)
    ruling = took(lambda: rule_command(policy, SHORT, cwd), 50)
    assert took(lambda: read(line), 3) < MOST_READING * reading
    assert took(lambda: rule_command(policy, line, cwd), 2) < MOST * ruling


@pytest.mark.parametrize(
    ("form", "most", "why"),
    [
        ("ls;", MOST_COMMANDS, "more commands than are read"),
        ("a ", MOST_WORDS, "more words than are read"),
        ("'a' ", MOST_WORDS // 2, "more words than are read"),
    ],
)
def test_what_is_too_much_is_undecidable(
    form: str, most: int, why: str, policy: Policy, tmp_path: Path
) -> None:
    enough, more = form * (most - 1), form * (most + 2)
    assert read(enough).unparseable == ""
    assert read(more).unparseable == why
    assert rule_command(policy, enough, str(tmp_path)).outcome == "allowed"
    verdict = rule_command(policy, more, str(tmp_path))
    assert verdict.outcome == "undecidable"
    assert why in verdict.human
