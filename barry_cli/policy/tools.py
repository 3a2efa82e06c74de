"""Tools beside the harness's own: what is known of them, and which of them a policy leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from barry_cli.contract.data import Data
from barry_cli.policy.merge import BoundLike, as_bound
from barry_cli.policy.ruling.actions import expand_actions
from barry_cli.policy.schema import AgentTrait, Bound
from barry_cli.policy.traits import resolve_traits, tool_grant

CORE_NAMESPACES = frozenset({"barry"})
"""Barry's own namespaces: on a list of all tools, only others need to say where they come from."""


class McpAnnotations(Data):
    """What an MCP server says about a tool of its own. Hints: nothing is granted for them."""

    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None
    read_only_hint: bool | None = None
    title: str | None = None


class ToolMeta(Data):
    """One tool, as a catalogue lists it."""

    namespace: str
    tool_name: str
    access: Literal["read", "write"]
    annotations: McpAnnotations | None = None
    contract_hash: str | None = None
    """What the catalogue vouches for: the hash of the tool's inputs and outputs."""


def qualify_tool_id(namespace: str, tool_name: str) -> str:
    """``namespace:tool``, the one name under which a tool is granted or denied."""
    return f"{namespace}:{tool_name}"


def filter_tools(
    tools: Sequence[ToolMeta],
    trait_names: Sequence[str],
    all_traits: Mapping[str, AgentTrait],
    bound: BoundLike | None = None,
    harness: str | None = None,
) -> list[str]:
    """The bare names of the tools that are left, to be shown. Two namespaces may share a name:
    where access is decided, use ``filter_tools_qualified``.
    """
    kept = _kept(tools, trait_names, all_traits, bound, harness)
    return list(dict.fromkeys(tool.tool_name for tool in kept))


def filter_tools_qualified(
    tools: Sequence[ToolMeta],
    trait_names: Sequence[str],
    all_traits: Mapping[str, AgentTrait],
    bound: BoundLike | None = None,
    harness: str | None = None,
) -> list[str]:
    """The ids (``namespace:tool``) of the tools that the traits grant and the bound leaves."""
    kept = _kept(tools, trait_names, all_traits, bound, harness)
    return list(dict.fromkeys(qualify_tool_id(tool.namespace, tool.tool_name) for tool in kept))


def get_implied_denied_tools(actions: Sequence[str]) -> list[str]:
    """The tools, by their bare names, that perform any of the denied network actions."""
    if not actions:
        return []
    from barry_cli.policy.network_tools import NETWORK_TOOL_ACTIONS

    denied = expand_actions(list(actions))
    return [tool for tool, tags in NETWORK_TOOL_ACTIONS.items() if not denied.isdisjoint(tags)]


def denied_tool(
    bound: Bound | None, namespace: str, tool_name: str, access: str | None = None
) -> tuple[str, str] | None:
    """The field and the rule that deny a tool, None when none does.

    A rule names a namespace, ``namespace:tool`` or a bare tool, in any case. Rules on writing
    count only where ``access`` is "write".
    """
    if bound is None:
        return None
    if rule := _named(bound.denied_tools or (), namespace, tool_name):
        return "deniedTools", rule
    if access == "write" and (rule := _named(bound.denied_access or (), namespace, tool_name)):
        return "deniedAccess", rule
    actions = bound.network.actions if bound.network else None
    if actions and tool_name.casefold() in _folded(get_implied_denied_tools(actions)):
        return "network.actions", _to_blame(actions, tool_name)
    return None


def _kept(
    tools: Iterable[ToolMeta],
    trait_names: Sequence[str],
    all_traits: Mapping[str, AgentTrait],
    bound: BoundLike | None,
    harness: str | None,
) -> Iterator[ToolMeta]:
    grants = resolve_traits(trait_names, all_traits, harness)
    given = as_bound(bound)
    for tool in tools:
        granted = tool_grant(grants, tool.namespace, tool.tool_name)
        enough = granted == "readwrite" or (granted == "read" and tool.access == "read")
        if enough and not denied_tool(given, tool.namespace, tool.tool_name, tool.access):
            yield tool


def _named(rules: Iterable[str], namespace: str, tool_name: str) -> str:
    names = _folded((namespace, tool_name, qualify_tool_id(namespace, tool_name)))
    return next((rule for rule in rules if rule.casefold() in names), "")


def _to_blame(actions: Sequence[str], tool_name: str) -> str:
    for action in actions:
        if tool_name.casefold() in _folded(get_implied_denied_tools([action])):
            return action
    return ""


def _folded(names: Iterable[str]) -> set[str]:
    return {name.casefold() for name in names}
