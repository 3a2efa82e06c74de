"""Conversations that are one file each, as most harnesses keep them (seed 004)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from barry_cli.base.files import write_atomic
from barry_cli.base.secrets import redact
from barry_cli.headless.agent_input import Continuation
from barry_cli.headless.conversations import Place, StoredConversation
from barry_cli.headless.faults import AgentFault

Find = Callable[[str, Place], Path | None]
Where = Callable[[str, Place], Path]


@dataclass(frozen=True, kw_only=True)
class FileConversations:
    """A ``ConversationStore`` for transcripts of lines, each of which is JSON."""

    name: str
    find: Find
    """Where a conversation of this folder is; None when it isn't there."""
    where: Where
    """Where the harness will look for one that is restored."""

    def locate(self, id: str, place: Place) -> Path | None:
        """The native transcript."""
        return self.find(Continuation(id).id, place)

    def capture(self, id: str, place: Place, folder: Path) -> StoredConversation:
        """Copy it: secrets masked, its folder renamed to ``place.root``, 0600."""
        source = self.locate(id, place)
        text = None if source is None else _read(source)
        if text is None:
            raise AgentFault(
                "session",
                f"the conversation {id} has no transcript, although its harness named it",
                hint="it can't be taken along; look into the harness's own settings",
            )
        root = place.root or place.cwd
        target = folder / self.name / f"{id}.jsonl"
        write_atomic(target, _bytes(_moved(text, place.cwd, root, place.secrets)))
        return StoredConversation(store=self.name, id=id, root=root, path=str(target))

    def restore(self, record: StoredConversation, place: Place) -> Path:
        """Write it where the harness looks, its folder renamed to the place's."""
        if record.store != self.name:
            raise AgentFault(
                "session",
                f"a conversation kept by {record.store} can't be restored for {self.name}",
                hint="resume it with the harness that it belongs to",
            )
        there = self.locate(record.id, place)
        if there is not None and record.root == place.cwd:
            return there
        text = _read(Path(record.path))
        if text is None:
            raise AgentFault(
                "session",
                f"conversation_lost: {record.path} is gone or can't be read",
                hint="start a new session",
            )
        target = self.where(record.id, place)
        write_atomic(target, _bytes(_moved(text, record.root, place.cwd, ())))
        return target


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return None


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _moved(text: str, old: str, new: str, secrets: tuple[str, ...]) -> str:
    """The lines with paths under ``old`` put under ``new``, and without secrets.

    A line that is no JSON is kept, and only its secrets are masked.
    """
    old, new = (os.path.normpath(root) for root in (old, new))
    moved = []
    for line in text.split("\n"):
        changed = line
        if old != new and line.strip():
            try:
                changed = json.dumps(_renamed(json.loads(line), old, new), ensure_ascii=False)
            except (ValueError, RecursionError):
                changed = line
        moved.append(redact(changed, [*secrets, *(json.dumps(s)[1:-1] for s in secrets)]))
    return "\n".join(moved)


def _renamed(value: Any, old: str, new: str) -> Any:
    """Every text that is a path at or under ``old``, also as a part of a longer text."""
    if isinstance(value, str):
        return _replaced(value, old, new)
    if isinstance(value, list):
        return [_renamed(each, old, new) for each in value]
    if isinstance(value, dict):
        return {_replaced(key, old, new): _renamed(each, old, new) for key, each in value.items()}
    return value


def _replaced(text: str, old: str, new: str) -> str:
    """Only whole names: /work is no part of /workshop, nor of /home/work."""
    found, start = [], 0
    while (at := text.find(old, start)) >= 0:
        after = text[at + len(old) : at + len(old) + 1]
        before = text[at - 1 : at] if at else ""
        whole = not _in_a_name(after) and not _in_a_name(before) and before != "/"
        found.append(text[start:at] + (new if whole else old))
        start = at + len(old)
    found.append(text[start:])
    return "".join(found)


def _in_a_name(character: str) -> bool:
    return character.isalnum() or character in ("-", "_", ".")
