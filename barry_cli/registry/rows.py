"""What can be read off the registry's rows, without the cost of their types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from barry_cli.base.ids import matching, nearest
from barry_cli.base.problems import AdapterNotInstalled, AdapterRefused
from barry_cli.registry.content import top_of
from barry_cli.registry.store import Row

if TYPE_CHECKING:
    from barry_cli.registry.records import InstalledAdapter


def find_row(rows: Iterable[Row], id: str) -> Row | None:
    """The row that answers to an id: by its own id first, else by one of its aliases."""
    rows = list(rows)
    for row in rows:
        if row["id"] == id:
            return row
    return next((row for row in rows if id in _aliases(row)), None)


def _aliases(row: Row) -> list[str]:
    aliases = row.get("aliases")
    return [each for each in aliases if isinstance(each, str)] if isinstance(aliases, list) else []


def present_row(rows: list[Row], id: str) -> Row:
    """The row that answers to an id. Raises AdapterNotInstalled, with what was meant."""
    row = find_row(rows, id)
    if row is None:
        raise absent(id, rows)
    return row


def absent(id: str, rows: list[Row]) -> AdapterNotInstalled:
    """That no row answers to an id, and which name was probably meant."""
    from barry_cli.registry.shipped import shipped_ids

    shipped = shipped_ids()
    if id in shipped:
        return AdapterNotInstalled(id, hint=f"`barry adapter add {id}` installs it")
    if guess := nearest(id, [name for row in rows for name in (row["id"], *_aliases(row))]):
        return AdapterNotInstalled(id, hint=f"did you mean {guess}?")
    if near := nearest(id, shipped):
        return AdapterNotInstalled(id, hint=f"did you mean {near}? `barry adapter add {near}`")
    return AdapterNotInstalled(
        id, hint="`barry adapter list` shows what is, `barry adapter add PATH|NAME` adds one"
    )


def not_there_to_remove(id: str, rows: list[Row]) -> AdapterNotInstalled:
    """That nothing of exactly this name is installed, and what was probably meant."""
    names = [name for row in rows for name in (row["id"], *_aliases(row))]
    close = matching(id, names) if id else []
    guess = close[0] if len(close) == 1 else nearest(id, names)
    listed = "`barry adapter list` shows what is installed"
    if len(close) > 1:
        listed = f"write one of {', '.join(close)} out"
    return AdapterNotInstalled(
        id,
        hint=f"did you mean {guess}? `barry adapter remove {guess}`" if guess else listed,
    )


def how_to_add_again(row: Row) -> str:
    """The command that checks a row's package once more, as the beginning of a hint."""
    import shlex

    # A shipped package or a distribution is added by its name, wherever it is by now.
    what = row.get("path") if row.get("source") == "path" else row["id"]
    return f"`barry adapter add {shlex.quote(str(what or row['id']))}` checks and records it again"


def refuse_clashes(record: InstalledAdapter, rows: list[Row]) -> None:
    """Refuse a record whose names another adapter answers to already."""
    problems = []
    top = top_of(record.entry)
    for row in rows:
        if row["id"] == record.id:
            continue
        taken = {row["id"], *_aliases(row)}
        for name in (record.id, *record.aliases):
            if name in taken:
                kind = "id" if name == record.id else "alias"
                problems.append(f"its {kind} {name} is taken by the installed adapter {row['id']}")
        if top_of(str(row.get("entry", ""))) == top:
            problems.append(
                f"its package {top} has the name of the package of adapter {row['id']}: one "
                "process can't hold both"
            )
    if problems:
        raise AdapterRefused(
            record.id, problems, hint="rename it, or remove the other with `barry adapter remove`"
        )


def vendor_ids(row: Row) -> list[str]:
    """The vendors whose call code a row's adapter carries."""
    code = row.get("vendorCode")
    vendors = code.get("vendors") if isinstance(code, dict) else None
    return [
        vendor["id"]
        for vendor in (vendors if isinstance(vendors, list) else [])
        if isinstance(vendor, dict) and isinstance(vendor.get("id"), str)
    ]
