"""Every expected failure: its sentence, its hint, its code and its exit code."""

from __future__ import annotations

import pytest

from barry_cli.base import problems
from barry_cli.base.problems import (
    AdapterNotInstalled,
    AdapterRefused,
    BarryError,
    HarnessVersionMismatch,
)

KINDS = [
    each
    for each in vars(problems).values()
    if isinstance(each, type) and issubclass(each, BarryError)
]


def test_codes_tell_the_kinds_apart() -> None:
    assert len({each.code for each in KINDS}) == len(KINDS)
    assert {each.exit_code for each in KINDS} == {2, 125, 126, 127}


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    for each in KINDS:
        assert each.__name__ in (problems.__doc__ or "")
    for line in (problems.__doc__ or "").splitlines():
        if "\N{BOX DRAWINGS LIGHT HORIZONTAL}" in line:
            name, number = line.split()[-1], line
            for each in KINDS:
                if f" {each.__name__} " in number:
                    assert f" {each.exit_code} " in number, name


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ([], "adapter x is refused: it gave no reason"),
        (["a"], "adapter x is refused: a"),
        (["a", "b"], "adapter x is refused: a (and 1 more problem)"),
        (["a", "b", "c"], "adapter x is refused: a (and 2 more problems)"),
    ],
)
def test_a_refused_adapter_has_all_its_problems(listed: list[str], message: str) -> None:
    problem = AdapterRefused("x", listed)
    assert str(problem) == message
    assert problem.details["problems"] == listed


def test_what_callers_read() -> None:
    absent = AdapterNotInstalled("x")
    assert (absent.adapter_id, absent.exit_code) == ("x", 127)
    assert "barry adapter add x" in absent.hint
    other = HarnessVersionMismatch("m", "x", "/bin/x", "2", "1")
    assert (other.observed, other.verified_on, other.exit_code) == ("2", "1", 126)
    assert "--allow-unverified-build" in other.hint
