"""``barry bound check``: every form of the question, every exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.toy import Barry, Done, says

RULE = "[bash]\ndenyPrograms = ['git:push']\n[files]\ndeny = ['keys/*']\n"


@pytest.fixture
def bound(barry: Barry) -> Path:
    """A project's bound, in the folder that Barry runs in."""
    path = barry.work / ".barry" / "bound.toml"
    path.parent.mkdir()
    path.write_text(RULE)
    return path


def check(barry: Barry, *words: str, **more: Any) -> Done:
    return barry.run("bound", "check", *words, **more)


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--", "git", "status"), 0),
        (("--", "git", "push"), 1),
        (("--", "sudo", "git", "push"), 1),
        (("--", "echo", "x; git push"), 0),  # one word, not a line
        (("--", "sh", "-c", "x; git push"), 1),
        (("--", "git", "$WHAT"), 0),  # a word of an argv is what it is
        (("--", "cat", "keys/a"), 1),
        (("--command", "x; git push"), 1),
        (("--command", "git $WHAT"), 1),
        (("--command", "git pull"), 0),
        (("--command", ""), 0),
        (("--command", "'"), 1),
        (("--harness", "toy", "--tool", "Shell", "--input", '{"command": "git push"}'), 1),
        (("--harness", "toy", "--tool", "Shell", "--input", '{"command": "ls"}'), 0),
        (("--harness", "oldtoy", "--tool", "shell", "--input", '{"command": "git push"}'), 1),
        (("--harness", "toy", "--tool", "Read", "--input", '{"path": "keys/a"}'), 1),
        (("--harness", "toy", "--tool", "Read", "--input", '{"path": "a"}'), 0),
        (("--harness", "toy", "--tool", "Shell", "--input", "{}"), 1),
        # Without a harness it is whoever's has a tool of this name.
        (("--tool", "shell", "--input", '{"command": "git push"}'), 1),
        (("--tool", "Shell", "--input", '{"command": "git pull"}'), 0),
        (("--tool", "Shell", "--input", "{}"), 1),
        # Their names say what they do, or whose they are.
        (("--tool", "clone", "--input", '{"url": "https://x.test"}'), 0),
        (("--tool", "mcp__git__push", "--input", "{}"), 0),
        (("--tool", "mcp__barry__shell", "--input", "{}"), 0),
        (("--harness", "toy", "--tool", "barry:shell", "--input", "{}"), 0),
        (("--tool", "mcp__barry__shell", "--input", '{"command": "git push"}'), 1),
        (("--tool", "barry:read", "--input", '{"path": "keys/a"}'), 1),
    ],
)
def test_exit_codes(barry: Barry, bound: Path, words: tuple[str, ...], code: int) -> None:
    done = check(barry, *words)
    assert (done.code, done.err) == (code, ""), done
    # Once more from the kept policy, and as JSON: the same.
    again = check(barry, *words)
    assert again == done
    own = words[: words.index("--")] if "--" in words else words
    document = check(barry, *own, "--json", *words[len(own) :])
    assert document.code == code
    verdict = document.json["verdict"]
    assert (verdict["outcome"] == "allowed") == (code == 0)
    assert done.out == "allowed\n" if code == 0 else done.out.startswith("denied")


def test_a_denial_says_where_and_why(barry: Barry, bound: Path) -> None:
    done = check(barry, "--command", "true && sudo git push origin")
    assert done.out.splitlines() == [
        "denied by bash.denyPrograms git:push: `git push` inside sudo",
        "  true && sudo git push origin",
        "               ^^^^^^^^^^^^^^^",
    ]
    verdict = check(barry, "--command", "true && sudo git push origin", "--json").json["verdict"]
    assert verdict["rule"] == "git:push"
    assert verdict["field"] == "bash.denyPrograms"
    assert verdict["text"][verdict["start"] : verdict["end"]] == "git push origin"


