"""What is allowed in a bound and probably not what was meant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from barry_cli.base.ids import nearest
from barry_cli.policy.named import row_names
from barry_cli.policy.ruling.actions import expand_actions
from barry_cli.policy.schema import Bound


def hints(bound: Bound, rows: Sequence[Mapping[str, Any]] = ()) -> list[str]:
    """One sentence each. ``rows``: the records of the installed adapters."""
    return [*_bash(bound), *_network(bound), *_native(bound, rows)]


def _bash(bound: Bound) -> Iterator[str]:
    for rule in (bound.bash and bound.bash.deny_programs) or ():
        words = rule.replace(":", " ").split()
        if " " in rule.strip():
            yield (
                f"bash.denyPrograms {rule!r} names no program: subcommands are written "
                f"{':'.join(words)!r}"
            )
        elif not words or rule.startswith(":"):
            yield f"bash.denyPrograms {rule!r} names no program, so it denies nothing"
        elif any(word.startswith("-") for word in words):
            yield f"bash.denyPrograms {rule!r}: options are passed over, so it denies nothing"
    for text in (bound.bash and bound.bash.deny) or ():
        if len(text) == 1:
            yield f"bash.deny {text!r} denies every command line with this letter in it"


def _network(bound: Bound) -> Iterator[str]:
    network = bound.network
    if network is None:
        return
    actions = expand_actions(list(network.actions or ()))
    if "read" in actions and "ssh:read" not in actions:
        yield "network.actions read does not include ssh:read: ssh connections are left"
    domains = network.domains or ()
    for host in domains:
        if host.startswith("*.") and host[2:] not in domains:
            yield f"network.domains {host!r} is every name below: {host[2:]!r} itself is left"
    for field, hosts in (("domains", domains), ("allowDomains", network.allow_domains or ())):
        for host in hosts:
            if "/" in host:
                yield f"network.{field} {host!r} is no host: leave out scheme and path"


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
