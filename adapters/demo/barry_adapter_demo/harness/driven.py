"""The end for a program: messages, rulings and interrupts come in while events go out.

JSON lines. In: ``{"type": "message", "text"}``, ``{"type": "answer", "id", "allow", "reason"}``,
``{"type": "interrupt"}``. Out: the events of ``headless``, and ``{"type": "ask", "id", "name",
"input"}`` before each call. The main thread reads; the turns run one after another in a second.
"""

import queue
import threading
from collections.abc import Mapping
from contextlib import suppress

from .cancel import Cancel
from .conversation import Conversation, choose, start
from .headless import Ndjson
from .options import Options
from .processes import Groups
from .tools import Call
from .turn import Denial, run_turn
from .wire import Lines, parsed, say

_END_SECONDS = 5.0


def run(options: Options, cwd: str, env: Mapping[str, str], cancel: Cancel, groups: Groups) -> int:
    """Take turn after turn until stdin ends. Returns the exit status."""
    resume = choose(options, cwd, env)
    conversation = start(options, cwd, env, groups, cancel, say, resume=resume)
    return _Program(conversation, cancel).serve()


class _Program:
    def __init__(self, conversation: Conversation, cancel: Cancel) -> None:
        self._conversation = conversation
        self._cancel = cancel
        self._turn = Cancel()
        """Of the running turn: an interrupt ends it, and not the program."""
        self._messages: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._open = 0
        """Messages that are not answered yet: without one there is nothing to interrupt."""
        self._lock = threading.Lock()
        self._surface = _Surface(self._turn)
        self._status = 0

    def serve(self) -> int:
        turns = threading.Thread(target=self._turns, daemon=True)
        turns.start()
        lines = Lines(0, self._cancel)
        try:
            while (line := lines.next()) is not None:
                self._receive(line)
        except (OSError, ValueError) as error:
            say(f"the messages cannot be read: {error}")
            self._status = 1
        self._messages.put(None)
        if self._cancel.reason:
            self._turn.set(self._cancel.reason)
        self._surface.give_up()
        turns.join(_END_SECONDS if self._cancel.reason else None)
        return self._cancel.status or self._status

    def _receive(self, line: bytes) -> None:
        message = parsed(line) if line.strip() else {}
        if not isinstance(message, dict):
            raise ValueError("not a JSON object")
        kind, text = message.get("type"), message.get("text")
        if kind == "message" and isinstance(text, str):
            with self._lock:
                self._open += 1
            self._messages.put(text)
        elif kind == "answer":
            reason = message.get("reason")
            reason = reason if isinstance(reason, str) and reason else "it was not allowed"
            allowed = message.get("allow") is True
            self._surface.answered(message.get("id"), "yes" if allowed else Denial(reason))
        elif kind == "interrupt" and "deaf" not in self._conversation.options.bends:
            with self._lock:
                if self._open:
                    self._turn.set()
                    self._surface.give_up()

    def _turns(self) -> None:
        while (text := self._messages.get()) is not None:
            try:
                self._surface.begin(self._conversation)
                outcome = run_turn(self._conversation, text, self._surface, self._turn)
                self._surface.end(self._conversation, outcome)
            except OSError:
                self._cancel.set("hangup")  # Nobody reads the answers any more.
                return
            with self._lock:
                self._open -= 1
                self._turn.clear()
            self._status = 0 if outcome.ok or outcome.code == "interrupted" else 1


class _Surface(Ndjson):
    """Shows a turn, and asks about each call."""

    def __init__(self, cancel: Cancel) -> None:
        super().__init__(cancel)
        self._asked: str | None = None
        self._answer: queue.SimpleQueue[str | Denial] = queue.SimpleQueue()

    def ask(self, call: Call) -> str | Denial:
        self._empty()
        self._asked = call.id
        self.event("ask", id=call.id, name=call.name, input=dict(call.input))
        if self.cancel.reason:
            return "cancel"  # It came before there was anything to give up.
        answer = self._answer.get()
        self._asked = None
        return answer

    def answered(self, id: object, answer: str | Denial) -> None:
        """Take an answer, in the main thread; one that nobody asked for counts for nothing."""
        if id == self._asked is not None:
            self._answer.put(answer)

    def give_up(self) -> None:
        """Nobody will answer."""
        self._answer.put("cancel")

    def _empty(self) -> None:
        with suppress(queue.Empty):
            while True:
                self._answer.get_nowait()
