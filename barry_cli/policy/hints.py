"""What is allowed in a bound and probably not what was meant."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from barry_cli.base.ids import nearest
from barry_cli.contract.data import snapshot
from barry_cli.policy.host_hints import host_hints
from barry_cli.policy.merge import bound_has_content
from barry_cli.policy.named import OURS, row_names
from barry_cli.policy.pattern_hints import pattern_hints
from barry_cli.policy.ruling.actions import expand_actions
from barry_cli.policy.ruling.tool_names import FILES
from barry_cli.policy.schema import Bound

NODE = "local"
LIKE = 0.75
"""How much a word has to be like a known one to be a slip of it; other tools may have any name."""


def hints(bound: Bound, rows: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """One sentence each. ``rows``: the records of the installed adapters."""
    return [
        *_whole(bound),
        *_entries(bound),
        *_programs(bound),
        *_texts(bound),
        *pattern_hints(bound),
        *host_hints(bound),
        *_actions(bound),
        *_names(bound, rows),
        *_native(bound, rows),
        *_nodes(bound),
    ]


def _whole(bound: Bound) -> Iterator[str]:
    if not bound_has_content(bound):
        yield "it restricts nothing"
    network = bound.network
    if network and network.enforce == "guard" and not (network.actions or network.domains):
        yield 'network.enforce "guard" denies nothing by itself: add actions or domains'
    if network and network.enforce == "sandbox":
        yield (
            'network.enforce "sandbox": no launch of this version has a sandbox, so each of them '
            "refuses this bound; `barry bound check` rules by it"
        )


def _lists(bound: Bound) -> Iterator[tuple[str, list[str]]]:
    """Every list of rules with its field."""
    waiting: list[tuple[str, Any]] = [("", snapshot(bound))]
    while waiting:
        place, value = waiting.pop(0)
        if isinstance(value, list):
            yield place, value
        elif isinstance(value, dict):
            waiting += [(f"{place}.{key}" if place else key, each) for key, each in value.items()]


def _entries(bound: Bound) -> Iterator[str]:
    for field, rules in _lists(bound):
        for rule, count in Counter(rules).items():
            if count > 1:
                yield f"{field} has {rule!r} {'twice' if count == 2 else f'{count} times'}"
        if field == "bash.deny":
            continue  # a text may well begin or end with a blank
        for rule in rules:
            if rule != rule.strip():
                yield f"{field} {rule!r} has blanks around it: write {rule.strip()!r}"


def _programs(bound: Bound) -> Iterator[str]:
    for written in (bound.bash and bound.bash.deny_programs) or ():
        rule = written.strip()
        words = rule.replace(":", " ").split()
        what = f"bash.denyPrograms {written!r}"
        if any(sign in rule for sign in "|;&<>()`\n"):
            yield f"{what} is a command line, and denies nothing: name one program"
        elif "$" in rule or rule.startswith("~"):
            yield f"{what}: variables and ~ stand for themselves here; name the program alone"
        elif any(sign in rule for sign in "*?[]{}"):
            wide = ":".join(words[: max(1, len(words) - 1)])
            yield (
                f"{what}: there are no patterns here, so it denies nothing; {wide!r} denies all "
                "below"
                if len(words) > 1
                else f"{what}: there are no patterns here, so it denies nothing"
            )
        elif " " in rule:
            yield f"{what} names no program: subcommands are written {':'.join(words)!r}"
        elif not words or rule.startswith(":"):
            yield f"{what} names no program, so it denies nothing"
        elif any(word.startswith("-") for word in words):
            yield f"{what}: options are passed over, so it denies nothing"


def _texts(bound: Bound) -> Iterator[str]:
    for text in (bound.bash and bound.bash.deny) or ():
        if len(text) == 1:
            yield f"bash.deny {text!r} denies every command line with this letter in it"
        first, colon, rest = text.partition(":")
        if colon and first.isalpha() and rest.replace("-", "").replace(":", "").isalpha():
            yield (
                f"bash.deny {text!r} is looked for letter for letter: a program and its subcommand "
                "belong into bash.denyPrograms"
            )


def _actions(bound: Bound) -> Iterator[str]:
    actions = expand_actions(list((bound.network and bound.network.actions) or ()))
    if "read" in actions and "ssh:read" not in actions:
        yield "network.actions read does not include ssh:read: ssh connections are left"


def _names(bound: Bound, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    tools = [str(tool) for row in rows for tool in row.get("nativeTools", ())]
    ids = [str(row["id"]) for row in rows]
    for field, rules, more in (
        ("deniedTools", bound.denied_tools, ()),
        ("deniedAccess", bound.denied_access, (FILES,)),
    ):
        known = {name.casefold(): name for name in (*more, OURS, *ids, *tools)}
        for rule in rules or ():
            plain = rule.strip().casefold()
            if any(sign in rule for sign in "(*?[$"):
                yield (
                    f"{field} {rule!r}: there are no patterns here; name a tool, a namespace, or "
                    "namespace:tool"
                )
            elif plain == FILES and field == "deniedTools":
                yield (
                    f"{field} {rule!r} is no tool: deniedAccess {FILES!r} denies writing files, "
                    "files.deny names some"
                )
            elif plain not in known:
                close = difflib.get_close_matches(plain, known, n=1, cutoff=LIKE)
                for name in close:
                    yield f"{field} {rule!r} is nothing that is known; did you mean {known[name]}?"


def _native(bound: Bound, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    names = {name: row for row in rows for name in row_names(row)}
    for harness, tools in (bound.native_tools or {}).items():
        if harness not in names:
            close = nearest(harness, names)
            yield f"nativeTools.{harness}: no such adapter is installed" + (
                f"; did you mean {close}?" if close else ""
            )
            continue
        spelt = {str(tool).casefold(): tool for tool in names[harness].get("nativeTools", ())}
        for tool in tools:
            if tool.casefold() not in spelt:
                close = nearest(tool.casefold(), spelt)
                yield f"nativeTools.{harness}: {tool!r} is none of its tools" + (
                    f"; did you mean {spelt[close]}?" if close else ""
                )


def _nodes(bound: Bound) -> Iterator[str]:
    if bound.nodes is None:
        return
    allow, deny = bound.nodes.allow, bound.nodes.deny or ()
    for name in dict.fromkeys((*(allow or ()), *deny)):
        if name != NODE:
            yield f"nodes names {name!r}: sessions of this version run on {NODE!r} alone"
    if NODE in deny or (allow is not None and NODE not in allow):
        yield f"nodes: nothing may run on {NODE!r}, so every launch here is refused"
