"""A ruling explained: the command drawn with what was matched, and what was seen in it."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from barry_cli.cli.render.columns import facts, printable
from barry_cli.cli.render.talk import style
from barry_cli.cli.render.verdicts import facts as verdict_facts
from barry_cli.policy.ruling.argv import command_line
from barry_cli.policy.ruling.wording import plain

if TYPE_CHECKING:
    from barry_cli.cli.bound_explain import Explained, Seen

LINES = 6
"""Lines of a longer command that are shown before and after what was matched."""


def text(found: Explained) -> str:
    """The explanation for a person."""
    verdict = found.verdict
    colour = "green" if verdict.allowed else "red"
    head = f"{style(verdict.outcome, colour, sys.stdout)} in {printable(found.cwd)}\n\n"
    drawn = "".join(f"  {line}\n" for line in draw(verdict.text, verdict.span))
    parts = [head, drawn, "\n" if drawn else "", facts(list(_why(found)))]
    if found.seen:
        parts += [
            "\nseen in it, and ruled on alone\n",
            *(f"{line}\n" for line in _seen(found.seen)),
        ]
    if more := list(_effects(found)):
        parts += ["\n", facts(more)]
    return "".join(parts)


def _why(found: Explained) -> Iterator[tuple[str, str]]:
    verdict = found.verdict
    written = {rule for _, _, rule in found.said_by}
    rule = written.pop() if len(written) == 1 else plain(verdict.field, verdict.rule)
    if rule or verdict.field:
        yield "rule", " in ".join(each for each in (rule, verdict.field) if each)
    for label, place, words in found.said_by:
        where = label if label == place or label.startswith("~") else f"{label} ({place})"
        yield "from", where if words == rule else f"{where}: {words}"
    if verdict.human:
        yield "why", verdict.human
    if verdict.agent and not verdict.allowed:
        yield "instead", verdict.agent
    yield "under", ", ".join(found.applying) or "the floor alone"


def _seen(seen: tuple[Seen, ...]) -> Iterator[str]:
    for each in seen:
        line = printable(command_line(each.argv))
        if each.verdict is None:
            said = "some of it is known only when it runs"
        elif each.verdict.allowed:
            said = "allowed"
        else:
            rule = plain(each.verdict.field, each.verdict.rule)
            said = f"{each.verdict.outcome}: {rule or each.verdict.field}"
        indent = "  " * (each.depth + 1)
        yield f"{indent}{line}  {style(f'# {said}', 'dim', sys.stdout)}"


def _effects(found: Explained) -> Iterator[tuple[str, str]]:
    if found.unparseable:
        yield "can't be known", found.unparseable
    if found.actions:
        yield "network", ", ".join(found.actions)
    if found.hosts:
        yield "hosts", ", ".join(found.hosts)
    for path, reason in found.writes:
        yield "writes", f"{path or 'a file that it does not name'} ({reason})"


def draw(ruled: str, span: tuple[int, int]) -> Iterator[str]:
    """The lines of a text, each followed by marks below what of it lies in the span."""
    start, end = span
    lines = ruled.split("\n")
    at, places = 0, []
    for line in lines:
        places.append((max(start, at) - at, min(end, at + len(line)) - at))
        at += len(line) + 1
    hit = [number for number, (low, high) in enumerate(places) if low < high]
    first = max(0, (hit[0] if hit else 0) - LINES)
    last = min(len(lines), (hit[-1] if hit else 0) + LINES + 1)
    if first:
        yield "..."
    for number in range(first, last):
        line, (low, high) = lines[number], places[number]
        yield printable(line)
        if low < high:
            yield " " * _cells(line[:low]) + style("^" * _cells(line[low:high]), "red", sys.stdout)
    if last < len(lines):
        yield "..."


def _cells(letters: str) -> int:
    """How wide a terminal draws a text."""
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in letters)
    joined = sum(unicodedata.combining(letter) != 0 for letter in letters)
    return len(letters) + wide - joined


def document(found: Explained) -> dict[str, Any]:
    """``{"schema": 1, "explanation": {...}}``."""
    return {
        "schema": 1,
        "explanation": {
            "verdict": verdict_facts(found.verdict),
            "cwd": found.cwd,
            "applying": list(found.applying),
            "from": [
                {"label": label, "place": place, "written": written}
                for label, place, written in found.said_by
            ],
            "seen": [
                {
                    "argv": list(each.argv),
                    "depth": each.depth,
                    "outcome": None if each.verdict is None else each.verdict.outcome,
                    "rule": None
                    if each.verdict is None
                    else plain(each.verdict.field, each.verdict.rule) or None,
                }
                for each in found.seen
            ],
            "unparseable": found.unparseable or None,
            "actions": list(found.actions),
            "hosts": list(found.hosts),
            "writes": [{"path": path, "reason": reason} for path, reason in found.writes],
        },
    }
