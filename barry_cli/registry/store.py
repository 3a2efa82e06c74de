"""The registry's file: ``adapters.json``, read as plain JSON, changed by one writer at a time."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barry_cli.base.files import lock, read_json, write_json
from barry_cli.base.paths import in_the_way
from barry_cli.base.problems import StoreProblem

if TYPE_CHECKING:
    from barry_cli.base.paths import Folders

SCHEMA = 1

_LONGEST_ID = 200  # more than any id may have; a longer one is nothing to print

Row = dict[str, Any]
"""One record as JSON holds it: camelCase keys, ``id`` always a text."""


def read_rows(folders: Folders) -> list[Row]:
    """The records, in the order they were first added; none when there is no file.

    Raises StoreProblem for a file that can't be read or understood; it is left as it is.
    """
    path = folders.registry
    try:
        document = read_json(path)
    except StoreProblem as problem:
        raise _unreadable(path, problem) from problem
    except (ValueError, RecursionError) as error:
        raise _unusable(path, f"{path} isn't the registry's JSON: {_line(error)}") from error
    if document is None and not os.path.lexists(path):  # the text "null" is no registry
        return []
    return _rows(path, document)


def update(folders: Folders, change: Callable[[list[Row]], list[Row]]) -> list[Row]:
    """Replace the records by what ``change`` makes of them, while nobody else can.

    What ``change`` raises passes through, and then nothing has changed. Returns the new records.
    Raises StoreProblem as ``read_rows`` does, and when the file can't be written.
    """
    with lock(folders.registry):
        rows = change(read_rows(folders))
        write_json(folders.registry, {"schema": SCHEMA, "adapters": rows})
    return rows


def _rows(path: Path, document: object) -> list[Row]:
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(document, dict) or type(schema) is not int:
        raise _unusable(path, f"{path} isn't a registry: it has no schema number")
    if schema > SCHEMA:
        raise StoreProblem(
            f"{path} was written by a newer Barry (schema {schema}; this one knows {SCHEMA})",
            hint=f"update Barry, or move the file aside ({_aside(path)}) "
            "and add the adapters again",
            details={"path": str(path)},
        )
    rows = document.get("adapters")
    if schema != SCHEMA or not isinstance(rows, list):
        raise _unusable(path, f"{path} isn't a registry: it has no list of adapters")
    for place, row in enumerate(rows):
        if not isinstance(row, dict) or not isinstance(row.get("id"), str):
            raise _unusable(path, f"{path} is damaged: adapter number {place + 1} has no id")
        if not row["id"].isprintable() or len(row["id"]) > _LONGEST_ID:
            raise _unusable(
                path, f"{path} is damaged: the id of adapter number {place + 1} is none"
            )
    return rows


def _unreadable(path: Path, problem: StoreProblem) -> StoreProblem:
    """That the file can't be read, with what helps: moving it aside mostly does not."""
    import shlex

    if isinstance(problem.__cause__, PermissionError):
        both = f"{shlex.quote(str(path.parent))} {shlex.quote(str(path))}"
        hint = f"make it yours again with chmod or chown: `ls -ld {both}` says whose it is"
    elif (other := in_the_way(path)) is not None:
        hint = f"move what is in the way of its folder aside: {_aside(other)}"
    else:
        return _unusable(path, problem.message)
    return StoreProblem(problem.message, hint=hint, details={"path": str(path)})


def _unusable(path: Path, message: str) -> StoreProblem:
    return StoreProblem(
        message,
        hint=f"move the file aside ({_aside(path)}) and add the adapters again; it was not changed",
        details={"path": str(path)},
    )


def _aside(path: Path) -> str:
    import shlex

    return f"mv {shlex.quote(str(path))} {shlex.quote(str(path) + '.aside')}"


def _line(error: BaseException) -> str:
    text = str(error) or type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."
