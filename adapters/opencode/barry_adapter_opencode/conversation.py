"""Which conversation a launch goes on with, and how its id is learnt."""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from barry_adapter_opencode.places import database
from barry_adapter_opencode.store import conversations
from barry_cli.adapters import BarryError, PlanDraft

Discover = Callable[[], Awaitable[str | None]]


@dataclass(frozen=True)
class Conversation:
    """The id where it is known before the start; else what finds it."""

    id: str | None = None
    discover: Discover | None = None


def conversation(draft: PlanDraft) -> Conversation:
    """Add the flags of the conversation asked for. Raises BarryError for an id that is none."""
    resume = draft.config.resume
    if resume is not None and resume.harness_session_id is not None:
        session = resume.harness_session_id
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", session):
            raise BarryError(
                f"{session!r} is no id of an opencode conversation",
                hint="`opencode session list` shows them",
            )
        draft.args += ["--session", session]
        return Conversation(id=session)
    if resume is not None and resume.last:
        return _last(draft)
    if resume is not None and resume.picker:
        draft.warn("opencode has no picker at the start: /sessions opens it in the TUI")
    # opencode chooses the id, with the first message: found by folder and time.
    return Conversation(discover=_since(draft, "updated" if _continues(draft) else "created"))


def _last(draft: PlanDraft) -> Conversation:
    """The newest one of this folder. opencode's own flag would take one of another folder too."""
    file = database(draft.config.env)
    found = conversations(file, draft.config.cwd) if file is not None else []
    if found:
        draft.args += ["--session", found[0]]
        return Conversation(id=found[0])
    draft.warn("opencode has no conversation in this folder yet: it starts a new one")
    return Conversation(discover=_since(draft, "created"))


def _continues(draft: PlanDraft) -> bool:
    """Whether an older conversation may be gone on with: by the operator's own flag, or picked."""
    words = {word.partition("=")[0] for word in draft.config.extra_args or ()}
    picked = draft.config.resume is not None and bool(draft.config.resume.picker)
    return picked or bool(words & {"-s", "--session", "-c", "--continue"})


def _since(draft: PlanDraft, since: Literal["created", "updated"]) -> Discover:
    cwd, file = draft.config.cwd, database(draft.config.env)
    started = int(time.time() * 1000)

    async def discover() -> str | None:
        if file is None:
            return None
        if since == "created":
            found = conversations(file, cwd, created=started)
        else:
            found = conversations(file, cwd, updated=started)
        # Two may be two launches in one folder: rather none than the other's.
        return found[0] if len(found) == 1 else None

    return discover
