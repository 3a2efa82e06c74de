"""Why a call is ruled as it is: what was seen in it, which rule, and what may be done instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barry_cli.cli.bound_calls import Asked
from barry_cli.policy.ruling.argv import command_line
from barry_cli.policy.ruling.programs.walk import walk
from barry_cli.policy.ruling.shell.reading import read
from barry_cli.policy.ruling.verdict import Verdict

if TYPE_CHECKING:
    from barry_cli.cli.bound_rulings import Rulings

MOST_SEEN = 100


@dataclass(frozen=True, slots=True)
class Seen:
    """One program that the command line runs. ``depth``: 1 for what another one runs, and so on.

    ``verdict``: the ruling on it alone, None where some of its words can't be known.
    """

    argv: tuple[str, ...]
    depth: int
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class Explained:
    """A ruling with its reasons. ``said_by``: label, place, and the rule as it is written there."""

    asked: Asked
    verdict: Verdict
    cwd: str
    applying: tuple[str, ...]
    said_by: tuple[tuple[str, str, str], ...]
    seen: tuple[Seen, ...] = ()
    actions: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    writes: tuple[tuple[str | None, str], ...] = ()
    unparseable: str = ""
    """Why something that runs can't be known; empty when all of it is."""


def explained(rulings: Rulings, asked: Asked) -> Explained:
    """Rule on a call, and look into it. Raises ToolUnknown."""
    verdict = rulings.answer(asked)
    effective = rulings.effective
    said = effective.said_by(verdict.field, verdict.rule) if verdict.field else []
    line = rulings.command_of(asked)
    found = Explained(
        asked=asked,
        verdict=verdict,
        cwd=rulings.cwd_of(asked),
        applying=tuple(source.label for source in effective.sources),
        said_by=tuple((source.label, source.place, written) for source, written in said),
    )
    return found if line is None else _looked_into(found, rulings, line)


def _looked_into(found: Explained, rulings: Rulings, line: str) -> Explained:
    from dataclasses import replace

    from barry_cli.policy.classify import classify_bash_command
    from barry_cli.policy.commands import (
        classify_network_actions,
        extract_domains_from_command,
        find_file_writes,
    )

    classified = classify_bash_command(line)
    return replace(
        found,
        seen=tuple(_seen(rulings, line, found.cwd)),
        actions=tuple(classify_network_actions(classified, line)),
        hosts=tuple(extract_domains_from_command(line)),
        writes=tuple(
            (each.use.word.text if each.use.word is not None else None, each.use.reason)
            for each in find_file_writes(line)
        ),
        unparseable=walk(read(line)).unparseable,
    )


def _seen(rulings: Rulings, line: str, cwd: str) -> Iterator[Seen]:
    for call in walk(read(line)).calls[:MOST_SEEN]:
        known = all(word.text is not None for word in call.words)
        argv = tuple(call.argv)
        alone = Asked(command=command_line(argv), cwd=cwd)
        yield Seen(argv, call.depth, rulings.rule(alone) if known else None)
