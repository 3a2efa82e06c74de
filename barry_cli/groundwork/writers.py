"""Who else writes the conversation that a launch goes on with."""

from __future__ import annotations

import os
from collections.abc import Mapping

from barry_cli.contract.adapter import Adapter
from barry_cli.contract.session import Resume
from barry_cli.groundwork.living import lives
from barry_cli.groundwork.surroundings import as_found
from barry_cli.turns.store.sessions import SessionRow, Sessions


def other_writers(
    adapter: Adapter, resume: Resume | None, cwd: str, env: Mapping[str, str], sessions: Sessions
) -> list[str]:
    """A warning for each session that lives and has, or may have, the same conversation."""
    if resume is None or resume.picker:  # who picks sees the conversations, and Barry doesn't
        return []
    names = (adapter.id, *adapter.aliases)
    rows = [row for row in sessions.all() if row.adapter in names and row.state != "ended"]
    if not rows:
        return []
    wanted = _newest(adapter, cwd, env) if resume.last else resume.harness_session_id
    said = []
    for row in rows:
        if wanted is not None and row.harness_session_id == wanted:
            text = f"session {row.id} still runs: two would write the same conversation"
            if resume.fork:
                text = f"session {row.id} still runs: the copy has what was said up to now"
        elif resume.last and _may_be(row, wanted, cwd):
            text = (
                f"session {row.id} still runs in this folder: if its conversation is the last one, "
                "two would write it"
            )
        else:
            continue
        if lives(row):
            said.append(text)
    return said


def _may_be(row: SessionRow, newest: str | None, cwd: str) -> bool:
    unknown = newest is None or row.harness_session_id is None
    return unknown and os.path.realpath(row.cwd) == os.path.realpath(cwd)


def _newest(adapter: Adapter, cwd: str, env: Mapping[str, str]) -> str | None:
    """The last conversation in a folder; None where nobody can say."""
    if adapter.transcript is None:
        return None
    try:
        with as_found():
            return next(iter(adapter.transcript.list(cwd, env)), None)
    except (Exception, SystemExit):  # somebody else's code, which only a warning depends on
        return None
