"""Bounds by name: the user's own, those of adapters' bags, and those that Barry ships."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from barry_cli.base.ids import nearest
from barry_cli.base.paths import Folders
from barry_cli.policy.bound_file import BoundNotFound, bound_of, read_bound_file
from barry_cli.policy.places import is_there
from barry_cli.policy.schema import Bound

Row = Mapping[str, Any]
"""One adapter's record, as plain JSON."""

Kind = Literal["own", "adapter", "shipped"]

SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shipped")
OURS = "barry"
"""What stands for Barry in ``barry:NAME``."""

_SUFFIX = ".toml"


@dataclass(frozen=True, slots=True)
class Named:
    """A name, whose it is, and where the bound stands; it is read when asked for."""

    name: str
    kind: Kind
    place: str
    """A file, or the bag that has it."""
    owner: str
    """The adapter's id, ``barry``, or nothing for the user's own."""
    document: object = None
    """The bound of a bag, as the record has it."""

    def read(self) -> Bound:
        """Raises BoundRefused when it can't be read or is none."""
        if self.kind == "adapter":
            return bound_of(self.place, self.document)
        return read_bound_file(self.place)


class NamedBounds:
    """Every bound that has a name."""

    def __init__(self, folders: Folders, rows: Sequence[Row]) -> None:
        self._folder = str(folders.bounds)
        self._rows = rows

    def all(self) -> list[Named]:
        """The user's own, then those of bags in the order of the adapters, then the shipped."""
        return [
            *(self._own(name) for name in _files(self._folder)),
            *(each for row in self._rows for each in _of_bag(row)),
            *(_shipped(name) for name in _files(SHIPPED)),
        ]

    def own_path(self, name: str) -> str:
        """Where the user's own bound of a name would stand."""
        return os.path.join(self._folder, name + _SUFFIX)

    def find(self, name: str, *, first: str = "") -> Named:
        """The bound of a name: the user's own, else the one that a bag or Barry has.

        ``ADAPTER:NAME`` and ``barry:NAME`` say whose. ``first``: the adapter whose bound is meant
        where several have it. Raises BoundNotFound for none, and for several.
        """
        whose, colon, short = name.rpartition(":")
        if not colon and _plain(name) and is_there(self.own_path(name)):
            return self._own(name)
        others = [each for each in self.all() if each.kind != "own" and each.name == short]
        if colon or any(each.owner == first for each in others):
            owner = self._id(whose) if colon else first
            others = [each for each in others if each.owner == owner]
        if len(others) == 1:
            return others[0]
        if others:
            ways = [f"{each.owner}:{each.name}" for each in others]
            raise BoundNotFound(
                f"{name} could be any of {', '.join(ways)}",
                hint=f"write one of them, or put your own into {self.own_path(name)}",
                details={"name": name, "bounds": ways},
            )
        raise self._absent(name)

    def _id(self, whose: str) -> str:
        """The id of the adapter that answers to a name; the name itself where none does."""
        return next((row["id"] for row in self._rows if whose in row_names(row)), whose)

    def _own(self, name: str) -> Named:
        return Named(name, "own", self.own_path(name), "")

    def _absent(self, name: str) -> BoundNotFound:
        known = [each.name for each in self.all()]
        close = nearest(name.rpartition(":")[2], known)
        return BoundNotFound(
            f"there is no bound named {name}",
            hint=f"did you mean {close}?"
            if close
            else f"`barry bound list` shows the names; a file is given by its path: ./{name}.toml",
            details={"name": name, "known": known},
        )


def _plain(name: str) -> bool:
    return bool(name) and "/" not in name and "\0" not in name and name not in {".", ".."}


def _files(folder: str) -> list[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(
        name.removesuffix(_SUFFIX)
        for name in names
        if name.endswith(_SUFFIX) and not name.startswith(".")
    )


def _shipped(name: str) -> Named:
    return Named(name, "shipped", os.path.join(SHIPPED, name + _SUFFIX), OURS)


def _of_bag(row: Row) -> Iterable[Named]:
    for name, document in bag_table(row, "bounds").items():
        yield Named(name, "adapter", f"{name} in the bag of {row['id']}", row["id"], document)


def bag_table(row: Row, key: str) -> Mapping[str, Any]:
    """One table of the bag manifest that an adapter's record holds; empty where there is none."""
    table = _manifest(row).get(key)
    return table if isinstance(table, dict) else {}


def bag_settings(row: Row) -> tuple[str, ...]:
    """The harness's own hook and settings files, as its bag names them."""
    named = _manifest(row).get("settings")
    return tuple(map(str, named)) if isinstance(named, list | tuple) else ()


def _manifest(row: Row) -> Mapping[str, Any]:
    bag = row.get("bag")
    manifest = bag.get("manifest") if isinstance(bag, dict) else None
    return manifest if isinstance(manifest, dict) else {}


def row_names(row: Row) -> set[str]:
    """All that an adapter answers to."""
    aliases = row.get("aliases")
    return {row["id"], *(aliases if isinstance(aliases, list) else ())}
