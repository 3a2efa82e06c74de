"""What a store of turns refuses, whatever it is made of."""

from __future__ import annotations

from barry_cli.base.problems import BarryError, Refused


class TurnNotFound(BarryError):
    """The session has no such turn."""

    code = "turn-not-found"
    exit_code = 2


class TurnActive(Refused):
    """Another turn of the session is not over, and the new one was not to be queued."""

    code = "turn-active"


class TurnOver(Refused):
    """The turn is in a state in which this can't be done any more, or not yet."""

    code = "turn-state"


class LeaseLost(Refused):
    """The turn is not held by who asks, in the claim that they hold."""

    code = "lease-lost"


class OwnerLives(Refused):
    """The turn is held by a process that lives, or that can't be seen from here."""

    code = "owner-lives"


class RequestReused(Refused):
    """The same request id came before, with something else in it."""

    code = "request-reused"


class InterruptClosed(Refused):
    """A decision about what is unknown, over, or decided otherwise."""

    code = "interrupt-closed"


class CallRefused(Refused):
    """A call that may not run: asked with another input, not approved, or over."""

    code = "call-refused"


class CallUncertain(CallRefused):
    """A call was begun and nobody knows how it went: it never runs again by itself."""

    code = "call-uncertain"
