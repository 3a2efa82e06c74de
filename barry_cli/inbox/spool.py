"""The messages of sessions, on disk: held until written, written once, and never twice.

Each change is one transaction that compares before it sets, so that of two who want the same
message one gets it. ``writing`` is on disk before a message goes into a harness: a crash in between
leaves it there, and it becomes ``uncertain``, which is shown and never sent again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from typing import Any, Self

from barry_cli.base.ids import new_id
from barry_cli.base.paths import Folders
from barry_cli.inbox.messages import (
    MOST_WAITING,
    Message,
    Peer,
    State,
    check_content,
    check_id,
    check_name,
    settled,
)
from barry_cli.inbox.problems import InboxFull, MessageIdReused, MessageRefused, SessionOver
from barry_cli.turns.store.opened import OnCommit, OpenDatabase
from barry_cli.turns.store.owners import is_gone, new_owner
from barry_cli.turns.store.sessions import now

_COLUMNS = tuple(Message.__dataclass_fields__)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM message WHERE session_id = ?"  # noqa: S608 - our own
_WAITS = "state IN ('held', 'writing')"  # word for word as in the index, which is used only so


class Spool:
    """The messages of one Barry home, seen by one thread.

    ``owner`` is who writes messages into harnesses through this object, as a text from which
    others can tell whether they live; this process, unless given. ``gone`` tells that.
    Every method raises StoreProblem where the file can't be used; then nothing was changed.
    """

    def __init__(
        self,
        folders: Folders,
        *,
        owner: str | None = None,
        gone: Callable[[str], bool] = is_gone,
        on_commit: OnCommit | None = None,
    ) -> None:
        self.folders = folders
        self._database = OpenDatabase(folders.database, on_commit)
        self._owner = owner
        self._gone = gone

    @property
    def owner(self) -> str:
        """Who writes through this object."""
        if self._owner is None:
            self._owner = new_owner()
        return self._owner

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file. What this object was writing stays ``writing``. Idempotent."""
        self._database.close()

    # --- how messages come in ---

    def hold(
        self,
        session_id: str,
        content: str,
        *,
        sender: Peer,
        id: str | None = None,
        name: str | None = None,
        steer: bool = False,
        sender_session: str | None = None,
    ) -> Message:
        """Keep a message for a session; it is on record once this returns.

        The same message with the same id is one message: sent again, it is answered as it is by
        now. Raises MessageTooLarge, InboxFull, SessionOver, MessageIdReused, MessageRefused.
        """
        check_content(content)
        check_name(name)
        if id is not None:
            check_id(id)
        message_id = new_id() if id is None else id
        with self._database.writing("hold", durable=False) as connection:
            known = _get(connection, session_id, message_id)
            if known is not None:
                _refuse_another(known, content, name, steer=steer)
                return known
            _refuse_over(connection, session_id)
            _refuse_full(connection, session_id)
            connection.execute(
                "INSERT INTO message (session_id, seq, id, state, steer, sender_name, "
                "sender_session, sender_pid, sender_uid, held_at, content) SELECT ?1, "
                "coalesce(max(seq), 0) + 1, ?2, 'held', ?3, ?4, ?5, ?6, ?7, ?8, ?9 "
                "FROM message WHERE session_id = ?1",
                (
                    session_id,
                    message_id,
                    int(steer),
                    name,
                    sender_session,
                    sender.pid,
                    sender.uid,
                    now(),
                    content,
                ),
            )
            return _required(connection, session_id, message_id)

    # --- how they go on ---

    def next(self, session_id: str) -> Message | None:
        """The oldest message that is held."""
        with self._database.reading() as connection:
            row = connection.execute(
                f"{_SELECT} AND {_WAITS} AND state = 'held' ORDER BY seq LIMIT 1", (session_id,)
            ).fetchone()
            return None if row is None else message_of(row)

    def begin(self, session_id: str, message_id: str) -> bool:
        """``held`` -> ``writing``, by this owner; False when somebody else has it."""
        return self._move(session_id, message_id, "writing", ("held",), owner=self.owner)

    def back(self, session_id: str, message_id: str) -> bool:
        """``writing``, by this owner -> ``held``: nothing received it."""
        return self._move(session_id, message_id, "held", ("writing",), own=True)

    def written(self, session_id: str, message_id: str, *, reason: str | None = None) -> bool:
        """``writing``, by this owner -> ``written``: the harness took it."""
        return self._move(
            session_id, message_id, "written", ("writing",), own=True, reason=reason, written=now()
        )

    def consumed(self, session_id: str, message_id: str) -> bool:
        """-> ``consumed``, on the harness's own evidence alone; that may come late, or twice."""
        return self._move(
            session_id, message_id, "consumed", ("writing", "written", "uncertain"), ended=now()
        )

    def failed(self, session_id: str, message_id: str, reason: str) -> bool:
        """-> ``failed``, where it is known that it did not arrive and never will."""
        return self._move(
            session_id,
            message_id,
            "failed",
            ("held", "writing", "written"),
            reason=reason,
            ended=now(),
        )

    def uncertain(self, session_id: str, message_id: str, reason: str) -> bool:
        """-> ``uncertain``, where nobody can tell whether it arrived."""
        return self._move(
            session_id, message_id, "uncertain", ("writing", "written"), reason=reason, ended=now()
        )

    def settle(self, session_id: str, *, over: bool) -> list[Message]:
        """Say of messages that nobody works on any more what is known of them; those it changed.

        With ``over`` the session has ended, and its evidence was read to the end. What is held
        stays held.
        """
        changed = []
        with self._database.writing("settle", durable=False) as connection:
            rows = connection.execute(
                f"{_SELECT} AND state IN ('writing', 'written') ORDER BY seq", (session_id,)
            ).fetchall()
            for before in map(message_of, rows):
                after = settled(before, owner_gone=self._is_gone(before), over=over)
                if after is not before:
                    connection.execute(
                        "UPDATE message SET state = ?, reason = ?, owner = NULL, ended_at = ? "
                        "WHERE session_id = ? AND id = ?",
                        (after.state, after.reason, now(), session_id, before.id),
                    )
                    changed.append(_required(connection, session_id, before.id))
        return changed

    def _is_gone(self, message: Message) -> bool:
        return message.owner is not None and self._gone(message.owner)

    def _move(
        self,
        session_id: str,
        message_id: str,
        to: State,
        before: tuple[State, ...],
        *,
        own: bool = False,
        owner: str | None = None,
        reason: str | None = None,
        written: str | None = None,
        ended: str | None = None,
    ) -> bool:
        """One step, if the message is in a state that it can be taken from."""
        marks = ", ".join("?" * len(before))
        values: list[Any] = [to, owner, reason, written, ended, session_id, message_id, *before]
        condition = ""
        if own:
            condition = " AND owner = ?"
            values.append(self.owner)
        with self._database.writing(to, durable=False) as connection:
            found = connection.execute(
                "UPDATE message SET state = ?, owner = ?, reason = ?, "  # noqa: S608 - our own
                "written_at = coalesce(?, written_at), ended_at = ? "
                f"WHERE session_id = ? AND id = ? AND state IN ({marks}){condition}",
                values,
            )
            return found.rowcount == 1

    # --- what is there ---

    def get(self, session_id: str, message_id: str) -> Message | None:
        """One message."""
        with self._database.reading() as connection:
            return _get(connection, session_id, message_id)

    def list(self, session_id: str) -> list[Message]:
        """The session's messages, first to last."""
        with self._database.reading() as connection:
            rows = connection.execute(f"{_SELECT} ORDER BY seq", (session_id,)).fetchall()
            return [message_of(row) for row in rows]

    def on_its_way(self, session_id: str) -> int:
        """How many messages are held, or being written."""
        with self._database.reading() as connection:
            return _waiting(connection, session_id)


