"""Hosts of which something isn't known: what they could be, under the rules on hosts."""

from barry_cli.policy.ruling.domains import canonical, domain_rule
from barry_cli.policy.ruling.http import LISTED
from barry_cli.policy.ruling.operands import HOLE
from barry_cli.policy.ruling.policy import Pairs, Policy
from barry_cli.policy.ruling.verdict import Verdict
from barry_cli.policy.ruling.wording import denied

WHY = "which host it is can't be known"
BREAKS = dict.fromkeys(map(ord, "\t\n;&|()<>='\"`{},:@$/?#"), " ")
_NUMBERS = frozenset(f"0123456789abcdef.:{HOLE}")
LONGEST = 253
"""Letters of a host's name. A longer one could be anything."""


def unsure_verdict(policy: Policy, host: str, text: str, span: tuple[int, int]) -> Verdict | None:
    """The denial of a host that could be a denied one, or one beside those allowed.

    `text`: the whole line. Of a host that nothing is known about, the denied names that stand in
    the line are the ones it could be.
    """
    domains = policy.domains
    if host == LISTED:
        field = "network.domains" if domains else "network.allowDomains"
        pairs = domains[:1] or policy.allow_domains or ()
        named = ", ".join([written for written, _ in pairs])
        return denied(field, named, "the hosts", text, span, "the line doesn't show them")
    rule = _partly(host, domains) if _has_shape(host) else None
    rule = rule or (_named_anywhere(text, domains) if domains else None)
    shown = f"the host {host.replace(HOLE, '...')}"
    if rule is not None:
        return denied("network.domains", rule, shown, text, span, WHY)
    wanted = policy.allow_domains
    # What is put in could end the name at its beginning: only "*" allows all it could be.
    if wanted is None or any(pattern == "*" for _, pattern in wanted):
        return None
    rule = ", ".join(written for written, _ in wanted)
    return denied("network.allowDomains", rule, shown, text, span, WHY)


def _has_shape(host: str) -> bool:
    """Enough is known of it to be compared with names."""
    before, _, behind = host.partition(HOLE)
    if not behind and "." in before.strip(".") and before[-1] != ".":
        return False  # a whole name, and most likely a path behind it
    return bool(host.replace(HOLE, ""))


def _partly(host: str, patterns: Pairs) -> str | None:
    for written, pattern in patterns:
        if meets(host, pattern):
            return written
    return None


def meets(host: str, pattern: str) -> bool:
    """Whether the host, whatever stands for HOLE, could be one that the pattern names."""
    if len(host) > LONGEST or len(pattern) > LONGEST:
        return True
    if "/" in pattern:  # a block of addresses
        return set(host) <= _NUMBERS
    # From the end: which ends of the pattern can be what each end of the host becomes.
    below = [False] * len(pattern) + [True]
    for at in range(len(pattern) - 1, -1, -1):
        below[at] = below[at + 1] and pattern[at] == "*"
    for letter in reversed(host):
        here = [False] * (len(pattern) + 1)
        here[-1] = below[-1] and letter == HOLE
        for at in range(len(pattern) - 1, -1, -1):
            mark = pattern[at]
            if letter == HOLE or mark == "*":
                here[at] = below[at] or here[at + 1]
            else:
                here[at] = letter == mark and below[at + 1]
        below = here
    return below[0]


_named: list[tuple[str, Pairs, str | None]] = []


def _named_anywhere(text: str, patterns: Pairs) -> str | None:
    """The rule on a host that the line names somewhere: what a variable holds stands there."""
    if _named and _named[0][:2] == (text, patterns):
        return _named[0][2]
    found = None
    for token in dict.fromkeys(text.translate(BREAKS).split()):
        found = domain_rule(canonical(token), patterns)
        if found is not None:
            break
    _named[:] = [(text, patterns, found)]
    return found
