"""What is done to a command line before it is parsed, and the values that flags carry."""

from __future__ import annotations

import json
from dataclasses import dataclass

from barry_cli.base.problems import UsageProblem


@dataclass(frozen=True, slots=True)
class Tail:
    """What came after the first ``--``: the harness's own arguments."""

    words: tuple[str, ...] = ()


def split(arguments: list[str]) -> tuple[list[str], tuple[str, ...]]:
    """A command line cut at its first ``--``, with ``--resume`` alone spelt ``--resume=``.

    An option whose value may be left out can't be declared, so it is made whole here.
    """
    if "--" in arguments:
        at = arguments.index("--")
        own, tail = arguments[:at], tuple(arguments[at + 1 :])
    else:
        own, tail = list(arguments), ()
    for place, word in enumerate(own):
        if word == "--resume":
            following = own[place + 1] if place + 1 < len(own) else "-"
            if following.startswith("-"):
                own[place] = "--resume="
    return own, tail


def wants_json(arguments: list[str]) -> bool:
    """Whether failures, too, are to be told in JSON."""
    return "--json" in arguments


def no_tail(tail: object) -> None:
    """Refuse words after ``--`` where no harness takes them."""
    if isinstance(tail, Tail) and tail.words:
        raise UsageProblem(
            f"this verb takes nothing after --, and got: {' '.join(tail.words)}",
            hint="leave out what comes after --",
        )


def options(pairs: list[str]) -> dict[str, object]:
    """``KEY=JSON`` words as a mapping."""
    found: dict[str, object] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not (key and equals):
            raise UsageProblem(
                f"--option {pair} is not KEY=JSON", hint="write it like --option name='\"value\"'"
            )
        if key in found:
            raise _twice("--option", key)
        try:
            found[key] = json.loads(
                text, parse_constant=_no_number, object_pairs_hook=_each_key_once
            )
        except (ValueError, RecursionError) as error:
            raise UsageProblem(
                f"--option {key}: its value is not JSON: {error}",
                hint=f"a word is written with its quotes: --option '{key}=\"...\"'",
            ) from error
    return found


def _twice(flag: str, key: str) -> UsageProblem:
    return UsageProblem(
        f"{flag} {key} is given twice, and only one of them could count", hint="leave one of them"
    )


def _each_key_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"it has the key {next(n for n in names if names.count(n) > 1)} twice")
    return found


def _no_number(word: str) -> object:
    raise ValueError(f"{word} is no JSON number")


def requirements(pairs: list[str]) -> dict[str, str]:
    """``GUARANTEE=LEVEL`` words as a mapping."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, level = pair.partition("=")
        if not (name and equals and level):
            raise UsageProblem(
                f"--require {pair} is not GUARANTEE=LEVEL",
                hint="write it like --require gating=static",
            )
        if name in found:
            raise _twice("--require", name)
        found[name] = level
    return found
