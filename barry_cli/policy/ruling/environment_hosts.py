"""Hosts that a command is told through its environment: proxies, servers, addresses."""

from barry_cli.policy.ruling.addresses import ADDRESSED, addresses, last_part
from barry_cli.policy.ruling.http import url_hosts
from barry_cli.policy.ruling.operands import HOLE, after, known
from barry_cli.policy.ruling.programs.call import Call, Found, Scope
from barry_cli.policy.ruling.shell.reading import Word

EXPORTS = frozenset(("export", "declare", "typeset"))
ENDS = ("proxy", "host", "server", "url", "uri", "endpoint", "registry")

Told = list[tuple[str, Word, Scope]]
"""Host, the word that names it, and where that stands."""


def told_to(call: Call) -> Told:
    """`https_proxy=.. curl`, `PGHOST=.. psql`, by itself or through env."""
    found: Told = []
    outer: Call | None = call
    while outer is not None:
        for assignment in outer.command.assignments:
            if assignment.value is not None:
                found += _setting(assignment.name, assignment.value, call.scope)
        for word in outer.words[1:] if outer.name == "env" else ():
            name, equals, _ = known(word).partition("=")
            if equals and HOLE not in name and name[:1] != "-":
                found += _setting(name, after(word, len(name) + 1), call.scope)
        outer = outer.outer
    return found


def exported(line: Found) -> Told:
    """`export https_proxy=..` holds for all that comes behind it."""
    found: Told = []
    for reading, scope in line.readings:
        for command in reading.commands:
            words = command.words
            for assignment in () if words else command.assignments:
                if assignment.value is not None:
                    found += _setting(assignment.name, assignment.value, scope)
            for word in words[1:] if words and words[0].text in EXPORTS else ():
                name, _, value = word.prefix.partition("=")
                if value or (word.text is None and "=" in word.prefix):
                    found += _setting(name, after(word, len(name) + 1), scope)
    return found


def _setting(name: str, value: Word, scope: Scope) -> Told:
    text = known(value)
    lower = name.lower()
    if not text or lower.startswith("no_proxy"):
        return []
    if lower.endswith("_proxy"):
        return [(host, value, scope) for host in url_hosts(value)]
    if "://" not in text and not (lower.endswith(ENDS) or last_part(lower) in ADDRESSED):
        return []
    # As the value of an option of that kind.
    option = Word("--host", value.start, value.end, True)
    return [(host, value, scope) for host, _ in addresses([option, value]).hosts]
