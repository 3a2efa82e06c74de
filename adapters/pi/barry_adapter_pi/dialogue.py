"""pi's RPC mode on stdin and stdout, without any reading or writing.

Every call is asked about by ``gate.js``, as a dialog that this end answers. A turn is over when pi
says so on being asked: its ``agent_end`` may be followed by another try, or by a summary of a
conversation that grew too long.
"""

from __future__ import annotations

import json
from typing import Any

from barry_adapter_pi.declared import LABEL
from barry_adapter_pi.events import answer_of, events, said, usage_of
from barry_cli.agents import (
    AgentEvent,
    AgentInput,
    LiveStep,
    Stopped,
    Usage,
    read_line,
    read_object,
    read_string,
)
from barry_cli.sessions import (
    Allowed,
    Denied,
    Done,
    Failed,
    Init,
    PermissionRequested,
    Result,
)

Row = dict[str, Any]

GATE = "barry-gate"
RULING = "barry-ruling"

# The most frequent line, which says nothing here: it holds all of an answer so far, twice.
_PIECE = '{"type":"message_update"'
_DIALOGS = ("select", "confirm", "input", "editor")
_UNGATED = f"{LABEL} did not load what asks Barry about its calls: it is given no prompt"
_UNREADABLE = "Barry could not read what this call would do, so it is refused"
_UNRULED = f"{LABEL} ran a call that Barry had not allowed; its turn was ended"
_CUT_SHORT = "The turn was cut short before this call was ruled on"
_LEFT = "a message was left in its queue"


