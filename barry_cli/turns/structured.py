"""A run whose answer is data that fits a schema (seed 001)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from barry_cli.base.canonical import NotCanonical, read_json
from barry_cli.base.json_schema import NotFollowed, schema_problems, shortened, violations
from barry_cli.base.problems import BarryError, Refused
from barry_cli.contract.abort import Abort
from barry_cli.contract.data import Data, JsonSchema
from barry_cli.contract.events import Done, Failed, Init, Result, SessionEvent, Text
from barry_cli.contract.models import Models, split_model
from barry_cli.contract.session import DeliveryOptions, Session
from barry_cli.turns.fences import extract_fence
from barry_cli.turns.waits import bounded, stopped

LABEL = "json"
"""What the block is labelled that a prompted answer ends with."""

_ENDING = 10.0  # seconds that interrupting, and closing, may take each
_SHOWN = 20  # errors of one answer
_QUOTED = 20_000  # characters of a previous answer

_RULES = """\
{prompt}

Your answer must be valid against this JSON Schema (2020-12):

````{label}
{schema}
````

End with your answer, as one block that begins with a line of four backticks and the word {label}
and ends with a line of four backticks. Write nothing after it.
"""

_CORRECTION = """\
{rules}
A previous answer was this:

{output}

It was not accepted:

