"""A session's conversation, to be taken elsewhere: without the values of secret variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from barry_cli.base.paths import Folders
from barry_cli.base.problems import BarryError, ConversationLost, Refused
from barry_cli.base.secrets import looks_secret, redact
from barry_cli.contract.data import snapshot
from barry_cli.groundwork.following import settle
from barry_cli.groundwork.living import one_session
from barry_cli.groundwork.surroundings import as_found
from barry_cli.turns.store.record import Record

if TYPE_CHECKING:
    from barry_cli.registry.adapters import Adapters
    from barry_cli.turns.store.sessions import SessionRow

_PAGE = 500


async def exported(
    folders: Folders, registry: Adapters, prefix: str, env: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The conversation as SessionEvents: of a session that Barry drove from its own record, of
    another from the harness's, or what Barry saw of it where the harness has none.

    Values of variables of ``env`` that look secret are masked. Raises SessionNotFound, and
    ConversationLost where there is nothing to export.
    """
    row = one_session(folders, prefix).row
    settle(folders, row.id)
    hidden = [value for name, value in env.items() if looks_secret(name)]
    events = list(_recorded(folders, row.id))
    if row.mode != "hosted" or not events:
        try:
            events = await _native(registry, row, env) or events
        except BarryError:  # the adapter is not there any more, or can't read its own
            if not events:
                raise
    if not events:
        raise ConversationLost(
            f"session {row.id} has no conversation on record to export",
            hint=f"`barry session show {row.id}` says what is known of it",
            details={"sessionId": row.id},
        )
    return [_cleaned(event, hidden) for event in events]


def _recorded(folders: Folders, session_id: str) -> Iterator[dict[str, Any]]:
    record, after = Record(folders), 0
    while page := record.events(session_id, after, _PAGE):
        yield from (dict(stored.event) for stored in page)
        after = page[-1].sequence


async def _native(
    registry: Adapters, row: SessionRow, env: Mapping[str, str]
) -> list[dict[str, Any]]:
    if row.harness_session_id is None:
        return []
    with as_found():
        adapter = await registry.load(registry.resolve(row.adapter))
    if adapter.transcript is None:
        return []
    try:
        with as_found():
            path = adapter.transcript.find(row.harness_session_id, row.cwd, env)
            found = [] if path is None else list(adapter.transcript.read(path))
    except (Exception, SystemExit) as error:  # somebody else's code: told as theirs
        raise Refused(
            f"the adapter {adapter.id} failed to read its conversation: {type(error).__name__}: "
            f"{error}",
            hint="this is a fault of the adapter; an update may mend it",
            details={"adapterId": adapter.id},
        ) from error
    return [snapshot(event) for event in found]


def _cleaned(value: Any, hidden: list[str]) -> Any:
    if isinstance(value, str):
        return redact(value, hidden)
    if isinstance(value, dict):
        return {redact(name, hidden): _cleaned(each, hidden) for name, each in value.items()}
    if isinstance(value, list):
        return [_cleaned(each, hidden) for each in value]
    return value
