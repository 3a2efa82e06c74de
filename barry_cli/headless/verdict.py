"""Whether a turn failed, and as what: the one place where that is decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from barry_cli.base.secrets import redact
from barry_cli.headless.faults import AgentFault
from barry_cli.headless.signals import first_match, sources

if TYPE_CHECKING:
    from barry_cli.headless.agent_adapter import AgentAdapter
    from barry_cli.headless.agent_events import Quota, Retrying, StopReason

LOST = "conversation_lost:"
"""How the text of a failure begins when the conversation to go on with is gone."""

_WHY = {
    "idle-timeout": "said nothing for too long",
    "deadline": "took too long",
    "stuck": "tried the same again for too long",
}

STDERR_CHARACTERS = 2000
"""How much of stderr an error may show: its end."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How the last process of a turn ended."""

    live: bool
    final: bool
    stopped: StopReason | None
    exited: bool
    """By itself."""
    exit_code: int | None
    untaken: bool
    """A message that was sent during the turn was not taken in."""
    failures: tuple[str, ...]
    stderr: str
    quota: Quota | None
    retrying: Retrying | None
    resuming: bool
    line_limit: int


def lost_conversation(sentence: str) -> AgentFault:
    """The conversation to go on with is gone."""
    return AgentFault(
        "session",
        f"{LOST} {sentence}",
        hint="start a new session; what was said before is in `barry session events`",
    )


def fault_of(adapter: AgentAdapter, ended: Ended, secrets: tuple[str, ...]) -> AgentFault | None:
    """What the turn failed of, or None: done, or cut short because somebody wanted it."""
    if ended.stopped in ("aborted", "steered"):
        return None
    stderr = redact(ended.stderr, secrets).strip()[-STDERR_CHARACTERS:]
    details: dict[str, object] = {"exitCode": ended.exit_code, "stderr": stderr}
    if ended.stopped is not None:
        return _out_of_bounds(adapter, ended, details | {"stopped": ended.stopped}, secrets)
    sentence = _failure(adapter, ended, stderr)
    if sentence is None:
        return None
    sentence = redact(sentence, secrets)
    return _reclassified(adapter, ended, sentence, details, secrets) or AgentFault(
        "process", sentence, hint="the harness's own log may say more", details=details
    )


def _failure(adapter: AgentAdapter, ended: Ended, stderr: str) -> str | None:
    """The sentence of a process that failed."""
    code = ended.exit_code
    how = (
        "without a status"
        if code is None
        else f"by signal {-code}"
        if code < 0
        else f"with exit code {code}"
    )
    said = f"; it said: {stderr}" if stderr else ""
    if ended.failures:
        status = f" (exit code {code})" if ended.exited and code else ""
        return f"{adapter.name} failed: {ended.failures[0][:STDERR_CHARACTERS]}{status}"
    if ended.untaken:
        return f"{adapter.name} did not take in a message that was sent during its turn{said}"
    if not ended.final and (ended.live or adapter.requires_finished_event):
        return f"{adapter.name} ended {how} before its turn was over{said}"
    # Of a live dialogue the protocol is the word; a program that dislikes the end of its input
    # after that has failed nobody.
    if ended.exited and code != 0 and not (ended.live and ended.final):
        return f"{adapter.name} ended {how}{said}"
    return None


def _out_of_bounds(
    adapter: AgentAdapter, ended: Ended, details: dict[str, object], secrets: tuple[str, ...]
) -> AgentFault:
    name = adapter.name
    if ended.stopped == "oversized-event":
        return AgentFault(
            "process",
            f"{name} wrote a line of more than {ended.line_limit} bytes: its turn was ended",
            hint="a tool's output may be too long; ask for less of it",
            details=details,
        )
    why = _WHY.get(str(ended.stopped), f"stopped ({ended.stopped})")
    trouble = ended.retrying
    if trouble is not None and trouble.cause == "quota":
        return AgentFault(
            "quota",
            f"quota: {name} {why}, waiting for a usage limit: {trouble.text}",
            hint="wait until the limit is lifted, or use another model",
            details=details,
        )
    if trouble is not None and trouble.cause == "unavailable":
        return AgentFault(
            "process",
            f"unavailable: {name} {why}, trying to reach its service: {trouble.text}",
            hint="check the network and the service's endpoint",
            details=details | {"unavailable": redact(trouble.text, secrets)},
        )
    return AgentFault(
        "process",
        f"{name} {why}: its turn was ended",
        hint="give it more time with --timeout",
        details=details,
    )


def _reclassified(
    adapter: AgentAdapter,
    ended: Ended,
    sentence: str,
    details: dict[str, object],
    secrets: tuple[str, ...],
) -> AgentFault | None:
    """The same failure by its cause, where its texts name one. The first that says so wins."""

    def text(says: Callable[[str], bool] | None) -> str | None:
        found = first_match(says, sources(ended.failures, ended.stderr))
        return None if found is None else redact(found, secrets)[:STDERR_CHARACTERS]

    said = next((each for each in ended.failures if each.startswith(LOST)), None)
    lost = text(adapter.lost) if said is None else redact(said[len(LOST) :].strip(), secrets)
    if ended.resuming and lost is not None:
        fault = lost_conversation(f"{adapter.name} said: {lost}")
        fault.details = details
        return fault
    found = text(adapter.quota)
    if found is None and ended.quota is not None:
        found = redact(ended.quota.text, secrets) or sentence
    if found is not None:
        reset = ended.quota.reset_at if ended.quota is not None else None
        return AgentFault(
            "quota",
            f"quota: {found}",
            hint=f"the limit ends at {reset}" if reset else "wait, or use another model",
            details=details | ({"resetAt": reset} if reset else {}),
        )
    if (found := text(adapter.unavailable)) is not None:
        return AgentFault(
            "process",
            f"unavailable: {found}",
            hint="the service is out or can't be reached; try again later",
            details=details | {"unavailable": found},
        )
    return None
