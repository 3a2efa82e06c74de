"""How a program's own options are told from the command behind them."""

from __future__ import annotations

import pytest

from barry_cli.policy.ruling.programs.chains import GLOBALS, completes
from barry_cli.policy.ruling.programs.options import carriers, kinds, scan
from barry_cli.policy.ruling.programs.wrappers import ALIASES, WRAPPERS
from barry_cli.policy.ruling.shell.nodes import Word
from barry_cli.policy.ruling.shell.reading import read

LIST = "a b: long value: two:: opt? stop! x? s$ h%"


def words(line: str) -> list[Word]:
    reading = read(line)
    assert not reading.unparseable
    return reading.commands[0].words


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("p c", [1]),
        ("p -a c", [2]),
        ("p -b 1 c", [3]),
        ("p -b1 c", [2]),
        ("p -ab 1 c", [3]),
        ("p -ba c", [2]),
        ("p --value 1 c", [3]),
        ("p --value=1 c", [2]),
        ("p --val 1 c", [3]),
        ("p --long c", [2]),
        ("p --two 1 2 c", [4]),
        ("p --two=1 2 c", [3]),
        ("p -x c", [2]),
        ("p -x1 c", [2]),
        ("p --opt c", [2]),
        ("p -- -a", [2]),
        ("p --", []),
        ("p -a", []),
        ("p - c", [1]),
        ("p -5 c", [2]),
        ("p --q c d", [2, 3]),
        ("p -q c d", [2, 3]),
        ("p -q -a d", [3]),
        ("p --q=1 c d", [2]),
        ("p -b$y c", [2]),
        ("p --value=$y c", [2]),
        ('p "$y" c', [1]),
        ("p $y c", [1, 2]),
        ("p -b $y c", [3]),
    ],
)
def test_where_the_command_begins(line: str, at: list[int]) -> None:
    assert scan(words(line), 1, LIST).at == at


def test_options_behind_operands() -> None:
    found = scan(words("p x -a y -b 1 -- -z"), 1, LIST, through=True)
    assert found.at == [1, 3, 7]
    assert [name for name, _ in found.given] == ["a", "b"]


def test_one_dash_and_a_long_name() -> None:
    assert scan(words("p -chdir=x -dir y c"), 1, "~ chdir: dir:").at == [4]


def test_values_and_stops() -> None:
    found = scan(words("p -ab1 --value=2 --two 3 4 --opt=5 -x6 c"), 1, LIST)
    given = {name: value.text if value else None for name, value in found.given}
    assert given == {"a": None, "b": "1", "value": "2", "two": "4", "opt": "5", "x": "6"}
    assert not found.stop
    assert scan(words("p --stop c"), 1, LIST).stop


def test_too_many_unknown_options_are_given_up() -> None:
    assert scan(words("p " + "--q c " * 20), 1, LIST).lost


def test_every_list_is_well_formed() -> None:
    for text in (*GLOBALS.values(), *(entry.partition(" ")[2] for entry in WRAPPERS.values())):
        for name, takes in kinds(text).items():
            assert name.strip("-") or name == "-", text
            assert -2 <= takes <= 3
        assert set(carriers(text)) <= set(kinds(text))
    for alias, name in ALIASES.items():
        assert alias != name
        assert name not in ALIASES


@pytest.mark.parametrize(
    ("line", "parts", "answer"),
    [
        ("git push", "push", 1),
        ("git -C push log", "push", 0),
        ("git -- push", "push", 1),
        ("git", "push", 0),
        ("git $x", "push", 2),
        ('git "$x" push', "push", 2),
        ('git "$x" log', "push", 2),
        ('git "$x" log a', "a:b", 0),
        ("gh $x create", "pr:create", 2),
        ('gh "$x" view', "pr:create", 0),
        ("gh pr -- create", "pr:create", 1),
        ("x -a b c", "c", 1),
        ("x -a b c", "d", 0),
        ("x pu$y", "push", 2),
        ("x pa$y", "push", 0),
        ('x "${y}sh"', "push", 2),
        ('x "${y}x"', "push", 0),
    ],
)
def test_chains(line: str, parts: str, answer: int) -> None:
    found = words(line)
    name = found[0].text
    assert name is not None
    assert completes(found, name, tuple(parts.split(":"))) == answer
