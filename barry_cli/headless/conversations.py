"""Where a harness keeps its conversations, and how one is taken along (seed 004)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from barry_cli.contract.data import Data


class StoredConversation(Data):
    """A conversation that was captured: what it is, and where its file lies."""

    store: str
    """The name of the store that wrote it: no other restores it."""
    id: str
    root: str
    """The folder that its paths are under."""
    path: str


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an agent ran, or will run."""

    cwd: str
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The environment that the harness runs with: some move their files by it."""
    root: str | None = None
    """The folder that recorded paths are to be under; None leaves them."""
    secrets: tuple[str, ...] = field(default=(), repr=False)
    """Values to be masked."""


class ConversationStore(Protocol):
    """Finds, captures and restores one harness's conversations."""

    @property
    def name(self) -> str: ...

    def locate(self, id: str, place: Place) -> Path | None:
        """The native transcript, or None when there is no such conversation for this folder."""
        ...

    def capture(self, id: str, place: Place, folder: Path) -> StoredConversation:
        """Copy the native transcript into a folder: redacted, relocated, 0600.

        Raises AgentFault (``session``) when there is none.
        """
        ...

    def restore(self, record: StoredConversation, place: Place) -> Path:
        """Put a captured conversation where the harness looks for it; the path.

        One that is there already, under the same root, is left as it is. Raises AgentFault
        (``session``): another store's record, or a file that is gone.
        """
        ...
