"""Patterns of allowed hosts, compared as sets of names; they mean what ``ruling.domains`` says.

``*.example.com`` stands for every name below; a star elsewhere for any characters.
"""

from __future__ import annotations

from collections.abc import Iterable

from barry_cli.policy.globs import name_covers, name_overlaps
from barry_cli.policy.ruling.domains import canonical

_FOREIGN = frozenset("?[]{}\\")


def covers(wide: str, narrow: str) -> bool:
    """Whether every host of ``narrow`` is one of ``wide``; both in their canonical spelling."""
    if wide in ("*", narrow):
        return True
    if "*" not in wide:
        return False
    return _FOREIGN.isdisjoint(wide + narrow) and name_covers(wide, narrow)


def meet(left: Iterable[str], right: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """What two lists both allow, sorted, and the pairs whose overlap can't be said."""
    found: set[str] = set()
    lost = []
    theirs = smallest(right)
    for one in smallest(left):
        for other in theirs:
            shared, whole = _overlap(one, other)
            found |= shared
            if not whole:
                lost.append((one, other))
    return smallest(found), lost


def smallest(patterns: Iterable[str]) -> list[str]:
    """A list without the patterns that another one covers, each in its canonical spelling."""
    found = set(map(canonical, patterns))
    return sorted(
        each for each in found if not any(other != each and covers(other, each) for other in found)
    )


def _overlap(one: str, other: str) -> tuple[set[str], bool]:
    if covers(one, other):
        return {other}, True
    if covers(other, one):
        return {one}, True
    if "*" not in one + other:
        return set(), True
    return name_overlaps(one, other) if _FOREIGN.isdisjoint(one + other) else (set(), False)
