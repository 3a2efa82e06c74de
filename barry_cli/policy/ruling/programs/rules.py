"""Program rules: `git`, `git:push`, `gh:pr:create`, and whether a line is denied by one."""

import sys

from barry_cli.policy.ruling.programs.call import Call, Found
from barry_cli.policy.ruling.programs.chains import completes
from barry_cli.policy.ruling.programs.walk import walk
from barry_cli.policy.ruling.shell.reading import read

FOLDS = sys.platform in {"darwin", "win32"}
"""File names differ there by more than their case."""

Table = dict[str, tuple[tuple[int, str, tuple[str, ...]], ...]]


class Denial:
    """Why a line is denied.

    `rule`: as it was given. `start`, `end`: the denied command in the line. `chain`: the calls
    from the outermost to the denied one; empty when something can't be known. `why`: "" when the
    command plainly matches, else what can't be known.
    """

    __slots__ = ("chain", "end", "rule", "start", "why")

    def __init__(self, rule: str, start: int, end: int, chain: list[Call], why: str) -> None:
        self.rule = rule
        self.start = start
        self.end = end
        self.chain = chain
        self.why = why


def table(rules: list[str] | tuple[str, ...], folds: bool = FOLDS) -> Table:
    """Rules by the program they name. Those that name none match nothing and are left out."""
    found: Table = {}
    for index, rule in enumerate(rules):
        program, *chain = rule.split(":")
        name = _name(program.rpartition("/")[2], folds)
        parts = tuple([part for part in chain if part])
        if name:
            found[name] = (*found.get(name, ()), (index, rule, parts))
    return found


def denial(found: Found, rules: Table, folds: bool = FOLDS) -> Denial | None:
    """The first rule, in their order, that the line comes under.

    When something that runs can't be known every rule may be meant, and the first one answers.
    """
    if not rules:
        return None
    best: tuple[int, str, Call, str] | None = None
    for call in found.calls:
        listed = rules.get(
            _name(call.name, folds) if folds or call.name[-4:] == ".exe" else call.name
        )
        if listed is None:
            continue
        for index, rule, parts in listed:
            if best is not None and best[0] <= index:
                continue
            answer = completes(call.words, call.name, parts)
            if answer:
                why = "" if answer == 1 else "unknown words may complete it"
                best = index, rule, call, why
    if best is not None:
        _, rule, call, why = best
        return Denial(rule, call.start, call.end, _outward(call), why)
    if found.unparseable:
        _, rule = min((entry[0], entry[1]) for listed in rules.values() for entry in listed)
        return Denial(rule, found.start, found.end, [], found.unparseable)
    return None


def program_denied(text: str, rules: list[str] | tuple[str, ...]) -> Denial | None:
    """Whether a command line is denied by program rules. Never raises."""
    compiled = table(rules)
    return denial(walk(read(text)), compiled) if compiled else None


def _name(name: str, folds: bool) -> str:
    if folds:
        name = name.lower()
    return name[:-4] if name[-4:].lower() == ".exe" else name


def _outward(call: Call) -> list[Call]:
    chain = []
    at: Call | None = call
    while at is not None:
        chain.append(at)
        at = at.outer
    return chain[::-1]
