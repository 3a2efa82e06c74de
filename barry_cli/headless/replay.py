"""A conversation told again in words, for a harness that can't go on with one (seed 002)."""

from __future__ import annotations

from collections.abc import Iterable

from barry_cli.contract.events import SessionEvent, Text, ToolUse

LONGEST = 200_000
"""Characters of what was said before; of a longer conversation its end is told."""

_BEFORE = "What was said before in this conversation:"
_CUT = "(Its beginning is left out.)"
_NOW = "The message to answer now:"


def replayed(history: Iterable[SessionEvent], text: str) -> str:
    """The prompt of a turn that must bring its own past; just the text when there is none."""
    told = _told(history)
    if not told:
        return text
    kept: list[str] = []
    size = 0
    for entry in reversed(told):
        size += len(entry) + 2
        if size > LONGEST:
            kept.append(_CUT if kept else f"{_CUT}\n\n{entry[-LONGEST:]}")
            break
        kept.append(entry)
    return "\n\n".join([_BEFORE, *reversed(kept), _NOW, text])


def _told(history: Iterable[SessionEvent]) -> list[str]:
    found = []
    for event in history:
        if event.parent_tool_use_id is not None:
            continue  # a subagent's talk is in its call's result
        if isinstance(event, Text) and event.text.strip():
            found.append(f"{'User' if event.role == 'user' else 'Assistant'}: {event.text.strip()}")
        elif isinstance(event, ToolUse):
            found.append(f"(The assistant used the tool {event.tool}.)")
    return found
