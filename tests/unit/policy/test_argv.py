"""A command line made of words runs exactly those words, by bash's own account."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from barry_cli.policy.ruling.argv import command_line, is_whole_line, quote
from barry_cli.policy.ruling.programs.walk import walk
from barry_cli.policy.ruling.shell.reading import read

# Everything that is syntax to bash in one place or another.
WORDS = st.lists(
    st.one_of(
        st.sampled_from(
            "if time ! { [[ case function a=b = ~ ~root * ? [a] {a,b} {1..3} $x $(x) `x` -n -- \\ "
            "' "
            '" # & | ; < > ( ) $ !! ^a^b %1 '.split(" ")
        ),
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6),
    ),
    min_size=1,
    max_size=4,
)


def run_by_bash(line: str) -> list[str]:
    """The words that bash hands to a program of this command line."""
    # A function would not catch every name; the handler of unknown commands does.
    script = 'command_not_found_handle() { printf "%s\\0" "$@"; }\nPATH=/nowhere\n' + line
    done = subprocess.run(
        ["/bin/bash", "--norc", "-c", script], capture_output=True, timeout=20, check=False
    )
    return done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


@given(WORDS)
@example(["if", "x"])
@example(["/"])
@example(["a=b", "c"])
@example(["x", "~", "{a,b}", "a b", "", "'"])
@settings(max_examples=60, deadline=None)
def test_bash_runs_these_words(words: list[str]) -> None:
    # A name that no builtin has; one with a slash is a path, which the handler never gets.
    name = "zz" + words[0].replace("/", "-")
    assert run_by_bash(command_line([name, *words[1:]])) == [name, *words[1:]]


@pytest.mark.parametrize("first", ["if", "time", "a=b", "!", "{", "[[", "coproc", "function"])
def test_the_name_of_a_program_is_no_syntax(first: str) -> None:
    assert run_by_bash(command_line([first, "x"])) == [first, "x"]


@given(WORDS)
@settings(max_examples=200)
def test_our_reader_reads_these_words(words: list[str]) -> None:
    line = command_line(words)
    if any(not char.isprintable() for word in words for char in word) or not words[0].strip():
        return  # control characters are not read at all
    found = walk(read(line))
    if not found.unparseable:
        assert found.calls[0].argv == words


def test_plain_words_stay_plain() -> None:
    assert command_line(["git", "push", "--force", "a/b:c@d", "x=y"]) == (
        "git push --force a/b:c@d x=y"
    )
    assert quote("") == "''"
    assert command_line([]) == ""


def test_a_line_that_was_quoted_whole_is_noticed() -> None:
    assert is_whole_line(["git push"])
    assert is_whole_line([""])
    assert not is_whole_line(["git"])
    assert not is_whole_line(["git push", "x"])
