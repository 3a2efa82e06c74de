"""Messages to sessions, for people and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from barry_cli.cli.render.talk import one_line

if TYPE_CHECKING:
    from barry_cli.inbox.messages import Message
    from barry_cli.inbox.record import Listed
    from barry_cli.inbox.sender import Sent, Waited

_LETTERS = 60
_EXIT = {"reached": 0, "never": 1, "timeout": 124}


def sent(session_id: str, found: Sent) -> tuple[str, dict[str, Any], int]:
    """What became of sending: a line, a document, an exit code."""
    document = _sent(session_id, found.message_id, found.seq, found.state, None)
    return _line(found.message_id, found.state, None), document, 0


def waited(found: Waited) -> tuple[str, dict[str, Any], int]:
    """What became of waiting: a line, a document, an exit code."""
    it = found.message
    document = _sent(it.session_id, it.id, it.seq, it.state, it.reason)
    return _line(it.id, it.state, it.reason), document, _EXIT[found.end]


def _sent(
    session_id: str, message_id: str, seq: int, state: str, reason: str | None
) -> dict[str, Any]:
    return {
        "schema": 1,
        "sessionId": session_id,
        "messageId": message_id,
        "seq": seq,
        "state": state,
        "reason": reason,
    }


def _line(message_id: str, state: str, reason: str | None) -> str:
    return f"{message_id} {state}{'' if reason is None else f': {one_line(reason)}'}\n"


def documents(found: Sequence[Listed]) -> list[dict[str, Any]]:
    """The messages of a session, as JSON; of a long one, the beginning of its content."""
    return [_document(each.message, each.bytes) for each in found]


def _document(message: Message, size: int) -> dict[str, Any]:
    return {
        "id": message.id,
        "seq": message.seq,
        "state": message.state,
        "reason": message.reason,
        "from": message.sender_name,
        "senderSession": message.sender_session,
        "senderPid": message.sender_pid,
        "senderUid": message.sender_uid,
        "steer": message.steer,
        "content": message.content,
        "contentBytes": size,
        "heldAt": message.held_at,
        "writtenAt": message.written_at,
        "endedAt": message.ended_at,
    }


def pairs(found: Sequence[Listed]) -> list[tuple[str, str]]:
    """The messages of a session for a person, each in one line."""
    return [("message", _told(each.message, each.bytes)) for each in found]


def _told(message: Message, size: int) -> str:
    said = one_line(message.content[: _LETTERS * 2])
    if len(said) > _LETTERS:
        said = f"{said[: _LETTERS - 3]}..."
    why = "" if message.reason is None else f" ({message.reason})"
    return f"{message.id} {message.state}{why}, {size} bytes from {sender(message)}: {said}"


def sender(message: Message) -> str:
    """Who sent it: what is known, and what is claimed beside it."""
    if message.sender_session is not None:
        known = f"session {message.sender_session}"
    elif message.sender_pid is not None:
        known = f"process {message.sender_pid}"
    else:
        known = f"user {message.sender_uid}"
    return known if message.sender_name is None else f'{known} as "{message.sender_name}"'
