"""Tools by their names: their row in the policy's table, and the rules that name them."""

from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.tool_names import identities, named
from barry_cli.policy.ruling.verdict import Verdict
from barry_cli.policy.ruling.wording import denied

Row = tuple[str, tuple[str, ...]]

READS = frozenset(("read", "url"))


def row_of(policy: Policy, tool: str) -> Row | None:
    """What the table says of a tool: its kind, and the fields that are ruled on."""
    row = policy.tools.get(tool)
    if row is None:
        folded = tool.casefold()
        for name, each in policy.tools.items():
            if name.casefold() == folded:
                row = each
                break
    return row


def name_verdict(policy: Policy, tool: str, row: Row | None) -> Verdict | None:
    """The denial of a tool whatever its input is, if there is one."""
    rule, field = policy.node
    if field:
        return denied(field, rule, "calls on this node")
    written = policy.native.get(tool.casefold())
    if written is not None:
        return denied("nativeTools", written, f"the tool {tool}")
    pairs = identities(tool, policy.harness if row is not None else "")
    rule = named(policy.denied_tools, pairs)
    if rule:
        return denied("deniedTools", rule, f"the tool {tool}")
    if row is None or row[0] not in READS:
        rule = named(policy.denied_access, pairs)
        if rule:
            return denied("deniedAccess", rule, f"the tool {tool}, which may write")
    if row is None:
        for _, name in pairs:
            if name in policy.implied:
                return denied("network.actions", policy.implied[name], f"the tool {tool}")
    return None
