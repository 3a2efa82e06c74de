"""One turn: the prompt goes to the model, its steps are carried out and shown."""

import os
import uuid
from dataclasses import dataclass, replace
from typing import Protocol

from .cancel import Cancel
from .conversation import Conversation
from .model import Context, Step, Steps, answer, voice
from .problems import Refused
from .tools import Call, Result
from .wire import say

_WORD_SECONDS = 0.012
_TEXT_SECONDS = 1.0
"""A text is streamed word by word, but a long one not for longer than this."""
CRASH_STATUS = 70


@dataclass(frozen=True, slots=True)
class Denial:
    """A call was not allowed, and the model is told why."""

    reason: str


class Surface(Protocol):
    """Where a turn is shown, and who is asked."""

    def delta(self, text: str) -> None: ...
    def text(self, text: str) -> None: ...
    def tool_use(self, call: Call) -> None: ...
    def tool_result(self, call: Call, result: Result) -> None: ...
    def usage(self, given: int, made: int) -> None: ...
    def garbage(self, text: str) -> None: ...

    def ask(self, call: Call) -> str | Denial:
        """``yes``, ``no``, ``always``, ``nobody`` (no one to ask), ``cancel``, or a denial."""
        ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a turn ended. ``code``: ok, model, quota, outage, transcript or interrupted."""

    code: str
    message: str
    text: str
    """Everything that the model said in this turn."""
    reset_at: float | None = None
    """When a used up quota is full again, in seconds since 1970."""

    @property
    def ok(self) -> bool:
        return self.code == "ok"


class _Interrupted(Exception):
    """The flag was set while the turn ran."""


class _Failed(Exception):
    """The model answered with an error."""

    def __init__(self, code: str, message: str, reset_at: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reset_at = reset_at


def run_turn(conversation: Conversation, prompt: str, surface: Surface, cancel: Cancel) -> Outcome:
    """Run one turn to its end. Never raises for what the turn itself can meet."""
    turn = _Turn(conversation, surface, cancel)
    try:
        turn.run(prompt)
    except _Interrupted:
        return turn.failed("interrupted", "interrupted")
    except _Failed as error:
        return turn.failed(error.code, str(error), error.reset_at)
    except Refused as problem:
        return Outcome("transcript", str(problem), "\n".join(turn.said))
    except RecursionError:
        return turn.failed("model", "the input of a tool is nested too deeply")
    return Outcome("ok", "", "\n".join(turn.said))


class _Turn:
    def __init__(self, conversation: Conversation, surface: Surface, cancel: Cancel) -> None:
        self.said: list[str] = []
        self._conversation = conversation
        self._surface = surface
        self._cancel = cancel
        self._inner = False

    def run(self, prompt: str) -> None:
        conversation = self._conversation
        context = conversation.context
        conversation.hooks.prompt(prompt)
        conversation.record("user", text=prompt)
        self._carry_out(answer(prompt, context, conversation.options.rules))
        words = sum(len(each.split()) for each in (context.system, *context.prompts, prompt))
        made = sum(len(each.split()) for each in self.said)
        conversation.record("usage", input_tokens=words, output_tokens=made)
        self._surface.usage(words, made)

    def _carry_out(self, steps: Steps) -> None:
        told: tuple[bool, str] | None = None
        while True:
            try:
                step = steps.send(told)
            except StopIteration:
                break
            if self._cancel.reason:
                raise _Interrupted
            told = self._do(step)

    def failed(self, code: str, message: str, reset_at: float | None = None) -> Outcome:
        try:
            self._conversation.record("error", code=code, message=message)
        except Refused as problem:
            message = f"{message}; {problem}"
        return Outcome(code, message, "\n".join(self.said), reset_at)

    def _do(self, step: Step) -> tuple[bool, str] | None:
        if step.kind == "text":
            self._say(step.text)
        elif step.kind == "tool":
            result = self._use(Call(f"call_{uuid.uuid4().hex[:12]}", step.text, step.input))
            return result.decision == "ran", result.output
        elif step.kind == "error":
            raise _Failed("model", step.text)
        elif step.kind == "outage":
            raise _Failed("outage", step.text)
        elif step.kind == "quota":
            raise _Failed("quota", "the usage limit is reached", step.seconds)
        elif step.kind == "garbage":
            self._surface.garbage(step.text)
        elif step.kind == "crash":
            say("crashed, as the script says")
            os._exit(CRASH_STATUS)  # No way out is taken: that is the point.
        else:
            self._wait(None if step.kind == "hang" else step.seconds)
        return None

    def _say(self, text: str) -> None:
        conversation = self._conversation
        text = voice(text, conversation.model, conversation.options.settings.style)
        words = text.split(" ")
        pause = min(_WORD_SECONDS, _TEXT_SECONDS / len(words))
        for at, word in enumerate(words):
            self._surface.delta(word if at == 0 else f" {word}")
            self._cancel.wait(pause)
            if self._cancel.reason:
                shown = " ".join(words[: at + 1])
                conversation.record("assistant", text=shown, model=conversation.model, partial=True)
                raise _Interrupted
        conversation.record("assistant", text=text, model=conversation.model)
        self.said.append(text)
        self._surface.text(text)

    def _use(self, call: Call) -> Result:
        conversation = self._conversation
        conversation.record("tool_use", id=call.id, name=call.name, input=dict(call.input))
        self._surface.tool_use(call)
        result = self._decide(call)
        conversation.record(
            "tool_result",
            id=call.id,
            name=call.name,
            ok=result.ok,
            decision=result.decision,
            output=result.output,
        )
        self._surface.tool_result(call, result)
        if result.decision == "cancelled":
            raise _Interrupted
        return result

    def _decide(self, call: Call) -> Result:
        toolbox = self._conversation.toolbox
        objection = toolbox.objection(call)
        if objection:
            return objection
        refused = self._conversation.hooks.before(call)
        if refused is not None:
            return Result(False, f"denied: {refused}", "refused")
        if toolbox.asks(call):
            self._conversation.hooks.asks(call)
        said = self._surface.ask(call) if toolbox.asks(call) else "yes"
        if isinstance(said, Denial):
            return Result(False, f"denied: {said.reason}", "refused")
        if self._cancel.reason or said == "cancel":
            return Result(False, "cancelled before it ran", "cancelled")
        if said == "nobody":
            output = f"refused: there is no one to ask; --allow {call.name} would run it"
            return Result(False, output, "refused")
        if said not in ("yes", "always"):
            return Result(False, f"the user did not allow {call.name}", "refused")
        if said == "always":
            toolbox.always.add(call.name)
        result = self._delegate(call) if call.name == "agent" else toolbox.run(call, self._cancel)
        said_after = self._conversation.hooks.after(call, result)
        return result if said_after is None else replace(result, output=_told(result, said_after))

    def _delegate(self, call: Call) -> Result:
        """An agent of the agent's own: it knows only what it is told, and has the same tools."""
        if self._inner:
            return Result(False, "an agent that was started starts no other", "refused")
        conversation, before = self._conversation, len(self.said)
        self._inner = True
        try:
            context = Context(conversation.options.system, ())
            self._carry_out(answer(str(call.input["prompt"]), context, conversation.options.rules))
        finally:
            self._inner = False
        said = "\n".join(self.said[before:])
        del self.said[before:]
        return Result(True, said, "ran")

    def _wait(self, seconds: float | None) -> None:
        self._cancel.wait(seconds)
        if self._cancel.reason:
            raise _Interrupted


def _told(result: Result, context: str) -> str:
    gap = "" if not result.output or result.output.endswith("\n") else "\n"
    return f"{result.output}{gap}{context}"
