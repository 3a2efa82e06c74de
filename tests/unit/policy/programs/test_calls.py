"""What runs in a line: vectors, programs, subcommands, spans and the way to the denied command."""

from __future__ import annotations

import sys

import pytest

from barry_cli.policy.classify import (
    classify_bash_command,
    is_bash_denied,
    is_program_denied,
)
from barry_cli.policy.ruling.programs.rules import Denial, denial, program_denied, table
from barry_cli.policy.ruling.programs.walk import walk
from barry_cli.policy.ruling.programs.wrappers import WRAPPERS
from barry_cli.policy.ruling.shell.reading import read


def argvs(line: str) -> list[list[str]]:
    return [list(argv) for argv in classify_bash_command(line).argvs]


def denied(line: str, *rules: str) -> Denial:
    found = program_denied(line, rules)
    assert found is not None
    return found


def test_outer_vectors_come_first() -> None:
    assert argvs("sudo -u a git push") == [["sudo", "-u", "a", "git", "push"], ["git", "push"]]
    assert argvs("cd a && env B='x y' nice git 'push' | tee z") == [
        ["cd", "a"],
        ["env", "B=x y", "nice", "git", "push"],
        ["nice", "git", "push"],
        ["git", "push"],
        ["tee", "z"],
    ]
    assert argvs("bash -c 'git push \"$1\"' _ x") == [
        ["bash", "-c", 'git push "$1"', "_", "x"],
        ["git", "push", "x"],
    ]


def test_unknown_words_are_shown_as_written() -> None:
    assert argvs('git log $x "a$(b)c"') == [["git", "log", "$x", "a$(b)c"], ["b"]]


def test_programs_once_in_order_with_their_case() -> None:
    found = classify_bash_command("B; a; /usr/bin/B x; env a; $(c)d")
    assert found.programs == ("B", "a", "env", "c")
    assert found.unparseable
    assert not classify_bash_command("B; a").unparseable


@pytest.mark.parametrize(
    ("line", "program", "chains"),
    [
        ("git push origin", "git", ("push",)),
        ("git -C x push; git log; git push", "git", ("push", "log")),
        ("gh pr create --fill", "gh", ("pr:create",)),
        ("gh -R a/b pr --x create", "gh", ("pr:create",)),
        ("docker run x", "docker", ("run",)),
        ("docker compose -f x up", "docker", ("compose:up",)),
        ("npm run build", "npm", ("run:build",)),
        ("npm publish x", "npm", ("publish",)),
        ("aws --profile p s3 rm x", "aws", ("s3:rm",)),
        ("terraform -chdir=x state rm y", "terraform", ("state:rm",)),
        ("gcloud compute instances delete x", "gcloud", ("compute:instances:delete",)),
        ("cargo +nightly publish", "cargo", ("publish",)),
        ("gh pr $x", "gh", ("pr",)),
    ],
)
def test_subcommands(line: str, program: str, chains: tuple[str, ...]) -> None:
    assert classify_bash_command(line).subcommands[program] == chains


def test_no_subcommands() -> None:
    assert classify_bash_command("git; ls -l; git $x").subcommands == {}


@pytest.mark.parametrize(
    ("line", "span"),
    [
        ("git push", "git push"),
        ("ls; git push --force >x && y", "git push --force"),
        ("sudo -u a git push", "git push"),
        ("bash -c 'cd x; git push; ls'", "git push"),
        ("eval 'a; bash -c \"git push\"'", "git push"),
        ("echo $(git push) x", "git push"),
        ("cat <<'E' | sh\nls\ngit push\nE\n", "git push"),
        ("watch git push", "git push"),
        ("sh <<< 'git push; ls'", "git push"),
        ("bash -c $'git\\x20push'", "$'git\\x20push'"),
        ("env -S 'git push' x", "'git push' x"),
        ('f() { git "$@"; }; f push', 'git "$@"'),
        ("git -c alias.p=push p x", "git -c alias.p=push p x"),
    ],
)
def test_the_span_is_the_denied_command(line: str, span: str) -> None:
    found = denied(line, "git:push")
    assert found.why == ""
    assert line[found.start : found.end] == span