def message_of(row: sqlite3.Row) -> Message:
    """A message from a row that has all its columns."""
    values = {name: row[name] for name in _COLUMNS}
    values["steer"] = bool(values["steer"])
    return Message(**values)


def _get(connection: sqlite3.Connection, session_id: str, message_id: str) -> Message | None:
    row = connection.execute(f"{_SELECT} AND id = ?", (session_id, message_id)).fetchone()
    return None if row is None else message_of(row)


def _required(connection: sqlite3.Connection, session_id: str, message_id: str) -> Message:
    found = _get(connection, session_id, message_id)
    if found is None:
        raise LookupError(message_id)
    return found


def _waiting(connection: sqlite3.Connection, session_id: str) -> int:
    row = connection.execute(
        f"SELECT count(*) FROM message WHERE session_id = ? AND {_WAITS}",  # noqa: S608 - our own
        (session_id,),
    ).fetchone()
    return int(row[0])


def _refuse_another(known: Message, content: str, name: str | None, *, steer: bool) -> None:
    if (known.content, known.sender_name, known.steer) != (content, name, steer):
        raise MessageIdReused(
            f"message {known.id} of session {known.session_id} was sent before, with something "
            "else in it",
            hint="give each message an id of its own, or none",
            details={"sessionId": known.session_id, "messageId": known.id},
        )


def _refuse_over(connection: sqlite3.Connection, session_id: str) -> None:
    row = connection.execute(
        "SELECT state, owner_uid FROM session WHERE id = ?", (session_id,)
    ).fetchone()
    if row is None or row["owner_uid"] != os.getuid():
        raise MessageRefused(
            f"there is no session {session_id} that takes messages",
            hint="`barry session list` shows what there is",
            details={"sessionId": session_id},
        )
    if row["state"] == "ended":
        raise session_over(session_id)


def session_over(session_id: str) -> SessionOver:
    """What who sends to a session that has ended is told."""
    return SessionOver(
        f"session {session_id} has ended, and nobody is there to take a message",
        hint=f"`barry session resume {session_id}` goes on with it; send it to the session that "
        "this starts",
        details={"sessionId": session_id},
    )


def _refuse_full(connection: sqlite3.Connection, session_id: str) -> None:
    if _waiting(connection, session_id) >= MOST_WAITING:
        raise InboxFull(
            f"{MOST_WAITING} messages already wait for session {session_id}",
            hint="send it again when some were delivered",
            details={"sessionId": session_id, "most": MOST_WAITING},
        )
