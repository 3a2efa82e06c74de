"""Why a message is not taken: told to its sender, on the wire and on the command line."""

from __future__ import annotations

from typing import ClassVar

from barry_cli.base.problems import Refused


class MessageRefused(Refused):
    """A message that can't be held: nothing of it was kept."""

    code = "message-refused"
    wire: ClassVar[str] = "refused"
    """What the session's socket calls it."""


class MessageTooLarge(MessageRefused):
    """More than a message may hold."""

    code = "message-too-large"
    wire = "too_large"


class InboxFull(MessageRefused):
    """As many messages wait for the session as may wait."""

    code = "inbox-full"
    wire = "inbox_full"


class SessionOver(MessageRefused):
    """The session has ended: nobody is there to deliver anything."""

    code = "session-over"
    wire = "ended"


class MessageIdReused(MessageRefused):
    """The same message id came before, with something else in it."""

    code = "message-id-reused"
    wire = "duplicate"


class NoWayIn(MessageRefused):
    """This session was started in a way that lets no message in."""

    code = "no-way-in"


def by_wire(code: str) -> type[MessageRefused]:
    """The kind that the socket means by a code; the general one for a code that is not known."""
    kinds = (MessageTooLarge, InboxFull, SessionOver, MessageIdReused)
    return next((each for each in kinds if each.wire == code), MessageRefused)
