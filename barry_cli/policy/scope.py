"""What was approved, as evidence: an execution scope says it whole and is told from a changed one
by its fingerprint. From there on rights only shrink.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from barry_cli.base.canonical import DEPTH, canonical_hash
from barry_cli.contract.data import Data, snapshot
from barry_cli.policy.merge import BoundLike, as_bound, merge_with_notes
from barry_cli.policy.problems import NotAllowed, PolicyProblem
from barry_cli.policy.schema import AgentTrait, Bound
from barry_cli.policy.strict import Strict, Table
from barry_cli.policy.strictness import excess
from barry_cli.policy.tools import (
    ToolMeta,
    denied_tool,
    filter_tools_qualified,
    qualify_tool_id,
)
from barry_cli.policy.traits import BoundByName, expand_trait_names, resolve_effective_bound

ToolAccess = Literal["read", "write"]


class ExecutionContext(Data):
    """What a session may do now."""

    allowed_tool_ids: tuple[str, ...]
    bound: Bound | None = None
    harness: str | None = None
    identity: str | None = None
    traits: tuple[str, ...] = ()


class ExecutionScope(Strict):
    """What was approved."""

    bound: Bound | None
    contracts: Table[str] | None = None
    """Tool id -> the hash of the contract that it had, where it had one."""
    fingerprint: str
    harness: str | None = None
    identity: str | None = None
    tools: Table[ToolAccess]
    """Tool id -> its access."""
    traits: tuple[str, ...]


execution_scope_schema = ExecutionScope
"""The seed's name for the schema; here the class is the schema."""

ScopeLike = ExecutionScope | Mapping[str, Any]


class NamedTool(Protocol):
    """A tool's name: a ToolMeta has it."""

    @property
    def namespace(self) -> str: ...
    @property
    def tool_name(self) -> str: ...


def scope_fingerprint(value: object) -> str:
    """SHA-256, in hex, of the canonical JSON of a scope, without its ``fingerprint`` and without
    keys that are None. Any other value that JSON can carry has one too.

    Raises NotCanonical.
    """
    plain = _plain(value, [])
    if isinstance(plain, dict):
        plain.pop("fingerprint", None)
    return canonical_hash(plain)


async def resolve_execution_context(
    *,
    bound_by_name: BoundByName,
    tools: Sequence[ToolMeta],
    trait_names: Sequence[str],
    traits: Mapping[str, AgentTrait],
    bounds: Iterable[BoundLike | None] | None = None,
    harness: str | None = None,
    identity: str | None = None,
) -> ExecutionContext:
    """What the selected traits grant under the bounds. Nothing is granted that isn't selected."""
    bound = await resolve_effective_bound(
        bound_by_name=bound_by_name,
        trait_names=trait_names,
        traits=traits,
        bounds=bounds,
        harness=harness,
    )
    return ExecutionContext(
        allowed_tool_ids=tuple(filter_tools_qualified(tools, trait_names, traits, bound, harness)),
        bound=bound,
        harness=harness,
        identity=identity,
        traits=tuple(expand_trait_names(trait_names, traits, harness)),
    )


async def approve_execution_scope(
    *,
    bound_by_name: BoundByName,
    tools: Sequence[ToolMeta],
    trait_names: Sequence[str],
    traits: Mapping[str, AgentTrait],
    bounds: Iterable[BoundLike | None] | None = None,
    harness: str | None = None,
    identity: str | None = None,
) -> ExecutionScope:
    """The scope that is approved by selecting these traits; no trait is added to them.

    Raises PolicyProblem when the catalogue lists one tool twice and differently.
    """
    context = await resolve_execution_context(
        bound_by_name=bound_by_name,
        tools=tools,
        trait_names=trait_names,
        traits=traits,
        bounds=bounds,
        harness=harness,
        identity=identity,
    )
    listed = _catalogue(tools)
    hashes = {tool_id: listed[tool_id].contract_hash for tool_id in context.allowed_tool_ids}
    scope = ExecutionScope(
        bound=context.bound,
        contracts={
            tool_id: contract for tool_id, contract in hashes.items() if contract is not None
        }
        or None,
        fingerprint="",
        harness=harness,
        identity=identity,
        tools={tool_id: listed[tool_id].access for tool_id in context.allowed_tool_ids},
        traits=tuple(sorted(context.traits)),
    )
    return scope.model_copy(update={"fingerprint": scope_fingerprint(scope)})


def intersect_execution_scope(
    approved: ScopeLike,
    current: ExecutionContext,
    catalog: Sequence[ToolMeta],
    restrictions: Sequence[BoundLike | None] = (),
) -> ExecutionContext:
    """What is left of an approval now: tools that are approved, still granted, and unchanged in
    the catalogue; under every bound at once.

    Raises PolicyProblem when the scope was changed since, NotAllowed when it was approved for
    another harness or identity.
    """
    scope = _genuine(approved)
    for what, given, now in (
        ("harness", scope.harness, current.harness),
        ("identity", scope.identity, current.identity),
    ):
        if given is not None and given != now:
            raise NotAllowed(f"this was approved for the {what} {given}, not for {now or 'none'}")
    bound = merge_with_notes([scope.bound, current.bound, *restrictions]).bound
    listed = _catalogue(catalog)
    granted = set(current.allowed_tool_ids)
    left = [
        tool_id
        for tool_id in scope.tools
        if tool_id in granted
        and not _changed(scope, tool_id, listed)
        and not _denied(bound, listed[tool_id])
    ]
    return ExecutionContext(
        allowed_tool_ids=tuple(left),
        bound=bound,
        harness=current.harness,
        identity=current.identity,
        traits=tuple(name for name in scope.traits if name in current.traits),
    )


