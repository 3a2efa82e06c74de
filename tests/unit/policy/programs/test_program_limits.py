"""Any text is answered, soon, and without an exception."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from barry_cli.policy.classify import classify_bash_command, is_program_denied
from barry_cli.policy.ruling.programs.rules import program_denied
from barry_cli.policy.ruling.programs.walk import walk
from barry_cli.policy.ruling.programs.wrappers import WRAPPERS
from barry_cli.policy.ruling.shell.reading import read

PIECES = [
    *("git", "push", "bash", "sh", "-c", "eval", "env", "-S", "sudo", "-u", "xargs", "-I", "{}"),
    *("find", ".", "-exec", ";", "\\;", "+", "parallel", ":::", "watch", "trap", "EXIT", "source"),
    *("'", '"', "`", "$(", ")", "(", "{", "}", "<(", "<<<", "<<E\n", "\nE\n", "|", "&&", "||"),
    *("$x", '"$@"', "$1", "${1}", "f() {", "f", "--", "-", "=", "a=b", "\\", "\n", "#", "~", "*"),
    *("-o", "--x", "echo", "printf", "cat", "tee", "awk", "python3", "perl", "-e", "sed", "tmux"),
    *("docker", "run", "exec", "ssh", "-o", "script", "flock", "su", "vim", "+!", "crontab", "."),
    *("/dev/stdin", "git-push", "uv", "npx", "\ue000", "time", "!", "coproc", "set", "shift"),
]


@settings(max_examples=400, deadline=None)
@given(some.text())
def test_any_text(text: str) -> None:
    found = walk(read(text))
    assert 0 <= found.start <= found.end <= len(text)
    classify_bash_command(text)
    is_program_denied(text, ["git:push", text])


@settings(max_examples=1_500, deadline=None)
@given(some.lists(some.sampled_from(PIECES), max_size=24), some.sampled_from(["", " "]))
def test_any_line_of_pieces(pieces: list[str], between: str) -> None:
    line = between.join(pieces)
    denial = program_denied(line, ["git:push"])
    if denial is not None:
        assert 0 <= denial.start <= denial.end <= len(line)


WRAPPED = some.sampled_from(
    [
        "env {}",
        "sudo -u a {}",
        "timeout -k 1 5 {}",
        "nice -n 3 {}",
        "xargs -I@ {} </dev/null",
        "find . -exec {} \\;",
        "bash -c '{}'",
        "eval '{}'",
        "sh <<'E'\n{}\nE\n",
        "echo '{}' | sh",
        "( {} )",
        "x=$( {} )",
        "f() {{ {}; }}; f",
    ]
)


@settings(max_examples=300, deadline=None)
@given(some.lists(WRAPPED, max_size=2), some.sampled_from(["git push", "git log push"]))
def test_a_wrapped_command_has_the_ruling_of_the_command(wraps: list[str], base: str) -> None:
    """Two layers at most, and quotes only where no quotes stand inside."""
    line = base
    for wrap in wraps:
        if ("'" in wrap and "'" in line) or (line != base and " {}" in wrap and wrap[0] != "("):
            continue
        line = wrap.format(line)
    assert (program_denied(line, ["git:push"]) is not None) == (base == "git push")


def nested(shape: str, times: int) -> str:
    return shape.replace("@", "") if times == 0 else shape.replace("@", nested(shape, times - 1))


HEAVY = {
    "options that aren't known": "sudo " + "--zz a " * 8_000 + "git push",
    "wrappers in wrappers": "env " * 15_000 + "git push",
    "sudo in sudo": "sudo --zz " * 6_000 + "git push",
    "one program's options": "git " + "-x " * 15_000 + "push",
    "unknown words": "git " + '"$x" ' * 8_000,
    "many -exec": "find . " + "-exec a {} \\; " * 3_000,
    "a long text": "eval '" + "a;" * 30_000 + "'",
    "eval in eval": "eval " * 12_000 + "x",
    "values put in": "parallel " + "a{} " * 8_000 + "::: " + "b " * 60,
    "values appended": "echo " + "a " * 60 + "| xargs -n1 " + "b " * 10_000,
    "arguments that double": ";".join(f'f{n}() {{ f{n + 1} "$@" "$@"; }}' for n in range(40))
    + "; f0 a b",
    "words that double": ";".join(f'f{n}() {{ f{n + 1} "$1$1"; }}' for n in range(40)) + "; f0 aa",
    "calls that double": ";".join(f"f{n}() {{ f{n + 1} $1; f{n + 1} $1; }}" for n in range(40))
    + "; f0 a",
    "a function that calls itself": 'f() { f "$@" x; f "$@"; }; f a',
    "shells that share an input": "{ " + "bash;" * 2_000 + " } <<< '" + "a;" * 2_000 + "'",
    "texts in pieces": "( " + "echo a;" * 3_000 + ") | sh",
    "a long pipe": "echo a" + "|cat" * 3_000 + "| sh",
    "strings of another language": "python3 -c '" + '"a" ' * 15_000 + "'",
    "many -S words": "env -S '" + "a " * 30_000 + "'",
    "many commands of sed": "sed '" + "e x;" * 15_000 + "'",
    "many sessions": "tmux " + "new x \\; " * 4_000,
    "many settings": "git " + "-c core.pager=x " * 3_900 + "log",
}


@pytest.mark.parametrize("name", HEAVY)
def test_heavy_lines_are_answered_soon(name: str) -> None:
    """As much work for the walk as for the reader and a fixed share, whatever the line."""
    plain = 'for f in src/*.py; do python3 -m black --check "$f" || exit 1; done && git status -s'

    def best(line: str) -> float:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            program_denied(line, ["git:push:x"])
            times.append(time.perf_counter() - start)
        return min(times)

    assert best(HEAVY[name]) <= 4_000 * best(plain)


def test_commands_too_deep_are_not_allowed() -> None:
    """Where the walk stops, nothing is let through."""
    line = "git push"
    for _ in range(12):
        line = "bash -c '" + line.replace("'", "'\\''") + "'"
    assert program_denied(line, ["git:push"]) is not None
    assert program_denied("env " * 100 + "git push", ["git:push"]) is not None
    assert program_denied("env " * 100 + "ls", ["git:push"]) is not None
    assert program_denied("env " * 20 + "ls", ["git:push"]) is None


def test_the_tables_are_plain_data() -> None:
    """They are compiled into the hook's program: constants load fast."""
    assert all(isinstance(entry, str) for entry in WRAPPERS.values())
