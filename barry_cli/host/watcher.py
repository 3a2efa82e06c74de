"""Who follows a turn while it goes on: a live view, a stream of JSON, or nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from barry_cli.contract.session import Allowed, Denied, PermissionRequest
    from barry_cli.host.prepare import PreparedRun


class Watcher(Protocol):
    """Gets everything in order. What it raises ends the turn as an interrupt would."""

    def starting(self, prepared: PreparedRun) -> None:
        """A turn is about to begin; its session is on record."""
        ...

    def warned(self, warnings: Sequence[str]) -> None:
        """What the adapter wants known about the session."""
        ...

    def event(self, event: Mapping[str, Any]) -> None:
        """A SessionEvent as it is on record, camelCase."""
        ...

    def ruled(self, call: PermissionRequest, decision: Allowed | Denied, sentence: str) -> None:
        """A call was ruled on; ``sentence`` says to a person why it was denied."""
        ...
