"""The tree of verbs as plain data, so that pages don't depend on how it is parsed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Flag:
    """An option: its spellings, what its value is called (None: it takes none), its help."""

    names: tuple[str, ...]
    value: str | None
    help: str
    repeats: bool


@dataclass(frozen=True, slots=True)
class Operand:
    """A word that a verb takes by its place."""

    name: str
    required: bool
    help: str


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb or group of verbs."""

    words: tuple[str, ...]
    """``("barry", "session", "launch")``."""
    help: str
    flags: tuple[Flag, ...]
    operands: tuple[Operand, ...]
    verbs: tuple[Verb, ...]

    def walk(self) -> Iterator[Verb]:
        """This verb and all below it."""
        yield self
        for verb in self.verbs:
            yield from verb.walk()


def tree(command: Any) -> Verb:
    """The whole tree below the top command, as the parser built it."""
    return _verb(command, ("barry",))


def _verb(command: Any, words: tuple[str, ...]) -> Verb:
    flags, operands = [], []
    for parameter in command.params:
        if getattr(parameter, "hidden", False):
            continue
        help_text = " ".join((getattr(parameter, "help", None) or "").split())
        if parameter.param_type_name == "option":
            value = None if parameter.is_flag else parameter.metavar or parameter.name.upper()
            names = (*parameter.opts, *parameter.secondary_opts)
            flags.append(Flag(tuple(names), value, help_text, bool(parameter.multiple)))
        else:
            name = parameter.metavar or parameter.name.upper()
            operands.append(Operand(name.strip("[]"), bool(parameter.required), help_text))
    flags.append(Flag(("--help",), None, "Show the options and leave.", repeats=False))
    below = getattr(command, "commands", {})
    return Verb(
        words=words,
        help=" ".join((command.help or "").split()),
        flags=tuple(flags),
        operands=tuple(operands),
        verbs=tuple(
            _verb(each, (*words, name)) for name, each in sorted(below.items()) if not each.hidden
        ),
    )