{errors}
"""


@dataclass(frozen=True, kw_only=True)
class StructuredRun:
    """What is asked, and what the answer must fit."""

    prompt: str
    schema: JsonSchema
    start: Callable[[], Awaitable[Session]]
    """A fresh, ephemeral session for each attempt: not every harness can go on with one."""
    structured_output: Literal["native", "prompted"]
    """Who enforces the schema: ``structured_output_for`` tells."""
    max_retries: int = 1
    """Correction rounds after the first prompted attempt."""
    signal: Abort | None = None
    """Stops the attempt in flight, and the run."""


class StructuredReply(Data):
    """The answer."""

    data: Any
    raw: str
    """The final text that it was taken from."""
    harness_session_id: str | None = None


class StructuredRunFailed(BarryError):
    """No answer fits the schema, or a turn failed. ``errors`` are those of the last attempt."""

    code = "structured-run-failed"
    exit_code = 1

    def __init__(self, errors: list[str], attempts: int, raw: str = "") -> None:
        self.errors = errors
        self.raw = raw
        times = f" in {attempts} attempts" if attempts > 1 else ""
        super().__init__(
            f"no structured answer{times}: {'; '.join(errors)}",
            details={"errors": errors, "attempts": attempts},
        )


class StructuredRunStopped(BarryError):
    """The run was told to stop."""

    code = "interrupted"
    exit_code = 130

    def __init__(self) -> None:
        super().__init__("the structured run was stopped before it had an answer")


class HasStructuredOutput(Protocol):
    """A hosted mode, as far as it matters here."""

    @property
    def structured_output(self) -> Literal["native", "prompted"]: ...


def structured_output_for(
    mode: HasStructuredOutput, *, harness_vendor: str | None, model: str | None, models: Models
) -> Literal["native", "prompted"]:
    """Who enforces a structured run's schema: the harness (``native``), or Barry by its prompt.

    ``model`` is written ``vendor/model``. The endpoint of another vendor's model has the last
    word, because a compatible API can accept a schema and ignore it: one that nobody measured is
    prompted. Else the mode says. Raises ValueError when ``model`` isn't of that form.
    """
    if model is None or split_model(model)[0] == harness_vendor:
        return mode.structured_output
    endpoint = models.endpoint(model)
    if endpoint is None:
        return mode.structured_output
    return endpoint.structured_output or "prompted"


async def run_structured(run: StructuredRun) -> StructuredReply:
    """Ask until an answer fits, each time in a session of its own, which is closed on every path.

    Native: the schema goes with the delivery, and the result's ``structured`` is checked once.
    Prompted: it is part of the prompt, and what doesn't fit is asked for again, with the previous
    answer and its errors, ``max_retries`` times.

    Raises Refused for a schema that is none, before anything starts; StructuredRunFailed;
    StructuredRunStopped; and what ``start`` raises.
    """
    if problems := schema_problems(run.schema):
        raise Refused(
            f"the schema of a structured run can't be used: {problems[0]}",
            hint="it must be a JSON Schema (2020-12) that refers to nothing outside itself",
            details={"problems": problems},
        )
    native = run.structured_output == "native"
    rules = run.prompt if native else _rules(run)
    attempts = 1 if native else 1 + max(0, run.max_retries)
    prompt, answer, errors = rules, _Answer(), list[str]()
    for _ in range(attempts):
        answer = await _attempt(run, prompt)
        try:
            data = answer.structured(run.schema) if native else answer.fenced(run.schema)
            return StructuredReply(
                data=data, raw=answer.raw, harness_session_id=answer.harness_session_id
            )
        except _NotAccepted as error:
            errors = error.errors
        if answer.failures:  # nothing that a correction mends
            raise StructuredRunFailed(answer.failures, 1, answer.raw)
        prompt = _CORRECTION.format(
            rules=rules,
            output=answer.raw[:_QUOTED] or "(nothing)",
            errors="\n".join(f"- {error}" for error in errors),
        )
    raise StructuredRunFailed(errors, attempts, answer.raw)


def _rules(run: StructuredRun) -> str:
    schema = json.dumps(run.schema, ensure_ascii=False, indent=2)
    return _RULES.format(prompt=run.prompt, schema=schema, label=LABEL)


class _NotAccepted(Exception):
    def __init__(self, errors: list[str]) -> None:
        self.errors = errors


@dataclass
class _Answer:
    """What one attempt said."""

    texts: list[str] = field(default_factory=list)
    result: Result | None = None
    failures: list[str] = field(default_factory=list)
    harness_session_id: str | None = None

    @property
    def raw(self) -> str:
        """The final text."""
        if self.result is not None and self.result.result is not None:
            return self.result.result
        return self.texts[-1] if self.texts else ""

    def note(self, event: SessionEvent) -> bool:
        """Take in an event; True when it ends the turn. Subagents say nothing of the answer."""
        if event.parent_tool_use_id is not None:
            return False
        if isinstance(event, Init):
            self.harness_session_id = event.harness_session_id
        elif isinstance(event, Text) and event.role != "user":
            self.texts.append(event.text)
        elif isinstance(event, Failed):
            self.failures.append(event.error)
        elif isinstance(event, Result):
            self.result = event
            if event.error is not None:
                self.failures.append(event.error)
        return isinstance(event, Done)

    def structured(self, schema: JsonSchema) -> object:
        """What the harness itself enforced, checked all the same. Raises _NotAccepted."""
        if self.result is None or "structured" not in self.result.model_fields_set:
            raise _NotAccepted(["the harness gave no structured result"])
        return _fitting(schema, self.result.structured)

    def fenced(self, schema: JsonSchema) -> object:
        """What the block holds that the answer ends with. Raises _NotAccepted."""
        block = extract_fence(self.raw, LABEL) or extract_fence("\n".join(self.texts), LABEL)
        if block is None:
            raise _NotAccepted([f"it has no block of four backticks labelled {LABEL}"])
        try:
            return _fitting(schema, read_json(block))
        except NotCanonical as error:
            raise _NotAccepted([f"its block can't be read: {shortened(error.message)}"]) from None


def _fitting(schema: JsonSchema, data: object) -> object:
    try:
        errors = [f"{e.json_path}: {shortened(e.message)}" for e in violations(schema, data)]
    except NotFollowed as error:
        raise Refused(f"the schema of a structured run can't be followed: {error}") from None
    if errors:
        raise _NotAccepted(errors[:_SHOWN])
    return data


async def _attempt(run: StructuredRun, prompt: str) -> _Answer:
    """One attempt, or its end when the run is told to stop."""
    over = Abort()
    if run.signal is not None and run.signal.is_set():
        raise StructuredRunStopped
    work = asyncio.create_task(_ask(run, prompt, over))
    asked = asyncio.create_task((run.signal or over).wait())
    try:
        await asyncio.wait({work, asked}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()
        if not work.done():
            over.set()
            await stopped("a structured run", work, 3 * _ENDING)
            if work.done() and not work.cancelled():
                work.exception()  # seen: it was told to stop
    if over.is_set():
        raise StructuredRunStopped
    if work.cancelled():
        raise StructuredRunFailed(["the session was cancelled from within"], 1)
    return work.result()


async def _ask(run: StructuredRun, prompt: str, over: Abort) -> _Answer:
    """Deliver a prompt to a fresh session, read its turn, close the session."""
    session = await run.start()
    reads = False
    try:
        if over.is_set():  # it was started although that was cancelled
            raise StructuredRunStopped
        answer = _Answer()
        schema = run.schema if run.structured_output == "native" else None
        reads = True
        await session.deliver(prompt, DeliveryOptions(output_schema=schema))
        async for event in session.events():
            if answer.note(event):
                break
        else:
            answer.failures.append("the session ended before its turn did")
        reads = False
        answer.harness_session_id = session.harness_session_id or answer.harness_session_id
        return answer
    finally:
        if reads:
            await bounded("interrupting a structured run", session.interrupt(), _ENDING)
        await bounded("closing a structured run", session.close(), _ENDING)
