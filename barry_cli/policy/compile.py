"""From a bound and a tool table to the compiled policy that calls are ruled from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Protocol

from barry_cli.base.paths import Folders
from barry_cli.policy.ruling.actions import expand_actions
from barry_cli.policy.ruling.domains import compile_domains
from barry_cli.policy.ruling.patterns import Pattern, compile_allow, compile_deny
from barry_cli.policy.ruling.policy import Policy
from barry_cli.policy.ruling.programs.rules import table
from barry_cli.policy.schema import Bound, NetworkBound
from barry_cli.policy.tools import get_implied_denied_tools

NODE = "local"
"""The node that the calls of this machine run on."""

PROJECT_FOLDER = ".barry"


class ToolRow(Protocol):
    """How a call of one tool is read, as a bag's tool table says it."""

    @property
    def kind(self) -> str: ...
    @property
    def field(self) -> str | tuple[str, ...] | None: ...


def compile_policy(
    bound: Bound | None,
    *,
    root: str,
    harness: str = "",
    tools: Mapping[str, ToolRow] | None = None,
    floor: Iterable[str] = (),
    home: str | None = None,
    node: str = NODE,
) -> Policy:
    """The policy of one session: all that a ruling needs, as plain data.

    ``root``: its folder, which file patterns without an anchor are relative to. ``tools``: the
    harness's tool table. ``floor``: files that nobody may write whatever the bound says, as file
    patterns. ``home``: what ``~`` stands for; the user's. Raises StoreProblem when a shipped tool
    table can't be read.
    """
    made = Policy()
    made.root = os.path.abspath(root)
    made.home = os.path.abspath(home or os.path.expanduser("~"))
    made.harness = harness
    for name, row in (tools or {}).items():
        fields = (row.field,) if isinstance(row.field, str) else tuple(row.field or ())
        made.tools[name] = (row.kind, fields)
    made.floor = _patterns(tuple(floor), made, deny=True)
    if bound is not None:
        _commands(bound, made)
        _files(bound, made)
        _network(bound.network, made)
        _tools(bound, made, node)
    return made


def floor_patterns(folders: Folders, harness_files: Iterable[str] = ()) -> tuple[str, ...]:
    """The floor of every policy: Barry's folders, any project's, and the harness's own files.

    ``harness_files``: patterns for its hooks and settings.
    """
    ours = (folders.config, folders.data, folders.state, folders.cache, folders.run)
    # The double slash ends the part that is a place: its characters stand for themselves.
    places = dict.fromkeys(f"{os.path.abspath(folder)}//**" for folder in ours)
    return (PROJECT_FOLDER, *places, *harness_files)


def _commands(bound: Bound, made: Policy) -> None:
    if bound.bash is not None:
        made.deny = _some(bound.bash.deny)
        made.programs = table(_some(bound.bash.deny_programs))


def _files(bound: Bound, made: Policy) -> None:
    if bound.files is None:
        return
    made.files_deny = _patterns(_some(bound.files.deny), made, deny=True)
    if bound.files.allow_only is not None:
        made.files_allow = _patterns(bound.files.allow_only, made, deny=False)


def _network(network: NetworkBound | None, made: Policy) -> None:
    if network is None:
        return
    for action in _some(network.actions):
        for leaf in sorted(expand_actions([action])):
            made.actions.setdefault(leaf, action)
        for tool in get_implied_denied_tools([action]):
            made.implied.setdefault(tool.casefold(), action)
    made.domains = compile_domains(_some(network.domains), urls=True)
    if network.enforce == "sandbox":
        made.allow_domains = compile_domains(_some(network.allow_domains))
    if made.domains or made.allow_domains is not None:
        from barry_cli.policy.network_tools import NETWORK_TOOL_URL_PARAMS

        made.urls = {tool.casefold(): name for tool, name in NETWORK_TOOL_URL_PARAMS.items()}


def _tools(bound: Bound, made: Policy, node: str) -> None:
    made.denied_tools = _some(bound.denied_tools)
    made.denied_access = _some(bound.denied_access)
    for tool in (bound.native_tools or {}).get(made.harness, ()):
        made.native[tool.casefold()] = tool
    nodes = bound.nodes
    if nodes is None:
        return
    if node in _some(nodes.deny):
        made.node = (node, "nodes.deny")
    elif nodes.allow is not None and node not in nodes.allow:
        made.node = (", ".join(nodes.allow), "nodes.allow")


def _patterns(rules: tuple[str, ...], made: Policy, *, deny: bool) -> tuple[Pattern, ...]:
    compiled = compile_deny if deny else compile_allow
    return tuple(each for rule in rules for each in compiled(rule, made.root, made.home))


def _some(rules: tuple[str, ...] | None) -> tuple[str, ...]:
    return tuple(rules or ())
