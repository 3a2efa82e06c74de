"""Which conversation a launch goes on with, and how its id is learnt."""

from __future__ import annotations

import re
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from barry_adapter_pi.places import read_header, session_files, session_folder
from barry_cli.adapters import BarryError, PlanDraft

Discover = Callable[[], Awaitable[str | None]]

# The operator's own words about the conversation; pi would trip over ours beside them.
_OWN_FLAGS = {"--session", "--continue", "-c", "--resume", "-r", "--fork", "--no-session"}


@dataclass(frozen=True)
class Conversation:
    """The id where it is known before the start; else what finds it."""

    id: str | None = None
    discover: Discover | None = None


def conversation(draft: PlanDraft) -> Conversation:
    """Add the flags of the conversation asked for. Raises BarryError for an id that is none."""
    config = draft.config
    resume = config.resume
    if config.ephemeral:
        draft.args.append("--no-session")
        return Conversation()
    if resume is not None and resume.harness_session_id is not None:
        return _named(draft, resume.harness_session_id)
    if resume is not None and resume.picker:
        draft.args.append("--resume")
        return Conversation(discover=_changed_since(draft, datetime.now(UTC).timestamp()))
    if resume is not None and resume.last:
        last = next(session_files(config.cwd, config.env), None)
        if last is not None:
            draft.args += ["--session", str(last.path)]
            return Conversation(id=last.id)
        draft.warn("pi has no conversation in this folder yet: it starts a new one")
    if _OWN_FLAGS & set(config.extra_args or ()):
        return Conversation()
    return _new(draft)


def _named(draft: PlanDraft, session: str) -> Conversation:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", session):
        raise BarryError(
            f"{session!r} is no id of a pi conversation", hint="use the id that pi shows"
        )
    config = draft.config
    files = session_files(config.cwd, config.env)
    path = next((found.path for found in files if found.id == session), None)
    # By its path pi opens the very file; an id alone it looks up, and may ask about.
    draft.args += ["--session", str(path) if path is not None else session]
    return Conversation(id=session)


def _new(draft: PlanDraft) -> Conversation:
    """Pi chooses the id, but the file may be named: that file is ours and nobody else's."""
    config = draft.config
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%S-%f")[:-3] + "Z"
    path = session_folder(config.cwd, config.env) / f"{stamp}_{uuid.uuid4()}.jsonl"
    draft.args += ["--session", str(path)]
    return Conversation(discover=_id_in(path))


def _id_in(path: Path) -> Discover:
    async def discover() -> str | None:
        found = read_header(path)
        return found.id if found is not None else None

    return discover


def _changed_since(draft: PlanDraft, started: float) -> Discover:
    cwd, env = draft.config.cwd, draft.config.env

    async def discover() -> str | None:
        ids = []
        for found in session_files(cwd, env):
            try:
                if found.path.stat().st_mtime >= started:
                    ids.append(found.id)
            except OSError:
                continue
        return ids[0] if len(ids) == 1 else None

    return discover
