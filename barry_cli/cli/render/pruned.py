"""Sessions that were forgotten, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from barry_cli.cli.render.columns import columns
from barry_cli.cli.render.output import ago
from barry_cli.turns.store.retention import Pruned


def document(found: Sequence[Pruned], *, dry_run: bool) -> dict[str, Any]:
    """``{"schema": 1, "dryRun": ..., "sessions": [...]}``."""
    sessions = [
        {
            "id": each.row.id,
            "adapter": each.row.adapter,
            "cwd": each.row.cwd,
            "createdAt": each.row.created_at,
            "endedAt": each.row.ended_at,
            "turns": each.turns,
            "events": each.events,
            "messages": each.messages,
        }
        for each in found
    ]
    return {"schema": 1, "dryRun": dry_run, "sessions": sessions}


def text(found: Sequence[Pruned], *, dry_run: bool) -> str:
    """The sessions in columns, and how many they are."""
    if not found:
        return "nothing to remove\n"
    rows = [
        (
            each.row.id,
            each.row.adapter,
            ago(each.row.ended_at or each.row.created_at),
            str(each.turns),
            str(each.events),
            str(each.messages),
            each.row.cwd,
        )
        for each in found
    ]
    table = columns(("ID", "ADAPTER", "ENDED", "TURNS", "EVENTS", "MESSAGES", "FOLDER"), rows)
    count = f"{len(found)} session{'s' if len(found) > 1 else ''}"
    return f"{table}{count} {'would be ' if dry_run else ''}removed\n"
