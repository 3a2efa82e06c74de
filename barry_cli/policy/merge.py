"""Joining bounds: what either side denies, the whole denies.

Associative, commutative and idempotent in all that restricts; a name and a description restrict
nothing, and are kept where there is only one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from barry_cli.policy import globs, hosts
from barry_cli.policy.schema import Bound, NetworkBound

Lists = Sequence[str]
BoundLike = Bound | Mapping[str, Any]
NetworkLike = NetworkBound | Mapping[str, Any]
Part = TypeVar("Part")


@dataclass(frozen=True)
class Merged:
    """Joined bounds, and what a person should know about it: one sentence each."""

    bound: Bound | None
    notes: tuple[str, ...] = ()


def as_bound(value: BoundLike | None) -> Bound | None:
    """The bound that a caller gave, which may be a table still. Raises ValidationError."""
    return value if value is None or isinstance(value, Bound) else Bound.model_validate(value)


def bound_has_content(bound: BoundLike | None = None) -> bool:
    """Whether a bound restricts anything.

    An empty list of what is allowed is the strongest restriction, and ``network.enforce`` counts:
    it changes how a bound is enforced. A name and a description do not.
    """
    given = as_bound(bound)
    if given is None:
        return False
    bash, files, network, nodes = given.bash, given.files, given.network, given.nodes
    denied = [
        given.denied_access,
        given.denied_tools,
        *(given.native_tools or {}).values(),
        *((bash.deny, bash.deny_programs) if bash else ()),
        *((files.deny,) if files else ()),
        *((network.actions, network.domains) if network else ()),
        *((nodes.deny,) if nodes else ()),
    ]
    allowed = [files and files.allow_only, nodes and nodes.allow, network and network.allow_domains]
    enforced = network is not None and network.enforce is not None
    return any(denied) or any(each is not None for each in allowed) or enforced


def merge_bounds(base: BoundLike | None, override: BoundLike | None) -> Bound | None:
    """Both bounds at once. None has nothing to say, and two of them join to None."""
    return merge_with_notes([base, override]).bound


def merge_network(
    base: NetworkLike | None = None, override: NetworkLike | None = None
) -> NetworkBound | None:
    """Both network parts at once; what is denied adds up, what is allowed must be so in both."""
    one, other = _as_network(base), _as_network(override)
    return one if one == other else _network(one, other, _Notes())


def merge_with_notes(
    bounds: Iterable[BoundLike | None], labels: Sequence[str] | None = None
) -> Merged:
    """All bounds at once. ``labels`` say in the notes where each of them comes from; without
    labels it is the bound's name or its place in the row.
    """
    given: list[tuple[str, Bound]] = []
    for index, each in enumerate(bounds):
        bound = as_bound(each)
        if bound is not None:
            label = labels[index] if labels else bound.name or f"bound {index + 1}"
            given.append((label, bound))
    if not given:
        return Merged(None)
    notes = _Notes()
    label, joined = given[0]
    for other_label, other in given[1:]:
        notes.between(label, other_label)
        joined = joined if joined == other else _join(joined, other, notes)
        label = f"{label}, {other_label}"
    names = {"name": _only(b.name for _, b in given)}
    names["description"] = _only(b.description for _, b in given)
    return Merged(joined.model_copy(update=names), tuple(notes.said))


@dataclass
class _Notes:
    """What was noticed, with the labels of the two sides that are being joined."""

    said: list[str] = field(default_factory=list)
    sides: tuple[str, str] = ("the first bound", "the second bound")

    def between(self, one: str, other: str) -> None:
        self.sides = (one, other)

    def empty(self, place: str, what: str, one: Lists, other: Lists, reason: str = "") -> None:
        """A list of what is allowed has become empty."""
        ours, theirs = self.sides
        if one and other:
            reason = f"{theirs} allows nothing that {ours} allows"
        elif not one and not other:
            return
        else:
            reason = f"{theirs if one else ours} {reason or 'allows none'}"
        self.said.append(f"{place} is empty, so no {what} is allowed: {reason}")

    def lost(self, place: str, one: str, other: str) -> None:
        ours, theirs = self.sides
        self.said.append(
            f"{place}: what {one!r} ({ours}) and {other!r} ({theirs}) share can't be said as a "
            "pattern, so it is not allowed"
        )


def _join(one: Bound, other: Bound, notes: _Notes) -> Bound:
    return Bound(
        bash=_parts(one.bash, other.bash, _unions("deny", "deny_programs")),
        denied_access=_union(one.denied_access, other.denied_access),
        denied_tools=_union(one.denied_tools, other.denied_tools),
        files=_parts(one.files, other.files, lambda a, b: _files(a, b, notes)),
        native_tools=_tables(one.native_tools, other.native_tools),
        network=_network(one.network, other.network, notes),
        nodes=_parts(one.nodes, other.nodes, lambda a, b: _nodes(a, b, notes)),
    )


def _parts(one: Part | None, other: Part | None, join: Callable[[Any, Any], Any]) -> Part | None:
    """Both parts joined; an absent one joins like an empty one, so that all lists are sorted."""
    there = one if one is not None else other
    if there is None:
        return None
    empty = type(there)()
    joined: Part = join(one or empty, other or empty)
    return joined


def _unions(*names: str) -> Callable[[Any, Any], Any]:
    return lambda one, other: type(one)(
        **{name: _union(getattr(one, name), getattr(other, name)) for name in names}
    )


def _files(one: Any, other: Any, notes: _Notes) -> Any:
    place = "files.allowOnly"
    meet = _noting(globs.meet, notes, place)
    allowed = _both(one.allow_only, other.allow_only, place, "file", notes, meet)
    return type(one)(allow_only=allowed, deny=_union(one.deny, other.deny))


def _noting(
    meet: Callable[[Lists, Lists], tuple[Lists, list[tuple[str, str]]]], notes: _Notes, place: str
) -> Callable[[Lists, Lists], Lists]:
    def noting(one: Lists, other: Lists) -> Lists:
        kept, lost = meet(one, other)
        for ours, theirs in lost:
            notes.lost(place, ours, theirs)
        return kept

    return noting


def _nodes(one: Any, other: Any, notes: _Notes) -> Any:
    allowed = _both(
        one.allow, other.allow, "nodes.allow", "node", notes, lambda a, b: sorted({*a} & {*b})
    )
    return type(one)(allow=allowed, deny=_union(one.deny, other.deny))


def _network(
    one: NetworkBound | None, other: NetworkBound | None, notes: _Notes
) -> NetworkBound | None:
    if one is None or other is None:
        # An absent part joins like one that says nothing, so that all lists come out sorted.
        one = other = one or other
    if one is None or other is None:
        return None
    enforced = {one.enforce, other.enforce}
    return NetworkBound(
        actions=_union(one.actions, other.actions),
        allow_domains=_hosts(one, other, notes),
        domains=_union(one.domains, other.domains),
        enforce="sandbox" if "sandbox" in enforced else "guard" if "guard" in enforced else None,
    )


def _hosts(one: NetworkBound, other: NetworkBound, notes: _Notes) -> Any:
    """Under the sandbox no list means no host: only a side without the sandbox has no opinion."""
    asks = [each for each in (one, other) if each.enforce == "sandbox"]
    lists = [each.allow_domains for each in asks]
    if len(asks) < 2 or lists == [None, None]:
        return _union(*[each.allow_domains for each in (one, other)])
    ours, theirs = ((each.allow_domains or ()) for each in (one, other))
    reason = "has the sandbox and names no host" if None in lists else ""
    place = "network.allowDomains"
    return _both(ours, theirs, place, "host", notes, _noting(hosts.meet, notes, place), reason)


def _both(
    one: Lists | None,
    other: Lists | None,
    place: str,
    what: str,
    notes: _Notes,
    meet: Callable[[Lists, Lists], Lists],
    reason: str = "",
) -> tuple[str, ...] | None:
    """What both lists allow; an absent one has no opinion."""
    if one is None or other is None or set(one) == set(other):
        joined: tuple[str, ...] | None = _union(one, other)
        return joined
    allowed = tuple(meet(one, other))
    if not allowed:
        notes.empty(place, what, one, other, reason)
    return allowed


def _union(one: Any, other: Any) -> Any:
    """What either list has, sorted, so that equal bounds are equal; None when neither is there."""
    if one is None and other is None:
        return None
    return tuple(sorted({*(one or ()), *(other or ())}))


def _tables(
    one: Mapping[str, Lists] | None, other: Mapping[str, Lists] | None
) -> dict[str, Any] | None:
    if one is None and other is None:
        return None
    ours, theirs = one or {}, other or {}
    return {key: _union(ours.get(key), theirs.get(key)) for key in sorted({*ours, *theirs})}


def _only(values: Iterable[str | None]) -> str | None:
    """The one text there is, None when there is none or more than one."""
    found = {value for value in values if value is not None}
    return found.pop() if len(found) == 1 else None


def _as_network(value: NetworkLike | None) -> NetworkBound | None:
    if value is None or isinstance(value, NetworkBound):
        return value
    return NetworkBound.model_validate(value)
