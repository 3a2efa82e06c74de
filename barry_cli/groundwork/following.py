"""The events of a session as they are on record, and those that still come."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from barry_cli.base.paths import Folders
from barry_cli.base.problems import StoreProblem
from barry_cli.groundwork.living import one_session
from barry_cli.turns.recovery import settle_orphans
from barry_cli.turns.store.record import Record
from barry_cli.turns.store.turns import SqliteTurnStore

if TYPE_CHECKING:
    from barry_cli.turns.store.events import StoredEvent

_PAGE = 500
_SECONDS = 0.2


def follow_events(
    folders: Folders, prefix: str, *, after: int = 0, follow: bool = False
) -> Iterator[StoredEvent]:
    """The events with a higher number than ``after``, each once; with ``follow`` until it ends.

    What a crash left open is settled first. Raises SessionNotFound and StoreProblem.
    """
    session_id = one_session(folders, prefix).row.id
    settle(folders, session_id)
    record = Record(folders)
    while True:
        lives = follow and one_session(folders, session_id).lives
        if follow and not lives:  # whoever drove it may be gone in the middle of a turn
            settle(folders, session_id)
        while page := record.events(session_id, after, _PAGE):
            yield from page
            after = page[-1].sequence
        if not lives:  # looked at before the record: what came before its end was in it
            return
        time.sleep(_SECONDS)


def settle(folders: Folders, session_id: str) -> None:
    """Record what became of a session's turns whose owners are gone, where that can be written."""
    with suppress(StoreProblem), SqliteTurnStore(folders) as store:
        settle_orphans(store, session_id)
