"""The end without a person: one prompt, one answer, as text or as JSON lines."""

import os
from collections.abc import Mapping

from . import VERSION
from .cancel import Cancel
from .conversation import Conversation, choose, start
from .options import Options
from .problems import Refused, reason, usage
from .processes import Groups
from .tools import Call, Result
from .turn import Denial, Outcome, run_turn
from .wire import LINE_LIMIT, json_line, say, write


def run(options: Options, cwd: str, env: Mapping[str, str], cancel: Cancel, groups: Groups) -> int:
    """Answer the prompt. Returns 0, 1 when the turn failed, 128 + n when signal n ended it."""
    resume = choose(options, cwd, env)
    prompt = _stdin(cancel) if options.prompt == "-" else options.prompt
    if cancel.reason:
        return cancel.status
    if not prompt or not prompt.strip():
        raise usage("the prompt is empty")
    conversation = start(options, cwd, env, groups, cancel, say, resume=resume)
    surface = Ndjson(cancel) if options.output == "ndjson" else _Text(cancel)
    try:
        surface.begin(conversation)
        outcome = run_turn(conversation, prompt, surface, cancel)
        surface.end(conversation, outcome)
    except OSError:
        return 1  # Nobody reads the answer any more.
    return 0 if outcome.ok else cancel.status or 1


def _stdin(cancel: Cancel) -> str:
    whole = bytearray()
    try:
        while cancel.wait(None, 0) and (data := os.read(0, 65536)):
            whole += data
            if len(whole) > LINE_LIMIT:
                raise Refused(f"the prompt on stdin is longer than {LINE_LIMIT} bytes")
    except OSError as error:
        raise Refused(f"cannot read the prompt from stdin: {reason(error)}") from None
    return whole.decode("utf-8", "replace")


class _Text:
    """Only what the model says, as it says it."""

    def __init__(self, cancel: Cancel) -> None:
        self.cancel = cancel

    def begin(self, conversation: Conversation) -> None:
        pass

    def end(self, conversation: Conversation, outcome: Outcome) -> None:
        if not outcome.ok:
            say(outcome.message)

    def delta(self, text: str) -> None:
        self._write(text)

    def text(self, text: str) -> None:
        self._write("\n")

    def tool_use(self, call: Call) -> None:
        pass

    def tool_result(self, call: Call, result: Result) -> None:
        pass

    def usage(self, given: int, made: int) -> None:
        pass

    def garbage(self, text: str) -> None:
        self._write(text)

    def ask(self, call: Call) -> str | Denial:
        return "nobody"

    def _write(self, text: str) -> None:
        write(1, text.encode("utf-8", "replace"), self.cancel)


class Ndjson(_Text):
    """One JSON object a line. The first is ``init``, the last is ``result``."""

    def begin(self, conversation: Conversation) -> None:
        self.event(
            "init",
            session_id=conversation.id,
            resumed=conversation.resumed,
            cwd=conversation.toolbox.cwd,
            model=conversation.model,
            tools=conversation.toolbox.names(),
            version=VERSION,
        )

    def end(self, conversation: Conversation, outcome: Outcome) -> None:
        fields: dict[str, object] = {"ok": outcome.ok, "session_id": conversation.id}
        fields["text"] = outcome.text
        if not outcome.ok:
            reset = {} if outcome.reset_at is None else {"reset_at": outcome.reset_at}
            fields["error"] = {"code": outcome.code, "message": outcome.message, **reset}
        self.event("result", **fields)

    def delta(self, text: str) -> None:
        self.event("text_delta", text=text)

    def text(self, text: str) -> None:
        self.event("text", text=text)

    def tool_use(self, call: Call) -> None:
        self.event("tool_use", id=call.id, name=call.name, input=dict(call.input))

    def tool_result(self, call: Call, result: Result) -> None:
        self.event(
            "tool_result",
            id=call.id,
            name=call.name,
            ok=result.ok,
            decision=result.decision,
            output=result.output,
        )

    def usage(self, given: int, made: int) -> None:
        self.event("usage", input_tokens=given, output_tokens=made)

    def garbage(self, text: str) -> None:
        self._write(f"{text}\n")

    def event(self, kind: str, **fields: object) -> None:
        write(1, json_line({"type": kind, **fields}), self.cancel)
