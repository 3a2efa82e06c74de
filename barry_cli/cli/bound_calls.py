"""What is to be ruled on: a command line, or a call of one tool, however it was given."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from barry_cli.base.problems import UsageProblem
from barry_cli.policy.ruling.argv import command_line, is_whole_line
from barry_cli.policy.sentences import hint


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing to rule on: ``command``, or ``tool`` with ``input``."""

    command: str | None = None
    tool: str | None = None
    input: Mapping[str, Any] | None = None
    harness: str | None = None
    cwd: str | None = None
    id: Any = None
    """What the asker calls it; it comes back with the answer."""


class Unreadable(ValueError):
    """A line that asks nothing, and why."""


class Doubled(ValueError):
    """A key stands twice in one object: what is meant is anybody's guess."""


def one(tail: Sequence[str], command: str | None, tool: str | None, given: str | None) -> Asked:
    """The one thing that a command line asks about. Raises UsageProblem."""
    ways = [name for name, is_given in (
        ("-- CMD", bool(tail)), ("--command", command is not None), ("--tool", tool is not None)
    ) if is_given]  # fmt: skip
    if len(ways) != 1:
        raise UsageProblem(
            f"{' and '.join(ways)} are two questions" if ways else "there is nothing to rule on",
            hint="give one of: -- CMD..., --command STR, --tool NAME --input JSON, --stdin",
        )
    if given is not None and tool is None:
        raise UsageProblem("--input belongs to --tool", hint="give --tool NAME --input JSON")
    if tool is not None:
        if not tool.strip():
            raise UsageProblem("--tool has an empty name", hint="give the name of a tool")
        return Asked(tool=tool, input=_input(given))
    if command is not None:
        return Asked(command=command)
    if is_whole_line(tuple(tail)):
        raise UsageProblem(
            "after -- stand the words of one command, and this is one word that no program is "
            f"called: {tail[0]}",
            hint="a whole command line is given as --command STR",
        )
    return Asked(command=command_line(tuple(tail)))


def _input(text: str | None) -> dict[str, Any]:
    if text is None:
        raise UsageProblem(
            "--tool needs --input: what a call does stands in what it is called with",
            hint='give it as JSON: --input \'{"command": "ls"}\'',
        )
    try:
        value = _value(text)
    except Doubled as error:
        raise UsageProblem(f"--input: {error}", hint="leave one of them out") from error
    except (ValueError, RecursionError) as error:
        raise UsageProblem(
            f"--input is not JSON: {error}", hint="quote it for your shell"
        ) from error
    if not isinstance(value, dict):
        raise UsageProblem("--input is not a JSON object", hint='write it like {"command": "ls"}')
    return value


def _value(text: str) -> Any:
    """The value of a JSON text. Raises Doubled, ValueError, RecursionError."""
    return json.loads(text, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    for key, _ in pairs if len(found) < len(pairs) else ():
        if sum(name == key for name, _ in pairs) > 1:
            raise Doubled(f"the key {key!r} stands twice")
    return found


def asked_lines(
    lines: Iterable[str], *, plain: bool = False
) -> Iterator[tuple[int, Asked | Unreadable]]:
    """Line number and question, for each line that isn't blank.

    A line is a JSON object (``command`` or ``argv``, or ``tool`` and ``input``; perhaps
    ``harness``, ``cwd``, ``id``) or a JSON text, which is a command. ``plain``: any other line is a
    command as it stands.
    """
    for number, line in enumerate(lines, start=1):
        text = line.strip("\r\n")
        if not text.strip():
            continue
        try:
            yield number, _asked(text, plain)
        except Unreadable as problem:
            yield number, problem


def _asked(text: str, plain: bool) -> Asked:
    if plain and text.lstrip()[0] not in '{"':
        return Asked(command=text)
    try:
        value = _value(text)
    except Doubled as error:
        raise Unreadable(str(error)) from error
    except (ValueError, RecursionError) as error:
        if plain:  # a group of the shell's, or a program that is quoted
            return Asked(command=text)
        raise Unreadable(f"it isn't JSON: {error}") from error
    if isinstance(value, str):
        return Asked(command=value)
    if not isinstance(value, dict):
        raise Unreadable("it is neither a JSON object nor a JSON text")
    return _of_object(value)


_TEXTS = ("command", "tool", "harness", "cwd")


_KEYS = (*_TEXTS, "argv", "input", "id")


def _of_object(value: dict[str, Any]) -> Asked:
    for name in value:
        if name not in _KEYS:
            raise Unreadable(f"{name} is not a known key{hint(name, list(_KEYS))}")
    for name in _TEXTS:
        if value.get(name) is not None and not isinstance(value[name], str):
            raise Unreadable(f"{name} isn't a text")
    argv, tool, given = value.get("argv"), value.get("tool"), value.get("input")
    command = value.get("command")
    if sum(each is not None for each in (command, argv, tool)) != 1:
        raise Unreadable("it needs one of command, argv and tool")
    if argv is not None:
        if not (isinstance(argv, list) and argv and all(isinstance(each, str) for each in argv)):
            raise Unreadable("argv isn't a list of texts")
        command = command_line(argv)
    if tool is not None and not tool.strip():
        raise Unreadable("tool has an empty name")
    if tool is not None and not isinstance(given, dict):
        raise Unreadable("input isn't an object")
    return Asked(command, tool, given, value.get("harness"), value.get("cwd"), value.get("id"))
