"""The events of a session as they are on record, and those that still come."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from barry_cli.base.paths import Folders
from barry_cli.base.problems import StoreProblem
from barry_cli.contract.events import Done, Failed
from barry_cli.contract.turns import TurnFinish
from barry_cli.groundwork.living import lives, one_session
from barry_cli.turns.recovery import settle_orphans
from barry_cli.turns.store.owners import new_owner
from barry_cli.turns.store.record import Record
from barry_cli.turns.store.sessions import Sessions
from barry_cli.turns.store.turns import SqliteTurnStore

if TYPE_CHECKING:
    from barry_cli.turns.store.events import StoredEvent

_PAGE = 500
_SECONDS = 0.2

NOT_BEGUN = (
    "the process that was to run this turn ended before it began: nothing of it was done, and it "
    "can be asked again"
)


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
        goes_on = follow and one_session(folders, session_id).is_told_of
        if follow and not goes_on:  # whoever drove it may be gone in the middle of a turn
            settle(folders, session_id)
        while page := record.events(session_id, after, _PAGE):
            yield from page
            after = page[-1].sequence
        if not goes_on:  # looked at before the record: what came before its end was in it
            return
        time.sleep(_SECONDS)


def settle(folders: Folders, session_id: str) -> None:
    """Record what became of a session's turns whose owners are gone, where that can be written."""
    with suppress(StoreProblem), SqliteTurnStore(folders) as store:
        settle_turns(folders, store, session_id)


def settle_turns(folders: Folders, store: SqliteTurnStore, session_id: str | None = None) -> None:
    """Record what became of turns whose owners are gone, of one session or of all.

    One that its driver never began has failed once that driver is gone: nobody else runs it.
    Raises StoreProblem.
    """
    settle_orphans(store, session_id)
    rows = Sessions(folders)
    for each in store.runnable(session_id):
        row = rows.get(each.turn.session_id)
        driven = row.mode == "hosted" and row.supervisor_pid is not None
        if driven and not each.restoring and not lives(row):
            _give_up(store, each.turn.session_id, each.turn.id)


def _give_up(store: SqliteTurnStore, session_id: str, turn_id: str) -> None:
    owner = new_owner()
    if store.claim(session_id, turn_id, owner, at_rest=True):
        last = (Failed(error=NOT_BEGUN), Done())
        end = TurnFinish(state="failed", error=NOT_BEGUN, events=last)
        store.finish(session_id, turn_id, owner, end)
        store.released(session_id, turn_id, owner)
