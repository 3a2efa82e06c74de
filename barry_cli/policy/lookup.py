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
from barry_cli.policy.bound_file import (
    SUFFIXES,
    BoundNotFound,
    is_there,
    read_bound_file,
)
from barry_cli.policy.merge import bound_has_content, merge_with_notes
from barry_cli.policy.named import NamedBounds, Row, bag_table
from barry_cli.policy.ruling.patterns import anchored
from barry_cli.policy.schema import AgentTrait, Bound

PROJECT_FOLDER = ".barry"
PROJECT_FILE = "bound.toml"

Why = Literal["always", "project", "asked", "trait"]


@dataclass(frozen=True, slots=True)
class Source:
    """One bound that applies."""

    why: Why
    """Who says so: the user's settings, the project, the caller, a trait."""
    label: str
    """How a person knows it: its name or its file."""
    place: str
    """The file, or the bag, that it was read from."""
    written: Bound
    bound: Bound
    """The same with its file patterns anchored."""


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
            if rules is None or written is None:
                continue
            if rule in rules:
                found.append((source, written[rules.index(rule)]))
            elif field in ALLOWING:
                found.append((source, ", ".join(written)))
        return found


ALLOWING = ("files.allowOnly", "network.allowDomains", "nodes.allow")
"""Fields that say what alone is allowed."""


def effective_bound(
    folders: Folders,
    rows: Sequence[Row],
    cwd: str,
    *,
    asked: Sequence[str] = (),
    traits: Sequence[str] = (),
    harness: str | None = None,
) -> Effective:
    """The bounds of a session in a folder. ``rows``: the records of the installed adapters.

    ``asked``: names, or paths from where the caller stands. ``harness``: the id, for what traits
    say about one. Raises BoundNotFound, BoundRefused, PolicyProblem for a trait that there isn't, and StoreProblem:
    a bound that can't be read can't be held.
    """
    named = NamedBounds(folders, rows)
    looked = [str(folders.registry)]
    root = os.path.abspath(cwd)
    sources: list[Source] = []
    if not alone:
        looked.append(str(folders.settings))
        for name in read_settings(folders).bounds_always:
            at = name if _is_name(name) else os.path.join(folders.config, os.path.expanduser(name))
            sources.append(_asked(named, at, root, "always", looked))
        sources += _of_project(root, looked)
    for name in asked:
        at = name if _is_name(name) else os.path.abspath(os.path.expanduser(name))
        sources.append(_asked(named, at, root, "asked", looked))
    granted = _traits(rows, traits, harness)
    for trait in granted:
        sources += _of_trait(named, trait, rows, root, looked)
    merged = merge_with_notes(
        [source.bound for source in sources], [source.label for source in sources]
    )
    return Effective(
        sources=tuple(sources),
        bound=merged.bound if bound_has_content(merged.bound) else None,
        notes=merged.notes,
        traits=tuple(granted),
        looked_at=tuple(dict.fromkeys(looked)),
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


def project_files(cwd: str) -> Iterator[str]:
    """Where bounds of a project may stand: in the folder and all above it, the nearest first.

    A folder that was reached through a link lies below two rows of folders, and both count.
    """
    seen = set()
    for start in (os.path.abspath(cwd), os.path.realpath(cwd)):
        folder = start
        while folder not in seen:
            seen.add(folder)
            yield os.path.join(folder, PROJECT_FOLDER, PROJECT_FILE)
            folder = os.path.dirname(folder)


def _is_name(word: str) -> bool:
    return "/" not in word and not word.endswith(SUFFIXES)


def _asked(named: NamedBounds, name: str, root: str, why: Why, looked: list[str]) -> Source:
    if not name:
        raise BoundNotFound(
            "a bound has an empty name", hint="`barry bound list` shows the names that there are"
        )
    if not _is_name(name):
        looked.append(name)
        return _source(why, _short(name), name, read_bound_file(name), _anchor_of(name, root))
    looked.append(named.own_path(name))
    found = named.find(name)
    looked.append(found.place)
    return _source(why, name, found.place, found.read(), root)


def _of_project(root: str, looked: list[str]) -> Iterator[Source]:
    seen = set()
    for path in project_files(root):
        looked.append(path)
        real = os.path.realpath(path)
        if real in seen or not is_there(path):
            continue
        seen.add(real)
        yield _source("project", _short(path), path, read_bound_file(path), _anchor_of(path, root))


def _anchor_of(path: str, root: str) -> str:
    """A file in a project's own folder speaks of that project, any other of the session's."""
    folder = os.path.dirname(os.path.abspath(path))
    return os.path.dirname(folder) if os.path.basename(folder) == PROJECT_FOLDER else root


def _source(why: Why, label: str, place: str, bound: Bound, folder: str) -> Source:
    return Source(why, label, place, bound, in_place(bound, folder))


def _short(path: str) -> str:
    home = os.path.expanduser("~")
    return "~" + path[len(home) :] if home != "/" and path.startswith(home + "/") else path


def _traits(rows: Sequence[Row], names: Sequence[str], harness: str | None) -> list[AgentTrait]:
    """The traits of these names and all that come with them."""
    if not names:
        return []
    from barry_cli.policy.traits import expand_trait_names

    known = known_traits(rows)
    return [known[name] for name in expand_trait_names(names, known, harness)]


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


def _of_trait(
    named: NamedBounds, trait: AgentTrait, rows: Sequence[Row], root: str, looked: list[str]
) -> Iterator[Source]:
    owner = next(
        (row["id"] for row in rows if trait.name in bag_table(row, "traits")), ""
    )
    if trait.bound is not None:
        label = f"the trait {trait.name}"
        yield _source("trait", label, f"the bag of {owner}", trait.bound, root)
    for name in trait.bound_names or ():
        looked.append(named.own_path(name))
        found = named.find(name, first=owner)
        looked.append(found.place)
        yield _source("trait", f"{name} of the trait {trait.name}", found.place, found.read(), root)
