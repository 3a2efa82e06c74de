"""What a bound restricts, in one form for all bounds that restrict the same; and what one bound
restricts beyond another.
"""

from __future__ import annotations

from collections.abc import Iterable

from barry_cli.policy import globs, hosts
from barry_cli.policy.merge import merge_bounds
from barry_cli.policy.ruling.actions import expand_actions
from barry_cli.policy.schema import Bound

Restrictions = dict[str, tuple[str, ...]]


def restrictions(bound: Bound | None) -> Restrictions:
    """Field -> its entries, sorted. A field that restricts nothing is absent; a list of what is
    allowed is there also when it is empty.
    """
    if bound is None:
        return {}
    bash, files, network, nodes = bound.bash, bound.files, bound.network, bound.nodes
    found: Restrictions = {}
    denied: dict[str, Iterable[str] | None] = {
        "bash.deny": bash.deny if bash else None,
        "bash.denyPrograms": bash.deny_programs if bash else None,
        "deniedAccess": bound.denied_access,
        "deniedTools": bound.denied_tools,
        "files.deny": files.deny if files else None,
        "network.actions": expand_actions((network.actions if network else None) or ()),
        "network.domains": network.domains if network else None,
        "nodes.deny": nodes.deny if nodes else None,
        **{
            f"nativeTools.{harness}": tools for harness, tools in (bound.native_tools or {}).items()
        },
    }
    for field, entries in denied.items():
        if entries:
            found[field] = tuple(sorted(set(entries)))
    if files and files.allow_only is not None:
        found["files.allowOnly"] = tuple(globs.smallest(files.allow_only))
    if nodes and nodes.allow is not None:
        found["nodes.allow"] = tuple(sorted(set(nodes.allow)))
    if network and network.enforce == "sandbox":
        found["network.enforce"] = ("sandbox",)
        found["network.allowDomains"] = tuple(hosts.smallest(network.allow_domains or ()))
    return found


def excess(of: Bound | None, over: Bound | None) -> str:
    """The first thing that ``of`` restricts and ``over`` does not, in words; "" for nothing."""
    held, needed = restrictions(over), restrictions(merge_bounds(over, of))
    for field, entries in sorted(needed.items()):
        have = held.get(field)
        if have == entries:
            continue
        if field in {"files.allowOnly", "nodes.allow", "network.allowDomains"}:
            return f"{field} must be no more than {', '.join(entries) or 'an empty list'}"
        missing = [entry for entry in entries if entry not in (have or ())]
        return f"{field} must hold {', '.join(missing)}"
    return ""
