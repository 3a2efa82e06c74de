"""A message on its way into a session: what is known of it, and what it may hold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from barry_cli.inbox.problems import MessageRefused, MessageTooLarge

State = Literal["held", "writing", "written", "consumed", "failed", "uncertain"]
"""``held`` by Barry; ``writing`` into the harness right now; ``written``: the harness took it;
``consumed``: the harness's own evidence shows it; ``failed`` and ``uncertain``, for a reason."""

NOT_OBSERVABLE = "not observable"
"""Why a message stays ``written``: its harness shows no evidence of what it takes in."""

LARGEST = 1_000_000
"""Bytes of UTF-8 that a message may hold: one frame of a MiB, less what is around it."""
MOST_WAITING = 1000
"""Messages of one session that may wait for their delivery."""
_LONGEST_NAME = 200
_LONGEST_ID = 128


@dataclass(frozen=True, kw_only=True, slots=True)
class Peer:
    """Who is at the other end of a connection, as the kernel tells."""

    pid: int | None
    uid: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A message as it is recorded. Times are ISO 8601 in UTC."""

    session_id: str
    seq: int
    """Its place among the session's messages, from 1."""
    id: str
    """Unique in its session; the sender's own, if they gave one."""
    state: State
    reason: str | None
    """Why it is in this state, where that needs a word."""
    owner: str | None
    """Who writes it into the harness right now."""
    steer: bool
    sender_name: str | None
    """What the sender calls itself: a claim."""
    sender_session: str | None
    """The session whose token the sender showed."""
    sender_pid: int | None
    sender_uid: int
    held_at: str
    written_at: str | None
    ended_at: str | None
    content: str

    def offered(self) -> dict[str, str]:
        """The message as an adapter's inbox gets it: ``content``, ``id``, perhaps ``from``."""
        found = {"content": self.content, "id": self.id}
        name = self.sender_name or (
            f"session {self.sender_session}" if self.sender_session is not None else None
        )
        return found if name is None else {**found, "from": name}


def settled(message: Message, *, owner_gone: bool, over: bool) -> Message:
    """What a message is once nobody works on it any more: nothing is ever written twice.

    ``over``: the session has ended, and its evidence was read to the end.
    """
    if message.state == "writing" and (owner_gone or over):
        return replace(message, state="uncertain", owner=None, reason=_CUT_SHORT)
    if message.state == "written" and over and message.reason is None:
        return replace(message, state="uncertain", reason=_NEVER_SHOWN)
    return message


def as_it_stands(message: Message, *, owner_gone: bool, over: bool) -> Message:
    """A message as its reader is told of it, whoever was to record that and did not."""
    if message.state == "held" and over:
        return replace(message, reason=_LEFT_BEHIND)
    return settled(message, owner_gone=owner_gone, over=over)


_CUT_SHORT = "Barry ended while it wrote this; it may have arrived, and is not sent again"
_NEVER_SHOWN = "the session ended before anything showed that this had arrived"
_LEFT_BEHIND = "the session ended before this could be delivered, and nobody delivers it now"


def check_content(content: str) -> None:
    """Raises MessageTooLarge, and MessageRefused for what is no text."""
    try:
        size = len(content.encode())
    except UnicodeEncodeError as error:
        raise MessageRefused(
            "the message is not UTF-8", hint="convert it first; only text can be sent"
        ) from error
    if size > LARGEST:
        raise MessageTooLarge(
            f"the message has {size} bytes, and {LARGEST} is the most",
            hint="put it into a file, and send where that is",
            details={"bytes": size, "most": LARGEST},
        )
    if "\0" in content:
        raise MessageRefused(
            "the message holds a NUL, which no text does", hint="only text can be sent"
        )
    if not content.strip():
        raise MessageRefused("the message is empty", hint="say something in it")


def check_name(name: str | None) -> None:
    """Raises MessageRefused for a sender's name that is none."""
    if name is None:
        return
    if not (name.strip() and name.isprintable() and len(name) <= _LONGEST_NAME):
        raise MessageRefused(
            f"the sender's name is not one line of at most {_LONGEST_NAME} letters",
            hint="give a short name",
        )


def check_id(message_id: str) -> None:
    """Raises MessageRefused for an id that can't be told or typed."""
    printable = message_id.isascii() and message_id.isprintable() and " " not in message_id
    if not (message_id and printable and len(message_id) <= _LONGEST_ID):
        raise MessageRefused(
            f"a message's id is 1 to {_LONGEST_ID} printable ASCII characters without spaces",
            hint="leave it out, and Barry makes one",
        )