def test_the_way_to_the_denied_command() -> None:
    found = denied("sudo bash -c 'timeout 5 git push'", "git:push")
    assert [call.name for call in found.chain] == ["sudo", "bash", "timeout", "git"]


def test_what_cant_be_known_says_where_and_why() -> None:
    line = "ls; $x push"
    found = denied(line, "git:push")
    assert line[found.start : found.end] == "$x"
    assert found.chain == []
    assert found.why == "the name of a program can't be known"
    found = denied("git $x", "git:push")
    assert found.why == "unknown words may complete it"


def test_the_first_rule_that_matches_answers() -> None:
    assert is_program_denied("b; a", ["a", "b"]) == "a"
    assert is_program_denied("git push", ["git:pull", "git", "git:push"]) == "git"
    assert is_program_denied("FOO=1 git -C x push", ["git:push"]) == "git:push"
    assert is_program_denied("gh pr view", ["gh:pr:create"]) is None


def test_unparseable_lines_are_denied_by_what_matches_or_by_the_first_rule() -> None:
    assert is_program_denied('echo "x', ["rm"]) == "rm"
    assert is_program_denied('echo "x', []) is None
    assert is_program_denied("$x; git push", ["rm", "git:push"]) == "git:push"
    assert is_program_denied("$x; git pull", ["rm", "git:push"]) == "rm"


@pytest.mark.parametrize("rules", [[], [""], [":"], ["", ":push", "/"]])
def test_rules_that_name_nothing_match_nothing(rules: list[str]) -> None:
    for line in ("git push", "", '"', "$x", "''"):
        assert is_program_denied(line, rules) is None


def test_rules_by_path_and_with_empty_parts() -> None:
    assert is_program_denied("git push", ["/usr/bin/git:push"]) is not None
    assert is_program_denied("git push", ["git:"]) == "git:"
    assert is_program_denied("git push", ["git::push"]) == "git::push"


def test_names_fold_where_the_files_do() -> None:
    found = walk(read("GIT push; Git.exe log"))
    assert denial(found, table(["git:push"], folds=True), folds=True) is not None
    assert denial(found, table(["git:push"], folds=False), folds=False) is None
    assert denial(found, table(["Git:log"], folds=False), folds=False) is not None
    assert sys.platform not in {"darwin", "win32"} or is_program_denied("GIT push", ["git"])


def test_bash_deny_is_plain_text() -> None:
    assert is_bash_denied("cd x;rm -rf y", ["DROP", "rm -rf"]) == "rm -rf"
    assert is_bash_denied("rm -r -f y", ["rm -rf"]) is None
    assert is_bash_denied("RM -RF y", ["rm -rf"]) is None
    assert is_bash_denied("ls", ["", "x"]) is None


@pytest.mark.parametrize("name", sorted(WRAPPERS))
def test_every_wrapper_runs_its_command(name: str) -> None:
    """And its counter-case: the same words behind another program are only words."""
    form = WRAPPERS[name].split(" ")[0]
    if form == "-":
        assert program_denied(f"{name} git push", ["git:push"]) is None
        return
    operands = (
        "".join(f"{number} " for number in range(1, int(form[0]) + 1)) if form[0].isdigit() else ""
    )
    dashes = "-- " if "d" in form else ""
    words = "'git push'" if "c" in form else "git push"
    other = "'echo git push'" if "c" in form else "echo git push"
    assert denied(f"{name} {operands}{dashes}{words}", "git:push").why == ""
    assert program_denied(f"{name} {operands}{dashes}{other}", ["git:push"]) is None


def test_a_wrapper_that_names_nothing_to_run() -> None:
    found = classify_bash_command("flock -s /tmp --& git push")
    assert ("git", "push") in found.argvs
    assert not found.unparseable


def test_a_span_never_leaves_the_line() -> None:
    line = 'f() { git "$@"; }; eval f push'
    denial = program_denied(line, ["git:push"])
    assert denial is not None
    assert 0 <= denial.start < denial.end <= len(line)
