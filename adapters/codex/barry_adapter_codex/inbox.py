"""The ways into Codex's TUI for messages, and how its record of the conversation shows each.

While the agent works, the hook after a call takes a message, as it is. Otherwise it goes into
Codex's own queue: a TUI that is busy looks there when its turn is over, an idle one every ten
seconds. It goes there by the pipe of an app server, under the message's id, never as an argument.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from barry_adapter_codex.queued import Queue
from barry_cli.adapters import HookInbox

if TYPE_CHECKING:
    from barry_cli.adapters import Inside, Notice

_TAKE = ("after-tool", "prompt")
_PIECE = 1 << 16
_MOST = 16 << 20
"""How far back the beginning or end of a turn is looked for, in bytes."""

_TURNS = {"task_started": False, "task_complete": True, "turn_aborted": True}


class Inbox(HookInbox):
    """Kept for as long as one TUI runs."""

    def __init__(
        self,
        inside: Inside,
        *,
        program: str,
        env: Mapping[str, str | None],
        cwd: str,
        conversation: str | None,
        transcript: str | None,
        find: Callable[[], Awaitable[str | None]] | None,
    ) -> None:
        """``conversation``, ``transcript``: where a conversation goes on that is known. ``find``
        looks for its id where it isn't.
        """
        super().__init__(
            inside,
            guarantee="wake",
            evidence="its record of the conversation",
            fits=self._takes,
            shows=self._shown_by,
            transcript=transcript,
        )
        self._queue = Queue(program, env=env, cwd=cwd)
        self._conversation = conversation
        self._transcript = transcript
        self._find = find
        self._idle = True
        self._queued: dict[str, str] = {}

    async def give(self, message_id: str, text: str) -> bool:
        """To a hook that asks; into the queue of a conversation where nothing runs.

        Raises OSError when nobody knows whether it is in the queue.
        """
        # What is queued comes first: a later message must not overtake it.
        if not self._queued and await super().give(message_id, text):
            return True
        if self._conversation is None and self._find is not None:
            self._conversation = await self._find()
        if self._conversation is None:
            return False  # Codex queues nothing for a conversation without a turn
        if not self._queued and not self._idle and not self._is_over():
            return False
        return await self._enqueue(self._conversation, message_id, text)

    def heard(self, notice: Notice) -> None:
        """Keep up with which conversation it is, and whether its turn is over."""
        if _of_an_agent(notice):
            return
        # A conversation starts with its first prompt: what asks next is that prompt's hook.
        if notice.kind in ("start", "prompt"):
            self._idle = False
            self._conversation = notice.harness_session_id or self._conversation
            self._transcript = notice.transcript or self._transcript
        elif notice.kind == "stop":
            self._idle = True

    def _takes(self, notice: Notice, text: str) -> bool:
        # The hook that asks may be heard of here before its notice comes by.
        self.heard(notice)
        return notice.kind in _TAKE and not _of_an_agent(notice)

    async def consumed(self) -> AsyncIterator[str]:
        """The ids of messages that the conversation's record shows, until the TUI has ended."""
        try:
            async for message_id in super().consumed():
                yield message_id
        finally:
            await self._queue.close()

    async def _enqueue(self, conversation: str, message_id: str, text: str) -> bool:
        # Its evidence may come before the server has answered.
        self._queued[message_id] = text
        given = await self._queue.add(conversation, message_id, text)
        if not given:
            del self._queued[message_id]
        return given

    def _shown_by(self, line: bytes) -> Iterator[str]:
        """What a line of the record shows the agent to have been told by us."""
        row = _payload(line)
        if row is None:
            return
        kind, payload = row
        if kind == "response_item" and payload.get("role") == "developer":
            yield _text(payload.get("content"))
        item = payload.get("item")
        if payload.get("type") == "item_completed" and isinstance(item, dict):
            text = self._queued.pop(str(item.get("client_id")), None)
            if item.get("type") == "UserMessage" and text is not None:
                yield text

    def _is_over(self) -> bool:
        """Whether the record says so: a turn that failed ends without a hook."""
        for line in _backwards(self._transcript):
            row = _payload(line)
            over = _TURNS.get(str(row[1].get("type"))) if row and row[0] == "event_msg" else None
            if over is not None:
                return over
        return False


def _of_an_agent(notice: Notice) -> bool:
    """Whether it tells of an agent that the agent started: a message is not for that one."""
    return "agent_id" in notice.document


def _payload(line: bytes) -> tuple[str, dict[str, Any]] | None:
    try:
        row = json.loads(line)
        kind, payload = row["type"], row["payload"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return (kind, payload) if isinstance(payload, dict) else None


def _text(content: object) -> str:
    parts = content if isinstance(content, list) else ()
    return "".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _backwards(path: str | None) -> Iterator[bytes]:
    """The whole lines of a file, the last first, as far back as is looked."""
    if path is None:
        return
    try:
        with open(path, "rb") as file:
            at = file.seek(0, os.SEEK_END)
            least = max(0, at - _MOST)
            rest = b""
            while at > least:
                size = min(_PIECE, at - least)
                at = file.seek(at - size)
                rest = file.read(size) + rest
                first, *whole = rest.split(b"\n")
                yield from reversed(whole)
                rest = first
            if at == 0:
                yield rest
    except OSError:
        return
