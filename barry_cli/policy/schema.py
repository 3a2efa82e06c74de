"""What a bound may restrict and a trait may grant (seed 003): the shapes alone.

Strict at every level: a restriction that fails to parse is loud, while one that parses into
nothing denies nothing and looks like a working bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import StringConstraints, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from barry_cli.policy.impossible import impossible
from barry_cli.policy.sentences import RULE, sentences
from barry_cli.policy.strict import Strict, Table

ALLOW_DOMAINS_NEEDS_SANDBOX = (
    "network.allowDomains is enforced only by the egress sandbox: "
    'add network.enforce: "sandbox", or deny hosts with network.domains instead'
)
"""Why an allowlist of hosts without the sandbox is refused: under the guards it would read as a
restriction and restrict nothing."""

Access = Literal["read", "readwrite"]
"""``read``: observe without side effects. ``readwrite``: observe and modify."""

NativeCategory = Literal["shell", "file-reads", "file-writes", "network"]

NATIVE_CATEGORIES: tuple[NativeCategory, ...] = ("shell", "file-reads", "file-writes", "network")

NetworkAction = Literal[
    "all",
    "write",
    "read",
    "git:push",
    "git:fetch",
    "http:write",
    "http:read",
    "ssh:write",
    "ssh:read",
    "dns",
]

Rule = Annotated[str, StringConstraints(min_length=1)]
"""One entry of a list. Never empty: as a substring it would deny everything, as a name nothing."""

Rules = tuple[Rule, ...]


class BashBound(Strict):
    """What command lines may not do."""

    deny: Rules | None = None
    """Substrings of a command line."""
    deny_programs: Rules | None = None
    """``program``, ``program:sub`` or ``program:sub:subsub``, wherever it is invoked."""


class FilesBound(Strict):
    """Which files may not, or may only, be touched."""

    allow_only: Rules | None = None
    """The only files allowed; an empty list allows none."""
    deny: Rules | None = None


class NetworkBound(Strict):
    """What may not, or may only, be reached."""

    actions: tuple[NetworkAction, ...] | None = None
    """Actions to deny; a parent such as ``write`` includes its children."""
    allow_domains: Rules | None = None
    """The only hosts that may be reached. Needs ``enforce: sandbox``; absent under it: none."""
    domains: Rules | None = None
    """Hosts to deny; ``*.example.com`` stands for every name below."""
    enforce: Literal["guard", "sandbox"] | None = None
    """``guard``: calls are ruled on. ``sandbox``: traffic of the whole process tree is filtered
    by host name as well."""

    @model_validator(mode="after")
    def _allowlist_needs_sandbox(self) -> Self:
        if self.allow_domains is not None and self.enforce != "sandbox":
            raise PydanticCustomError(RULE, ALLOW_DOMAINS_NEEDS_SANDBOX)
        return self


class NodesBound(Strict):
    """On which hosts calls may run; the embedded one is ``local``."""

    allow: Rules | None = None
    deny: Rules | None = None


class Bound(Strict):
    """A policy: restrictions only, so that joining two never permits more."""

    bash: BashBound | None = None
    denied_access: Rules | None = None
    """Namespaces and tools whose writing half is denied."""
    denied_tools: Rules | None = None
    """Namespaces and tools that are denied."""
    description: str | None = None
    files: FilesBound | None = None
    name: str | None = None
    native_tools: Table[Rules] | None = None
    """Harness id -> names of its own tools that are denied."""
    network: NetworkBound | None = None
    nodes: NodesBound | None = None


class AgentTrait(Strict):
    """A named capability: what it grants, and the restrictions that come with it."""

    name: str
    access: Access
    """The access that all its namespaces and tools are granted with."""
    namespaces: Rules
    """Every tool of these namespaces is granted."""
    bound: Bound | None = None
    bound_names: Rules | None = None
    """Named bounds whose restrictions come with the trait."""
    harness_traits: Table[str] | None = None
    """Harness id -> one more trait to grant when that harness runs."""
    includes: Rules | None = None
    """Other traits that this one grants as well."""
    native_tools: Table[Rules] | None = None
    """Harness id -> names of its own tools that are granted."""
    tools: Rules | None = None
    """Single tools, written ``namespace:tool``; a bare name matches in every namespace."""


BoundSchema = Bound
"""The seed's name for the schema; here the class is the schema."""


def bound_problems(document: object) -> list[str]:
    """What keeps a parsed TOML or JSON document from being a bound; empty when it is one."""
    empty = [f"{place} is null: leave it out instead" for place in _nulls(document, "")]
    try:
        bound = Bound.model_validate(document, by_alias=True, by_name=False)
    except ValidationError as error:
        return empty + sentences(error, Bound)
    return empty + impossible(bound)


def parse_bound(document: object) -> Bound:
    """The bound that a parsed TOML or JSON document holds, keys in camelCase.

    Raises ValueError, with every problem, when it isn't one.
    """
    if problems := bound_problems(document):
        raise ValueError("; ".join(problems))
    return Bound.model_validate(document, by_alias=True, by_name=False)


def _nulls(value: object, place: str) -> Iterator[str]:
    # Null is how JSON spells a forgotten value: as "absent" it would restrict nothing.
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _nulls(inner, f"{place}.{key}" if place else str(key))
    elif value is None and place:
        yield place
