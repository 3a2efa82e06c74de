"""The tree of network actions: a parent stands for all below it."""

CHILDREN: dict[str, tuple[str, ...]] = {
    "all": ("write", "read", "ssh:read"),
    "write": ("git:push", "http:write", "ssh:write"),
    # ssh:read is not below "read": the seed lists its children without it.
    "read": ("git:fetch", "http:read", "dns"),
}

LEAVES = ("git:push", "git:fetch", "http:write", "http:read", "ssh:write", "ssh:read", "dns")
"""The actions that a command can perform, in the order in which they are reported."""


def expand_actions(actions: "list[str] | tuple[str, ...]") -> set[str]:
    """The actions and all that they include: "write" gives write, git:push, http:write, ssh:write.

    A tag that is not in the tree stands for itself.
    """
    found: set[str] = set()
    waiting = list(actions)
    while waiting:
        tag = waiting.pop()
        if tag not in found:
            found.add(tag)
            waiting.extend(CHILDREN.get(tag, ()))
    return found