REFUSED: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    ((), ("nothing to rule on",)),
    (("--",), ("nothing to rule on",)),
    (("--command", "x", "--", "y"), ("two questions",)),
    (("--command", "x", "--tool", "y", "--input", "{}"), ("two questions",)),
    (("--tool", "x"), ("needs --input",)),
    (("--input", "{}", "--command", "x"), ("belongs to --tool",)),
    (("--tool", "x", "--input", "{"), ("not JSON",)),
    (("--tool", "Shell", "--input", '{"command": "a", "command": "b"}'), ("stands twice",)),
    (
        ("--harness", "toy", "--tool", "Shell", "--input", '{"a": {"b": 1, "b": 2}}'),
        ("stands twice",),
    ),
    (("--tool", "mcp__x__y", "--input", "{}"), ("no installed harness has a tool mcp__x__y",)),
    (("--tool", "", "--input", "{}"), ("empty name",)),
    (("--tool", "Shel", "--input", "{}"), ("no installed harness", "did you mean Shell?")),
    (("--harness", "toy", "--tool", "Raed", "--input", "{}"), ("toy has no tool Raed", "Read?")),
    (("--tool", "x", "--input", "[]"), ("not a JSON object",)),
    (("--", "git push"), ("one word", "--command")),
    (("--stdin", "--", "ls"), ("standard input alone",)),
    (("--stdin", "--command", "ls"), ("standard input alone",)),
    (("--bound", "no-psh", "--", "ls"), ("did you mean no-push?",)),
    (("--bound", "./x.toml", "--", "ls"), ("no bound file",)),
    (("--cwd", "nowhere", "--", "ls"), ("does not exist",)),
    (("--trait", "x", "--", "ls"), ("no trait x",)),
    (("--nonsense", "--", "ls"), ("No such option",)),
]


@pytest.mark.parametrize(("words", "parts"), REFUSED, ids=" ".join)
def test_questions_that_are_none(
    barry: Barry, bound: Path, words: tuple[str, ...], parts: tuple[str, ...]
) -> None:
    says(check(barry, *words), 2, *parts)


def test_a_harness_that_is_not_there(barry: Barry, bound: Path) -> None:
    says(check(barry, "--harness", "ty", "--", "ls"), 127, "did you mean toy?")


def test_without_a_bound_nothing_is_allowed(barry: Barry) -> None:
    says(check(barry, "--", "ls"), 2, "no bound applies", "--bound")
    assert check(barry, "--json", "--", "ls").error["code"] == "no-bound"
    assert check(barry, "--bound", "no-push", "--", "ls").code == 0


def test_a_bound_that_is_not_right_is_refused(barry: Barry, bound: Path) -> None:
    bound.write_text("[bash]\ndenyProgram = ['git']\n")
    says(check(barry, "--", "ls"), 2, str(bound), "did you mean denyPrograms?")
    bound.write_text("")
    assert check(barry, "--", "ls").code == 0


def test_another_folder(barry: Barry, bound: Path) -> None:
    inner = barry.work / "inner"
    inner.mkdir()
    assert check(barry, "--cwd", "inner", "--", "git", "push").code == 1
    # Patterns of a project start at its own folder.
    assert check(barry, "--cwd", "inner", "--", "cat", "keys/a").code == 0
    assert check(barry, "--cwd", "inner", "--", "cat", "../keys/a").code == 1
    says(check(barry, "--cwd", "/", "--", "git", "push"), 2, "no bound applies")


def test_barrys_own_files_are_the_floor(barry: Barry, bound: Path) -> None:
    bound.write_text("description = 'empty'\n")
    for command in ("rm -r .barry", "echo > .barry/bound.toml"):
        done = check(barry, "--command", command)
        assert done.code == 1, command
        assert "floor" in done.out
    assert check(barry, "--command", "cat .barry/bound.toml").code == 0


def answers(done: Done) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.out.splitlines()]


def test_lines_of_standard_input(barry: Barry, bound: Path) -> None:
    lines = [
        {"command": "git push", "id": "a"},
        "ls",
        "",
        {"argv": ["git", "push"], "id": 2},
        {"argv": ["echo", "git push; x"]},
        {"harness": "toy", "tool": "Read", "input": {"path": "keys/a"}},
        {"command": "cat keys/a", "cwd": "inner"},
    ]
    text = "".join((json.dumps(line) if line else "") + "\n" for line in lines)
    done = check(barry, "--stdin", input=text, stdin=None)
    found = answers(done)
    assert done.code == 1
    assert [each["line"] for each in found] == [1, 2, 4, 5, 6, 7]
    assert [each["outcome"] for each in found] == [
        "denied", "allowed", "denied", "allowed", "denied", "allowed"
    ]  # fmt: skip
    assert [each["id"] for each in found] == ["a", None, 2, None, None, None]
    assert check(barry, "--stdin", input='"ls"\n', stdin=None).code == 0
    assert check(barry, "--stdin", input="", stdin=None).code == 0


def test_a_tool_that_nobody_has(barry: Barry, bound: Path) -> None:
    """By its name alone a call may be denied; that it is allowed takes more than its name."""
    asked = ("--harness", "toy", "--tool", "Nonesuch", "--input", '{"command": "git push"}')
    for verb in ("check", "explain"):
        done = barry.run("bound", verb, *asked)
        says(done, 2, "toy has no tool Nonesuch", "deniedTools")
        assert done.out == ""
    assert check(barry, *asked, "--json").error["code"] == "tool-unknown"
    for rules in ("[network]\ndomains = ['x.test']\n", "deniedAccess = ['files']\n"):
        bound.write_text(rules)
        assert check(barry, *asked).code == 2, rules
    bound.write_text("deniedTools = ['nonesuch']\n" + RULE)
    assert check(barry, *asked).code == 1
    bound.write_text("deniedTools = ['other']\n")
    assert check(barry, *asked).code == 0
    assert check(barry, *asked).code == 0  # and so from the kept policy


UNREAD = [
    "ls",
    "[1]",
    "{}",
    '{"command": 1}',
    '{"command": "a", "tool": "b"}',
    '{"tool": "a"}',
    '{"tool": "a", "input": "b"}',
    '{"argv": []}',
    '{"argv": [1]}',
    '{"tool": "", "input": {}}',
    '{"comand": "ls"}',
    '{"command": "ls", "Cwd": "x"}',
    '{"command": "git push", "command": "ls"}',
    '{"tool": "Shell", "input": {"command": "git push", "command": "ls"}}',
    '{"harness": "nobody", "command": "ls"}',
    '{"tool": "Nonesuch", "input": {}}',
    "[" * 100_000,
]


@pytest.mark.parametrize("line", UNREAD, ids=lambda line: line[:20])
def test_a_line_that_asks_nothing_is_not_allowed(barry: Barry, bound: Path, line: str) -> None:
    done = check(barry, "--stdin", input=f'{line}\n"ls"\n', stdin=None)
    first, second = answers(done)
    assert done.code == 2
    assert first["outcome"] == "undecidable"
    assert first["error"]
    assert second["outcome"] == "allowed"


def test_closed_standard_input(barry: Barry, bound: Path) -> None:
    done = subprocess.run(
        ["/bin/bash", "-c", f"{sys.executable} -m barry_cli bound check --stdin <&-"],
        env=barry.env,
        cwd=barry.work,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    says(Done(done.returncode, done.stdout, done.stderr), 2, "standard input is closed")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--tool", "Write", "--input", '{"path": "sub/.toyrc"}'), 1),
        (("--tool", "Write", "--input", '{"path": "~/.toy/hooks/a"}'), 1),
        (("--tool", "Read", "--input", '{"path": ".toyrc"}'), 0),
        (("--tool", "Write", "--input", '{"path": "toyrc"}'), 0),
        (("--command", "echo x > .toyrc"), 1),
    ],
)
def test_what_steers_the_harness_is_never_written(
    barry: Barry, bound: Path, words: tuple[str, ...], code: int
) -> None:
    done = check(barry, "--harness", "toy", *words)
    assert done.code == code, done
    assert ("the floor of every policy" in done.out) == (code == 1)