def assert_scope_delegation(
    scope: ScopeLike, delegator: ExecutionContext, catalog: Sequence[ToolMeta]
) -> None:
    """Check that nobody hands on more than they have: no further tool, no weaker bound, no other
    contract. Raises NotAllowed, which names the first excess.
    """
    handed = _genuine(scope)
    listed = _catalogue(catalog)
    granted = set(delegator.allowed_tool_ids)
    for tool_id in handed.tools:
        if tool_id not in granted:
            raise NotAllowed(f"{tool_id} can't be handed on: the delegator doesn't have it")
        if problem := _changed(handed, tool_id, listed):
            raise NotAllowed(f"{tool_id} can't be handed on: {problem}")
        if rule := _denied(delegator.bound, listed[tool_id]):
            raise NotAllowed(
                f"{tool_id} can't be handed on: the delegator's bound denies it",
                field=rule[0],
                rule=rule[1],
            )
    if missing := excess(delegator.bound, handed.bound):
        raise NotAllowed(
            f"the scope is wider than the delegator's bound: {missing}", field=missing.split()[0]
        )


def assert_node_allowed(node_id: str, bound: BoundLike | None = None) -> None:
    """Check that calls may run on this host; a denial goes before what is allowed.

    Raises NotAllowed.
    """
    given = as_bound(bound)
    nodes = given.nodes if given else None
    if nodes is None:
        return
    if node_id in (nodes.deny or ()):
        raise NotAllowed(f"node {node_id} is denied", rule=node_id, field="nodes.deny")
    if nodes.allow is not None and node_id not in nodes.allow:
        allowed = ", ".join(nodes.allow) or "none"
        raise NotAllowed(f"node {node_id} is not allowed; allowed: {allowed}", field="nodes.allow")


def assert_tool_allowed(context: ExecutionContext, tool: NamedTool, node_id: str) -> None:
    """Check that a session may call a tool on a node. Raises NotAllowed."""
    tool_id = qualify_tool_id(tool.namespace, tool.tool_name)
    if tool_id not in context.allowed_tool_ids:
        raise NotAllowed(f"{tool_id} is not among the tools that this session was granted")
    access = getattr(tool, "access", None)
    if denied := denied_tool(context.bound, tool.namespace, tool.tool_name, access):
        field, rule = denied
        raise NotAllowed(f"{tool_id} is denied by {field} ({rule})", rule=rule, field=field)
    assert_node_allowed(node_id, context.bound)


def _plain(value: object, above: list[int]) -> Any:
    """The JSON side of a value: tables without None, our own data as its file holds it."""
    if isinstance(value, Data):
        return snapshot(value)
    if not isinstance(value, Mapping | list | tuple) or id(value) in above or len(above) > DEPTH:
        return value  # what can't be written is refused where it is written
    inside = [*above, id(value)]
    if isinstance(value, Mapping):
        return {key: _plain(each, inside) for key, each in value.items() if each is not None}
    return [_plain(each, inside) for each in value]


def _genuine(value: ScopeLike) -> ExecutionScope:
    scope = value if isinstance(value, ExecutionScope) else ExecutionScope.model_validate(value)
    if scope.fingerprint != scope_fingerprint(scope):
        raise PolicyProblem(
            "the scope was changed after its approval: its fingerprint doesn't fit",
            hint="have it approved again",
        )
    return scope


def _catalogue(tools: Iterable[ToolMeta]) -> dict[str, ToolMeta]:
    listed: dict[str, ToolMeta] = {}
    for tool in tools:
        tool_id = qualify_tool_id(tool.namespace, tool.tool_name)
        other = listed.setdefault(tool_id, tool)
        if (other.access, other.contract_hash) != (tool.access, tool.contract_hash):
            raise PolicyProblem(
                f"the catalogue lists {tool_id} twice, with different access or contract"
            )
    return listed


def _changed(scope: ExecutionScope, tool_id: str, listed: Mapping[str, ToolMeta]) -> str:
    """How a tool differs from the one that was approved; "" when it doesn't."""
    tool = listed.get(tool_id)
    if tool is None:
        return "the catalogue no longer lists it"
    if tool.access != scope.tools[tool_id]:
        return f"it was approved to {scope.tools[tool_id]}, and the catalogue says {tool.access}"
    if tool.contract_hash != (scope.contracts or {}).get(tool_id):
        return "its contract is not the approved one"
    return ""


def _denied(bound: Bound | None, tool: ToolMeta) -> tuple[str, str] | None:
    return denied_tool(bound, tool.namespace, tool.tool_name, tool.access)
