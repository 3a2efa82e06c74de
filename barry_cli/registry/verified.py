"""What this machine itself has shown of its harnesses: which check held, on which build.

A promise that was shown elsewhere on another build counts as verified here once the adapter's own
check has held here. Another version of the adapter's code has to show it again.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from barry_cli.base.files import lock, read_json, write_json
from barry_cli.base.problems import StoreProblem

if TYPE_CHECKING:
    from barry_cli.base.paths import Folders
    from barry_cli.contract.levels import ModeId

SCHEMA = 1

_KEYS = ("adapterId", "mode", "build", "contentHash", "platform")


def record_verified(
    folders: Folders, adapter_id: str, mode: ModeId, build: str, *, content_hash: str, at: str
) -> None:
    """Note that a mode's check held here. ``at``: when, ISO 8601. Raises StoreProblem."""
    with lock(folders.verified):
        rows = [
            row for row in _rows(folders) if (row["adapterId"], row["mode"]) != (adapter_id, mode)
        ]
        rows.append({**_row(adapter_id, mode, build, content_hash), "at": at})
        write_json(folders.verified, {"schema": SCHEMA, "verified": rows})


def forget_verified(folders: Folders, adapter_id: str, mode: ModeId) -> None:
    """Note that a mode's check did not hold here. Raises StoreProblem."""
    with lock(folders.verified):
        before = _rows(folders)
        rows = _others(before, adapter_id, mode)
        if rows != before:
            write_json(folders.verified, {"schema": SCHEMA, "verified": rows})


def was_verified(
    folders: Folders, adapter_id: str, mode: ModeId, build: str, *, content_hash: str
) -> bool:
    """Whether the check of this very code held here on this build.

    A record that can't be read shows nothing.
    """
    wanted = _row(adapter_id, mode, build, content_hash)
    try:
        return any({key: row[key] for key in _KEYS} == wanted for row in _rows(folders))
    except StoreProblem:
        return False


def _others(rows: list[dict[str, Any]], adapter_id: str, mode: ModeId) -> list[dict[str, Any]]:
    return [row for row in rows if (row["adapterId"], row["mode"]) != (adapter_id, mode)]


def _row(adapter_id: str, mode: ModeId, build: str, content_hash: str) -> dict[str, Any]:
    return dict(zip(_KEYS, (adapter_id, mode, build, content_hash, sys.platform), strict=True))


def _rows(folders: Folders) -> list[dict[str, Any]]:
    path = folders.verified
    try:
        document = read_json(path)
    except (ValueError, RecursionError):
        document = False
    if document is None:
        return []
    rows = document.get("verified") if isinstance(document, dict) else None
    if (
        not isinstance(document, dict)
        or document.get("schema") != SCHEMA
        or not isinstance(rows, list)
        or not all(isinstance(row, dict) and row.keys() >= {*_KEYS} for row in rows)
    ):
        raise StoreProblem(
            f"{path} isn't Barry's record of what was verified, or a newer Barry's",
            hint="move the file aside and run `barry adapter verify` again; it was not changed",
            details={"path": str(path)},
        )
    return rows
