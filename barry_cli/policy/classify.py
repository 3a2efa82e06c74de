"""The seed's functions on command lines: what a line runs, and what denies it."""

from __future__ import annotations

from collections.abc import Sequence

from barry_cli.contract.data import Data
from barry_cli.policy.ruling.programs import classification
from barry_cli.policy.ruling.programs.rules import denial, table
from barry_cli.policy.ruling.programs.walk import walk
from barry_cli.policy.ruling.shell.reading import read


class BashClassification(Data):
    """Which programs a command line invokes, and whether that could be told for certain."""

    argvs: tuple[tuple[str, ...], ...]
    """Effective argument vectors without quotes, each wrapper before what it runs."""
    programs: tuple[str, ...]
    """Basenames of all programs invoked anywhere, each once."""
    subcommands: dict[str, tuple[str, ...]]
    """Program -> its subcommand chains: ``git push`` is ``push``, ``gh pr create`` is
    ``pr:create``."""
    unparseable: bool
    """Some of what runs can't be known: the caller must fail closed."""


def classify_bash_command(command: str) -> BashClassification:
    """What a command line runs. Never raises for any text."""
    found = walk(read(command))
    return BashClassification(
        argvs=tuple(tuple(argv) for argv in classification.argvs(found)),
        programs=tuple(classification.programs(found)),
        subcommands={
            name: tuple(chains) for name, chains in classification.subcommands(found).items()
        },
        unparseable=bool(found.unparseable),
    )


def is_program_denied(command: str, deny_programs: Sequence[str]) -> str | None:
    """The first of the rules that denies the line, None when it is allowed.

    A line that can't be read with certainty is denied by the first rule there is.
    """
    rules = table(tuple(deny_programs))
    found = denial(walk(read(command)), rules) if rules else None
    return found.rule if found is not None else None


def is_bash_denied(command: str, deny: Sequence[str]) -> str | None:
    """The first pattern that stands in the line, letter for letter; an empty one never does."""
    return next((pattern for pattern in deny if pattern and pattern in command), None)
