"""What a policy would have denied of what was done already: transcripts, or lists of commands."""

from __future__ import annotations

import dataclasses
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO

from barry_cli.base.problems import AdapterNotInstalled, AdapterRefused, UsageProblem
from barry_cli.cli.bound_calls import Asked, Unreadable, asked_lines
from barry_cli.cli.bound_facts import folder
from barry_cli.cli.bound_rulings import Rulings
from barry_cli.policy.ruling.verdict import DENIED, Verdict

if TYPE_CHECKING:
    from barry_cli.contract.adapter import Adapter
    from barry_cli.registry.adapters import Adapters

MOST_EXAMPLES = 3
MOST_NOTES = 20
_WHAT = "calls ruled on"


class Progress(Protocol):
    """Is told how far the work is."""

    def advance(self, parts: int, done: int = 1) -> None: ...


Watch = Callable[[str, int], AbstractContextManager[Progress]]
"""What is done, and how many parts it has (0: not known) -> somebody who is told."""

Past = Iterator[tuple[int, Asked | Unreadable]]
"""How much of the whole was read for it, and the call."""


@dataclass(slots=True)
class Row:
    """One rule and what came under it."""

    outcome: str
    field: str
    rule: str
    count: int = 0
    examples: list[str] = dataclasses.field(default_factory=list)


@dataclass(slots=True)
class Audit:
    """What became of all calls. ``unread``: lines that ask nothing."""

    calls: int = 0
    allowed: int = 0
    denied: int = 0
    undecidable: int = 0
    unread: int = 0
    conversations: int = 0
    rows: dict[tuple[str, str, str], Row] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)

    def note(self, text: str) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes.append(text)

    def add(self, verdict: Verdict, asked: Asked) -> None:
        self.calls += 1
        if verdict.allowed:
            self.allowed += 1
            return
        if verdict.outcome == DENIED:
            self.denied += 1
        else:
            self.undecidable += 1
        key = (verdict.outcome, verdict.field, verdict.rule)
        row = self.rows.setdefault(key, Row(*key))
        row.count += 1
        example = verdict.text or asked.command or asked.tool or ""
        if len(row.examples) < MOST_EXAMPLES and example not in row.examples:
            row.examples.append(example)


def audited(
    path: str,
    bounds: Sequence[str],
    traits: Sequence[str],
    harness: str | None,
    cwd: str | None,
    watch: Watch,
) -> Audit:
    """Rule on everything that a path holds. Raises UsageProblem for one that holds nothing."""
    from barry_cli.base.paths import folders
    from barry_cli.registry.adapters import Adapters

    registry = Adapters(folders())
    found = Audit()
    place = os.path.expanduser(path)
    if path != "-" and os.path.isdir(place):
        rulings = Rulings.for_folder(cwd or place, bounds, traits, None)
        sources = _adapters(registry, harness, found)
        _rule(_conversations(sources, folder(place), found), rulings, found, watch(_WHAT, 0))
        return found
    if harness is not None and path != "-":
        rulings = Rulings.for_folder(cwd, bounds, traits, harness)
        (adapter,) = _adapters(registry, harness, found)
        _readable(place)
        found.conversations = 1
        _rule(_calls(adapter, Path(place), found), rulings, found, watch(_WHAT, 0))
        return found
    rulings = Rulings.for_folder(cwd, bounds, traits, harness)
    with _lines(path, place) as (lines, size):
        _rule(_listed(lines), rulings, found, watch(_WHAT, size))
    return found


def _rule(
    past: Past, rulings: Rulings, found: Audit, watching: AbstractContextManager[Progress]
) -> None:
    with watching as progress:
        for parts, asked in past:
            if isinstance(asked, Unreadable):
                found.unread += 1
                found.note(str(asked))
            else:
                found.add(rulings.rule(asked), asked)
            progress.advance(parts)


# --- lists ---


@contextmanager
def _lines(path: str, place: str) -> Iterator[tuple[TextIO, int]]:
    if path == "-":
        if sys.stdin is None:
            raise UsageProblem("standard input is closed", hint="give it commands, one a line")
        yield sys.stdin, 0
        return
    size = _readable(place)
    with open(place, encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        yield file, size


def _readable(place: str) -> int:
    """The size of a file. Raises UsageProblem for what can't be read as one."""
    try:
        facts = os.stat(place)
        if not (stat.S_ISREG(facts.st_mode) or stat.S_ISFIFO(facts.st_mode)):
            raise UsageProblem(f"{place} is no file of calls", hint="give a file, a folder, or -")
        with open(place, "rb"):
            return facts.st_size
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageProblem(
            f"{place} can't be read: {reason}", hint="give a file, a folder of sessions, or -"
        ) from error


def _listed(lines: Iterable[str]) -> Past:
    read = 0

    def counted() -> Iterator[str]:
        nonlocal read
        for line in lines:
            read += len(line)
            yield line

    for number, asked in asked_lines(counted(), plain=True):
        parts, read = read, 0
        if isinstance(asked, Unreadable):
            yield parts, Unreadable(f"line {number} is passed over: {asked}")
        else:
            yield parts, asked


# --- transcripts ---


def _adapters(registry: Adapters, harness: str | None, found: Audit) -> list[Adapter]:
    """The adapters whose records are looked through. What can't be loaded is noted."""
    import asyncio

    if harness is not None:
        return [asyncio.run(registry.load(registry.record(harness).id))]
    loaded = []
    for row in registry.rows():
        try:
            loaded.append(asyncio.run(registry.load(row["id"])))
        except (AdapterRefused, AdapterNotInstalled) as problem:
            found.note(f"conversations of {row['id']} are passed over: {problem}")
    return loaded


def _conversations(adapters: Sequence[Adapter], cwd: str, found: Audit) -> Past:
    for adapter in adapters:
        source = adapter.transcript
        if source is None:
            continue
        try:
            ids = list(source.list(cwd, os.environ))
        except Exception as error:  # somebody else's code: its failure is told as theirs
            found.note(_theirs(adapter, error))
            continue
        for name in ids:
            try:
                path = source.find(name, cwd, os.environ)
            except Exception as error:
                found.note(_theirs(adapter, error))
                continue
            if path is not None:
                found.conversations += 1
                yield from _calls(adapter, path, found, cwd)


def _calls(adapter: Adapter, path: Path, found: Audit, cwd: str | None = None) -> Past:
    """Every call of a tool that one conversation holds."""
    from barry_cli.contract.events import ToolUse

    if adapter.transcript is None:
        raise UsageProblem(
            f"{adapter.label}'s adapter reads no transcripts", hint="audit a list of commands"
        )
    try:
        for event in adapter.transcript.read(path):
            if isinstance(event, ToolUse):
                given = event.input if isinstance(event.input, dict) else {}
                yield 0, Asked(tool=event.tool, input=given, harness=adapter.id, cwd=cwd)
    except Exception as error:  # somebody else's code: its failure is told as theirs
        found.note(_theirs(adapter, error))


def _theirs(adapter: Adapter, error: Exception) -> str:
    return f"the adapter {adapter.id} failed to read: {type(error).__name__}: {error}"
