"""Sending a message to a session: over its socket, or straight into the spool.

The spool is the queue and the socket only the door to it: where nobody listens, or who listens is
stuck, the sender keeps the message itself, by the same code. It has an id from the start, so that
what was kept in both ways is one message.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from typing import Any, Literal

from barry_cli.base.ids import new_id
from barry_cli.base.paths import Folders
from barry_cli.base.problems import SessionNotFound
from barry_cli.inbox.frames import LARGEST_FRAME, NoFrame, line_of, object_of
from barry_cli.inbox.messages import Message, Peer, State, check_content, check_id, check_name
from barry_cli.inbox.peer import peer_of
from barry_cli.inbox.problems import MessageRefused, NoWayIn, by_wire
from barry_cli.inbox.record import Lives, is_over, told
from barry_cli.inbox.spool import Spool, session_over
from barry_cli.turns.store.sessions import SessionRow, Sessions

ANSWERS_WITHIN = 2.0
"""Seconds that who listens may take for its answer, the way there included."""

_FIRST_LOOK, _LAST_LOOK, _SLOWER = 0.05, 0.5, 1.3

Goal = Literal["written", "consumed"]
GOALS: tuple[Goal, ...] = ("written", "consumed")
"""What a sender can wait for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """A message that is on record."""

    message_id: str
    state: State
    """``held``; of one that was sent before, what it is by now."""
    seq: int
    through: Literal["socket", "store"]
    """Who put it on record: the session itself, or the sender."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Waited:
    """A message once nobody waits for it any more."""

    message: Message
    end: Literal["reached", "never", "timeout"]
    """``never``: it can't get there any more, for the message's reason."""


def send(
    folders: Folders,
    row: SessionRow,
    content: str,
    *,
    lives: Lives,
    id: str | None = None,
    name: str | None = None,
    steer: bool = False,
    identity: tuple[str, str] | None = None,
) -> Sent:
    """Send a message; it is on record once this returns.

    ``identity``: the session that the sender is inside of, and its token. It counts only where the
    session listens; a sender that keeps the message itself is known by its process alone.
    Raises MessageRefused and what is below it, and StoreProblem.
    """
    check_content(content)
    check_name(name)
    if id is not None:
        check_id(id)
    refuse_closed(row, lives)
    message_id = new_id() if id is None else id
    frame: dict[str, Any] = {"type": "send", "id": message_id, "content": content, "steer": steer}
    if name is not None:
        frame["from"] = name
    if identity is not None:
        frame["as"] = {"session": identity[0], "token": identity[1]}
    line = line_of(frame)
    # A content that is all quotes and breaks is twice as long on the wire as on record.
    answer = _answer(row.socket, line) if row.socket and len(line) <= LARGEST_FRAME else None
    if (sent := _acknowledged(answer, message_id)) is not None:
        return sent
    with Spool(folders) as spool:
        held = spool.hold(
            row.id,
            content,
            sender=Peer(pid=os.getpid(), uid=os.getuid()),
            id=message_id,
            name=name,
            steer=steer,
        )
    return Sent(message_id=held.id, state=held.state, seq=held.seq, through="store")


def refuse_closed(row: SessionRow, lives: Lives) -> None:
    """Refuse a session that takes no message, saying why. Raises MessageRefused."""
    details = {"sessionId": row.id, "mode": row.mode}
    if row.owner_uid != os.getuid():
        raise MessageRefused(
            f"session {row.id} belongs to another user",
            hint="its owner can send to it",
            details=details,
        )
    if not lives(row):
        raise session_over(row.id)
    if row.mode == "hosted":
        raise NoWayIn(
            f"session {row.id} is a single turn that Barry drives, and takes no messages",
            hint=f"`barry session start {row.adapter} PROMPT --resume {row.id}` goes on with it "
            "once it is over",
            details=details,
        )
    level = row.guarantees.get("delivery")
    if row.socket is None or level in (None, "none", "on-resume"):
        why = row.lowered.get("delivery")
        raise NoWayIn(
            f"session {row.id} has no way in for messages: "
            + (why or f"it was launched in {row.mode} mode, without an inbox"),
            hint=f"`barry session launch {row.adapter} --mode instrumented` starts one that has",
            details=details,
        )


def _answer(path: str, line: bytes) -> dict[str, Any] | None:
    """What the session answers; None where nobody does in time, or in a way that makes sense."""
    until = time.monotonic() + ANSWERS_WITHIN
    found = bytearray()
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.settimeout(ANSWERS_WITHIN)
        link.connect(path)
        there = peer_of(link)
        if there is None or there.uid != os.getuid():
            return None
        link.settimeout(max(until - time.monotonic(), 0.001))
        link.sendall(line)
        while b"\n" not in found:
            link.settimeout(max(until - time.monotonic(), 0.001))
            chunk = link.recv(65536)
            if not chunk or len(found) > LARGEST_FRAME:
                return None
            found += chunk
        return object_of(bytes(found.partition(b"\n")[0]))
    except (OSError, NoFrame):
        return None
    finally:
        link.close()


def _acknowledged(answer: dict[str, Any] | None, message_id: str) -> Sent | None:
    """What an answer says; None where it says that this way is closed. Raises MessageRefused."""
    if answer is None:
        return None
    seq, state, error = answer.get("seq"), answer.get("state"), answer.get("error")
    if answer.get("ok") is True and answer.get("messageId") == message_id:
        known = next((each for each in _STATES if each == state), None)
        if known is not None and type(seq) is int:
            return Sent(message_id=message_id, state=known, seq=seq, through="socket")
    if isinstance(error, dict) and error.get("code") in _FINAL:
        raise by_wire(error["code"])(
            str(error.get("message", "the session refused the message")),
            hint=str(error.get("hint", "")),
        )
    return None


_STATES: tuple[State, ...] = ("held", "writing", "written", "consumed", "failed", "uncertain")
_FINAL = ("too_large", "inbox_full", "ended", "refused", "duplicate")


def wait(
    folders: Folders,
    session_id: str,
    message_id: str,
    until: Goal,
    seconds: float | None,
    *,
    lives: Lives,
) -> Waited:
    """Wait until a message was written, or consumed; or until that can't come to be any more.

    Raises StoreProblem, and SessionNotFound where the session was forgotten meanwhile.
    """
    reached = ("consumed",) if until == "consumed" else ("written", "consumed")
    give_up = None if seconds is None else time.monotonic() + seconds
    sessions, look = Sessions(folders), _FIRST_LOOK
    with Spool(folders) as spool:
        while True:
            over = is_over(sessions.find(session_id), lives)
            found = spool.get(session_id, message_id)  # after: its end is recorded last
            if found is None:
                raise SessionNotFound(
                    f"session {session_id} is forgotten, and message {message_id} with it",
                    hint="`barry session list` shows what there is",
                    details={"sessionId": session_id, "messageId": message_id},
                )
            message = told(found, over=over)
            if message.state in reached:
                return Waited(message=message, end="reached")
            if message.reason is not None:  # failed, uncertain, not observable, left behind
                return Waited(message=message, end="never")
            left = None if give_up is None else give_up - time.monotonic()
            if left is not None and left <= 0:
                return Waited(message=message, end="timeout")
            time.sleep(look if left is None else min(look, left))
            look = min(look * _SLOWER, _LAST_LOOK)