class Dialogue:
    """One process: the prompt, messages during a turn, and after it the next turn's."""

    def __init__(self, input: AgentInput) -> None:
        self._waiting = [input.text]
        self._most = input.config.max_turns
        self._gated = self._ready = self._running = False
        self._commands = 0
        self._asked: dict[str, str] = {}
        self._allowed: set[str] = set()
        self._begin()

    def _begin(self) -> None:
        """A turn begins: nothing of the one before counts any more."""
        self._over = self._retrying = self._interrupted = self._stopping = self._named = False
        self._summed = True
        self._last: Row | None = None
        self._steps = 0
        self._spent: list[Usage] = []

    def start(self) -> str:
        """Which conversation is it? The prompt waits until pi has said so."""
        return self._command("get_state")

    def encode(self, text: str) -> str:
        if not self._ready:
            self._waiting.append(text)
            return ""
        return self._say(text)

    def read(self, line: str) -> LiveStep | None:
        if line.startswith(_PIECE):
            return None
        row = read_line(line)
        kind = read_string(row, "type")
        if row is None or kind is None:
            return None
        if kind == "extension_ui_request":
            return self._dialog(row)
        if kind == "response":
            return self._responded(row)
        if kind == "message_start" and read_string(read_object(row, "message"), "role") == "user":
            return LiveStep(consumed=1)
        if kind in ("tool_execution_update", "tool_execution_end"):
            return self._ran(kind, row, line)
        return self._went_on(kind, row, line)

    def answer(self, id: str, decision: Allowed | Denied) -> str:
        call = self._asked.pop(id, None)
        if call is None:
            return ""
        if isinstance(decision, Allowed):
            self._allowed.add(call)
            return _ruled(id, {"allow": True})
        return _ruled(id, {"allow": False, "reason": decision.reason})

    def interrupt(self) -> str | None:
        """What is still asked about is refused first: pi waits for it before it stops."""
        if not self._ready:
            return None
        self._interrupted = True
        return self._stop()

    # --- what goes out ---

    def _say(self, text: str) -> str:
        # A message is text: one that begins like a command would be taken for one, or read a file.
        text = f" {text}" if text.startswith("/") else text
        first = "" if self._running else self._command("get_state")
        if not self._running:
            self._begin()
        self._running, self._over = True, False
        return first + self._command("prompt", message=text, streamingBehavior="steer")

    def _stop(self) -> str:
        self._stopping = True
        cut = "".join(_ruled(name, {"allow": False, "reason": _CUT_SHORT}) for name in self._asked)
        self._asked.clear()
        return cut + self._command("abort")

    def _command(self, kind: str, **more: object) -> str:
        self._commands += 1
        return _line({"id": f"barry-{self._commands}", "type": kind, **more})

    # --- what comes in ---

    def _dialog(self, row: Row) -> LiveStep:
        name, method = read_string(row, "id"), read_string(row, "method")
        if method == "setStatus" and read_string(row, "statusKey") == GATE:
            self._gated = True
        if name is None or method not in _DIALOGS:
            return LiveStep()
        if method != "input" or read_string(row, "title") != RULING:
            return LiveStep(replies=(_cancelled(name),))
        if self._stopping:
            return LiveStep(replies=(_ruled(name, {"allow": False, "reason": _CUT_SHORT}),))
        about = _object(read_string(row, "placeholder"))
        call, tool = read_string(about, "call"), read_string(about, "tool")
        given = read_object(about, "input")
        if call is None or tool is None or given is None:
            return LiveStep(replies=(_ruled(name, {"allow": False, "reason": _UNREADABLE}),))
        self._asked[name] = call
        return LiveStep(events=(PermissionRequested(id=name, tool=tool, input=given),))

    def _ran(self, kind: str, row: Row, line: str) -> LiveStep | None:
        """A call runs, or has run. What failed may not have run: pi refuses some by itself."""
        call = read_string(row, "toolCallId")
        ended = kind == "tool_execution_end"
        unruled = call not in self._allowed and row.get("isError") is not True
        if ended and call is not None:
            self._allowed.discard(call)
        if unruled:
            return LiveStep(events=(*(events(line) if ended else ()), Failed(error=_UNRULED)))
        return None

    def _went_on(self, kind: str, row: Row, line: str) -> LiveStep | None:
        """How far the turn is; what the line itself says is left to ``events``."""
        replies: tuple[str, ...] = ()
        if kind == "agent_start":
            self._over = self._retrying = False
            if self._stopping:  # pi was told to stop before it had begun, and took no notice
                replies = (self._command("abort"),)
        elif kind == "message_end" and (answer := answer_of(row)) is not None:
            self._last = answer
            if (usage := usage_of(answer)) is not None:
                self._spent.append(usage)
        elif kind == "turn_end":
            self._steps += 1
            more = read_string(read_object(row, "message"), "stopReason") == "toolUse"
            if more and self._steps == self._most and not self._stopping:
                replies = (self._stop(),)
        elif kind == "auto_retry_start":
            self._retrying = True
        elif kind == "compaction_end":
            self._summed = self._summed and row.get("result") is None
            # What it calls another try comes to nothing after an answer that had no error.
            failed = read_string(self._last, "stopReason") == "error"
            self._retrying = row.get("willRetry") is True and failed
        elif kind == "agent_end":
            self._over = True
        elif kind == "auto_retry_end":
            self._retrying = False
        if kind in ("agent_end", "auto_retry_end", "compaction_end"):
            replies = (*replies, self._command("get_state"))
        return LiveStep(events=events(line), replies=replies) if replies else None

    def _responded(self, row: Row) -> LiveStep:
        command, data = read_string(row, "command"), read_object(row, "data")
        if row.get("success") is not True and command in ("prompt", "get_state"):
            reason = read_string(row, "error") or "it gave no reason"
            return LiveStep(events=(Failed(error=f"it does not take the prompt: {reason}"),))
        if command == "abort":
            return LiveStep(replies=(self._command("get_state"),))
        if command != "get_state":
            return LiveStep()
        return self._stands(data or {})

    def _stands(self, state: Row) -> LiveStep:
        """Pi said how it stands: its conversation, and whether it still works."""
        known = None if self._named else read_string(state, "sessionId")
        found: tuple[AgentEvent, ...] = (Init(harness_session_id=known),) if known else ()
        self._named = self._named or bool(found)
        if not self._ready:
            if not self._gated:
                return LiveStep(events=(*found, Failed(error=_UNGATED)))
            self._ready = self._running = True
            waiting, self._waiting = self._waiting, []
            return LiveStep(events=found, replies=tuple(map(self._say, waiting)))
        works = state.get("isStreaming") is not False or state.get("isCompacting") is not False
        if self._over and not self._retrying and not works:
            self._running = self._over = False
            return LiveStep(events=(*found, *self._end(state)))
        return LiveStep(events=found)

    def _end(self, state: Row) -> tuple[AgentEvent, ...]:
        reason = read_string(self._last, "stopReason")
        if self._stopping and not self._interrupted:
            return (Failed(error=f"the limit of {self._most} turns is reached"),)
        if self._interrupted or reason == "aborted":
            # What is still queued would come up in the next turn: that one gets a new process.
            left = state.get("pendingMessageCount") != 0
            return (Failed(error=_LEFT),) if left else (Stopped("aborted"),)
        if reason == "error":
            error = read_string(self._last, "errorMessage")
            return (Failed(error=error or "it gave no reason"),)
        usage = Usage(
            input=sum(each.input for each in self._spent),
            output=sum(each.output for each in self._spent),
            cached=sum(each.cached for each in self._spent),
            cache_write=sum(each.cache_write for each in self._spent),
            complete=self._summed,
        )
        steps, self._steps, self._spent = self._steps, 0, []
        return Result(result=said(self._last)), Done(usage=usage, turns=steps)


def _object(text: str | None) -> Row | None:
    try:
        found = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _ruled(id: str, ruling: Row) -> str:
    return _line({"type": "extension_ui_response", "id": id, "value": json.dumps(ruling)})


def _cancelled(id: str) -> str:
    return _line({"type": "extension_ui_response", "id": id, "cancelled": True})


def _line(row: Row) -> str:
    return json.dumps(row) + "\n"
