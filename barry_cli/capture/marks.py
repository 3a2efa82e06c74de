"""By what an event of a transcript is known when the transcript is read again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from barry_cli.base.canonical import NotCanonical, canonical_json
from barry_cli.capture.notices import Event

if TYPE_CHECKING:
    from barry_cli.contract.events import SessionEvent

Mark = tuple[str, ...]
"""What an event is known by: its kind first, ``user`` and ``agent`` for who said a text."""


def mark_of(event: Event) -> Mark:
    """What an event is known by when it is read again: its own id, else all that it says."""
    kind = str(event["type"])
    known = event.get("id")
    if kind in ("tool_use", "tool_result", "usage") and isinstance(known, str) and known:
        return kind, known
    if kind == "text":
        kind = "user" if event.get("role") == "user" else "agent"
    try:
        text = canonical_json(event)
    except NotCanonical:
        text = repr(event)
    return kind, blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def documents(events: Iterable[SessionEvent]) -> Iterator[Event]:
    """Events as plain objects, without those that say which conversation it is."""
    for event in events:
        document = event.model_dump(by_alias=True, exclude_none=True)
        # What has to be there is there, even where it is nothing.
        if document["type"] == "tool_use":
            document.setdefault("input", None)
        elif document["type"] == "tool_result":
            document.setdefault("result", None)
        if document["type"] != "init":
            yield document


def is_said(event: Event, said: str) -> bool:
    """Whether this is the user saying that."""
    return (
        event["type"] == "text"
        and event.get("role") == "user"
        and event["text"].strip() == said.strip()
    )


def together(one: Sequence[Mark], other: Sequence[Mark]) -> int:
    """How many events two records begin with alike."""
    same = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        same += 1
    return same


def signature_of(path: Path) -> object:
    """What changes when the conversation's file is written; None where there is none.

    A path below a file stands for a part of a database, which has a log beside it.
    """
    try:
        return _of(path)
    except NotADirectoryError:
        file = path.parent
    except OSError:
        return None
    try:
        whole = _of(file)
    except OSError:
        return None
    try:
        return whole, _of(file.with_name(f"{file.name}-wal"))
    except OSError:
        return whole, None


def _of(path: Path) -> tuple[int, ...]:
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns
