"""The tables of programs and their files: what a line says is understood, and said once."""

from __future__ import annotations

import pytest

from barry_cli.policy.ruling import more_roles, roles
from barry_cli.policy.ruling.more_roles import more
from barry_cli.policy.ruling.roles import role
from barry_cli.policy.ruling.shell.nodes import Word
from barry_cli.policy.ruling.uses import MARKS, table, uses

SHAPES = {
    *("read", "write", "change", "copy", "move", "second", "pack", "pattern", "none"),
    *("named", "trees", "last", "words"),
}
LINES = [
    line
    for module in (roles, more_roles)
    for line in module._LISTED.replace("\n    ", " ").splitlines()
]


def own(shape: str) -> bool:
    """The shape has a function of its own, which looks at no word at all without an error."""
    from barry_cli.policy.ruling import archives, downloads, option_files, searches, texts

    tables = (archives.OWN, downloads.OWN, option_files.OWN, searches.OWN, texts.OWN)
    return shape in {"compile", "database", "find", "git"} or any(shape in each for each in tables)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.partition(" ")[0])
def test_a_line_is_understood(line: str) -> None:
    names, bar, spec = line.partition(" | ")
    assert bar
    assert names.split()
    shape, _, marks = table(spec)
    assert shape.rstrip("~") in SHAPES or own(shape)
    assert all(len(mark) <= 1 and mark in MARKS | {""} for mark in marks.values())
    assert all(option[0] == "-" for option in marks)


def test_no_program_stands_in_a_table_twice() -> None:
    listed = [name for line in LINES for name in line.partition(" | ")[0].split()]
    assert len(listed) == len(set(listed)), {each for each in listed if listed.count(each) > 1}


def test_subcommands_go_before_their_program() -> None:
    assert more("gh", ["gist", "create"])[0].startswith("read")
    assert more("gh", ["gist", "create"])[1] == 2
    assert more("gh", ["api", "/x"])[1] == 1
    assert more("gh", ["pr", "view"]) == more("gh", [])
    assert more("nosuch", ["gist", "create"]) == ("", 0)
    assert role("python3.11") == role("python3")
    assert more("pip3", []) == more("pip", [])


def test_an_unknown_program_may_touch_what_its_words_name() -> None:
    found = uses("nosuch", [Word(text, 0, 0, False) for text in ("a", "--x=b", "-oc", "k=d", "@e")])
    assert {use.kind for use in found} == {"touch"}
    assert not any(use.sure for use in found)
    assert {use.word.text for use in found if use.word} >= {"a", "b", "c", "d", "e"}
    spared = uses("nosuch", [Word(text, 0, 0, False) for text in ("--exclude=b", "--ignore", "c")])
    assert not spared
