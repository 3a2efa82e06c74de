"""Messages into Qwen Code's TUI: its hooks take them, and its input file wakes it.

A text in the input file is taken as if the user had typed it: a command where it begins with ``/``,
for the shell where the user has switched to that, and it is dropped while a turn runs. So what
goes in there is a bell and nothing more: a comment to every reader. It begins a turn where none
runs, and the message goes in beside it, as a context.

A context has ``<`` and ``>`` written otherwise. What blocks a turn's end goes to the model as it
is, but is in no transcript, and so is gone when the conversation is resumed: only a text with these
goes in there, at the end of the turn that runs or that the bell began.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from barry_cli.adapters import HookInbox

if TYPE_CHECKING:
    from barry_cli.adapters import DeliveryLevel, Inside, Notice

BELL = "# A message has come through Barry. It is told next."

_IDLE = "idle_prompt"

_SOON, _LATE = 5.0, 30.0
"""In seconds: how long the bell is given to be heard, at first and in the end. The file is looked
at twice a second; of two bells in one look the second would begin a turn of its own."""


class Inbox(HookInbox):
    """The way into one launch. ``file``: its input file, or None where there is no bell."""

    def __init__(self, inside: Inside, file: Path | None) -> None:
        level: DeliveryLevel = "wake" if file is not None else "turn-end"
        super().__init__(
            inside,
            guarantee=level,
            evidence="its next prompt hook, or its transcript",
            fits=partial(fits, bell=file is not None),
            shows=shows,
        )
        self._file = file
        self._there = False
        self._pause = _SOON
        self._again = 0.0

    async def deliver(self, message: Mapping[str, str]) -> bool:
        """Give a message to a hook that asks now; where none does, ring."""
        given = await super().deliver(message)
        if not given and self._file is not None:
            self._ring(self._file)
        return given

    def heard(self, notice: Notice) -> None:
        """Whether it takes prompts, and whether a turn runs."""
        self._there = self._there or notice.kind == "start"
        if notice.kind == "start" or notice.document.get("notification_type") == _IDLE:
            self._pause, self._again = _SOON, 0.0
        elif notice.kind == "prompt":  # a bell would be dropped
            self._pause, self._again = _LATE, time.monotonic() + _LATE

    def _ring(self, file: Path) -> None:
        """Ring, unless that was done a moment ago. A bell that is dropped is no loss."""
        now = time.monotonic()
        if not self._there or now < self._again:
            return
        self._again, self._pause = now + self._pause, min(2 * self._pause, _LATE)
        # The file is read up to its end at any moment: a line must be there whole, or not at all.
        line = json.dumps({"type": "submit", "text": BELL}) + "\n"
        descriptor = os.open(file, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)


def fits(notice: Notice, text: str, *, bell: bool) -> bool:
    """Whether a text goes to the hook that told of this. ``bell``: a turn can be begun for it.

    What a tool answered is told as a prompt without words: what is said beside it is in no
    transcript.
    """
    plain = not ("<" in text or ">" in text)
    if notice.kind == "prompt":
        return plain and bool(notice.prompt)
    return notice.kind == "stop" and not (plain and bell)


def shows(line: bytes) -> Iterator[str]:
    """What a line of the transcript shows that the model was told by somebody else."""
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        return
    message = row.get("message") if isinstance(row, dict) and row.get("type") == "user" else None
    parts = message.get("parts") if isinstance(message, dict) else None
    for part in parts if isinstance(parts, list) else ():
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str):
            yield text
