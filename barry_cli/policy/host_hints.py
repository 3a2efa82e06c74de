"""Rules on hosts that are probably not what was meant."""

from __future__ import annotations

from collections.abc import Iterator

from barry_cli.policy.ruling.domains import (
    canonical,
    compile_domains,
    domain_rule,
    hosts_of,
    is_block,
    is_local,
)
from barry_cli.policy.schema import Bound


def host_hints(bound: Bound) -> Iterator[str]:
    """One sentence for each rule that isn't what it looks like, or contradicts another."""
    network = bound.network
    if network is None:
        return
    domains = network.domains or ()
    spelt = {canonical(host) for host in domains}
    for host in domains:
        if host.startswith("*.") and canonical(host[2:]) not in spelt:
            yield f"network.domains {host!r} is every name below: {host[2:]!r} itself is left"
    for field, hosts in (("domains", domains), ("allowDomains", network.allow_domains or ())):
        for host in hosts:
            if said := _form(host, field == "domains"):
                yield f"network.{field} {host!r}{said}"
    compiled = compile_domains(domains, urls=True)
    for host in network.allow_domains or ():
        rule = domain_rule(canonical(host), compiled)
        if rule is not None:
            yield f"network.allowDomains {host!r} stays denied: network.domains has {rule!r}"


def _form(host: str, denies: bool) -> str:
    """How a sentence about a rule ends; empty for one that is as it looks."""
    plain = host.strip()
    if is_block(plain):
        return (
            " holds for addresses written as numbers: a name that leads to one of them is not seen"
        )
    alone = next(iter(hosts_of(plain.replace("*", "x"))), "")
    if "://" in plain or "/" in plain or "@" in plain:
        shown = next(iter(hosts_of(plain)), "")
        if not shown:
            return " is no host"
        does = "denies the whole host" if denies else "is no host, so it allows nothing"
        return f": scheme, user and path are no part of a host; it {does}, write {shown!r}"
    name, colon, port = plain.rpartition(":")
    if colon and ":" not in name and port.isdecimal():
        return f" stands for every port: write {name!r}"
    if plain.startswith("."):
        return f" is every name below: write {'*' + plain!r}"
    if plain.startswith("*") and not plain.startswith("*.") and plain != "*":
        return f" also holds for names that only end so: write {'*.' + plain.lstrip('*')!r}"
    if plain == "*" and denies:
        return " denies every host"
    if not denies and is_local(alone):
        return " is this machine, which is allowed in any case"
    return ""
