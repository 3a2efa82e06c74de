"""The guarded server of a launch: its policy compiled, written, and the server for the plan."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from barry_cli.contract.session import StdioMcpServer
from barry_cli.groundwork.bounds import Held

if TYPE_CHECKING:
    from barry_cli.base.paths import Folders
    from barry_cli.policy.lookup import Effective
    from barry_cli.registry.adapters import Adapters


def guarded_servers(
    held: Held,
    found: Effective | None,
    registry: Adapters,
    adapter_id: str,
    *,
    cwd: str,
    roots: Sequence[str],
    names: Iterable[str],
    folders: Folders,
) -> dict[str, StdioMcpServer]:
    """The MCP servers that Barry adds to a launch: the guarded tools', or none.

    ``roots``: what the session may reach besides its folder. ``names``: the variables that its
    harness starts with. Raises StoreProblem.
    """
    if not held.guarded:
        return {}
    from barry_cli.guard.install import install
    from barry_cli.guard.policy_file import GuardPolicy
    from barry_cli.guard.table import NAMESPACE, TOOLS
    from barry_cli.policy.compile import compile_policy, floor_patterns

    record = registry.record(adapter_id)
    settings = record.bag.manifest.settings if record.bag is not None else ()
    policy = compile_policy(
        None if found is None else found.bound,
        root=cwd,
        harness=NAMESPACE,
        tools=TOOLS,
        floor=floor_patterns(folders, settings),
    )
    server = install(
        folders.policies,
        GuardPolicy(
            policy,
            folders=(cwd, *roots),
            tools=held.guarded,
            variables=tuple(sorted({*names, *OWN})),
        ),
    )
    return {NAMESPACE: server}


OWN = ("BARRY_HOME", "BARRY_SESSION", "BARRY_TOKEN")
"""By these a command finds the session that it belongs to."""
