"""What a tool may be called in a rule: its name, its namespace, or both."""

FILES = "files"
"""The namespace of every file: whose writing half is denied, files are read and not written."""

_PREFIXES = ("mcp__", "mcp_", "mcp.")
_SEPARATORS = ("__", ":", "/", ".", "_")


def identities(tool: str, namespace: str) -> list[tuple[str, str]]:
    """Each namespace and bare name that a tool may have, case folded.

    `namespace`: that of a tool which is known to belong to it, "" for any other: harnesses join a
    server's name and its tool's in ways of their own (`mcp__server__tool`, `server_tool`), so every
    cut is a reading.
    """
    name = tool.casefold()
    if namespace:
        return [(namespace.casefold(), name)]
    found = [("", name)]
    for prefix in ("", *_PREFIXES):
        if not name.startswith(prefix):
            continue
        rest = name[len(prefix) :]
        for separator in _SEPARATORS:
            at = rest.find(separator)
            while at >= 0:
                pair = rest[:at], rest[at + len(separator) :]
                if pair[0] and pair[1] and pair not in found:
                    found.append(pair)
                at = rest.find(separator, at + 1)
    return found


def named(rules: "tuple[str, ...]", pairs: list[tuple[str, str]]) -> str:
    """The first rule that names one of the readings; "" when none does."""
    for rule in rules:
        folded = rule.casefold()
        for namespace, name in pairs:
            if folded in {name, f"{namespace}:{name}"} or (namespace and folded == namespace):
                return rule
    return ""


def files_rule(rules: "tuple[str, ...]") -> str:
    """The rule that denies writing files; "" when none does."""
    return next((rule for rule in rules if rule.casefold() == FILES), "")
