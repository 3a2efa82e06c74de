"""Whose a session is (seed 001)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from barry_cli.base.problems import SessionNotFound


class OwnedSession(Protocol):
    """A session's row: its owner is the user id that made it."""

    @property
    def owner_uid(self) -> int: ...


def assert_session_owner(
    session: OwnedSession | Mapping[str, object] | None, identity: int
) -> None:
    """Hold that a session is there and belongs to ``identity``, a user id.

    ``session`` is a row, or a mapping with ``identity_id`` or ``owner_uid``; None when there is
    none. Raises SessionNotFound, the same for one that is missing and for somebody else's: who
    asks must not learn which ids exist.
    """
    if isinstance(session, Mapping):
        owner = session.get("identity_id", session.get("owner_uid"))
    else:
        owner = session.owner_uid if session is not None else None
    if type(owner) is not int or owner != identity:
        raise SessionNotFound(
            "there is no such session", hint="`barry session list` shows what there is"
        )
