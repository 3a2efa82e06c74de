"""Which bounds apply to a session, where each comes from, and all of them at once.

They are the user's ``[bounds] always``, every ``.barry/bound.toml`` from the folder up to the root,
what was asked for, and what comes with traits. All hold together: none can widen another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from barry_cli.base.paths import Folders
from barry_cli.base.settings import read_settings
from barry_cli.policy.aliases import bound_with_ids, trait_with_ids
from barry_cli.policy.bound_file import SUFFIXES, BoundNotFound, read_bound_file
from barry_cli.policy.merge import bound_has_content, merge_with_notes
from barry_cli.policy.named import NamedBounds, Row, bag_table, row_names
from barry_cli.policy.places import PROJECT_FOLDER, is_there, project_files
from barry_cli.policy.problems import PolicyProblem
from barry_cli.policy.ruling.patterns import anchored
from barry_cli.policy.schema import AgentTrait, Bound

ALLOWING = ("files.allowOnly", "network.allowDomains", "nodes.allow")
"""Fields that say what alone is allowed."""

Why = Literal["always", "project", "asked", "trait", "resumed"]


@dataclass(frozen=True, slots=True)
class Source:
    """One bound that applies."""

    why: Why
    """Who says so: the user's settings, the project, the caller, a trait, the session before."""
    label: str
    """How a person knows it: its name or its file."""
    place: str
    """The file, or the bag, that it was read from."""
    written: Bound
    bound: Bound
    """The same with its file patterns anchored and harnesses under their ids."""


@dataclass(frozen=True, slots=True)
class Effective:
    """The bounds of a session."""

    sources: tuple[Source, ...]
    bound: Bound | None
    """All of them at once. None when there is none, or none of them restricts anything."""
    notes: tuple[str, ...] = ()
    """What joining them came to that a person should know."""
    traits: tuple[AgentTrait, ...] = ()
    """What is granted, whole. Empty: everything that the bound leaves."""
    looked_at: tuple[str, ...] = ()
    """Every path that decided this, those where nothing was too: another state of any of them may
    mean another answer."""

    def said_by(self, field: str, rule: str) -> list[tuple[Source, str]]:
        """The sources that have a rule in a field (``bash.denyPrograms``), each with the rule as
        it is written there. A list of what is allowed is said by all who have one.
        """
        found = []
        for source in self.sources:
            rules, written = rules_of(source.bound, field), rules_of(source.written, field)
            if rules is not None and field in ALLOWING:
                found.append((source, ", ".join(written or rules)))
            elif rules is not None and rule in rules:
                same = written is not None and len(written) == len(rules)
                found.append((source, written[rules.index(rule)] if same and written else rule))
        return found


def effective_bound(
    folders: Folders,
    rows: Sequence[Row],
    cwd: str,
    *,
    asked: Sequence[str] = (),
    traits: Sequence[str] = (),
    harness: str | None = None,
    held_to: Bound | None = None,
) -> Effective:
    """The bounds of a session in a folder. ``rows``: the records of the installed adapters.

    ``asked``: names, or paths from where the caller stands. ``harness``: its id or an alias, for
    what traits say about one. ``held_to``: what the session that goes on was held to. Raises
    BoundNotFound, BoundRefused, PolicyProblem for a trait that there isn't, and StoreProblem: a
    bound that can't be read can't be held.
    """
    search = _Search(folders, rows, cwd)
    sources = [*search.always(), *search.of_project(), *search.asked_for(asked)]
    if held_to is not None:
        label = "the session before"
        sources.append(Source("resumed", label, label, held_to, held_to))
    granted = _traits(rows, traits, harness and search.ids.get(harness, harness), search.ids)
    for owner, trait in granted:
        sources += search.of_trait(trait, owner)
    merged = merge_with_notes(
        [source.bound for source in sources], [source.label for source in sources]
    )
    return Effective(
        sources=tuple(sources),
        bound=merged.bound if bound_has_content(merged.bound) else None,
        notes=merged.notes,
        traits=tuple(trait for _, trait in granted),
        looked_at=tuple(dict.fromkeys(search.looked)),
    )


def rules_of(bound: Bound, field: str) -> tuple[str, ...] | None:
    """The list that a field's name as it is written in a file (``files.deny``) stands for."""
    value: Any = bound
    for name in field.split("."):
        if isinstance(value, Mapping):
            value = value.get(name)
            continue
        known = type(value).model_fields.items() if value is not None else ()
        value = next(
            (getattr(value, key) for key, info in known if name in (key, info.alias)), None
        )
    return value if isinstance(value, tuple) else None


def in_place(bound: Bound, folder: str) -> Bound:
    """The bound with its file patterns anchored at the folder that they were written for."""
    files = bound.files
    if files is None:
        return bound
    placed = {
        name: rules and tuple(anchored(rule, folder, name == "deny") for rule in rules)
        for name, rules in (("allow_only", files.allow_only), ("deny", files.deny))
    }
    return bound.model_copy(update={"files": files.model_copy(update=placed)})


