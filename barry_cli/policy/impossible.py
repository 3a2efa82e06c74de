"""Rules that have the right shape and that nothing could come under: they are refused.

A restriction that denies nothing must not look like one that holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from barry_cli.contract.data import Data, snapshot
from barry_cli.policy.ruling.domains import canonical, hosts_of, is_block

_IN_HOSTS = frozenset("-_.*:[]%@")
_ONE_LINE = ("bash.denyPrograms", "deniedAccess", "deniedTools", "nativeTools", "nodes", "network")


def impossible(bound: Data) -> list[str]:
    """One sentence for each such rule of a bound."""
    return [said for place, rule in _rules(snapshot(bound), "") for said in _about(place, rule)]


def _rules(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _rules(inner, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list | tuple):
        for rule in value:
            yield place, str(rule)


def _about(place: str, rule: str) -> Iterator[str]:
    if "\0" in rule:
        yield f"{place} has {rule!r}: what is ruled on never holds a NUL"
    elif not rule.strip() and place != "bash.deny":
        yield f"{place} has a blank entry {rule!r}: leave it out"
    elif place.startswith(_ONE_LINE) and len(rule.strip().splitlines()) > 1:
        yield f"{place} has {rule!r}, which is several lines: write each as an entry of its own"
    elif place in {"network.domains", "network.allowDomains"} and not _is_host(rule.strip()):
        yield (
            f"{place} has {rule!r}, which is no host: write one name in each entry, with no other "
            "pattern than *"
        )


def _is_host(rule: str) -> bool:
    if is_block(rule):
        return True
    named = hosts_of(rule) if "/" in rule else (canonical(rule),)
    return bool(named) and all(
        letter.isalnum() or letter in _IN_HOSTS for host in named for letter in host
    )
