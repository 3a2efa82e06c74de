"""A plugin inside the harness that holds a line to Barry: what it is given, and messages by it.

``line.js`` beside this file is the plugin's end, for plugins in JavaScript. It asks for every
call's ruling, and answers two questions: ``{"do": "ready"}``, whether a message could be taken in
now, and ``{"do": "say", "message", "text"}``, which takes one in; both with ``{"ok": bool}``. Once
the harness shows that a message is in the conversation, the plugin tells ``taken``, with its id.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from barry_cli.contract.evidence import spoken

if TYPE_CHECKING:
    from barry_cli.contract.draft import PlanDraft
    from barry_cli.contract.instrument import Inside, Instrument
    from barry_cli.contract.levels import DeliveryLevel

_CLIENT = Path(__file__).with_name("line.js")
_SAYING_SECONDS = 60.0
_UNSURE = "the plugin was given it and did not say what became of it"


def place_plugin(
    draft: PlanDraft,
    instrument: Instrument,
    session_id: str,
    modules: Iterable[Path],
    given: Mapping[str, object] | None = None,
) -> Path:
    """A private folder with a plugin's modules, ``line.js``, and what ``line.given`` holds.

    The first of the modules is the plugin; its place is the answer. The modules are copies: the
    agent can't write there.
    """
    folder = draft.folder()
    placed = [
        draft.file(module.name, module.read_text("utf-8"), folder=folder)
        for module in (*modules, _CLIENT)
    ]
    line = {
        **(given or {}),
        "socket": instrument.socket,
        "key": instrument.key,
        "session": session_id,
        "fingerprint": instrument.fingerprint,
    }
    draft.file("line.json", json.dumps(line), folder=folder)
    return placed[0]


class LineInbox:
    """Messages by way of the plugin that holds the line."""

    def __init__(self, inside: Inside, *, guarantee: DeliveryLevel, evidence: str) -> None:
        self._inside = inside
        self._guarantee = guarantee
        self._evidence = evidence

    @property
    def guarantee(self) -> DeliveryLevel:
        return self._guarantee

    @property
    def evidence(self) -> str:
        """What lets the plugin tell that a message was taken in."""
        return self._evidence

    async def deliver(self, message: Mapping[str, str]) -> bool:
        """Have the plugin take a message in. Raises OSError when nobody knows whether it did."""
        ready = await self._inside.ask({"do": "ready"})
        if ready is None or ready.get("ok") is not True:
            return False
        said = await self._inside.ask(
            {"do": "say", "message": message["id"], "text": spoken(message)},
            seconds=_SAYING_SECONDS,
        )
        if said is None:
            raise OSError(_UNSURE)
        return said.get("ok") is True

    async def consumed(self) -> AsyncIterator[str]:
        """The messages that the plugin saw in the conversation, each once."""
        seen: set[str] = set()
        async for notice in self._inside.notices():
            message = notice.document.get("message")
            told = notice.kind == "own" and notice.document.get("kind") == "taken"
            if told and isinstance(message, str) and message not in seen:
                seen.add(message)
                yield message
