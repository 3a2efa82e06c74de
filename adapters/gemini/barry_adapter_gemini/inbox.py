"""Messages into Gemini CLI's TUI: its hooks take them at a turn's end, or with the next prompt.

Nothing wakes an idle one. What blocks a turn's end goes to the model as it is; a context beside a
prompt has ``<`` and ``>`` written otherwise, so a text with these waits for a turn's end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from barry_cli.adapters import HookInbox

if TYPE_CHECKING:
    from barry_cli.adapters import Inside, Notice

_OPEN, _CLOSE = "<hook_context>", "</hook_context>"


def inbox(inside: Inside) -> HookInbox:
    """The way into this launch."""
    return HookInbox(
        inside,
        guarantee="turn-end",
        evidence="its next prompt hook, or its transcript",
        fits=fits,
        shows=shows,
    )


def fits(notice: Notice, text: str) -> bool:
    """Whether a text reaches the model whole by the hook that told of this."""
    return notice.kind == "stop" or (notice.kind == "prompt" and not ("<" in text or ">" in text))


def shows(line: bytes) -> Iterator[str]:
    """What a line of the transcript shows that the model was told by somebody else."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return
    if not isinstance(row, dict) or row.get("type") != "user":
        return
    parts = row.get("content")
    for part in parts if isinstance(parts, list) else ():
        text = part.get("text") if isinstance(part, dict) else None
        if isinstance(text, str):
            yield text.removeprefix(_OPEN).removesuffix(_CLOSE)
