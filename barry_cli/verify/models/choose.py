"""Which step answers a request. Pure functions of the script and the conversation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from barry_cli.verify.models.sample import fits, sample
from barry_cli.verify.models.script import Call, Drop, Fail, Rule, Say, Script
from barry_cli.verify.models.shapes import Frame, ModelRequest, Turn

AnyStep = Say | Call | Fail | Drop
Spent = Mapping[tuple[int, int], int]

# Our own call ids say which reply a call belongs to, whatever a harness puts before or after.
_OWN_ID = re.compile(r"([0-9a-f]{8}x\d+)_\d+")


def own_call_id(prefix: str, run: str, seq: int, index: int) -> str:
    """A call id that `rounds` recognises; `run` is 8 hex digits that differ between servers."""
    return f"{prefix}_{run}x{seq}_{index}"


@dataclass(frozen=True, slots=True)
class Choice:
    """The step to send, the user text that it answers, and where in the script it stands."""

    step: AnyStep
    text: str
    rule: int | None = None
    index: int | None = None

    @property
    def label(self) -> str:
        """The choice for people who read the log, as `rule 0 step 1: call`."""
        place = "default" if self.rule is None else f"rule {self.rule} step {self.index}"
        return f"{place}: {type(self.step).__name__.lower()}"


@dataclass(slots=True)
class Round:
    """One answer of the model and what its tools said."""

    reply: str | None
    results: list[Turn] = field(default_factory=list)


def rounds(turns: Sequence[Turn]) -> list[Round]:
    """The model's answers in a stretch of conversation.

    Pieces that follow each other are one answer. So are calls of one reply that a harness listed
    call, result, call, result.
    """
    found: list[Round] = []
    speaking = False
    for turn in turns:
        if turn.role == "assistant":
            own = _OWN_ID.search(turn.call_id)
            reply = own[1] if own else None
            last = found[-1] if found else None
            known = reply is not None and last is not None and last.reply is not None
            same = last is not None and (last.reply == reply if known else speaking)
            if not same or last is None:
                found.append(Round(reply))
            elif reply is not None:
                last.reply = reply
            speaking = True
        else:
            speaking = False
            if turn.role == "tool" and found:
                found[-1].results.append(turn)
    return found


def new_results(turns: Sequence[Turn]) -> list[Turn]:
    """The tool results that a request brings for the first time: those of the last round."""
    found = rounds(turns)
    return found[-1].results if found else []


def choose(script: Script, request: ModelRequest, spent: Spent | None = None) -> Choice:
    """The answer to a request. `spent` counts how often each (rule, step) failed so far."""
    start, text, number = _newest(script, request.turns)
    answered = len(rounds(request.turns[start + 1 :]))
    place = None if number is None else _step(script.rules[number], number, answered, spent or {})
    if number is None or place is None:
        return Choice(_shaped(script.default, request), text)
    rule = script.rules[number]
    step = rule.then[place]
    if request.tools or rule.always:
        return Choice(step, text, number, place)
    if isinstance(step, Say):
        return Choice(_shaped(Say(text=step.text), request), text, number, place)
    return Choice(_shaped(script.default, request), text)


def _newest(script: Script, turns: Sequence[Turn]) -> tuple[int, str, int | None]:
    """Position, text and rule of the newest user text (position -1: there is none)."""
    aside: list[tuple[int, str, int]] = []
    for position in range(len(turns) - 1, -1, -1):
        turn = turns[position]
        if turn.role != "user":
            continue
        rule = _match(script, turn.text, turn.frame)
        if turn.frame == "none":
            # A reminder that quotes the prompt must not start its script again.
            news = (candidate for candidate in aside if candidate[2] != rule)
            return next(news, (position, turn.text, rule))
        if rule is not None:
            aside.append((position, turn.text, rule))
    if aside:
        return aside[0]
    texts = [(position, turn.text) for position, turn in enumerate(turns) if turn.role == "user"]
    return (*texts[-1], _match(script, texts[-1][1], "none")) if texts else (-1, "", None)


def _match(script: Script, text: str, frame: Frame) -> int | None:
    """The first rule for a text; one for any text (`when = ""`) is for the user's own alone."""
    for number, rule in enumerate(script.rules):
        open_to = frame == "none" or (rule.when and (rule.framed or frame == "beside"))
        if open_to and rule.when in text:
            return number
    return None


def _step(rule: Rule, number: int, answered: int, spent: Spent) -> int | None:
    """The step for this round; failures that have had their `times` no longer count."""
    left = [
        place
        for place, step in enumerate(rule.then)
        if not (
            isinstance(step, Fail | Drop)
            and step.times is not None
            and spent.get((number, place), 0) >= step.times
        )
    ]
    return left[answered] if answered < len(left) else None


def _shaped(step: Say, request: ModelRequest) -> Say:
    """A text that was not written for this request's schema gives way to one that fits it."""
    if request.schema is None:
        return step if request.tools else Say(text=step.text)
    try:
        meant = fits(json.loads(step.text), request.schema)
    except (ValueError, RecursionError):
        meant = False
    if meant:
        return step
    return Say(text=json.dumps(sample(request.schema)))