def known_traits(rows: Sequence[Row]) -> dict[str, AgentTrait]:
    """Every trait of the installed adapters' bags, by name and by ``ADAPTER:NAME``.

    A name that several bags have stands for none of theirs: only the long one says whose.
    """
    found: dict[str, AgentTrait] = {}
    doubled = set()
    for row in rows:
        for name, document in bag_table(row, "traits").items():
            trait = AgentTrait.model_validate(document, by_alias=True, by_name=False)
            found[f"{row['id']}:{name}"] = trait
            if name in found:
                doubled.add(name)
            found[name] = trait
    return {name: trait for name, trait in found.items() if name not in doubled}


class _Search:
    """One search, and every place that it looked at."""

    def __init__(self, folders: Folders, rows: Sequence[Row], cwd: str) -> None:
        self._folders = folders
        self._rows = rows
        self._root = os.path.abspath(cwd)
        self._named = NamedBounds(folders, rows)
        self.ids = {alias: row["id"] for row in rows for alias in row_names(row)}
        self.looked = [str(folders.registry)]

    def always(self) -> Iterator[Source]:
        self.looked.append(str(self._folders.settings))
        for name in read_settings(self._folders).bounds_always:
            yield self._asked(name, "always", str(self._folders.config))

    def of_project(self) -> Iterator[Source]:
        seen = set()
        for path in project_files(self._root):
            self.looked.append(path)
            real = os.path.realpath(path)
            if real not in seen and is_there(path):
                seen.add(real)
                yield self._of_file(path, "project")

    def asked_for(self, names: Sequence[str]) -> Iterator[Source]:
        for name in names:
            yield self._asked(name, "asked", "")

    def of_trait(self, trait: AgentTrait, owner: str) -> Iterator[Source]:
        if trait.bound is not None:
            place = f"the bag of {owner}"
            yield self._source("trait", f"the trait {trait.name}", place, trait.bound, self._root)
        for name in trait.bound_names or ():
            yield self._by_name(name, "trait", f"{name} of the trait {trait.name}", first=owner)

    def _asked(self, name: str, why: Why, start: str) -> Source:
        """A name, or a path from a folder: "" is where the caller stands."""
        if not name:
            raise BoundNotFound("a bound has an empty name", hint="`barry bound list` has names")
        if is_path(name):
            path = os.path.join(start, os.path.expanduser(name))
            return self._of_file(os.path.abspath(path), why)
        return self._by_name(name, why, name)

    def _of_file(self, path: str, why: Why) -> Source:
        self.looked.append(path)
        folder = os.path.dirname(path)
        # A file in a project's own folder speaks of that project, any other of the session's.
        own = os.path.basename(folder) == PROJECT_FOLDER
        anchor = os.path.dirname(folder) if own else self._root
        return self._source(why, short(path), path, read_bound_file(path), anchor)

    def _by_name(self, name: str, why: Why, label: str, first: str = "") -> Source:
        self.looked.append(self._named.own_path(name))
        found = self._named.find(name, first=first)
        self.looked.append(found.place)
        return self._source(why, label, found.place, found.read(), self._root)

    def _source(self, why: Why, label: str, place: str, bound: Bound, anchor: str) -> Source:
        held = bound_with_ids(in_place(bound, anchor), self.ids)
        return Source(why, label, place, bound, held)


def is_path(word: str) -> bool:
    """Whether what names a bound is a file's path."""
    return "/" in word or word.lower().endswith(SUFFIXES)


def short(path: str) -> str:
    """A path as people write it, with ``~``."""
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + "/") else path


def _traits(
    rows: Sequence[Row], names: Sequence[str], harness: str | None, ids: Mapping[str, str]
) -> list[tuple[str, AgentTrait]]:
    """The traits of these names and all that come with them, each with the adapter whose it is.

    What a trait names is looked for in its own bag first.
    """
    if not names:
        return []
    from barry_cli.policy.traits import expand_trait_names

    known = {name: trait_with_ids(trait, ids) for name, trait in known_traits(rows).items()}

    def whole(name: str, owner: str = "") -> str:
        whose, colon, short = name.rpartition(":")
        if colon:
            return f"{ids.get(whose, whose)}:{short}"
        if f"{owner}:{name}" in known:
            return f"{owner}:{name}"
        found = [each for each in known if each.endswith(f":{name}")]
        if len(found) > 1:
            raise PolicyProblem(
                f"the trait {name} could be any of {', '.join(found)}", hint="write one of them"
            )
        return found[0] if found else name

    placed = {
        name: trait.model_copy(
            update={
                "includes": tuple(whole(each, owner) for each in trait.includes or ()),
                "harness_traits": {
                    key: whole(each, owner) for key, each in (trait.harness_traits or {}).items()
                },
            }
        )
        for name, trait in known.items()
        for owner in (name.rpartition(":")[0],)
    }
    found = expand_trait_names([whole(name) for name in names], placed, harness)
    return [(name.rpartition(":")[0], known[name]) for name in found]
