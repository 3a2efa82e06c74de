"""How Barry's messages get into a running Claude Code.

Best by its own socket for other sessions' messages, which it is asked for and never assumed to
have; else by the hooks that may say something to the agent.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from barry_adapter_claude import peer
from barry_adapter_claude.declared import LABEL
from barry_adapter_claude.evidence import shown_by
from barry_adapter_claude.live import Running, read_note, running
from barry_adapter_claude.places import Env
from barry_cli.adapters import DeliveryLevel, HookInbox, Inside, Notice, Refused

_AT_ONCE = 8
"""How many messages may wait inside Claude Code: what waits with Barry outlives a crash."""
_PATIENCE = 5.0
"""After this long an idle Claude Code has lost what it was given. In seconds."""
_GRACE = 5.0
"""How long after its start Claude Code may take to have its socket. In seconds."""
_LONGEST_CONTEXT = 9_900
"""Of what a hook says beyond 10,000 characters the agent gets the beginning alone."""


class ClaudeInbox(HookInbox):
    """``socket`` False: by hooks alone. ``otherwise``: what holds without a socket."""

    def __init__(
        self,
        inside: Inside,
        *,
        env: Env,
        conversation: str | None,
        socket: bool,
        otherwise: DeliveryLevel,
    ) -> None:
        super().__init__(
            inside,
            guarantee=otherwise,
            evidence="its transcript",
            fits=self._fits_into,
            shows=self._texts_in,
            prompts=False,
        )
        self._env = env
        self._conversation = conversation
        self._socket = socket
        self._note = ""
        self._started: float | None = None
        self._pace = peer.Pace()
        self._inside_it: dict[str, tuple[str, float]] = {}
        self._asks: Notice | None = None
        self._room = 0

    @property
    def guarantee(self) -> DeliveryLevel:
        """What holds by now: less where there was to be a socket, and is none."""
        by_hooks = not self._socket or self._has_none()
        return super().guarantee if by_hooks else "wake-peer-framed"

    async def give(self, message_id: str, text: str) -> bool:
        """Put a text before the agent; False when surely nothing received it."""
        session = self._find() if self._socket else None
        if session is not None and session.socket is not None:
            return await self._write(session, message_id, text)
        if self._socket and not self._has_none():
            return False  # it may yet come
        if len(text) > _LONGEST_CONTEXT:
            raise Refused(
                f"by a hook {LABEL} passes on no more than {_LONGEST_CONTEXT} characters",
                hint="write it to a file, and send the file's name",
            )
        return await super().give(message_id, text)

    def heard(self, notice: Notice) -> None:
        """Which conversation it is in by now."""
        if notice.kind == "start" and self._started is None:
            self._started = time.monotonic()
        if notice.kind in ("start", "prompt") and notice.harness_session_id:
            self._conversation = notice.harness_session_id

    async def _write(self, session: Running, message_id: str, text: str) -> bool:
        ready = self._started is not None and session.status is not None
        if not ready or self._is_full(session) or not self._pace.take():
            return False
        line = peer.frame(message_id, text)
        self._inside_it[message_id] = text, time.monotonic()
        if await peer.write(session, line):
            self._note = session.note
            return True
        del self._inside_it[message_id]
        return False

    def _is_full(self, session: Running) -> bool:
        """Whether enough waits inside. What an idle session hasn't taken in, it has lost."""
        now, idle = time.monotonic(), session.status == "idle"
        waiting = [at for _, at in self._inside_it.values() if not idle or now - at < _PATIENCE]
        return len(waiting) >= _AT_ONCE

    def _has_none(self) -> bool:
        """Whether it has been running long enough, and has no socket."""
        if self._started is None or time.monotonic() - self._started < _GRACE:
            return False
        session = self._find()
        return session is None or session.socket is None

    def _find(self) -> Running | None:
        """The session, by the conversation that it is known to be in."""
        if self._note:
            return read_note(self._note)
        found = [each for each in running(self._env) if each.conversation == self._conversation]
        return found[-1] if found else None

    def _texts_in(self, line: bytes) -> Iterator[str]:
        shown = shown_by(line)
        if shown.message_id in self._inside_it:
            yield self._inside_it.pop(shown.message_id)[0]
        yield from shown.texts

    def _fits_into(self, notice: Notice, text: str) -> bool:
        """Whether a hook is the session's own, and has room for one more text.

        What a subagent's hook says would reach the subagent alone.
        """
        if not notice.document or notice.document.get("agent_id"):
            return False
        if notice is not self._asks:
            self._asks, self._room = notice, _LONGEST_CONTEXT
        if len(text) > self._room:
            return False
        self._room -= len(text) + len("\n\n")
        return True
