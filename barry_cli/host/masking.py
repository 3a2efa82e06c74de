"""Secrets that a session was given, kept out of what is recorded of it.

A tool may print a variable. What is masked is the value as it stands, in one piece of text: not one
that was encoded, or cut between two parts of an answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from barry_cli.base.secrets import redact

if TYPE_CHECKING:
    from barry_cli.contract.events import SessionEvent

SHORTEST = 8
"""Characters of a value that is masked: a shorter one stands in ordinary words, too."""


class Mask:
    """Hides some values in events and texts."""

    def __init__(self, secrets: Sequence[str]) -> None:
        self._secrets = tuple(dict.fromkeys(each for each in secrets if len(each) >= SHORTEST))
        self._written = tuple(json.dumps(each, ensure_ascii=False)[1:-1] for each in self._secrets)

    def text(self, text: str) -> str:
        """The text without them."""
        return redact(text, self._secrets)

    def event(self, event: SessionEvent) -> SessionEvent:
        """The event without them; the same one when it holds none."""
        if not self._secrets:
            return event
        written = event.model_dump_json()
        if not any(each in written for each in self._written):
            return event
        return type(event).model_validate(self.value(event.model_dump()))

    def value(self, value: Any) -> Any:
        """A JSON value without them."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.value(name): self.value(each) for name, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        return value
